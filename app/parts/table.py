"""A table as it is drawn: numbers of a column in one unit, columns by choice, both sides in
groups."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Literal

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, language, say
from fusescope.analysis.metrics.counters import MEASURES
from fusescope.analysis.operators.short_names import short_names
from fusescope.analysis.units import Column, change_columns, column_of
from fusescope.analysis.wording import FIGURES
from fusescope.analysis.wording.counted import Runs, runs_of
from fusescope.app import state
from fusescope.app.parts.heads import (
    ALL_RUNS,
    NO_HEAD,
    SIDE_HEADS,
    SIDES,
    Capital,
    Counted,
    Head,
    Words,
    help_text,
    side_text,
)

HEIGHT = 388
ROW_HEIGHT = 33
MAX_DRAWN = 30_000  # cells whose text is made one by one
MIN_COLUMNS = 6
_BORDERS = 3  # px
# A name and a figure beside it fit a screen of 420 px; the whole name is in the cell.
NAME_CHARS, NAME_WIDTH = 32, 235
_CHAR_WIDTH, _WIDE_CHAR_WIDTH, _CELL_MARGIN = 7, 14, 24  # pixels in a cell
TYPE_CHARS, TYPE_WIDTH = 24, 190
_MIN_SHORT = 32  # characters in which names can be told apart
ONE_SIDED = {"baseline": "gone", "candidate": "new"}
MARKS = {"gone": Message("gone"), "new": Message("new")}
RAN_ON = {
    "both": Message("both"),
    "baseline": Message("baseline only"),
    "candidate": Message("candidate only"),
}
STANDS_FOR = {"gone": math.inf, "new": 0.0}  # baseline / candidate
# Units of heads over times and sizes, whose cells are thousands of ns and bytes: what a column of
# them can be shown in. kernel_details writes Duration(us), which it stays.
_SCALES: dict[str, units.Scales] = {
    "µs": units.TIMES,
    "(us)": ((1e3, "(us)"),),
    "kB": units.BYTES,
}
_STORED = 1e3  # ns or bytes
Text = Callable[[Any], str]


def width_of(texts: Iterable[str], *, least: int, most: int) -> int:
    """Return the pixels of a column in which the longest of these texts is read whole."""
    longest = max(map(_text_width, texts), default=0)
    return min(most, max(least, longest + _CELL_MARGIN))


def _text_width(text: str) -> int:
    return sum(_WIDE_CHAR_WIDTH if ord(char) > 0x2E80 else _CHAR_WIDTH for char in text)


@dataclass(frozen=True)
class Figure:
    """A column of each side: `source` in the joined table without the side; `unit` divides it."""

    source: str
    head: Head
    help: Words
    unit: float
    format: str


DURATION = Figure(
    "per_run_ns",
    Head(
        Counted(Message("Duration {per}"), Message("Duration per file"), Message("Duration")),
        "µs",
    ),
    Counted(
        Message("Profiled time of all its executions, {mean}."),
        Message("Profiled time of all its executions in the file."),
    ),
    1e3,
    "%.1f",
)
# Unit of a counter -> how a column names it, what divides its values, and their format.
_COUNTER_UNITS = {
    "fraction": ("%", 0.01, "%.1f"),
    "factor": ("", 1.0, "%.2f"),
    "GB/s": ("GB/s", 1.0, "%.1f"),
    "flop": ("MFLOP", 1e6, "%.1f"),
    "KB": ("KB", 1.0, "%.0f"),
}


def whole_height(rows: int) -> int:
    """Pixels of a table with one line of heads that shows all of its rows."""
    return ROW_HEIGHT * (rows + 1) + _BORDERS


def text_of(figure: Figure) -> Text | None:
    """Return how a value of a figure is written, a count per run may be no whole number; None for
    one that is written in the format of its column."""
    return units.count if figure.source == "count" else None


def _number(format_: str, value: float) -> str:
    """A number in the format of a column, '%.1f' or '%.2f×', as figures are written elsewhere."""
    form, _, end = format_.removeprefix("%").partition("f")
    return format_ % value if "e" in form else f"{units.grouped(value, f'{form}f')}{end}"


def _in_column(column: Column, us: float, *, is_change: bool) -> str:
    return column.number(us * _STORED, signed=is_change)


def _in_unit(head: Head, unit: str) -> Head:
    """The head with another unit, where it has one of times or sizes."""
    return replace(head, unit=unit) if head.unit in _SCALES else head


def _mark_text(mark: str, _value: object) -> str:
    """What a marked cell shows in place of its value."""
    return MARKS[mark].text()


def _or_blank(text: Text) -> Text:
    return lambda value: "" if pd.isna(value) else text(value)


@dataclass
class Table:
    """A table as it is drawn: columns under group heads, known by their English heads."""

    columns: dict[tuple[str, str], pd.Series] = field(default_factory=dict)
    heads: list[tuple[Head, Head]] = field(default_factory=list)
    helps: list[Words] = field(default_factory=list)
    configs: list[Any] = field(default_factory=list)  # Streamlit's, without label and help
    texts: dict[int, Text] = field(default_factory=dict)  # of each cell
    marks: dict[int, pd.Series] = field(default_factory=dict)
    measured: set[int] = field(default_factory=set)  # columns of times and sizes
    signed: set[int] = field(default_factory=set)  # columns of changes
    # Of a column of changes: before, after and change of each row.
    changes: dict[int, list[tuple[float, float, float]]] = field(default_factory=dict)
    first: int = 0  # how many columns stand before those by choice; 0: there is no choice
    behind: set[int] = field(default_factory=set)  # first columns that are drawn behind figures
    runs: Runs = ALL_RUNS

    @property
    def settings(self) -> dict[Any, Any]:
        """Streamlit's settings of each column, by position; 0 is the index."""
        shared = self._units
        return {
            i + 1: {
                **config,
                "label": self._told(i, shared)[1],
                "help": help_text(self.helps[i], self.runs),
            }
            for i, config in enumerate(self.configs)
        }

    @property
    def drawn(self) -> pd.DataFrame | Styler:
        """The cells as they are read: times and sizes of a column, and of all columns below one
        head, in the unit that the head names, long names cut in the middle.

        What is sorted, copied and opened in a cell stays the whole value. A table too large for
        that keeps plain numbers, whose unit is in the head.
        """
        frame = self.frame
        if self._is_plain:
            return frame
        shared = self._units
        frame.columns = self._index([self._told(i, shared) for i in range(len(self.heads))])
        styler = frame.style.format(
            {frame.columns[i]: _or_blank(text) for i, text in self._written.items()}
        )
        for i, marks in self.marks.items():
            marked = marks.reset_index(drop=True)
            for mark, stands_for in STANDS_FOR.items():
                rows = marked.index[marked == mark]
                # A cell without a value shows no text, so it gets the one that sorts as it should.
                frame.iloc[rows, i] = stands_for
                styler.format(partial(_mark_text, mark), subset=(rows, [frame.columns[i]]))
        return styler

    @property
    def frame(self) -> pd.DataFrame:
        """The cells, with (group, label) as column names; labels alone where nothing is grouped."""
        frame = pd.DataFrame({i: values for i, values in enumerate(self.columns.values())})
        frame.columns = self._index([self._told(i, {}) for i in range(len(self.heads))])
        return frame.reset_index(drop=True)

    @property
    def _written(self) -> dict[int, Text]:
        """How a cell of each column is written."""
        shared: dict[int, Text] = {
            i: partial(_in_column, column, is_change=i in self.signed)
            for i, column in self._shared.items()
        }
        return {**self.texts, **shared}

    @property
    def _shared(self) -> dict[int, Column]:
        """The unit of each column of times or sizes: one for all columns below a head."""
        if self._is_plain:
            return {}
        columns = list(self.columns.values())
        below: dict[tuple[str, str], list[int]] = {}
        for i, (key, (group, _)) in enumerate(zip(self.columns, self.heads, strict=True)):
            if i in self.measured:
                below.setdefault((group.key, "") if group.unit else key, []).append(i)
        found: dict[int, Column] = {}
        for places in below.values():
            group, head = self.heads[places[0]]
            scales = _SCALES[group.unit or head.unit]
            change = next((i for i in places if i in self.changes), None)
            if change is not None:
                apart = change_columns(self.changes[change], scales)
                found |= {**dict.fromkeys(places, apart.values), change: apart.changes}
                continue
            values = [us * _STORED for i in places for us in columns[i].tolist()]
            found |= dict.fromkeys(places, column_of(values, scales))
        return found

    @property
    def _units(self) -> dict[str, str]:
        """The unit that each head over columns of times or sizes names."""
        shared = self._shared
        of_heads = {i: group.key or head.key for i, (group, head) in enumerate(self.heads)}
        return {of_heads[i]: column.unit for i, column in shared.items()}

    @property
    def _is_plain(self) -> bool:
        rows = len(next(iter(self.columns.values()), ()))
        return rows * MIN_COLUMNS > MAX_DRAWN

    def _told(self, i: int, shared: Mapping[str, str]) -> tuple[str, str]:
        """Group head and head of a column, with the unit that its numbers share where that is one
        of `_units`, else with that of the values."""
        group, head = self.heads[i]
        unit = shared.get(group.key or head.key)
        if unit is not None:
            group, head = (_in_unit(each, unit) for each in (group, head))
        label = head.text(self.runs)
        if group is NO_HEAD:
            return "", label
        side = next((side for side, of in SIDE_HEADS.items() if of is head), None)
        if side is not None and isinstance(group.label, Counted):
            label = side_text(side, self.runs)
        return group.text(self.runs), label

    def _index(self, heads: list[tuple[str, str]]) -> pd.Index:
        # Two heads may be one in another language; Pandas styles none of two that are equal.
        times = Counter[tuple[str, str]]()
        for i, (group, label) in enumerate(heads):
            times[group, label] += 1
            heads[i] = group, label + "\u200b" * (times[group, label] - 1)
        if any(group for group, _ in heads):
            return pd.MultiIndex.from_tuples(heads)
        return pd.Index([label for _, label in heads])

    def draw(
        self, key: str, alt: str, *, max_rows: float = math.inf, height: int | None = None,
        row_height: int = ROW_HEIGHT, placeholder: str = "",
        on_select: Callable[[], None] | Literal["rerun"] | None = None,
    ) -> None:  # fmt: skip
        """Draw the table, of a `height` in pixels, else as high as its rows where they are no more
        than `max_rows`. With `on_select` a row can be picked."""
        shown = self.arranged
        st.dataframe(
            shown.drawn,
            key=key,
            height=height or ("content" if len(self.frame) <= max_rows else HEIGHT),
            row_height=row_height,
            hide_index=True,
            column_config=shown.settings,
            on_select=on_select or "ignore",
            selection_mode="single-row",
            placeholder=placeholder,
            alt=alt,
        )

    @property
    def csv(self) -> bytes:
        """The cells as CSV with one line of heads, which are English in every language."""
        from fusescope.analysis.report.exports.table_csv import table_csv

        with language.speaking(language.ENGLISH):
            frame = self.frame
        frame.columns = [
            " ".join(filter(None, names if isinstance(names, tuple) else (names,)))
            for names in frame.columns
        ]
        return table_csv(frame)

    def text(
        self, head: Head, values: pd.Series, help_: Words, width: str | int, cut: int = 0,
        *, behind: bool = False,
    ) -> None:  # fmt: skip
        """Add a column of text; `width` in pixels or as Streamlit names it, `cut` characters. One
        that stands `behind` is drawn after the figures of the first columns."""
        if behind:
            self.behind.add(len(self.columns))
        column = st.column_config.TextColumn(width=width)  # type: ignore[arg-type]
        if cut:
            shown = short_names(map(str, values.dropna()), max(cut, _MIN_SHORT))
            self.texts[len(self.columns)] = lambda name: units.middle_cut(
                shown.get(str(name), str(name)), cut
            )
        self._add(NO_HEAD, head, values.astype("object").where(values.notna()), help_, column)

    def number(
        self,
        group: Head,
        head: Head,
        values: pd.Series,
        help_: Words,
        format_: str,
        text: Text | None = None,
        marks: pd.Series | None = None,
        width: int | None = None,
    ) -> None:
        """Add a column of numbers. `text` makes of one what is read, `marks` stand in its place;
        `width` in pixels."""
        i = len(self.columns)
        self.texts[i] = text or partial(_number, format_)
        if text is None and (group.unit or head.unit) in _SCALES:
            self.measured.add(i)
        if format_.startswith("%+"):
            self.signed.add(i)
        if marks is not None:
            self.marks[i] = marks
        plain = len(values) * MIN_COLUMNS > MAX_DRAWN
        column = st.column_config.NumberColumn(format=format_ if plain else None, width=width)
        self._add(group, head, values.astype(float), help_, column)

    def figure(self, figure: Figure, rows: pd.DataFrame) -> None:
        """Add a figure of both sides; nothing when no row has it."""
        if f"{figure.source}_{SIDES[0]}" not in rows:
            return
        sides = {side: rows[f"{figure.source}_{side}"] for side in SIDES}
        if all(values.isna().all() for values in sides.values()):
            return
        for side, values in sides.items():
            shown = values.astype(float) / figure.unit
            text = text_of(figure)
            self.number(figure.head, SIDE_HEADS[side], shown, figure.help, figure.format, text)

    def of(self, comparison: Comparison) -> Table:
        """The same table, whose heads and helps say what its times and counts are of."""
        self.runs = runs_of(comparison)
        return self

    def apart(self, group: Head, heads: tuple[Head, Head, Head]) -> None:
        """Let two durations and their change beside them have digits that agree; these three are
        all columns of times of the group."""
        columns = list(self.columns)
        at = [columns.index((group.key, head.key)) for head in heads]
        values = ((self.columns[columns[i]] * _STORED).tolist() for i in at)
        self.changes[at[-1]] = list(zip(*values, strict=True))

    def counters(self, rows: pd.DataFrame) -> None:
        """Add the counters that a row has, of both sides."""
        for figure in counter_figures():
            self.figure(figure, rows)

    def change(self, rows: pd.DataFrame, group: Head = DURATION.head) -> None:
        """Add the change of the time per run and the speedup; where no change is shown, which
        side ran it."""
        if len(rows) and rows["delta_ns"].isna().all():
            ran = rows["side"].map(lambda side: RAN_ON[side].text())
            help_ = Message("The side or sides that ran it; no change is shown.")
            self.text(Head(Message("Ran on")), ran, help_, 120)
            return
        self.number(
            group,
            _CHANGE,
            rows["delta_ns"] / DURATION.unit,
            Message("Candidate - baseline. Negative: the candidate takes less time."),
            "%+.1f",
        )
        if group.unit in _SCALES:
            self.apart(group, (SIDE_HEADS["baseline"], SIDE_HEADS["candidate"], _CHANGE))
        self.number(
            group,
            Head(Message("speedup")),
            rows["speedup"],
            Message("Baseline / candidate, where both ran it; gone and new: on one side only."),
            "%.2f×",
            units.factor,
            rows["side"].map(ONE_SIDED),
        )

    def only(self, keys: Iterable[str]) -> Table:
        """The same table with the first columns and those of these keys (of groups)."""
        wanted = {*keys}
        return self._of(
            i
            for i, (group, label) in enumerate(self.columns)
            if i < self.first or (group or label) in wanted
        )

    @property
    def arranged(self) -> Table:
        """Return the same table, a name and its figures first: those behind, then those by
        choice."""
        first = self.first or len(self.columns)
        return self._of(
            sorted(range(len(self.columns)), key=lambda i: (i >= first, i in self.behind))
        )

    def _of(self, places: Iterable[int]) -> Table:
        """Return the columns at these places, in their order."""
        kept, columns = Table(first=self.first, runs=self.runs), list(self.columns.values())
        for i in places:
            at = len(kept.columns)
            kept.behind |= {at} if i in self.behind else set()
            kept.measured |= {at} if i in self.measured else set()
            kept.signed |= {at} if i in self.signed else set()
            kept.changes |= {at: self.changes[i]} if i in self.changes else {}
            kept.texts |= {at: self.texts[i]} if i in self.texts else {}
            kept.marks |= {at: self.marks[i]} if i in self.marks else {}
            kept._add(*self.heads[i], columns[i], self.helps[i], self.configs[i])
        return kept

    @property
    def choices(self) -> dict[str, str]:
        """What can be shown beside the first columns, by key: heads, of both sides the group's."""
        found, shared = {}, self._shared
        for i, (group, label) in list(enumerate(self.columns))[self.first :]:
            of_both, head = self.heads[i]
            named = of_both if group else head
            if i in shared:
                named = _in_unit(named, shared[i].unit)
            found[group or label] = named.text(self.runs)
        return found

    def _add(self, group: Head, head: Head, values: pd.Series, help_: Words, config: Any) -> None:
        self.columns[group.key, head.key] = values
        self.heads.append((group, head))
        self.helps.append(help_)
        self.configs.append(config)


_CHANGE = Head(Message("change"))


def choice(table: Table, key: str) -> list[str]:
    """Keys of the columns that the reader of the page adds to the first ones."""
    choices = table.choices
    with st.popover(say("Columns"), help=say("What else the table shows")):
        chosen: list[str] = st.pills(
            say("More columns"),
            list(choices),
            selection_mode="multi",
            format_func=lambda key: choices.get(key, key),
            key=state.language.told_choice(key),
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
        head = Head(Capital(text.name), unit)
        figures.append(Figure(measure.code, head, text.meaning, scale, format_))
    return tuple(figures)
