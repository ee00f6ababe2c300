"""The tables of operators: columns as op_statistic and kernel_details have them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.compare.groups.matching import match_launchers, without_changes
from analysis.compare.totals import Total
from analysis.metrics.counters import MEASURES
from analysis.operators.classes import LABELS
from analysis.operators.short_names import short_name, short_names
from analysis.timeline.payload import first_starts
from analysis.wording import FIGURES, counted, counts_of, total_basis, total_label, total_of
from app.sources.comparisons import Shown

SIDES = ("baseline", "candidate")
HEIGHT = 388
ROW_HEIGHT = 33
MAX_DRAWN = 30_000  # cells whose text is made one by one
MIN_COLUMNS = 6
_BORDERS = 3  # px
NAME_CHARS = 44
TYPE_CHARS = 24
_MIN_SHORT = 32  # characters in which names can be told apart
ONE_SIDED = {"baseline": "gone", "candidate": "new"}
RAN_ON = {"both": "both", "baseline": "baseline only", "candidate": "candidate only"}
STANDS_FOR = {"gone": math.inf, "new": 0.0}  # baseline / candidate
_MICRO = (", µs", "(us)")  # how a head of times ends, ours and that of kernel_details
Text = Callable[[Any], str]
_TO = " → "
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
    "Profiled time of all its executions, mean per run.",
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


def whole_height(rows: int) -> int:
    """Pixels of a table with one line of heads that shows all of its rows."""
    return ROW_HEIGHT * (rows + 1) + _BORDERS


def micro(us: float) -> str:
    """Microseconds as a duration with its unit."""
    return units.duration(us * 1e3)


def micro_change(us: float) -> str:
    """A change in microseconds as a duration with sign and unit."""
    return units.duration(us * 1e3, signed=True)


def _number(format_: str, value: float) -> str:
    """A number in the format of a column, '%.1f' or '%.2f×', as figures are written elsewhere."""
    form, _, end = format_.removeprefix("%").partition("f")
    return format_ % value if "e" in form else f"{units.grouped(value, f'{form}f')}{end}"


def _text_of(texts: dict[float, str], us: float) -> str:
    return texts.get(us) or micro(us)


def _told(mark: str, _value: object) -> str:
    """What a marked cell shows in place of its value."""
    return mark


def _or_blank(text: Text) -> Text:
    return lambda value: "" if pd.isna(value) else text(value)


def _without_unit(head: str, text: Text | None) -> str:
    for unit in _MICRO if text is not None else ():
        head = head.removesuffix(unit)
    return head


@dataclass
class Table:
    """A table as it is drawn: columns under group heads, and Streamlit's settings for each."""

    columns: dict[tuple[str, str], pd.Series] = field(default_factory=dict)
    settings: dict[Any, Any] = field(default_factory=dict)  # by position, which Streamlit takes
    texts: dict[int, Text] = field(default_factory=dict)
    marks: dict[int, pd.Series] = field(default_factory=dict)
    first: int = 0  # how many columns stand before those by choice; 0: there is no choice

    @property
    def drawn(self) -> pd.DataFrame | Styler:
        """The cells as they are read: durations with a unit, long names cut in the middle.

        What is sorted, copied and opened in a cell stays the whole value. A table too large for
        that keeps plain numbers, whose unit is in the head.
        """
        frame = self.frame
        if len(frame) * MIN_COLUMNS > MAX_DRAWN:
            return frame
        names = ((*names, self.texts.get(i)) for i, names in enumerate(self.columns))
        heads = [
            (_without_unit(group, text), _without_unit(label, text)) for group, label, text in names
        ]
        if isinstance(frame.columns, pd.MultiIndex):
            frame.columns = pd.MultiIndex.from_tuples(heads)
        else:
            frame.columns = pd.Index([label for _, label in heads])
        styler = frame.style.format(
            {frame.columns[i]: _or_blank(text) for i, text in self.texts.items()}
        )
        for i, marks in self.marks.items():
            marked = marks.reset_index(drop=True)
            for mark, stands_for in STANDS_FOR.items():
                rows = marked.index[marked == mark]
                # A cell without a value shows no text, so it gets the one that sorts as it should.
                frame.iloc[rows, i] = stands_for
                styler.format(partial(_told, mark), subset=(rows, [frame.columns[i]]))
        return styler

    @property
    def frame(self) -> pd.DataFrame:
        """The cells, with (group, label) as column names; labels alone where nothing is grouped."""
        frame = pd.DataFrame({i: values for i, values in enumerate(self.columns.values())})
        if any(group for group, _ in self.columns):
            frame.columns = pd.MultiIndex.from_tuples(list(self.columns))
        else:
            frame.columns = pd.Index([label for _, label in self.columns])
        return frame.reset_index(drop=True)

    def draw(
        self, key: str, alt: str, *, max_rows: float = math.inf, height: int | None = None,
        row_height: int = ROW_HEIGHT, placeholder: str = "",
        on_select: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """Draw the table, of a `height` in pixels, else as high as its rows where they are no more
        than `max_rows`. With `on_select` a row can be picked."""
        st.dataframe(
            self.drawn,
            key=key,
            height=height or ("content" if len(self.frame) <= max_rows else HEIGHT),
            row_height=row_height,
            hide_index=True,
            column_config=self.settings,
            on_select=on_select or "ignore",
            selection_mode="single-row",
            placeholder=placeholder,
            alt=alt,
        )

    @property
    def csv(self) -> bytes:
        """The cells as CSV with one line of heads."""
        from analysis.report.exports.table_csv import table_csv

        frame = self.frame
        frame.columns = [" ".join(filter(None, names)) for names in self.columns]
        return table_csv(frame)

    def text(
        self, label: str, values: pd.Series, help_: str, width: str | int, cut: int = 0
    ) -> None:
        """Add a column of text; `width` in pixels or as Streamlit names it, `cut` characters."""
        column = st.column_config.TextColumn(label, help=help_, width=width)  # type: ignore[arg-type]
        if cut:
            shown = short_names(map(str, values.dropna()), max(cut, _MIN_SHORT))
            self.texts[len(self.columns)] = lambda name: units.middle_cut(
                shown.get(str(name), str(name)), cut
            )
        self._add("", label, values.astype("object").where(values.notna()), column)

    def number(
        self,
        group: str,
        label: str,
        values: pd.Series,
        help_: str,
        format_: str,
        text: Text | None = None,
        marks: pd.Series | None = None,
    ) -> None:
        """Add a column of numbers. `text` makes of one what is read, `marks` stand in its place."""
        self.texts[len(self.columns)] = text or partial(_number, format_)
        if marks is not None:
            self.marks[len(self.columns)] = marks
        plain = len(values) * MIN_COLUMNS > MAX_DRAWN
        column = st.column_config.NumberColumn(
            label if plain else _without_unit(label, text),
            help=help_,
            format=format_ if plain else None,
        )
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
            text = micro if figure.label.endswith(_MICRO) else None
            self.number(figure.label, side, shown, figure.help, figure.format, text)

    def of(self, comparison: Comparison) -> Table:
        """The same table, whose heads and helps say what its times and counts are of."""
        heads = [_counted_heads(*names, comparison) for names in self.columns]
        self.columns = dict(zip(heads, self.columns.values(), strict=True))
        for i, setting in self.settings.items():
            help_ = counted(setting["help"] or "", comparison)
            label = heads[i - 1][1] if setting["label"] in SIDES else setting["label"]
            self.settings[i] = {**setting, "help": help_, "label": label}
        return self

    def apart(self, group: str, labels: tuple[str, str, str]) -> None:
        """Give the two durations and their change the digits with which they agree."""
        before, after, change = (self.columns[group, label] for label in labels)
        if len(before) * MIN_COLUMNS > MAX_DRAWN:
            return
        found: tuple[dict[float, str], dict[float, str]] = ({}, {})
        for us in zip(before, after, change, strict=True):
            if not any(map(math.isnan, us)):
                shown = units.durations_apart(*(value * 1e3 for value in us))
                for texts, value, text in zip(found, us, shown, strict=False):
                    # Rows with this value may have fewer digits: the longest stands for all.
                    texts[value] = max(texts.get(value, ""), text, key=len)
        heads = list(self.columns)
        for label, texts in zip(labels, found, strict=False):
            self.texts[heads.index((group, label))] = partial(_text_of, texts)

    def counters(self, rows: pd.DataFrame) -> None:
        """Add the counters that a row has, of both sides."""
        for figure in counter_figures():
            self.figure(figure, rows)

    def change(self, rows: pd.DataFrame, group: str = _DURATION.label) -> None:
        """Add the change of the time per run and the speedup; where no change is shown, which
        side ran it."""
        if len(rows) and rows["delta_ns"].isna().all():
            ran = rows["side"].map(RAN_ON)
            self.text("Ran on", ran, "The side or sides that ran it; no change is shown.", 120)
            return
        self.number(
            group,
            "change",
            rows["delta_ns"] / _DURATION.unit,
            "Candidate - baseline. Negative: the candidate takes less time.",
            "%+.1f",
            micro_change if group.endswith(_MICRO) else None,
        )
        if group.endswith(_MICRO):
            self.apart(group, (*SIDES, "change"))
        self.number(
            group,
            "speedup",
            rows["speedup"],
            "Baseline / candidate, where both ran it; gone and new: on one side only.",
            "%.2f×",
            units.factor,
            rows["side"].map(ONE_SIDED),
        )

    def only(self, labels: Iterable[str]) -> Table:
        """The same table with the first columns and those of these labels (groups)."""
        wanted = {*labels}
        kept = Table()
        for i, ((group, label), values) in enumerate(self.columns.items()):
            if i >= self.first and (group or label) not in wanted:
                continue
            at = len(kept.columns)
            kept.texts |= {at: self.texts[i]} if i in self.texts else {}
            kept.marks |= {at: self.marks[i]} if i in self.marks else {}
            kept._add(group, label, values, self.settings[i + 1])
        kept.first = self.first
        return kept

    @property
    def choices(self) -> list[str]:
        """What can be shown beside the first columns: labels, of both sides their group's."""
        return list(
            dict.fromkeys(group or label for group, label in list(self.columns)[self.first :])
        )

    def _add(self, group: str, label: str, values: pd.Series, column: Any) -> None:
        self.columns[(group, label)] = values
        self.settings[len(self.columns)] = column  # 0 is the index


def _counted_heads(group: str, label: str, comparison: Comparison) -> tuple[str, str]:
    """A group's head and a column's; where the sides are not of the same, each says what it is of.

    One head for both would be too long to be drawn over two columns.
    """
    of = counts_of(comparison)
    if len(set(of)) == 1 or "per run" not in group:
        return counted(group, comparison), label
    sides = dict(zip(SIDES, of, strict=True))
    return group.replace(" per run", ""), f"{label} ({sides[label]})" if label in sides else label


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
    table.figure(_DURATION, rows)
    table.change(rows)
    table.first = len(table.columns)
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
    classes = rows["op_class"].map(LABELS)
    return _kinds("Class", classes, "Operator class: what the small-op ratio counts.", rows)


def _kinds(label: str, kinds: pd.Series, help_: str, rows: pd.DataFrame) -> Table:
    table = Table()
    table.text(label, kinds, help_, 330, NAME_CHARS)
    provider = _core(either(rows, "provider"))
    table.text("Core type", provider, "Execution provider of most of its time.", 190, TYPE_CHARS)
    table.figure(_DURATION, rows)
    table.change(rows)
    table.first = len(table.columns)
    for figure in _TYPE_FIGURES:
        table.figure(figure, rows)
    table.counters(rows)
    return table


def choice(table: Table, key: str) -> list[str]:
    """The columns that the reader of the page adds to the first ones."""
    with st.popover("Columns", help="What else the table shows"):
        chosen: list[str] = st.pills(
            "More columns",
            table.choices,
            selection_mode="multi",
            key=key,
            persist_state="session",
            label_visibility="collapsed",
        )
    return chosen


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
