"""The matrix products of two phases of serving as a table."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

from fusescope.analysis.report.explanation.product_rows import ProductTable, texts_of
from fusescope.app.parts import panels

_SOURCES = files(__package__)
_component = st.components.v2.component(
    "fusescope_products",
    html='<div class="products"></div>',
    css=_SOURCES.joinpath("products.css").read_text(encoding="utf-8"),
    js=_SOURCES.joinpath("products.js").read_text(encoding="utf-8"),
)


def show_products(table: ProductTable) -> None:
    """Draw a row for each product, and below them what their figures rest on."""
    rows = [
        {
            "name": row.name,
            "sides": [
                None if cells is None else {"texts": texts_of(cells), "width": cells.width}
                for cells in row.sides
            ],
        }
        for row in table.rows
    ]
    data = {"title": table.title, "sides": table.sides, "heads": table.heads, "rows": rows}
    _component(key="products", data=data)
    st.caption(panels.own(table.basis))
