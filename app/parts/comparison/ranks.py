"""The way from two ranks of a job to all that are open."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message
from fusescope.analysis.wording.fleet.sentences import ranks_text
from fusescope.app import state
from fusescope.app.sources import fleets

_ALL = Message("Who waits for whom among the open ranks of this job: {ranks}")


def way_to_fleet(comparison: Comparison, fleet_page: st.Page) -> None:
    """Draw a link to the Fleet page, which judges all open ranks of the job of both sides."""
    if comparison.ranks is None or not comparison.ranks.is_one_job:
        return
    opened = fleets.open_ranks(state.files.opened().values())
    if {*comparison.ranks.ranks} <= opened.keys():
        st.page_link(
            fleet_page,
            label=_ALL.text(ranks=ranks_text(list(opened))),
            icon=":material/lan:",
            query_params=state.pages.fleet_query(fleets.OPEN),
        )
