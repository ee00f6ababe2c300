"""The roofline of both sides: every counted operator under what the machine allows."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofline import roofline_picture
from fusescope.analysis.messages import say
from fusescope.app.language import spoken
from fusescope.app.parts import panels


@st.fragment
@spoken
def show(comparison: Comparison) -> None:
    """Draw the section; a sentence stands in its place where nothing is known."""
    from fusescope.analysis.charts.roofline import roofline

    with panels.guarded():
        st.subheader(say("Roofline"), anchor=False, help=wording.ROOFLINE_HELP.text())
        picture = roofline_picture(comparison)
        if picture is None:
            st.caption(wording.no_roofline(comparison))
            return
        names = (comparison.baseline.name, comparison.candidate.name)
        figure = roofline(picture, names, panels.mark_colours())
        alt = say("Operators of both sides under the machine's roofs")
        panels.chart(figure, "roofline_chart", alt)
        for note in wording.roofline_notes(comparison.roofs, picture):
            st.caption(panels.own(note))
