"""Where the time of a run goes: the parts of a run, op types, and which time is which."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis import wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.ledger.modules import modules
from fusescope.analysis.compare.side import engines_differ
from fusescope.analysis.compare.totals import totals
from fusescope.analysis.messages import Message, say
from fusescope.analysis.wording import step as step_words
from fusescope.analysis.wording.totals import TOTALS_TITLE
from fusescope.app.language import spoken
from fusescope.app.parts import ledger, panels, tables
from fusescope.app.parts.several import steps
from fusescope.app.parts.table import choice

LAUNCHED, MODULES = "launched_by", "modules"
KINDS = {
    "op_types": tables.type_table,
    "classes": tables.class_table,
    MODULES: ledger.module_table,
    LAUNCHED: tables.launcher_table,
}
KIND_NAMES = {
    "op_types": Message("Op types"),
    "classes": Message("Classes"),
    MODULES: Message("Modules"),
    LAUNCHED: Message("Launched by"),
}
_ALTS = {  # with changes, and of two models
    "op_types": (
        Message("Op types of both sides, largest change first"),
        Message("Op types of both sides, longest time first"),
    ),
    "classes": (
        Message("Operator classes of both sides, largest change first"),
        Message("Operator classes of both sides, longest time first"),
    ),
    MODULES: (
        Message("Modules of the model, largest change first"),
        Message("Modules of the model, largest change first"),
    ),
    LAUNCHED: (
        Message("Operators that launched kernels, of both sides, largest change first"),
        Message("Operators that launched kernels, of both sides, longest time first"),
    ),
}
MAX_TYPES = 14  # rows that are shown without scrolling


def show(comparison: Comparison) -> None:
    """Draw the parts of a run, the steps between variants of an engine, op types, and times."""
    steps(comparison)
    _step(comparison)
    _op_types(comparison)
    _totals(comparison)


def _step(comparison: Comparison) -> None:
    """Draw where the time of a run goes on each side, and what the change went to."""
    from fusescope.analysis.charts.step import step

    figure = step(step_words.step_bars(comparison), panels.mark_colours())
    if figure is None:
        return
    st.subheader(
        step_words.step_title(comparison.baseline, comparison.candidate),
        anchor=False,
        help=step_words.STEP_HELP.text(),
    )
    if change := step_words.step_sentence(comparison):
        st.markdown(panels.own(change))
    panels.chart(figure, "step", say("The mean time of each side in parts"))
    lines = [panels.parts_text(line, "gray") for line in step_words.step_lines(comparison)]
    lines.append(panels.own(step_words.STEP_BASIS.text()))
    st.caption("  \n".join(lines))  # two spaces break a line


@st.fragment
@spoken
def _op_types(comparison: Comparison) -> None:
    with panels.guarded():
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            traces = (comparison.baseline.trace, comparison.candidate.trace)
            launched = any(trace.operators["launched_by"].notna().any() for trace in traces)
            missing = {LAUNCHED} if not launched else set()
            missing |= {MODULES} if modules(comparison.ledger).empty else set()
            kinds = [name for name in KINDS if name not in missing]
            title = say("Op types and classes")
            if MODULES in kinds:
                title = say("Op types, classes and modules")
            help_ = wording.table_help(wording.OP_TYPES_HELP, comparison)
            st.subheader(title, anchor=False, help=help_, width="content")
            # Two engines call operators by words of their own: what both have comes first.
            apart = engines_differ(comparison.baseline, comparison.candidate)
            first = "classes" if apart else kinds[0]
            kind = panels.switch(
                say("Kind"),
                kinds,
                "kind_of_engines" if apart else "kind",
                default=first,
                shown=lambda code: KIND_NAMES[code].text(),
            )
            kind = kind if kind in kinds else first
            table = KINDS[kind](comparison).of(comparison)
            more = choice(table, "type_columns")
        alt = _ALTS[kind][0 if comparison.has_changes else 1].text()
        table.only(more).draw(f"{kind}_table", alt, max_rows=MAX_TYPES)
        st.caption(panels.own(wording.kinds_sentence(comparison, kind)))


def _totals(comparison: Comparison) -> None:
    """Say which of the times of a run on this page is which."""
    found = totals(comparison)
    if len(found) < 2:
        return
    table = tables.totals_table(comparison, found)
    st.subheader(TOTALS_TITLE.text(), anchor=False)
    alt = say("Times on this page and what each is based on")
    table.draw("totals_table", alt, placeholder="–")
