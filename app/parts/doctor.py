"""The import doctor on pages: what a file holds, what was dropped, which figures it can feed."""

from __future__ import annotations

import streamlit as st

from analysis.compare.comparison import Comparison
from analysis.experiment import Experiment
from analysis.trace import Trace
from analysis.wording import doctor as words
from app.parts import panels
from app.sources.examinations import examined

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
            st.text(words.files_sentence(found))
        parts = (("Dropped", found.dropped), ("Repaired", found.repaired), ("", found.noted))
        for title, notes in parts:
            for note in notes:
                sentence = words.note_sentence(note)
                icon = _INFO if note.severity == "info" else _WARNING
                panels.note(f"{title}: {sentence}" if title else sentence, icon)
        st.text(words.has_sentence(found))
        for sentence in words.lack_sentences(found):
            st.text(sentence)
        if whole:
            st.markdown("**Figures that it can feed**")
        else:
            st.text(words.fed_sentence(found))
        for answer in found.answers:
            if whole or not answer.available:
                panels.note(words.answer_sentence(answer), _YES if answer.available else _NO)


def link(comparison: Comparison) -> None:
    """The button that opens what both files say."""
    if st.button("What the files say", key="doctor", icon=":material/troubleshoot:"):
        _both(comparison)


@st.dialog("What the files say", width="large")
def _both(comparison: Comparison) -> None:
    st.caption(words.DOCTOR_HELP.text())
    sides = (comparison.baseline, comparison.candidate)
    files = {side.experiment or side.trace: side for side in sides}
    for column, (file, side) in zip(
        st.columns(len(files), gap="medium"), files.items(), strict=True
    ):
        with column:
            label = side.trace.meta.file_name if side.experiment else side.label
            st.markdown(f"**{panels.name(label, 60)}**")
            show(file)
