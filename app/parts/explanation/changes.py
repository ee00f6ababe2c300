"""The changes of an explanation as rows that open in the browser and lead to the timelines."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import streamlit as st

from analysis.messages import Part
from analysis.report.explanation.rows import ChangeRow, ExplainedRows, KernelRow
from analysis.wording.explanation import details as words
from app import state

_SOURCES = files(__package__)
_component = st.components.v2.component(
    "fusescope_changes",
    html='<div class="changes"></div>',
    css=_SOURCES.joinpath("changes.css").read_text(encoding="utf-8"),
    js=_SOURCES.joinpath("changes.js").read_text(encoding="utf-8"),
)


def show_changes(rows: ExplainedRows, of: str) -> None:
    """Draw the rows of an explanation; what is picked in them is shown in the timelines and in the
    table of operators of what `of` names."""
    heads = (words.BEFORE.text(), words.AFTER.text(), words.CHANGE.text())
    _show(rows, of, words.TITLE.text(), heads)


def show_findings(rows: ExplainedRows, of: str) -> None:
    """Draw the rows of one trace likewise."""
    _show(rows, of, words.TITLE_OF_TRACE.text(), (words.TIME.text(),))


def _show(rows: ExplainedRows, of: str, title: str, heads: tuple[str, ...]) -> None:
    data = {"title": title, "heads": heads, **_data(rows, len(heads))}
    result = _component(key="changes", data=data, on_picked_change=_rerun)
    pick(rows, of, result.picked)


def pick(rows: ExplainedRows, of: str, picked: object) -> None:
    """Show what the browser says was picked: a way of a change to the timelines, or one of its
    kernels. Anything else is nothing."""
    changes = (*rows.rows, *rows.more)
    row = _at(changes, picked, "change")
    way = _at(row.ways, picked, "way") if row is not None else None
    kernel = _at(row.kernels, picked, "kernel") if row is not None else None
    if way is not None:
        state.table.highlight(of, way.highlight)
    elif kernel is not None and kernel.row is not None:
        state.table.select_row(of, kernel.row)
        state.table.pick_beside()


def _at(choices: tuple[Any, ...], picked: object, name: str) -> Any:
    """The one of these whose place was picked; None for none."""
    place = picked.get(name) if isinstance(picked, Mapping) else None
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(choices):
        return None
    return choices[place]


def _data(rows: ExplainedRows, columns: int) -> dict[str, Any]:
    return {
        "rows": [_row(row, columns) for row in rows.rows],
        "more": [_row(row, columns) for row in rows.more],
        "moreTitle": rows.more_title,
        "rest": [words.REST.text(), rows.rest],
    }


def _row(row: ChangeRow, columns: int) -> dict[str, Any]:
    return {
        "parts": _parts(row.parts),
        "kind": row.kind,
        "left": row.left,
        "width": row.width,
        "facts": row.facts,
        "head": row.head,
        "kernels": [_kernel(each, columns) for each in row.kernels],
        "ways": [way.label for way in row.ways],
    }


def _kernel(each: KernelRow, columns: int) -> dict[str, Any]:
    """Return a kernel with as many cells, each a time and how often how long it takes."""
    cells = [(each.before, each.before_each), (each.after, each.after_each), (each.change, "")]
    pick_text = "" if each.row is None else words.IN_TABLE.text(operator=each.name)
    return {"name": each.name, "cells": cells[:columns], "pick": pick_text}


def _parts(parts: tuple[Part, ...]) -> list[tuple[str, str]]:
    return [(part.role, part.text) for part in parts]


def _rerun() -> None:
    """A pick needs no callback of its own: the rerun that it causes reads it."""
