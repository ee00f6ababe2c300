"""A recipe's table as it is drawn: figures as lines, steps as columns, published figures below
ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from analysis import units
from analysis.recipes import RecipeTable
from analysis.report.recipe import Line, lines

_PUBLISHED = "\u2003published"
_MUTED = "color: #75808c"
_BASIS = "What the figure rests on: measured by a clock, modelled from shapes, or as it was set."


@dataclass(frozen=True, eq=False)
class Drawn:
    """`styled` are the cells and `settings` Streamlit's for each column. `lines` are the figures
    shown; `lacking` are labels of figures that nobody has, by why."""

    styled: Styler
    settings: dict[int, Any]
    lines: tuple[Line, ...]
    lacking: dict[str, list[str]]


def drawn(table: RecipeTable) -> Drawn:
    """The table for st.dataframe, where texts of the file are not interpreted."""
    labels = [step.label for step in table.recipe.steps]
    rows: list[list[str]] = []
    shown: list[Line] = []
    published: list[int] = []
    lacking: dict[str, list[str]] = {}
    for line in lines(table):
        if set(line.cells) == {units.MISSING} and not line.is_published:
            lacking.setdefault(line.basis, []).append(line.label)
            continue
        shown.append(line)
        rows.append([line.label, *line.cells, line.basis])
        if line.is_published:
            published.append(len(rows))
            rows.append([_PUBLISHED, *line.published, ""])
    frame = pd.DataFrame(rows, columns=["figure", *labels, "basis"])
    styled = frame.style.map(lambda _: _MUTED, subset=(published, labels))
    return Drawn(styled, _settings(table), tuple(shown), lacking)


def _settings(table: RecipeTable) -> dict[int, Any]:
    text = st.column_config.TextColumn
    settings = {1: text("", width=190, pinned=True)}
    for at, step in enumerate(table.recipe.steps, start=2):
        adds = f"{step.variant}: {step.adds}."
        settings[at] = text(step.label, help=adds, alignment="right")
    settings[len(settings) + 1] = text("basis", help=_BASIS, width=100)
    return settings
