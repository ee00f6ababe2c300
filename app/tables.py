"""The tables of operators: columns as op_statistic and kernel_details have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pandas as pd
import streamlit as st

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.compare.matching import match_launchers, without_changes
from analysis.compare.totals import Total
from analysis.metrics.counters import MEASURES
from analysis.op_classes import LABELS
from analysis.timeline.payload import first_starts
from analysis.wording import FIGURES, total_basis, total_label
from app.loading import Shown

SIDES = ("baseline", "candidate")
HEIGHT = 388
ROW_HEIGHT = 33
_PROVIDER_SUFFIX = "ExecutionProvider"


@dataclass(frozen=True)
class Figure:
    """A column of each side: `source` in the joined table without the side; `unit` divides it."""

    source: str
    label: str
    help: str
    unit: float
    format: str


_DURATION = Figure(
    "per_run_ns",
    "Duration per run, µs",
    "Profiled time of all its executions in a run, mean over the profiled runs.",
    1e3,
    "%.1f",
)
_RATIO = Figure(
    "share",
    "Ratio, %",
    "Share of the time in all operators of that side, communication apart.",
    0.01,
    "%.1f",
)
# Unit of a counter -> how a column names it, what divides its values, and their format.
_COUNTER_UNITS = {
    "fraction": (", %", 0.01, "%.1f"),
    "factor": ("", 1.0, "%.2f"),
    "GB/s": (", GB/s", 1.0, "%.1f"),
    "flop": (", MFLOP", 1e6, "%.1f"),
    "KB": (", KB", 1.0, "%.0f"),
}
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


@dataclass
class Table:
    """A table as it is drawn: columns under group heads, and Streamlit's settings for each."""

    columns: dict[tuple[str, str], pd.Series] = field(default_factory=dict)
    settings: dict[int, Any] = field(default_factory=dict)

    @property
    def frame(self) -> pd.DataFrame:
        """The cells, with (group, label) as column names; labels alone where nothing is grouped."""
        frame = pd.DataFrame({i: values for i, values in enumerate(self.columns.values())})
        if any(group for group, _ in self.columns):
            frame.columns = pd.MultiIndex.from_tuples(list(self.columns))
        else:
            frame.columns = pd.Index([label for _, label in self.columns])
        return frame.reset_index(drop=True)

    @property
    def csv(self) -> bytes:
        """The cells as CSV with one line of heads."""
        from analysis.report.table_csv import table_csv

        frame = self.frame
        frame.columns = [" ".join(filter(None, names)) for names in self.columns]
        return table_csv(frame)

    def text(self, label: str, values: pd.Series, help_: str, width: str | int) -> None:
        """Add a column of text; `width` in pixels or as Streamlit names it."""
        column = st.column_config.TextColumn(label, help=help_, width=width)  # type: ignore[arg-type]
        self._add("", label, values.astype("object").where(values.notna()), column)

    def number(self, group: str, label: str, values: pd.Series, help_: str, format_: str) -> None:
        """Add a column of numbers."""
        column = st.column_config.NumberColumn(label, help=help_, format=format_)
        self._add(group, label, values.astype(float), column)

    def figure(self, figure: Figure, rows: pd.DataFrame) -> None:
        """Add a figure of both sides; nothing when no row has it."""
        if f"{figure.source}_{SIDES[0]}" not in rows:
            return
        sides = {side: rows[f"{figure.source}_{side}"] for side in SIDES}
        if all(values.isna().all() for values in sides.values()):
            return
        for side, values in sides.items():
            shown = values.astype(float) / figure.unit
            self.number(figure.label, side, shown, figure.help, figure.format)

    def counters(self, rows: pd.DataFrame) -> None:
        """Add the counters that a row has, of both sides."""
        for figure in counter_figures():
            self.figure(figure, rows)

    def change(self, rows: pd.DataFrame, group: str = _DURATION.label) -> None:
        """Add the change of the time per run, and the speedup."""
        self.number(
            group,
            "change",
            rows["delta_ns"] / _DURATION.unit,
            "Candidate - baseline. Negative: the candidate takes less time.",
            "%+.1f",
        )
        self.number(
            group,
            "speedup",
            rows["speedup"],
            "Baseline / candidate, where both ran it.",
            "%.2f×",
        )

    def _add(self, group: str, label: str, values: pd.Series, column: Any) -> None:
        self.columns[(group, label)] = values
        self.settings[len(self.columns)] = column  # 0 is the index


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
    table.text("Name", rows["name"], "Name of the operator in the graph.", "medium")
    table.text("Type", rows["op_type"], "Op type; the candidate's where both ran it.", "small")
    table.figure(_DURATION, rows)
    table.change(rows)
    for figure in _OPERATOR_FIGURES:
        table.figure(figure, rows)
    table.counters(rows)
    classes = rows["op_class"].map(LABELS)
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

    table.text("Time", column([total_label(total) for total in found]), "Per run.", "small")
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
    classes = rows["op_class"].map(LABELS)
    return _kinds("Class", classes, "Operator class: what the small-op ratio counts.", rows)


def _kinds(label: str, kinds: pd.Series, help_: str, rows: pd.DataFrame) -> Table:
    table = Table()
    table.text(label, kinds, help_, "medium")
    provider = _core(either(rows, "provider"))
    table.text("Core type", provider, "Execution provider of most of its time.", "small")
    table.figure(_DURATION, rows)
    table.change(rows)
    for figure in _TYPE_FIGURES:
        table.figure(figure, rows)
    table.counters(rows)
    return table


@cache
def counter_figures() -> tuple[Figure, ...]:
    """A column for each counter, as tables show it."""
    figures = []
    for measure in MEASURES:
        unit, scale, format_ = _COUNTER_UNITS[measure.unit]
        text = FIGURES[measure.code]
        label = f"{text.label[0].upper()}{text.label[1:]}{unit}"
        figures.append(Figure(measure.code, label, text.definition, scale, format_))
    return tuple(figures)


def either(rows: pd.DataFrame, column: str) -> pd.Series:
    """The candidate's value of a column, the baseline's where only that ran it."""
    candidate = rows[f"{column}_candidate"].astype("object")
    return candidate.where(candidate.notna(), rows[f"{column}_baseline"].astype("object"))


def _core(provider: pd.Series) -> pd.Series:
    """'CPUExecutionProvider' as 'CPU'."""
    return provider.map(lambda text: text.removesuffix(_PROVIDER_SUFFIX), na_action="ignore")
