"""The figures of both sides as cards, and what the modelled ones assume."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.report import cards
from fusescope.app.parts import panels


def show(comparison: Comparison) -> None:
    """Draw what both sides have as cards, most wanted first; what is missing and why, as a line."""
    first = cards.first_codes(comparison)
    known = [one.code for one in comparison.figures if one.is_known and one.code not in first]
    grid = st.grid(4, min_column_width=170, border=True, key="cards")
    for code in (*first, *known):
        with grid.cell():
            figure = comparison.figure(code)
            detail = wording.figure_detail(comparison, code)
            panels.card(comparison, figure, detail, neutral=_may_be_noise(comparison, figure))
    missing = " ".join(gap.sentence for gap in cards.gaps(comparison))
    if missing:
        st.caption(panels.own(missing))
    st.caption(panels.own(wording.assumptions_sentence(comparison)))


def _may_be_noise(comparison: Comparison, figure: Figure) -> bool:
    """Return whether a change of this figure is one of times that nobody can tell from noise."""
    return not comparison.verdict.is_decided and figure.baseline.unit in ("ns", "1/s")
