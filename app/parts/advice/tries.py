"""Remedies that FuseScope can record itself: one click tries what the findings ask for."""

from __future__ import annotations

import streamlit as st

from analysis.advice import Findings, Subject
from analysis.advice.settings import ENGINE
from analysis.messages import listed, say
from app import state
from app.parts import panels
from app.recording import progress, tries
from app.state.recording import Offer

MOST = 4


def show(subject: Subject, found: Findings, record_page: st.Page) -> None:
    """What can be tried beside the side of the findings, or why that is nothing; nothing of a side
    that FuseScope did not record."""
    from analysis.advice.remedies import remedies
    from analysis.wording.tried import nothing_text

    with panels.guarded():
        experiment = subject.side.experiment
        if experiment is None or experiment.record.engine.name != ENGINE:
            return
        asked = tries.possible(remedies(subject, found))[:MOST]
        if not asked:
            st.text(nothing_text(subject, found))
            return
        best, record = subject.side.label, experiment.record
        is_built_in = progress.is_built_in(record.model)
        name = record.model.name if is_built_in else "MODEL.onnx"
        names = [one.variant for one in asked]
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
                settings = record.settings
                state.recording.offer(
                    Offer(name, best, asked, settings.threads, record.model.batch)
                )
                variants = ",".join((best, *names))
                st.switch_page(record_page, query_params={"model": name, "variants": variants})
            st.code(f"fusescope advise {name} --try {len(asked)}", language=None)
