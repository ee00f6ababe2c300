"""Remedies that FuseScope can record itself: one click tries what the findings ask for."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.advice import Findings, Subject
from fusescope.analysis.advice.settings import ENGINE
from fusescope.analysis.experiment import ExperimentRecord, Try
from fusescope.analysis.messages import say
from fusescope.analysis.text import display_name
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.recording import own_models, progress, tries
from fusescope.app.state.recording import Offer

MOST = 4


def show(subject: Subject, found: Findings, record_page: st.Page) -> None:
    """What can be tried beside the side of the findings, or why that is nothing; nothing of a side
    that FuseScope did not record."""
    from fusescope.analysis.advice.remedies import in_one_recording, remedies
    from fusescope.analysis.wording.tried import from_file_text, nothing_text, offer_text

    with panels.guarded():
        experiment = subject.side.experiment
        if experiment is None or {one.name for one in experiment.record.engines} != {ENGINE}:
            return
        possible = tries.possible(remedies(subject, found))
        asked = in_one_recording(possible)[:MOST]
        if not asked:
            st.text(nothing_text(subject, found))
            return
        best, model = subject.side.label, experiment.record.model
        is_built_in = progress.is_built_in(model)
        in_form = model.name if is_built_in else own_models.name_in_form(model)
        names = [one.variant for one in asked]
        st.text(offer_text(names, best, possible))
        if anew := from_file_text(experiment.record):
            st.text(anew)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            can_record = in_form is not None and progress.refusal() is None
            if can_record and st.button(say("Try it"), key="try_remedies"):
                state.recording.offer(_offer(in_form or "", best, asked, experiment.record))
                state.recording.start_on_arrival()
                query = {"model": in_form or "", "variants": ",".join((best, *names))}
                st.switch_page(record_page, query_params=query)
            given = model.name if is_built_in else display_name(experiment.file_name)
            command = tries.command(given, experiment.record, best, len(asked))
            panels.code(command if is_built_in else f"{command} --model MODEL.onnx")


def _offer(model: str, best: str, asked: tuple[Try, ...], record: ExperimentRecord) -> Offer:
    """What the Record page is asked, with the settings of the recording."""
    like = tries.like(record, model)
    return Offer(
        model,
        best,
        asked,
        like.threads,
        like.batch,
        "; ".join(f"{name}={','.join(map(str, shape))}" for name, shape in like.shapes.items()),
        like.sha256,
        like.input_ranges,
        like.spin,
        like.seed,
    )
