"""The tables of operators: columns as op_statistic and kernel_details have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.joining.launchers import launchers_that_differ
from fusescope.analysis.compare.joining.matching import match_launchers, without_changes
from fusescope.analysis.compare.totals import Total
from fusescope.analysis.messages import Message, say
from fusescope.analysis.metrics import places
from fusescope.analysis.operators.classes import LABELS
from fusescope.analysis.operators.short_names import short_name
from fusescope.analysis.report.text import with_shown_shares
from fusescope.analysis.timeline.payload import first_starts
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import total_basis, total_label, total_of
from fusescope.app.parts.heads import SIDE_NAMES, SIDES, Counted, Head
from fusescope.app.parts.table import (
    DURATION,
    NAME_CHARS,
    NAME_WIDTH,
    TYPE_CHARS,
    TYPE_WIDTH,
    Figure,
    Table,
    width_of,
)
from fusescope.app.sources.comparisons import Shown

_TO = " → "
_BASIS_WIDTHS = (200, 820)
EXECUTIONS = Counted(Message("Executions {per}."), Message("Executions in the file."))
MEAN = Message("Mean of the executions.")
_RATIO = Figure(
    "share",
    Head(Message("Of time without communication"), "%"),
    Message("Share of the time in all operators of that side, without communication."),
    0.01,
    "%.1f",
)
TYPE_FIGURES = (
    Figure("count", Head(Message("Count")), EXECUTIONS, 1.0, "%.0f"),
    Figure("min_ns", Head(Message("Min"), "µs"), Message("Shortest execution."), 1e3, "%.1f"),
    Figure("mean_ns", Head(Message("Avg"), "µs"), MEAN, 1e3, "%.1f"),
    Figure("max_ns", Head(Message("Max"), "µs"), Message("Longest execution."), 1e3, "%.1f"),
    _RATIO,
)
OPERATOR_FIGURES = (
    Figure(
        "median_ns",
        Head(Message("Median"), "µs"),
        Message("Median of the executions."),
        1e3,
        "%.1f",
    ),
    Figure(
        "wait_ns",
        Head(Message("Gap before"), "µs"),
        Message(
            "Mean time from the end of the previous operator on the same stream or thread to its "
            "start; other streams may run meanwhile."
        ),
        1e3,
        "%.1f",
    ),
    Figure(
        "utilisation",
        Head(Message("Utilisation"), "%"),
        Message(
            "FLOPs / (mean duration × peak). FLOPs are modelled from shapes; products of 8-bit "
            "numbers are compared with the peak of such products, and on a device whose public "
            "figures are known all with the peak of their data type."
        ),
        0.01,
        "%.1f",
    ),
    Figure(
        "bound_share",
        Head(Message("Of its roof"), "%"),
        Message(
            "Attained / min(peak, intensity × bandwidth of main memory), modelled. Above 100 %: "
            "its data came from a cache, or the roof is too low."
        ),
        0.01,
        "%.1f",
    ),
    Figure(
        "intensity",
        Head(Message("Intensity"), "FLOP/B"),
        Message(
            "FLOPs / bytes of inputs, parameters and outputs, each counted once; modelled from "
            "shapes."
        ),
        1.0,
        "%.2f",
    ),
    Figure(
        "attained_flops_per_s",
        Head(Message("Attained"), "GFLOP/s"),
        Message(
            "FLOPs / mean duration; GOP/s for products of 8-bit numbers. FLOPs are modelled from "
            "shapes."
        ),
        1e9,
        "%.1f",
    ),
    Figure(
        "attained_bytes_per_s",
        Head(Message("Moved"), "GB/s"),
        Message(
            "Bytes of inputs, parameters and outputs, each counted once, / mean duration: the "
            "memory bandwidth that light operators attain. Bytes are modelled from shapes."
        ),
        1e9,
        "%.1f",
    ),
    _RATIO,
    Figure(
        "bytes_moved",
        Head(Message("Bytes moved"), "kB"),
        Counted(
            Message(
                "Inputs, parameters and outputs per run, with the sizes that the profiler "
                "reports; modelled."
            ),
            Message(
                "Inputs, parameters and outputs in the file, with the sizes that the profiler "
                "reports; modelled."
            ),
        ),
        1e3,
        "%.0f",
    ),
    Figure(
        "start",
        Head(Message("Start"), "µs"),
        Message(
            "First start in the run that the timeline shows, measured from the start of that run. "
            "Sort by it to see the order of execution."
        ),
        1e3,
        "%.1f",
    ),
)


CLASS, CORE_TYPE = Message("Class"), Message("Core type")
RAN = Message("Every execution provider or core type that ran it, most time first.")
CLASS_WIDTH = 120  # pixels, for 'matrix product' and 'data movement'
CLASS_HELP = Message("Operator class, which the small-op ratio is based on.")
OF_SIDE = {
    "baseline": Message("Of the baseline."),
    "candidate": Message("Of the candidate."),
}


def operator_rows(shown: Shown) -> pd.DataFrame:
    """The joined operators with what both sides share under one name, and `start_<side>`; made once
    for a comparison, so nobody may change them."""
    if shown not in _ROWS:
        _ROWS[shown] = _operator_rows(shown)
    return _ROWS[shown]


_ROWS: WeakKeyDictionary[Shown, pd.DataFrame] = WeakKeyDictionary()


def _operator_rows(shown: Shown) -> pd.DataFrame:
    rows = shown.comparison.operators.copy(deep=False)
    for side in shown.payload["sides"]:
        rows[f"start_{side['id']}"] = rows["row"].map(first_starts(side)).astype(float)
    for column in ("op_type", "inputs", "outputs"):
        rows[column] = either(rows, column)
    sides = (shown.comparison.baseline.trace, shown.comparison.candidate.trace)
    rows["provider"], rows["kernel"] = _where(rows, sides)
    launched = launchers_that_differ(rows, *sides)
    if launched is not None:
        rows["launched_by"] = launched.where(launched != "", say("unknown"))
    return rows


def _where(rows: pd.DataFrame, traces: Sequence[Trace]) -> tuple[pd.Series, pd.Series]:
    """Return where operators ran and the kernel that an engine says of each, of both sides."""
    told = rows.copy(deep=False)
    for side, trace in zip(SIDES, traces, strict=True):
        name = f"provider_{side}"
        told[name], told[f"kernel_{side}"] = places.of_operators(trace, rows[name])
    return places_of_both(told), of_both(told, "kernel")


def matching(rows: pd.DataFrame, text: str, classes: Iterable[str]) -> pd.DataFrame:
    """Rows of these classes (all when none is given) with `text` in name, type or shapes."""
    chosen = set(classes)
    if chosen:
        rows = rows[rows["op_class"].isin(chosen)]
    text = text.strip().casefold()
    if not text:
        return rows
    found = pd.Series(False, index=rows.index)
    for column in ("name", "op_type_baseline", "op_type_candidate", "inputs", "outputs"):
        found |= rows[column].astype(str).str.casefold().str.contains(text, regex=False)
    return rows[found]


def operator_table(rows: pd.DataFrame) -> Table:
    """The table of these operators, in their order."""
    table = Table()
    name = Message("Name of the operator in the graph.")
    table.text(Head(Message("Name")), rows["name"], name, NAME_WIDTH, NAME_CHARS)
    kind = Message(
        "Op type. Where the types differ, both are shown: another operator has the same name, or "
        "the operators were joined by what launched them or by their shapes."
    )
    table.text(
        Head(Message("Type")), of_both(rows, "op_type"), kind, TYPE_WIDTH, TYPE_CHARS, behind=True
    )
    table.texts[len(table.columns) - 1] = _type_text
    if "launched_by" in rows:  # else rows of one name could not be told apart
        launched = Message(
            "Operator of the framework that launched the kernels; unknown where none is known."
        )
        by = Head(Message("Launched by"))
        table.text(by, rows["launched_by"], launched, 170, TYPE_CHARS, behind=True)
    table.figure(DURATION, rows)
    table.change(rows)
    table.first = len(table.columns)
    for figure in OPERATOR_FIGURES:
        table.figure(figure, rows)
    table.counters(rows)
    table.text(Head(CLASS), class_names(rows["op_class"]), CLASS_HELP, CLASS_WIDTH)
    reads = Message("Data types and shapes that it reads.")
    table.text(Head(Message("Inputs")), rows["inputs"], reads, "medium")
    writes = Message("Data types and shapes that it writes.")
    table.text(Head(Message("Outputs")), rows["outputs"], writes, "medium")
    add_places(table, rows["provider"], rows.get("kernel"))
    return table


def add_places(table: Table, where: pd.Series, kernels: pd.Series | None) -> None:
    """Columns of where operators ran and of the kernels that an engine names, each where known."""
    has_kernels = kernels is not None and bool(kernels.notna().any())
    if kernels is not None and has_kernels:
        chosen = Message("Kernel that the engine chose for it.")
        table.text(Head(Message("Kernel")), kernels, chosen, TYPE_WIDTH, TYPE_CHARS, behind=True)
    if where.notna().any() or not has_kernels:
        ran = Message("Execution provider that ran it.")
        table.text(Head(CORE_TYPE), core_types(where), ran, "small")


def totals_table(comparison: Comparison, found: Sequence[Total]) -> Table:
    """The times of a run, each with what it rests on."""
    table = Table()

    def column(cells: list[str]) -> pd.Series:
        return pd.Series(cells, dtype="object")

    labels = column([total_label(total, comparison) for total in found])
    table.text(Head(Message("Time")), labels, total_of(comparison), "small")
    sides = {side: [getattr(total, f"{side}_ns") for total in found] for side in SIDES}
    for side in SIDES:
        # A side that takes far longer leaves no digits to tell the other's times apart.
        times = units.column_of(sides[side])
        cells = [times.number(ns) for ns in sides[side]]
        head = Head(SIDE_NAMES[side], times.unit)
        table.text(head, column(cells), OF_SIDE[side], "small")
    basis = column([total_basis(total, comparison) for total in found])
    what = Message("What it is based on, and where it appears.")
    width = width_of(basis, least=_BASIS_WIDTHS[0], most=_BASIS_WIDTHS[1])
    table.text(Head(Message("What it is")), basis, what, width)
    return table


def type_table(comparison: Comparison) -> Table:
    """The table of op types, largest absolute change first."""
    rows = comparison.op_types
    help_ = Message("Op type as the engine names it.")
    return _kinds(Head(Message("OP type")), rows["op_type"], help_, rows)


def launcher_table(comparison: Comparison) -> Table:
    """The table of what launched the operators, largest absolute change first."""
    rows = match_launchers(comparison.baseline.trace, comparison.candidate.trace)
    rows = rows if comparison.has_changes else without_changes(rows)
    help_ = Message(
        "Operator of the framework that launched the kernels; unknown where none is known."
    )
    return _kinds(Head(Message("Launched by")), rows["launched_by"], help_, rows)


def class_table(comparison: Comparison) -> Table:
    """The table of operator classes, largest absolute change first."""
    rows = comparison.op_classes
    return _kinds(Head(CLASS), class_names(rows["op_class"]), CLASS_HELP, rows)


def class_names(classes: pd.Series) -> pd.Series:
    return classes.map(lambda code: LABELS[code].text(), na_action="ignore")


def _kinds(head: Head, kinds: pd.Series, help_: Message, rows: pd.DataFrame) -> Table:
    table, rows = Table(), with_shown_shares(rows)
    table.text(head, kinds, help_, NAME_WIDTH, NAME_CHARS)
    provider = core_types(places_of_both(rows))
    table.text(Head(CORE_TYPE), provider, RAN, TYPE_WIDTH, TYPE_CHARS, behind=True)
    table.figure(DURATION, rows)
    table.change(rows)
    table.first = len(table.columns)
    for figure in TYPE_FIGURES:
        table.figure(figure, rows)
    table.counters(rows)
    return table


def either(rows: pd.DataFrame, column: str) -> pd.Series:
    """The candidate's value of a column, the baseline's where only that ran it."""
    candidate = rows[f"{column}_candidate"].astype("object")
    return candidate.where(candidate.notna(), rows[f"{column}_baseline"].astype("object"))


def of_both(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return what both sides have in a column as 'Conv', or 'Conv → FusedConv' where they
    differ."""
    baseline, candidate = (rows[f"{column}_{side}"].astype("object") for side in SIDES)
    differ = baseline.notna() & candidate.notna() & (baseline != candidate)
    both = baseline.astype(str) + _TO + candidate.astype(str)
    return either(rows, column).where(~differ, both)


def _type_text(types: object) -> str:
    """Types cut in the middle, each of two for itself."""
    parts = str(types).split(_TO)
    chars = TYPE_CHARS if len(parts) == 1 else (TYPE_CHARS - len(_TO)) // 2
    if len(str(types)) <= TYPE_CHARS:
        return str(types)
    return _TO.join(units.middle_cut(short_name(part), chars) for part in parts)


def places_of_both(rows: pd.DataFrame) -> pd.Series:
    """Return where both sides ran as 'CPU', or 'CPU → –' where one of them does not say it."""
    told = [rows[f"provider_{side}"].astype("object") for side in SIDES]
    ran = rows["side"] == "both"
    known = told[0].notna() | told[1].notna()
    unknown = {
        f"provider_{side}": of.where(of.notna() | ~(ran & known), units.MISSING)
        for side, of in zip(SIDES, told, strict=True)
    }
    return of_both(rows.assign(**unknown), "provider")


def core_types(provider: pd.Series) -> pd.Series:
    """Return 'CPUExecutionProvider' as 'CPU', of two sides each."""
    return provider.map(
        lambda text: _TO.join(map(places.shown, text.split(_TO))), na_action="ignore"
    )
