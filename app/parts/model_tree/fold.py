"""The model tree of the pages Compare and Trace: rows that fold in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files

import streamlit as st

from fusescope.analysis.advice.explanation.model_tree import TracedTree
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Part, paragraph, passage
from fusescope.analysis.report.model_tree.rows import TreeRows, trace_tree_rows, tree_rows
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.trees import model_tree as words
from fusescope.analysis.wording.trees.model_tree import costliest_said
from fusescope.app.parts import panels

_CHARS = 60  # of the name of a module in a sentence
_SOURCES = files(__package__)
_component = st.components.v2.component(
    "fusescope_model_tree",
    html='<div class="tree"></div>',
    css=_SOURCES.joinpath("model_tree.css").read_text(encoding="utf-8"),
    js=_SOURCES.joinpath("model_tree.js").read_text(encoding="utf-8"),
)


def show_tree(comparison: Comparison) -> None:
    """Draw the tree of two sides; nothing where the comparison has none."""
    tree = tree_rows(comparison)
    if tree is not None:
        _show(tree, ())


def show_trace_tree(traced: TracedTree | None, trace: Trace) -> None:
    """Draw the tree of one trace below the part of the model that takes most; nothing without."""
    if traced is None:
        return
    most = traced.costliest
    said = costliest_said(most, traced.tree.unit_kind, traced.unit_name) if most is not None else []
    _show(trace_tree_rows(traced, trace), passage(*(each.parts() for each in said)))


def _show(tree: TreeRows, lead: Sequence[Part]) -> None:
    with panels.guarded():
        st.subheader(
            tree.title, anchor=False, help=paragraph(words.TREE_HELP.text(), words.KEYS_HELP.text())
        )
        if lead:
            st.markdown(panels.parts_text(lead, "blue", _CHARS))
        _component(key="model_tree", data=asdict(tree))
        st.caption(panels.own(tree.basis))
