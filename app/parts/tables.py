"""The tables of operators: columns as op_statistic and kernel_details have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.compare.groups.matching import match_launchers, without_changes
from analysis.compare.totals import Total
from analysis.operators.classes import LABELS
from analysis.operators.short_names import short_name
from analysis.timeline.payload import first_starts
from analysis.wording import total_basis, total_label, total_of
from app.parts.table import DURATION, NAME_CHARS, SIDES, TYPE_CHARS, Figure, Table
from app.sources.comparisons import Shown

_TO = " → "
_PROVIDER_SUFFIX = "ExecutionProvider"
_RATIO = Figure(
    "share",
    "Ratio, %",
    "Share of the time in all operators of that side, communication apart.",
    0.01,
    "%.1f",
)
_TYPE_FIGURES = (
    Figure("count", "Count", "Executions per run.", 1.0, "%.0f"),
    Figure("min_ns", "Min, µs", "Shortest execution.", 1e3, "%.1f"),
    Figure("mean_ns", "Avg, µs", "Mean of the executions.", 1e3, "%.1f"),
    Figure("max_ns", "Max, µs", "Longest execution.", 1e3, "%.1f"),
    _RATIO,
)
_OPERATOR_FIGURES = (
    Figure("median_ns", "Median, µs", "Median of the executions.", 1e3, "%.1f"),
    Figure(
        "wait_ns",
        "Wait, µs",
        "From the end of the operator before it on the same thread to its start, mean.",
        1e3,
        "%.1f",
    ),
    Figure(
        "utilisation",
        "Utilisation, %",
        "FLOPs / (mean duration × measured peak). FLOPs are modelled from shapes; products of "
        "8-bit numbers are held against the peak of such products.",
        0.01,
        "%.1f",
    ),
    Figure(
        "bound_share",
        "Of its roof, %",
        "Attained / min(peak, intensity × bandwidth of main memory), modelled. Above 100 %: its "
        "data came from a cache, or the roof was measured too low.",
        0.01,
        "%.1f",
    ),
    Figure(
        "intensity",
        "Intensity, FLOP/B",
        "FLOPs / bytes of inputs, parameters and outputs, each once; modelled from shapes.",
        1.0,
        "%.2f",
    ),
    Figure(
        "attained_flops_per_s",
        "Attained, GFLOP/s",
        "FLOPs / mean duration, of products of 8-bit numbers GOP/s. Modelled from shapes.",
        1e9,
        "%.1f",
    ),
    Figure(
        "attained_bytes_per_s",
        "Moved, GB/s",
        "Bytes of inputs, parameters and outputs, each once, / mean duration: what light operators "
        "attain of the memory's bandwidth. Bytes are modelled from shapes.",
        1e9,
        "%.1f",
    ),
    _RATIO,
    Figure(
        "bytes_moved",
        "Bytes moved, kB",
        "Inputs, parameters and outputs per run, as the profiler reports sizes; modelled.",
        1e3,
        "%.0f",
    ),
    Figure(
        "start",
        "Start, µs",
        "First start in the run that the timeline shows, from the start of that run. "
        "Sort by it to see the order of execution.",
        1e3,
        "%.1f",
    ),
)


def operator_rows(shown: Shown) -> pd.DataFrame:
    """The joined operators with what both sides share under one name, and `start_<side>`."""
    rows = shown.comparison.operators.copy()
    for side in shown.payload["sides"]:
        rows[f"start_{side['id']}"] = rows["row"].map(first_starts(side)).astype(float)
    for column in ("op_type", "provider", "inputs", "outputs"):
        rows[column] = either(rows, column)
    return rows


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
    table.text("Name", rows["name"], "Name of the operator in the graph.", 330, NAME_CHARS)
    kind = (
        "Op type. Where it differs, the baseline's and the candidate's: another operator of the "
        "same name, or one that was joined by what launched it or by its shapes."
    )
    table.text("Type", _types(rows), kind, 190, TYPE_CHARS)
    table.texts[len(table.columns) - 1] = _type_text
    table.figure(DURATION, rows)
    table.change(rows)
    table.first = len(table.columns)
    for figure in _OPERATOR_FIGURES:
        table.figure(figure, rows)
    table.counters(rows)
    classes = rows["op_class"].map(_label)
    table.text("Class", classes, "Operator class: what the small-op ratio counts.", "small")
    table.text("Inputs", rows["inputs"], "Data types and shapes read.", "medium")
    table.text("Outputs", rows["outputs"], "Data types and shapes written.", "medium")
    table.text("Core type", _core(rows["provider"]), "Execution provider that ran it.", "small")
    return table


def totals_table(comparison: Comparison, found: Sequence[Total]) -> Table:
    """The times of a run, each with what it rests on."""
    table = Table()

    def column(cells: list[str]) -> pd.Series:
        return pd.Series(cells, dtype="object")

    labels = column([total_label(total, comparison) for total in found])
    table.text("Time", labels, total_of(comparison), "small")
    for side in SIDES:
        cells = [units.duration(getattr(total, f"{side}_ns")) for total in found]
        table.text(side, column(cells), f"Of the {side}.", "small")
    basis = column([total_basis(total, comparison) for total in found])
    table.text("What it is", basis, "What it rests on, and where it stands.", "large")
    return table


def type_table(comparison: Comparison) -> Table:
    """The table of op types, largest absolute change first."""
    rows = comparison.op_types
    return _kinds("OP type", rows["op_type"], "Op type as the engine names it.", rows)


def launcher_table(comparison: Comparison) -> Table:
    """The table of what launched the operators, largest absolute change first."""
    rows = match_launchers(comparison.baseline.trace, comparison.candidate.trace)
    rows = rows if comparison.has_changes else without_changes(rows)
    help_ = "Operator of the framework that launched the kernels; unknown where none is known."
    return _kinds("Launched by", rows["launched_by"], help_, rows)


def class_table(comparison: Comparison) -> Table:
    """The table of operator classes, largest absolute change first."""
    rows = comparison.op_classes
    classes = rows["op_class"].map(_label)
    return _kinds("Class", classes, "Operator class: what the small-op ratio counts.", rows)


def _kinds(label: str, kinds: pd.Series, help_: str, rows: pd.DataFrame) -> Table:
    table = Table()
    table.text(label, kinds, help_, 330, NAME_CHARS)
    provider = _core(either(rows, "provider"))
    table.text("Core type", provider, "Execution provider of most of its time.", 190, TYPE_CHARS)
    table.figure(DURATION, rows)
    table.change(rows)
    table.first = len(table.columns)
    for figure in _TYPE_FIGURES:
        table.figure(figure, rows)
    table.counters(rows)
    return table


def either(rows: pd.DataFrame, column: str) -> pd.Series:
    """The candidate's value of a column, the baseline's where only that ran it."""
    candidate = rows[f"{column}_candidate"].astype("object")
    return candidate.where(candidate.notna(), rows[f"{column}_baseline"].astype("object"))


def _types(rows: pd.DataFrame) -> pd.Series:
    """The op types of both sides as 'Conv', or 'Conv → FusedConv' where they differ."""
    baseline, candidate = (rows[f"op_type_{side}"].astype("object") for side in SIDES)
    differ = baseline.notna() & candidate.notna() & (baseline != candidate)
    both = baseline.astype(str) + _TO + candidate.astype(str)
    return either(rows, "op_type").where(~differ, both)


def _type_text(types: object) -> str:
    """Types cut in the middle, each of two for itself."""
    parts = str(types).split(_TO)
    chars = TYPE_CHARS if len(parts) == 1 else (TYPE_CHARS - len(_TO)) // 2
    if len(str(types)) <= TYPE_CHARS:
        return str(types)
    return _TO.join(units.middle_cut(short_name(part), chars) for part in parts)


def _core(provider: pd.Series) -> pd.Series:
    """'CPUExecutionProvider' as 'CPU'."""
    return provider.map(lambda text: text.removesuffix(_PROVIDER_SUFFIX), na_action="ignore")


def _label(op_class: str) -> str:
    return LABELS[op_class].text()
