"""The changes of an explanation as rows that open in the browser and lead to the timelines."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import streamlit as st

from fusescope.analysis.messages import Message, Part
from fusescope.analysis.report.explanation.rows import ChangeRow, ExplainedRows, KernelRow
from fusescope.analysis.wording.explanation import details as words
from fusescope.analysis.wording.fusion import rows as group_words
from fusescope.app import state

_HEADS = (words.BEFORE, words.AFTER, words.CHANGE)
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
    picked = _draw(rows, words.TITLE, _HEADS, words.IN_TABLE, words.REST)
    pick(rows, of, picked)


def show_groups(rows: ExplainedRows, of: str) -> None:
    """Draw the rows of patterns; a group that is picked in them opens below."""
    picked = _draw(rows, group_words.TITLE, _HEADS, group_words.IN_PART, group_words.REST)
    pick_group(rows, of, picked)


def pick_group(rows: ExplainedRows, of: str, picked: object) -> None:
    """Open the group that the browser says was picked. Anything else is nothing."""
    row = _at((*rows.rows, *rows.more), picked, "change")
    group = _at(row.kernels, picked, "kernel") if row is not None else None
    if group is not None:
        state.groups.select_group(of, group.row)
        state.folds.open_fold("groups")


def show_findings(rows: ExplainedRows, of: str) -> None:
    """Draw the rows of one trace likewise."""
    picked = _draw(rows, words.TITLE_OF_TRACE, (words.TIME,), words.IN_TABLE, words.REST)
    pick(rows, of, picked)


def _draw(
    rows: ExplainedRows, title: Message, heads: tuple[Message, ...], way: Message, rest: Message
) -> object:
    """Draw rows below `heads`; what was picked in them is returned. `way` says where the name of a
    kernel leads, `rest` what the rows do not add up to."""
    data = {
        "title": title.text(),
        "heads": [head.text() for head in heads],
        "rows": [_row(row, len(heads), way) for row in rows.rows],
        "more": [_row(row, len(heads), way) for row in rows.more],
        "moreTitle": rows.more_title,
        "rest": [rest.text(), rows.rest],
        "details": [_parts(parts) for parts in rows.details],
        "detailsTitle": words.DETAILS.text(),
    }
    return _component(key="changes", data=data, on_picked_change=_rerun).picked


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
        state.folds.open_fold("operators")


def _at(choices: tuple[Any, ...], picked: object, name: str) -> Any:
    """The one of these whose place was picked; None for none."""
    place = picked.get(name) if isinstance(picked, Mapping) else None
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(choices):
        return None
    return choices[place]


def _row(row: ChangeRow, columns: int, way: Message) -> dict[str, Any]:
    return {
        "parts": _parts(row.parts),
        "kind": row.kind,
        "left": row.left,
        "width": row.width,
        "facts": row.facts,
        "head": row.head,
        "kernels": [_kernel(each, columns, way) for each in row.kernels],
        "ways": [way.label for way in row.ways],
    }


def _kernel(each: KernelRow, columns: int, way: Message) -> dict[str, Any]:
    """Return a kernel with as many cells, each a time and how often how long it takes."""
    cells = [(each.before, each.before_each), (each.after, each.after_each), (each.change, "")]
    pick_text = "" if each.row is None else way.text(operator=each.name)
    return {"name": each.name, "cells": cells[:columns], "pick": pick_text}


def _parts(parts: tuple[Part, ...]) -> list[tuple[str, str]]:
    return [(part.role, part.text) for part in parts]


def _rerun() -> None:
    """A pick needs no callback of its own: the rerun that it causes reads it."""
