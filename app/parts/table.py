"""A table as it is drawn: numbers with their units, columns by choice, both sides in groups."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.metrics.counters import MEASURES
from analysis.operators.short_names import short_names
from analysis.wording import FIGURES, counts_of, per_text

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


@dataclass(frozen=True)
class Figure:
    """A column of each side: `source` in the joined table without the side; `unit` divides it."""

    source: str
    label: str
    help: str
    unit: float
    format: str


DURATION = Figure(
    "per_run_ns",
    "Duration per run, µs",
    "Profiled time of all its executions, mean per run.",
    1e3,
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
            help_ = _counted(setting["help"] or "", comparison)
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

    def change(self, rows: pd.DataFrame, group: str = DURATION.label) -> None:
        """Add the change of the time per run and the speedup; where no change is shown, which
        side ran it."""
        if len(rows) and rows["delta_ns"].isna().all():
            ran = rows["side"].map(RAN_ON)
            self.text("Ran on", ran, "The side or sides that ran it; no change is shown.", 120)
            return
        self.number(
            group,
            "change",
            rows["delta_ns"] / DURATION.unit,
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


def _counted(text: str, comparison: Comparison) -> str:
    per = per_text(comparison)
    return text if per == "per run" else re.sub(r"\b(mean )?per run\b", per, text)


def _counted_heads(group: str, label: str, comparison: Comparison) -> tuple[str, str]:
    """A group's head and a column's; where the sides are not of the same, each says what it is of.

    One head for both would be too long to be drawn over two columns.
    """
    of = counts_of(comparison)
    if len(set(of)) == 1 or "per run" not in group:
        return _counted(group, comparison), label
    sides = dict(zip(SIDES, of, strict=True))
    return group.replace(" per run", ""), f"{label} ({sides[label]})" if label in sides else label


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
