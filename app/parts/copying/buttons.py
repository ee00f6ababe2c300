"""Two buttons beside an answer: copy it as text, or as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files

import streamlit as st

from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import say
from fusescope.analysis.report.explanation.rows import ExplainedRows
from fusescope.analysis.wording.answer import answer_lines
from fusescope.app import state
from fusescope.app.language import spoken
from fusescope.app.parts import panels
from fusescope.app.sources.comparisons import Shown

KEY = "copying"
_SOURCES = files(__package__)
_component = st.components.v2.component(
    "fusescope_copying",
    html='<div class="copying"></div>',
    css=_SOURCES.joinpath("copying.css").read_text(encoding="utf-8"),
    js=_SOURCES.joinpath("copying.js").read_text(encoding="utf-8"),
)


@st.fragment
@spoken
def show(shown: Shown) -> None:
    """Draw the buttons; what one of them asks for is written when it is clicked."""
    _draw(shown.key, {"text": lambda: _text(shown), "markdown": lambda: _markdown(shown)})


@st.fragment
@spoken
def show_of_trace(side: Side, rows: ExplainedRows, id_: str) -> None:
    """Draw them for the answer on one trace, which `id_` names."""
    from fusescope.analysis.report.explanation.trace_answer import trace_markdown, trace_text

    writers = {
        "text": lambda: trace_text(side, rows),
        "markdown": lambda: trace_markdown(side, rows),
    }
    _draw(f"trace:{id_}", writers)


def _draw(of: str, writers: Mapping[str, Callable[[], str]]) -> None:
    with panels.guarded():
        write = writers.get(str(state.timeline.asked(KEY)))
        data = {
            "of": of,
            "ways": [["text", say("Copy as text")], ["markdown", say("Copy as Markdown")]],
            "copied": say("Copied. You can also select it here:"),
            "refused": say("The browser does not allow copying. Select it here:"),
            "hide": say("Hide"),
            "text": None if write is None else write(),
        }
        _component(key=KEY, data=data, on_asked_change=_rerun)


def _text(shown: Shown) -> str:
    from fusescope.analysis.report.explanation.group_rows import group_lines
    from fusescope.analysis.report.explanation.product_text import product_lines
    from fusescope.analysis.report.origins import origin_lines

    explained = shown.comparison.explanation
    found = group_lines(shown.comparison) if explained is None else product_lines(explained)
    from_files = origin_lines(shown.comparison)
    return "\n".join([*answer_lines(shown.comparison), *found, *from_files]) + "\n"


def _markdown(shown: Shown) -> str:
    from fusescope.analysis.report.exports.comparison_markdown import comparison_markdown

    return comparison_markdown(shown.comparison)


def _rerun() -> None:
    """A click needs no callback of its own: the rerun that it causes reads it."""
