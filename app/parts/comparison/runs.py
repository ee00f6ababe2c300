"""The runs of both sides, and the speedup with its interval."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import say
from fusescope.analysis.wording.counted import runs_of
from fusescope.analysis.wording.texts import RUN_TIMES
from fusescope.app.parts import panels
from fusescope.app.parts.heads import told

HEAD_HEIGHT = 72


def show(comparison: Comparison) -> None:
    """Draw the speedup with its interval, and every run of both sides."""
    _interval(comparison)
    _runs(comparison)


def _interval(comparison: Comparison) -> None:
    """The speedup as a picture."""
    from fusescope.analysis.charts.interval import interval

    figure = interval(comparison.verdict, panels.mark_colours())
    if figure is not None:
        with st.container(height=HEAD_HEIGHT, border=False):  # so that nothing below it moves
            alt = say("Speedup with its interval, the A/A control and no change")
            panels.chart(figure, "interval", alt)
        st.caption(panels.own(wording.interval_key(comparison.verdict)))


def _runs(comparison: Comparison) -> None:
    from fusescope.analysis.charts.run_times import run_times

    figure = run_times(comparison, panels.mark_colours())
    if figure is None:
        return
    st.subheader(
        RUN_TIMES[runs_of(comparison).word].text(), anchor=False, help=told(wording.RUN_TIMES_HELP)
    )
    panels.chart(figure, "run_times", say("Every run of both sides"))
