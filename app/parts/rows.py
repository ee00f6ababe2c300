"""Rows of a table as one: a click in any cell picks its row; what is picked elsewhere shows."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

from fusescope.app import state
from fusescope.app.parts.table import ROW_HEIGHT

_component = st.components.v2.component(
    "fusescope_rows",
    js=files(__package__).joinpath("rows.js").read_text(encoding="utf-8"),
    # It takes no place on the page, so that no gap is left for it. One line would be a file's name.
    css='[class*="st-key-rows_of_"] {\n  position: absolute; width: 0; height: 0;\n}',
    isolate_styles=False,
)


def linked(table: str, line: int | None, lines: int) -> None:
    """Link the rows of the table `table`, which selects single rows and has `lines` of them.

    After a new state.table.pick_beside() its selected `line` is scrolled into view; None where it
    does not show what was picked. A table that the user sorted stays where it is.
    """
    _component(
        key=f"rows_of_{table}",
        data={
            "table": table,
            "line": line,
            "lines": lines,
            "rowHeight": ROW_HEIGHT,
            "picked": state.table.picked_beside(),
        },
    )
