"""The model tree of the Compare page: rows that fold in the browser."""

from __future__ import annotations

from dataclasses import asdict
from importlib.resources import files

import streamlit as st

from analysis.compare.comparison import Comparison
from analysis.messages import paragraph
from analysis.report.model_tree.rows import tree_rows
from analysis.wording.trees import model_tree as words
from app.parts import panels

_SOURCES = files(__package__)
_component = st.components.v2.component(
    "fusescope_model_tree",
    html='<div class="tree"></div>',
    css=_SOURCES.joinpath("model_tree.css").read_text(encoding="utf-8"),
    js=_SOURCES.joinpath("model_tree.js").read_text(encoding="utf-8"),
)


def show_tree(comparison: Comparison) -> None:
    """Draw the tree; nothing where the comparison has none."""
    tree = tree_rows(comparison)
    if tree is None:
        return
    with panels.guarded():
        st.subheader(
            tree.title, anchor=False, help=paragraph(words.TREE_HELP.text(), words.KEYS_HELP.text())
        )
        _component(key="model_tree", data=asdict(tree))
        st.caption(panels.own(tree.basis))
