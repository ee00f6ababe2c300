"""Rows of Ascend kernel tables as columns: one entry a device task, texts as numbers of few."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fusescope.analysis.messages.places import in_row, row_of
from fusescope.analysis.operators import flops
from fusescope.analysis.readers.ascend.columns import (
    BLOCKS,
    CORE,
    COUNTED,
    DEVICE,
    DURATION,
    NAME,
    START,
    STEP,
    STREAM,
    TASK,
    TYPE,
    WAIT,
    check_core_times,
    device_classes,
    launched_by,
    may_be_counter,
    plain_type,
    task_kind,
    tensor_text,
    unguarded,
)
from fusescope.analysis.readers.building.coded import (
    Bools,
    Cells,
    Coded,
    Combined,
    Whole,
    coded,
    listed,
    taken,
)
from fusescope.analysis.readers.input.csv_numbers import plain
from fusescope.analysis.readers.input.csv_table import Column, CsvTable
from fusescope.analysis.readers.input.times import LATEST_NS
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, noted

_FOPS = re.compile(r"ai[cv]_(cube|vector|vec)_fops")
# A spreadsheet shows long numbers as 1.69512E+15, and saves them so.
_ROUNDED = re.compile(r"\d(?:[.,](\d*))?E\+?(\d+)", re.IGNORECASE)
_MIN_SORTED = 8
_MAX_JOINED = 64  # tables put one after the other
_FAR_BACK = 3  # of the whole span of the table, at least this part


@dataclass(frozen=True)
class AscendRows:
    """Rows of operators and communication, as `build_trace` takes them.

    `columns` are all equally long; `tasks` and `steps` go with them: Task ID and Step Id as text.
    """

    columns: Mapping[str, Any]
    tasks: Sequence[Any]
    steps: Sequence[Any]
    notes: list[Diagnostic]


def ascend_rows(table: CsvTable) -> AscendRows:
    """The table's operators and communication; tasks that are neither are counted in the notes."""
    durations = _times(table, *DURATION, named=True)
    waits = _times(table, *WAIT)
    notes = list(table.notes)
    starts, impossible = _starts(table, notes)
    for heads in (DURATION, WAIT, START):
        _forget(table.find(*heads))
    cores, types = _texts(table, CORE), _texts(table, TYPE)
    types = types.mapped(lambda op_type: None if op_type in ("0", None) else plain_type(op_type))
    told = Combined(cores, types, _texts(table, NAME))
    names = told.made(lambda core, op_type, name: name or op_type or core or "unnamed")
    told = Combined(cores, types, names)
    kinds = told.made(task_kind)
    is_communication = kinds.mapped(lambda kind: kind == "communication")
    columns: dict[str, Any] = {
        "name": names,
        "op_type": types,
        "provider": cores,
        "level": Coded.same("device_kernel", len(table)),
        "launched_by": names.mapped(launched_by),
        "inputs": _tensors(table, "Input"),
        "outputs": _tensors(table, "Output"),
        "is_communication": is_communication,
        "device": _texts(table, DEVICE),
        "stream": _texts(table, STREAM),
        "start_ns": starts,
        # without a duration build_trace drops the row and counts it
        "dur_ns": Whole(durations.numbers, durations.known & ~impossible),
        "wait_ns": waits,
        "source_row": np.array(table.rows, dtype="int64"),
        **_blocks(table),
        **_counters(table),
    }
    if not starts.known.all():  # NaN is not equal to itself, and equal rows are looked for
        columns = {name: listed(cells) for name, cells in columns.items()}
    counted = _counted_flops(columns)
    if counted is not None:
        columns["flops"], columns["flops_source"] = counted
    columns["op_class"] = Combined(types, names, cores, is_communication).all(
        lambda *lists: device_classes(
            dict(zip(("op_type", "name", "provider", "is_communication"), lists, strict=True))
        )
    )
    _check_order(columns, starts, notes)
    check_core_times(columns, notes)
    steps, kept = _raw_texts(table, STEP), None
    is_control = _holds(kinds, "control")
    if is_control.any():
        control = np.flatnonzero(is_control)
        notes += noted(
            "info", "not_operators", [str(cores[p] or types[p] or "") for p in control.tolist()]
        )
        kept = np.flatnonzero(~is_control)
        columns = {name: taken(values, kept) for name, values in columns.items()}
        steps = steps.take(kept)
    return AscendRows(columns, _Later(table, TASK, kept), steps, notes)


def _forget(column: Column | None) -> None:
    if column is not None:
        column.forget()


class _Later(Sequence[object]):
    """Texts of a column that few files need: with a number for each task all are different."""

    def __init__(self, table: CsvTable, names: Sequence[str], rows: np.ndarray | None) -> None:
        self._column, self._count, self._rows = table.find(*names), len(table), rows

    @cached_property
    def _texts(self) -> Coded:
        texts = _as_told(self._column, self._count)
        return texts if self._rows is None else texts.take(self._rows)

    def __len__(self) -> int:
        return self._count if self._rows is None else len(self._rows)

    def __iter__(self) -> Iterator[object]:
        return iter(self._texts)

    def __getitem__(self, at: Any) -> Any:
        return self._texts[at]


def _holds(column: Coded, value: object) -> Bools:
    """Which cells are that value."""
    return np.array([*(one == value for one in column.values), False], dtype=bool)[column.codes]


def _times(table: CsvTable, *names: str, named: bool = False) -> Whole:
    found = table.whole_times(*names, named=named)
    if found is None:
        return Whole(np.zeros(len(table), dtype="int64"), np.zeros(len(table), dtype=bool))
    return Whole(*found)


def _tensors(table: CsvTable, side: str) -> Coded:
    columns = [_texts(table, (f"{side} {what}",)) for what in ("Shapes", "Data Types", "Formats")]
    return Combined(*columns).made(tensor_text)


def _raw_texts(table: CsvTable, names: Sequence[str]) -> Coded:
    return _as_told(table.find(*names), len(table))


def _as_told(column: Column | None, count: int) -> Coded:
    if column is None:
        return Coded.same(None, count)
    cells = column.coded
    column.forget()
    return coded(cells.codes, [cell or None for cell in cells.values])


def _texts(table: CsvTable, names: Sequence[str]) -> Coded:
    return _raw_texts(table, names).mapped(unguarded)


def _starts(table: CsvTable, notes: list[Diagnostic]) -> tuple[Whole, Bools]:
    """Start times in ns, none and a note for those that a spreadsheet has rounded; and which rows
    have an impossible start: what is not a time, or too far away."""
    column = table.find(*START)
    times = _times(table, *START)
    if column is None:
        return times, np.zeros(len(table), dtype=bool)
    impossible = times.known & (np.abs(times.numbers) >= LATEST_NS)
    for at in np.flatnonzero(~times.known).tolist():
        impossible[at] = plain(column.text(at), column.marks) != ""
    rounded = [at for at in column.holding("e") if not impossible[at] and _is_rounded(column, at)]
    known = times.known.copy()
    known[rounded] = False
    examples = [row_of(table.rows[at], clean_text(column.text(at), 80)) for at in rounded]
    notes += noted("warning", "rounded_starts", examples)
    return Whole(times.numbers, known), impossible


def _is_rounded(column: Column, at: int) -> bool:
    match = _ROUNDED.fullmatch(column.text(at))
    return match is not None and int(match[2][:4]) > len(match[1] or "")


def _blocks(table: CsvTable) -> dict[str, Cells]:
    columns = {name: table.find(*heads) for name, heads in BLOCKS.items()}
    return {name: column.floats() for name, column in columns.items() if column}


def _counters(table: CsvTable) -> dict[str, Cells]:
    """Further columns of numbers by their heads; percent as fractions, without '(%)'."""
    found: dict[str, Cells] = {}
    for column in table.columns:
        name = unguarded(column.name if column.unit == "%" else column.head)
        if not may_be_counter(name) or name in found:
            continue
        numbers = column.floats()
        column.forget()
        if not np.isnan(numbers).all():
            found[name] = numbers
    return found


def _counted_flops(columns: dict[str, Cells]) -> tuple[list[object], list[object]] | None:
    """Operations that the device counted, where all calls of an operator agree; else from shapes.

    None without such counters. Counts of equal calls may differ by a few percent, and one number
    of several would be a choice.
    """
    counters = [listed(values) for name, values in columns.items() if _FOPS.fullmatch(name)]
    if not counters:
        return None
    sums = [
        sum((v for v in row if isinstance(v, float)), 0.0) if set(row) != {None} else None
        for row in zip(*counters, strict=True)
    ]
    names = ("name", "op_type", "provider", "inputs", "outputs")
    keys = list(zip(*(columns[name] for name in names), strict=True))
    counts: dict[tuple[object, ...], set[float]] = {}
    for key, value in zip(keys, sums, strict=True):
        if value is not None:
            counts.setdefault(key, set()).add(value)
    known: dict[tuple[object, ...], tuple[object, object]] = {}
    for key in dict.fromkeys(keys):
        seen = counts.get(key, set())
        agreed = seen.pop() if len(seen) == 1 else -1.0
        if 0 <= agreed < 2**62:
            known[key] = (int(agreed), COUNTED)
            continue
        texts = [str(text or "") for text in key[3:]]
        known[key] = (flops.from_tensors(str(key[1]), *texts) if key[1] else None) or (None, None)
    return [known[key][0] for key in keys], [known[key][1] for key in keys]


def _check_order(columns: dict[str, Cells], starts: Whole, notes: list[Diagnostic]) -> None:
    """A note where starts go back by much, a few times, in a table that is sorted otherwise."""
    known = starts.numbers[starts.known]
    if (known[1:] >= known[:-1]).all():
        return
    first: dict[tuple[int, object], object] = {}  # rows that stand twice are told elsewhere
    told = zip(starts, columns["name"], columns["source_row"], strict=True)
    for start, name, row in told:
        if isinstance(start, int):
            first.setdefault((start, name), row)
    found = [(start, row) for (start, _), row in first.items()]
    if len(found) < _MIN_SORTED:
        return
    span = max(start for start, _ in found) - min(start for start, _ in found)
    steps = [(after[0] - before[0], after[1]) for before, after in itertools.pairwise(found)]
    back = [row for step, row in steps if step < 0]
    far = [row for step, row in steps if step < -span / _FAR_BACK]
    if far and len(far) == len(back) <= _MAX_JOINED:
        notes.append(Diagnostic("warning", "starts_go_back", len(far), in_row(int(str(far[0])))))
