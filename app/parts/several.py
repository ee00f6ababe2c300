"""Several variants: the table against one baseline, and what each step of an engine brings."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from fusescope.analysis import units, wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import Entry, MultipleComparison
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.compare.multiple.pareto import Pareto, pareto
from fusescope.analysis.messages import Message, say
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.wording.multiple import comparison as words
from fusescope.analysis.wording.multiple import ladder as step_words
from fusescope.analysis.wording.multiple.engines import Fact, facts
from fusescope.analysis.wording.texts import FigureText
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.heads import NO_HEAD, Capital, Head
from fusescope.app.parts.table import Table, width_of

NAME_CHARS, _NAME_WIDTHS = 34, (120, 265)
# Behind the name of each side, where engines are compared; some are facts, some figures.
ENGINE_COLUMNS = (
    "engine", "latency", "time_interval", "speedup", "memory", "output_difference",
    "agreement_top1", "compile_time", "precision",
)  # fmt: skip
_FACT_WIDTHS = {"engine": 135, "time_interval": 140, "precision": 85, "compile_time": 105}
_COLOURS = {"faster": "blue", "slower": "red"}


def several_table(multiple: MultipleComparison, found: Pareto | None) -> Table:
    """A row for each side in the order of the table, columns as the terminal has them."""
    table = Table()
    entries = [multiple.entries[at] for at in multiple.order]
    _names(table, entries)
    _speedups(table, multiple, entries)
    for fact in facts(multiple):
        _fact(table, multiple, fact)
    for code in multiple.columns:
        _figure(table, code, entries, words.column_text(multiple, code))
    if found is not None:
        front = pd.Series([words.front_text(multiple, found, at) or None for at in multiple.order])
        table.text(Head(words.PARETO_FRONT), front, words.PARETO_HELP, 160)
    return table


def engine_table(multiple: MultipleComparison) -> Table:
    """The same sides by what tells engines apart: times, memory, outputs, what ran."""
    table = Table()
    entries = [multiple.entries[at] for at in multiple.order]
    told = {fact.code: fact for fact in facts(multiple)}
    _names(table, entries)
    for code in ENGINE_COLUMNS:
        if code == "speedup":
            _speedups(table, multiple, entries)
        elif code in told:
            _fact(table, multiple, told[code])
        elif code in multiple.columns:
            _figure(table, code, entries, words.column_text(multiple, code))
    return table


def _names(table: Table, entries: list[Entry]) -> None:
    names = pd.Series([entry.side.name for entry in entries])
    width = width_of(names, least=_NAME_WIDTHS[0], most=_NAME_WIDTHS[1])
    help_ = Message("What is compared with the baseline.")
    table.text(Head(Message("Variant")), names, help_, width, NAME_CHARS)


def _speedups(table: Table, multiple: MultipleComparison, entries: list[Entry]) -> None:
    speedups = pd.Series([words.shown_speedup(entry) for entry in entries], dtype=float)
    if words.has_speedups(multiple):
        speedup = Message("Time of the baseline / time of the variant; above 1 is faster.")
        table.number(NO_HEAD, Head(Message("Speedup")), speedups, speedup, "%.2f×", units.factor)
    intervals = pd.Series([words.interval_text(entry) or None for entry in entries])
    if intervals.notna().any():
        help_ = Message("Of the speedup, wide enough for all of them to hold together at 95 %.")
        table.text(Head(Capital(words.interval_head(multiple))), intervals, help_, 120)
    results = pd.Series([words.result_text(entry) for entry in entries])
    table.text(
        Head(Message("Against the baseline")),
        results,
        Message("Faster or slower than the baseline, where noise lets that be told."),
        150,
    )


def _fact(table: Table, multiple: MultipleComparison, fact: Fact) -> None:
    """A column of what ran each side."""
    cells = pd.Series([fact.cells[at] or None for at in multiple.order], dtype="object")
    table.text(Head(fact.label), cells, fact.definition, _FACT_WIDTHS[fact.code])


def _figure(table: Table, code: str, entries: list[Entry], of: FigureText) -> None:
    """A column of one figure; cells sort by its value."""
    quantities = [entry.figures[code] for entry in entries]
    values = pd.Series([quantity.value for quantity in quantities], dtype=float)
    basis = next((one for one in quantities if one.value is not None), quantities[0])
    column = wording.column_of_quantities(quantities)

    def text(value: float) -> str:
        return wording.quantity_text(Quantity(value, basis.unit, basis.basis), column)

    table.number(NO_HEAD, Head(Capital(of.name)), values, of.definition, "%.3g", text)


def steps(compared: Comparison | MultipleComparison) -> None:
    """The ladder of what is compared; nothing where its sides form none."""
    from fusescope.analysis.charts.waterfall import falling

    found = ladder_of(compared)
    if found is None:
        return
    title = step_words.ladder_title(found)
    help_ = step_words.LADDER_HELP.text()
    st.subheader(panels.parts_text(title, "gray"), anchor=False, help=help_)
    answer = panels.parts_text(step_words.ladder_parts(found), _COLOURS.get(found.outcome, "gray"))
    st.markdown(f"**{answer}**")
    figure = falling(step_words.ladder_steps(found), step_words.LADDER_AXIS, panels.mark_colours())
    # Both folds may be open: each has a chart of its own.
    key = "ladder" if isinstance(compared, Comparison) else "ladder_of_all"
    panels.chart(figure, key, "".join(part.text for part in title))
    for step in found.steps:  # the names of its variants are ours
        name = panels.own(step_words.NAMES[step.code].text())
        way = panels.own(step_words.step_way(step))
        told = panels.own(step_words.step_sentences(step))
        st.markdown(f"**{name}** :gray[{way}]  \n{told}")
    basis = step_words.ladder_basis(found, has_ledger=isinstance(compared, Comparison))
    st.caption(panels.parts_text(basis, "gray"))


def pareto_chart(multiple: MultipleComparison, key: str) -> None:
    """Speed against accuracy and memory; nothing where neither was recorded."""
    from fusescope.analysis.charts.pareto import pareto as picture

    found = pareto(multiple)
    if found is None:
        return
    st.subheader(words.PARETO_TITLE.text(), anchor=False, help=words.PARETO_HELP.text())
    st.text(words.front_sentence(multiple, found))
    names = [side.name for side in multiple.sides]
    alt = say("Latency of each variant against output difference and peak memory")
    panels.chart(picture(found, names, panels.mark_colours()), key, alt)


def all_engines(engines_page: st.Page, key: str) -> None:
    """The way to what the Engines page shows by that key."""
    st.page_link(
        engines_page,
        label=say("All engines in one table"),
        icon=":material/memory:",
        query_params=state.pages.engines_query(key),
    )
