"""The kind of work that a page is about, where its files hold several."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from fusescope.analysis.compare.side import Side
from fusescope.analysis.wording.explanation import kinds as words
from fusescope.analysis.work_units import Work
from fusescope.analysis.work_units.kinds import code_of, common_kinds, kinds_of_work
from fusescope.app import state


def work_of_pair(sides: tuple[Side, Side]) -> Work | None:
    """Draw the choice between the kinds of work that both sides have; None without a choice."""
    if not all(map(_is_one_trace, sides)):
        return None
    found = common_kinds(sides[0].trace, sides[1].trace)
    return _choice({kind.work: words.kinds_text(kind, other) for kind, other in found})


def work_of_side(side: Side) -> Work | None:
    """Draw the choice between the kinds of work of a trace; None without a choice."""
    if not _is_one_trace(side):
        return None
    return _choice({kind.work: words.kind_text(kind) for kind in kinds_of_work(side.trace)})


def _choice(texts: Mapping[Work, str]) -> Work | None:
    if len(texts) < 2:
        return None
    by_code = {code_of(work): work for work in texts}
    chosen = st.selectbox(
        words.LABEL.text(),
        list(by_code),
        format_func=lambda code: texts[by_code[code]],
        key=state.language.told_choice("work"),
        help=words.HELP.text(),
    )
    return by_code.get(chosen)


def _is_one_trace(side: Side) -> bool:
    return side.experiment is None and not side.files and not side.trace.ends_early
