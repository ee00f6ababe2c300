"""Pages of a long table: a browser gets some rows of it, and a session keeps no more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fusescope.analysis.messages import say
from fusescope.app import state
from fusescope.app.parts import panels

ROWS = 1000  # of a page


@dataclass(frozen=True)
class Page:
    """The rows that are shown of a table, and the place of the first of them."""

    rows: pd.DataFrame
    first: int


def place_of(places: np.ndarray, wanted: int | None) -> int | None:
    """Where `wanted` stands among these; None where it does not."""
    if wanted is None:
        return None
    found = np.flatnonzero(places == wanted)
    return int(found[0]) if len(found) else None


def page_of(found: pd.DataFrame, key: str, place: DeltaGenerator, show: int | None = None) -> Page:
    """One page of `found`, all of it where that is short; its selector is drawn in `place`. `show`
    is the place of a row to turn to."""
    count = -(-len(found) // ROWS)
    if count < 2:
        return Page(found, 0)
    if show is not None:
        state.table.turn_to(key, show // ROWS + 1)
    state.table.turn_within(key, count)
    with place.container(horizontal=True, vertical_alignment="center", gap="medium"):
        number = st.pagination(count, key=key)
        first = (number - 1) * ROWS
        rows = found.iloc[first : first + ROWS]
        told = say(
            "Rows {first:count} to {last:count} of {n:count}. A click on a head sorts these alone.",
            first=first + 1,
            last=first + len(rows),
            n=len(found),
        )
        st.caption(panels.own(told))
    return Page(rows, first)
