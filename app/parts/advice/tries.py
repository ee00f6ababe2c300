"""Remedies that FuseScope can record itself: one click tries what the findings ask for."""

from __future__ import annotations

import streamlit as st

from analysis.advice import Findings, Subject
from analysis.messages import listed, say
from app import state
from app.parts import panels
from app.recording import progress

MOST = 4


def show(subject: Subject, found: Findings, record_page: st.Page) -> None:
    """What can be tried beside the side of the findings; nothing where that is nothing."""
    from analysis.advice.remedies import remedies

    with panels.guarded():
        asked = remedies(subject, found)[:MOST]
        experiment = subject.side.experiment
        if not asked or experiment is None:
            return
        best, model = subject.side.label, experiment.record.model
        is_built_in = progress.is_built_in(model)
        name = model.name if is_built_in else "MODEL.onnx"
        names = [remedy.variant for remedy in asked]
        st.text(
            say(
                "FuseScope can try this itself: it records {variants:name} in the same processes "
                "as {best:name}, and says whether it is faster.",
                variants=listed(names),
                best=best,
            )
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            can_record = is_built_in and progress.refusal() is None
            if can_record and st.button(say("Try it"), key="try_remedies"):
                state.recording.offer_rules({one.variant: one.rules for one in asked if one.rules})
                variants = ",".join((best, *names))
                st.switch_page(record_page, query_params={"model": name, "variants": variants})
            st.code(f"fusescope advise {name} --try {len(asked)}", language=None)
