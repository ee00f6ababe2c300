"""What the files of both sides say: where they come from, what was read, what they lack."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, say
from fusescope.analysis.report.origins import origins
from fusescope.app.parts import doctor
from fusescope.app.parts.heads import SIDES

_MADE = {
    "baseline": Message("Baseline: {file:name}, {made:name}"),
    "candidate": Message("Candidate: {file:name}, {made:name}"),
}


def show(comparison: Comparison) -> None:
    """Draw where the files come from, then what each says."""
    files = origins(comparison)
    for role, origin in zip(SIDES, files, strict=False):
        made = str(origin.made)
        if len(files) > 1:
            st.text(_MADE[role].text(file=origin.file_name, made=made))
        else:
            st.text(say("{file:name}, {made:name}", file=origin.file_name, made=made))
    doctor.show_both(comparison)
