"""The operator that is highlighted in table and timeline, and the lines of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import streamlit as st

from fusescope.app.state.session import session

if TYPE_CHECKING:
    from fusescope.analysis.timeline.highlight import Highlight


def selected_row(of: str) -> int | None:
    """The highlighted row of comparison `of`; None for another comparison's."""
    name, row = session().selected
    return row if name == of else None


def select_row(of: str, row: int | None) -> None:
    """Highlight `row` of comparison `of`."""
    session().selected = (of, row)


def picked_beside() -> int:
    """How often the user picked something beside a table, which it must then bring into view."""
    return session().picked_beside


def pick_beside() -> None:
    """The user picked something beside a table, as in the timelines."""
    session().picked_beside += 1


def highlight(of: str, shown: Highlight) -> None:
    """Show places on the timelines of what `of` names, in place of an operator."""
    kept = session()
    kept.highlight = (of, shown)
    kept.highlights += 1
    if shown.rows:
        select_row(of, None)


def highlighted(of: str) -> tuple[Highlight, int] | None:
    """Return what was highlighted last and its number in this session; None for that of something
    else."""
    kept = session()
    if kept.highlight is None or kept.highlight[0] != of:
        return None
    return kept.highlight[1], kept.highlights


def mark_table(key: str, rows: Iterable[int], selected: int | None) -> None:
    """Before the table is drawn: the rows that it shows, and the one that is highlighted."""
    kept = session()
    kept.shown_rows = tuple(rows)
    shown = kept.shown_rows
    mark_line(key, shown.index(selected) if selected in shown else None)


def table_clicked(key: str, of: str) -> None:
    """A row of the table was clicked: highlight its operator, or none."""
    shown, position = session().shown_rows, clicked_line(key)
    select_row(of, shown[position] if position is not None and position < len(shown) else None)


def mark_line(key: str, position: int | None) -> None:
    """Before the table `key` is drawn: highlight this line of it, or none."""
    selection = {"rows": [] if position is None else [position], "columns": [], "cells": []}
    if _selection(key) != selection:
        st.session_state[key] = {"selection": selection}


def clicked_line(key: str) -> int | None:
    """The line of the table `key` that was clicked, in any of its cells; None for none."""
    selection = _selection(key)
    lines = [row for row, _ in selection["cells"]] or selection["rows"]
    return lines[0] if lines else None


def turn_to(key: str, page: int) -> None:
    """Before the pages `key` are drawn: show this one."""
    st.session_state[key] = page


def turn_within(key: str, pages: int) -> None:
    """Before the pages `key` are drawn: there are so many, which may be fewer than before."""
    if st.session_state.get(key, 1) > pages:
        st.session_state[key] = 1


def picked_lines(key: str) -> list[int]:
    """The lines of the table `key` that are ticked, from the top."""
    return sorted({int(line) for line in _selection(key)["rows"]})


def _selection(key: str) -> dict[str, list[Any]]:
    state: Any = st.session_state.get(key) or {}
    found = state.get("selection", {})
    return {kind: list(found.get(kind, [])) for kind in ("rows", "columns", "cells")}
