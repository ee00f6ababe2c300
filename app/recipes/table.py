"""A recipe's table as it is drawn: figures as lines, steps as columns, intervals and published
figures below ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from fusescope.analysis import units
from fusescope.analysis.messages import Message, say
from fusescope.analysis.recipes import RecipeTable
from fusescope.analysis.report.recipe import Line, lines

_PUBLISHED = Message("published")
_INTERVAL = Message("95 % interval")
_INDENT = "\u2003"
# Streamlit squeezes columns without a width on a narrow screen, and cuts numbers.
_CHAR_PX, _WIDE_PX, _PADDING_PX, _MAX_PX = 6, 13, 24, 300
_MUTED = {"light": "color: #57606a", "dark": "color: #9aa4af"}  # at least 4.5 : 1 on its page
_BASIS = Message(
    "What the figure is based on: measured by a clock, or modelled from shapes. Profiled: measured "
    "with the engine's profiler on, which makes runs longer."
)


@dataclass(frozen=True, eq=False)
class Drawn:
    """`styled` are the cells and `settings` Streamlit's for each column. `lines` are the figures
    shown; `lacking` are labels of figures that nobody has, by why."""

    styled: Styler
    settings: dict[Any, Any]
    lines: tuple[Line, ...]
    lacking: dict[str, list[str]]


def drawn(table: RecipeTable) -> Drawn:
    """The table for st.dataframe, where texts of the file are not interpreted."""
    labels = [step.label for step in table.recipe.steps]
    rows: list[list[str]] = []
    shown: list[Line] = []
    muted: list[int] = []
    lacking: dict[str, list[str]] = {}
    for line in lines(table):
        if set(line.cells) == {units.MISSING} and not line.is_published:
            lacking.setdefault(line.basis, []).append(line.label)
            continue
        shown.append(line)
        rows.append([line.label, *line.values, line.basis])
        if any(line.intervals):
            muted.append(len(rows))
            rows.append([_INDENT + _INTERVAL.text(), *line.intervals, ""])
        if line.is_published:
            muted.append(len(rows))
            rows.append([_INDENT + _PUBLISHED.text(), *line.published, line.published_basis])
    frame = pd.DataFrame(rows, columns=["figure", *labels, "basis"])
    colour = _MUTED.get(st.context.theme.type or "light", _MUTED["light"])
    styled = frame.style.map(lambda _: colour, subset=(muted, labels))
    return Drawn(styled, _settings(table, frame), tuple(shown), lacking)


def _settings(table: RecipeTable, frame: pd.DataFrame) -> dict[Any, Any]:
    text = st.column_config.TextColumn
    widths = [_width(frame.iloc[:, at]) for at in range(frame.shape[1])]
    settings = {1: text("", width=widths[0], pinned=True)}
    for at, step in enumerate(table.recipe.steps, start=2):
        adds = say("{variant:name}: {adds}.", variant=step.variant, adds=step.adds)
        settings[at] = text(step.label, help=adds, width=widths[at - 1], alignment="right")
    settings[len(settings) + 1] = text(say("basis"), help=_BASIS.text(), width=widths[-1])
    return settings


def _width(column: pd.Series) -> int:
    """Width in pixels in which every text of the column, and its head, can be read."""
    longest = max(_text_px(text) for text in [str(column.name), *column])
    return min(_PADDING_PX + longest, _MAX_PX)


def _text_px(text: str) -> int:
    return sum(_WIDE_PX if east_asian_width(char) in "WF" else _CHAR_PX for char in text)
