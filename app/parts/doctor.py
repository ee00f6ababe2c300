"""The import doctor on pages: what a file holds, what was dropped, which figures it can feed."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import say
from fusescope.analysis.report.doctor import files_of
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import doctor as words
from fusescope.app.language import spoken
from fusescope.app.parts import panels
from fusescope.app.parts.heads import told
from fusescope.app.sources.examinations import examined
from fusescope.app.state.opened import Opened

_YES = ":blue[:material/check:]"
_NO = ":gray[:material/close:]"
_WARNING = ":orange[:material/warning:]"
_INFO = ":gray[:material/info:]"


def show(value: Trace | Experiment, *, whole: bool = True) -> None:
    """One file: what it is, what was read and dropped, what it can answer and what it lacks.

    Not `whole`: what it can feed is one sentence, and only what it cannot is explained.
    """
    found = examined(value)
    with st.container(gap="xsmall"):
        st.text(f"{words.recognised_sentence(found)} {words.read_sentence(found)}")
        if found.files and whole:
            st.text(words.files_sentence(found.files))
        for note in (*found.dropped, *found.repaired, *found.noted):
            sentence = words.note_sentence(note)
            if note in found.dropped:
                sentence = say("Dropped: {what}", what=sentence)
            elif note in found.repaired:
                sentence = say("Repaired: {what}", what=sentence)
            panels.note(sentence, _INFO if note.severity == "info" else _WARNING)
        st.text(words.has_sentence(found))
        for sentence in words.lack_sentences(found):
            st.text(sentence)
        if whole:
            st.markdown(f"**{panels.own(say('Figures that this file can provide'))}**")
        else:
            st.text(words.fed_sentence(found))
        for answer in found.shown_answers:
            if whole or not answer.available:
                panels.note(words.answer_sentence(answer), _YES if answer.available else _NO)


def link_to(file: Opened, key: str) -> None:
    """Draw the button that opens what one file says, beside which nothing else moves."""
    if st.button(say("What it contains"), key=key, type="tertiary"):
        st.dialog(say("What it contains"), width="large")(spoken(_one))(file)


def _one(file: Opened) -> None:
    st.markdown(f"**{panels.name(file.name, 60)}**")
    show(file.value, whole=False)


def show_both(comparison: Comparison) -> None:
    """Draw what each file of a comparison says as it was read, side by side."""
    st.caption(told(words.DOCTOR_HELP))
    files = files_of(comparison)
    for column, (file, side) in zip(
        st.columns(len(files), gap="medium"), files.items(), strict=True
    ):
        with column:
            label = side.trace.meta.file_name if side.experiment else side.label
            st.markdown(f"**{panels.name(label, 60)}**")
            show(file)
