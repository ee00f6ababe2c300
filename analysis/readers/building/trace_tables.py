"""From rows as a profiler wrote them, one a call, to the three tables of a Trace.

A reader brings columns under the names of `analysis.trace`; what it does not know it leaves out.
Here operators are told apart, classes, FLOPs and bytes follow from types and shapes, and rows
without a valid time are dropped and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.messages.places import row_of
from fusescope.analysis.operators import flops
from fusescope.analysis.operators.classes import kernel_class, op_class
from fusescope.analysis.readers.building.checks.implausible import lost_records, possible_durations
from fusescope.analysis.readers.building.checks.overlaps import Overlaps, overlap_notes, overlaps_of
from fusescope.analysis.readers.building.coded import (
    Cells,
    Coded,
    Whole,
    distinct_rows,
    exact_sum,
    taken,
)
from fusescope.analysis.readers.building.iterations import profiled_runs
from fusescope.analysis.readers.building.repeats import without_repeats
from fusescope.analysis.readers.building.timetable import Ints, ended_before, starts_of
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import (
    CALL_COLUMNS,
    OPERATOR_COLUMNS,
    Diagnostic,
    Meta,
    Trace,
    calls_frame,
    clean_example,
    noted,
    operators_frame,
)

Rows = Mapping[str, Sequence[object] | pd.Series | np.ndarray]
Columns = Mapping[str, Cells]

_IDENTITY = [name for name in OPERATOR_COLUMNS if name != "operator"]
_TEXTS = [name for name, dtype in OPERATOR_COLUMNS.items() if dtype == "category"]
_SIZES = ("bytes_in", "bytes_param", "bytes_out", "flops")
_MAX = 2**62
_LONGEST_NS = 2**55  # a year; sums of what is longer would not fit 64 bits
_HEAD_CHARS = 160  # of a counter's name
_MEMBERS_CHARS = 64  # times those of other text: members are a list of names


def build_trace(
    meta: Meta,
    rows: Rows,
    *,
    runs: pd.DataFrame | None = None,
    run_kind: str = "step",
    notes: Iterable[Diagnostic] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Trace:
    """The Trace of `rows`: equally long columns, one entry a call, in the order of the file.

    `name` and `dur_ns` must be there; the other names are those of operators and calls, and every
    further column is a counter (a number or None). `dur_ns` None or negative: the row is dropped
    and counted, likewise a kernel that begins at 0 and takes 0 ns. `run` holds any label per row
    (None: outside every run); `runs` a runs table whose `run` those labels are, else runs of
    `run_kind` span the calls of each label. Without `run` there is one run of kind `file`. Derived
    where not given: `op_class`, `flops`, `bytes_in`, `bytes_out`, `wait_ns`. Raises FuseScopeError
    when no row has a valid time.
    """
    found = [_clean(note) for note in notes]
    columns, kept = _valid(rows, meta, found, limits)
    columns, kept = without_repeats(columns, kept, found)
    found += possible_durations(columns, kept)
    found += _long_text(columns, limits)
    operators, codes = _operators(columns, limits)
    count = len(kept)
    calls: dict[str, object] = {"operator": codes}
    labels = columns.get("run")
    if runs is None:
        runs, labels = _derived_runs(columns, labels, run_kind, found)
    calls["run"] = _whole_numbers([None] * count if labels is None else labels)
    for name in ("device", "stream"):
        calls[name] = _texts(columns.get(name), count, limits)
    for name in ("start_ns", "dur_ns", "span_ns", "wait_ns", "n"):
        if name in columns:
            calls[name] = _whole_numbers(columns[name])
    if "n" in columns:
        calls["n"] = _whole_numbers(columns["n"]).fillna(1)
    calls["source_row"] = _whole_numbers(columns.get("source_row", kept))
    for name, values in columns.items():
        name = clean_text(name, _HEAD_CHARS)
        if name not in OPERATOR_COLUMNS and name not in CALL_COLUMNS:
            numbers = _numbers(values)
            is_none = np.isnan(numbers)
            if not is_none.all():
                calls[name] = pd.arrays.FloatingArray(numbers, is_none)
    frame = calls_frame(**calls)
    frame, overlaps = _in_order(frame, has_wait="wait_ns" in columns)
    found += overlap_notes(overlaps, len(frame), operators)
    return Trace(meta, runs, operators, frame, tuple(found))


def shape_text(dtypes: Sequence[str], shapes: Sequence[str], layouts: Sequence[str] = ()) -> str:
    """Canonical text of tensors: ('float32', 'int64'), ('1,3', '') -> 'float32[1,3]; int64[]'.

    A layout other than '' stands behind the shape: 'float16[1,16,224,224,16]:NC1HWC0'.
    """
    parts = []
    for index, shape in enumerate(shapes):
        dtype = dtypes[index] if index < len(dtypes) and dtypes[index] else "?"
        layout = layouts[index] if index < len(layouts) else ""
        parts.append(f"{dtype}[{shape.replace(' ', '')}]" + (f":{layout}" if layout else ""))
    return "; ".join(parts)


_ALIASES = {
    "float": "float32", "fp32": "float32", "f32": "float32", "single": "float32",
    "half": "float16", "fp16": "float16", "f16": "float16", "c10::half": "float16",
    "bf16": "bfloat16", "c10::bfloat16": "bfloat16", "bfloat16": "bfloat16",
    "double": "float64", "fp64": "float64", "f64": "float64",
    "long": "int64", "long int": "int64", "i64": "int64", "int": "int32", "i32": "int32",
    "short": "int16", "i16": "int16", "char": "int8", "signed char": "int8", "i8": "int8",
    "unsigned char": "uint8", "byte": "uint8", "u8": "uint8", "boolean": "bool",
    "undefined": "", "none": "", "": "",
}  # fmt: skip


def dtype_name(text: str) -> str:
    """A data type by its usual name: 'DT_BF16', 'FLOAT', 'c10::Half' -> bfloat16, float32, float16.

    Others in lower case; '' for 'UNDEFINED'.
    """
    lower = text.strip().lower().removeprefix("dt_")
    return _ALIASES.get(lower, lower)


def dtype_bytes(dtype: str) -> float | None:
    """Bytes of one element; None for an unknown type."""
    if dtype == "bool":
        return 1.0
    digits = "".join(c for c in dtype.removeprefix("b").split("_")[0] if c.isdigit())
    if not dtype.startswith(("float", "bfloat", "int", "uint", "complex")) or not digits:
        return None
    if dtype.startswith("float8"):
        digits = "8"
    bits = int(digits[:3])
    return bits / 8 if 1 <= bits <= 256 else None


def tensor_bytes(text: str) -> int | None:
    """Bytes of all tensors in canonical text; None when one has no known size."""
    total = 0.0
    if not text:
        return None
    for tensor in text.split("; "):
        dtype, bracket, _ = tensor.partition("[")
        size = dtype_bytes(dtype)
        shapes = flops.parse_shapes(tensor)
        if not bracket or size is None or len(shapes) != 1 or any(d < 0 for d in shapes[0]):
            return None
        total += size * min(math.prod(shapes[0]), _MAX)
    return int(total) if total < _MAX else None


def _valid(
    rows: Rows, meta: Meta, notes: list[Diagnostic], limits: Limits
) -> tuple[dict[str, Cells], Ints]:
    """The columns without rows that have no valid time, and the positions of those kept."""
    columns = {name: _cells(name, values) for name, values in rows.items()}
    durations, is_time = _times(columns["dur_ns"])
    total = len(durations)
    if total > limits.events:
        raise FuseScopeError(
            "too_many_events",
            where=meta.file_name,
            n=total,
            limit=limits.events,
            raised=limits.raised("events", total),
        )
    is_time &= ~lost_records(columns, durations)
    kept = np.flatnonzero(is_time)
    if len(kept) < total:
        first = int(np.flatnonzero(~is_time)[0])
        row = columns["source_row"][first] if "source_row" in columns else first + 1
        example = row_of(int(str(row)), clean_text(str(columns["name"][first]), 80))
        lost = total - len(kept)
        notes.append(Diagnostic("warning", "bad_time", lost, example, {"of": total}))
        columns = {name: taken(values, kept) for name, values in columns.items()}
    if not len(kept):
        raise FuseScopeError("no_valid_times" if total else "no_operators", where=meta.file_name)
    columns["dur_ns"] = durations[kept]
    if exact_sum(durations[kept]) >= _MAX:
        raise FuseScopeError("times_too_long", where=meta.file_name)
    return columns, kept


def _cells(name: str, values: Sequence[object] | pd.Series | np.ndarray) -> Cells:
    """A column as it is worked with: texts and whatever tells operators apart by their values."""
    if isinstance(values, Coded | Whole | np.ndarray):
        return values
    if name in OPERATOR_COLUMNS or name in ("device", "stream"):
        return Coded.of(values)
    return values if isinstance(values, list) else list(values)


def _times(values: Cells) -> tuple[Ints, np.ndarray]:
    """Durations in ns, and which are valid: whole numbers from 0 to a year."""
    known = Whole.of(values)
    if known is None:
        is_time = [isinstance(v, int | np.integer) and 0 <= int(v) < _LONGEST_NS for v in values]
        told = [int(str(v)) if ok else 0 for v, ok in zip(values, is_time, strict=True)]
        return np.array(told, dtype="int64"), np.array(is_time, dtype=bool)
    numbers = known.numbers
    return numbers, known.known & (numbers >= 0) & (numbers < _LONGEST_NS)


def _clean(note: Diagnostic) -> Diagnostic:
    """The note with texts that are fit to be shown: examples are often cells as they came."""
    values = {
        key: clean_text(value) if isinstance(value, str) else value
        for key, value in note.values.items()
    }
    return replace(note, example=clean_example(note.example), values=values)


def _operators(columns: Columns, limits: Limits) -> tuple[pd.DataFrame, Ints]:
    """The distinct operators in order of appearance, and each row's operator."""
    given = [name for name in _IDENTITY if name in columns]
    told = {name: Coded.of(columns[name]) for name in given}
    codes, first = distinct_rows(
        [told[name].codes for name in given],
        [len(told[name].values) for name in given],
        len(told["name"]),
    )
    distinct = {name: tuple(told[name].take(first)) for name in given}
    count = len(first)
    made: dict[str, object] = {"operator": range(count)}
    for name in given:
        if name == "members":
            made[name] = _members(distinct[name], limits)
        elif name in _TEXTS:
            is_name = name not in ("inputs", "outputs")
            made[name] = _texts(distinct[name], count, limits, is_name=is_name)
        elif name in _SIZES:
            made[name] = pd.array([_size(value) for value in distinct[name]], dtype="Int64")
        else:
            made[name] = [bool(value) for value in distinct[name]]
    types = [_text(value) for value in distinct.get("op_type", [None] * count)]
    names = [_text(value) or "" for value in distinct["name"]]
    made |= _classes(distinct, types, names)
    inputs = [_text(value) or "" for value in distinct.get("inputs", [""] * count)]
    outputs = [_text(value) or "" for value in distinct.get("outputs", [""] * count)]
    if "flops" not in given:
        made |= _derived_flops(types, inputs, outputs)
    for column, texts in (("bytes_in", inputs), ("bytes_out", outputs)):
        if column not in given and any(texts):
            sizes = {text: tensor_bytes(text) for text in set(texts)}
            made[column] = pd.array([sizes[text] for text in texts], dtype="Int64")
    return operators_frame(**made), codes


def _classes(
    distinct: Mapping[str, Sequence[object]], types: Sequence[str | None], names: Sequence[str]
) -> dict[str, object]:
    """Columns of the operators' classes: as the reader told them, else by type and name."""
    told = distinct.get("op_class", [None] * len(names))
    is_communication = distinct.get("is_communication", [False] * len(names))
    classes = [
        "communication" if talk else known or _class(kind, name)
        for kind, name, known, talk in zip(types, names, told, is_communication, strict=True)
    ]
    return {
        "op_class": classes,
        "is_communication": [name == "communication" for name in classes],
    }


def _derived_flops(
    types: Sequence[str | None], inputs: Sequence[str], outputs: Sequence[str]
) -> dict[str, object]:
    """Columns of the FLOPs that follow from types and shapes."""
    rows = list(zip(types, inputs, outputs, strict=True))
    known = {
        (kind, ins, outs): (flops.from_tensors(kind, ins, outs) if kind and ins else None)
        or (None, None)
        for kind, ins, outs in set(rows)
    }
    derived = [known[row] for row in rows]
    return {
        "flops": pd.array([_size(value) for value, _ in derived], dtype="Int64"),
        "flops_source": [source for _, source in derived],
    }


def _class(op_type: str | None, name: str) -> str:
    """By the type; by the name of the kernel where that says nothing."""
    known = op_class(op_type)
    return known if known != "unknown" else kernel_class(name)


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value or None
    return None if value is None or pd.isna(value) else str(value) or None  # type: ignore[call-overload]


def _texts(
    values: Iterable[object] | None, count: int, limits: Limits, *, is_name: bool = True
) -> pd.Categorical[str]:
    """A column of text made fit to be shown, '' and None as null."""
    told = Coded.of([None] * count if values is None else values).present()
    categories: dict[str, int] = {}
    numbers = []
    for value in told.values:
        text = _text(value)
        shown = clean_text(text, limits.text_chars, is_name=is_name) if text else ""
        numbers.append(categories.setdefault(shown, len(categories)) if shown else -1)
    codes = np.array([*numbers, -1], dtype="int64")[told.codes]
    return pd.Categorical.from_codes(codes, pd.Index(list(categories)))


def _members(values: Sequence[object], limits: Limits) -> pd.Categorical:
    """Lists of names, longer than other text; '' says that the operator was inserted."""
    chars = _MEMBERS_CHARS * limits.text_chars
    out = [None if value is None else clean_text(str(value), chars) for value in values]
    return pd.Categorical(out, categories=list(dict.fromkeys(v for v in out if v is not None)))


def _whole_numbers(values: Iterable[object]) -> ExtensionArray:
    known = Whole.of(values)
    if known is not None:
        return known.array
    made: ExtensionArray = pd.Series(list(values), dtype="Int64").array
    return made


def _numbers(values: Cells) -> npt.NDArray[np.float64]:
    """Numbers of a counter; NaN for what is none."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        counters = values
    else:
        told = pd.Series(list(values), dtype="object")
        counters = pd.to_numeric(told, errors="coerce").to_numpy("float64")
    infinite = np.isinf(counters)
    return np.where(infinite, math.nan, counters) if infinite.any() else counters


def _long_text(columns: Columns, limits: Limits) -> list[Diagnostic]:
    """How many different texts are cut, one of them as example."""
    texts = {
        text
        for name in (*_TEXTS, "device", "stream")
        if name != "members" and name in columns
        for text in Coded.of(columns[name]).present().values
        if isinstance(text, str) and len(text) > limits.text_chars
    }
    return noted("info", "long_text", sorted(texts), chars=80)


def _size(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    return int(value) if math.isfinite(value) and 0 <= value < _MAX else None


def _derived_runs(
    columns: Columns, labels: Cells | None, kind: str, notes: list[Diagnostic]
) -> tuple[pd.DataFrame, Cells]:
    """Runs that span the calls of each label, and each row's run; one run without labels."""
    durations = np.asarray(columns["dur_ns"])
    count = len(durations)
    told = Coded.of(labels).present() if labels is not None else None
    if told is None or not told.values:
        notes.append(Diagnostic("info", "no_runs"))
        told, kind = Coded.same("file", count), "file"
    starts, is_timed = _known_times(columns.get("start_ns"), count)
    spans, has_span = _known_times(columns.get("span_ns"), count)
    ends = starts + np.where(has_span, spans, durations)
    is_in = told.codes >= 0
    found = []
    order = np.argsort(told.codes[is_in], kind="stable")
    rows = np.flatnonzero(is_in)[order]
    bounds = np.searchsorted(told.codes[rows], np.arange(len(told.values) + 1))
    timed = np.logical_and.reduceat(is_timed[rows], bounds[:-1])
    first = np.minimum.reduceat(starts[rows], bounds[:-1])
    last = np.maximum.reduceat(ends[rows], bounds[:-1])
    total = np.add.reduceat(durations[rows], bounds[:-1])
    for known, begin, end, whole in zip(
        timed.tolist(), first.tolist(), last.tolist(), total.tolist(), strict=True
    ):
        found.append((begin, min(_MAX, end - begin)) if known else (None, min(_MAX, whole)))
    frame = profiled_runs(kind, [begin for begin, _ in found], [dur for _, dur in found])
    return frame, Whole(told.codes, is_in)


def _known_times(values: Cells | None, count: int) -> tuple[Ints, np.ndarray]:
    """Times in ns, and which are told; 0 where none is."""
    if values is None:
        return np.zeros(count, dtype="int64"), np.zeros(count, dtype=bool)
    known = Whole.of(values)
    if known is None:
        told = [isinstance(value, int | np.integer) for value in values]
        numbers = [int(str(v)) if ok else 0 for v, ok in zip(values, told, strict=True)]
        known = Whole(np.array(numbers, dtype="int64"), np.array(told, dtype=bool))
    return np.where(known.known, known.numbers, 0), known.known


def _in_order(calls: pd.DataFrame, *, has_wait: bool) -> tuple[pd.DataFrame, Overlaps]:
    """Calls by start where all have one, with the gap before each; what overlaps on a stream."""
    if calls["start_ns"].isna().any():
        return calls, Overlaps()
    start = calls["start_ns"].to_numpy("int64")
    if (start[1:] < start[:-1]).any():
        calls = calls.sort_values("start_ns", kind="stable").reset_index(drop=True)
        start = calls["start_ns"].to_numpy("int64")
    is_nested = bool(calls["span_ns"].notna().any())
    span = calls["span_ns"].fillna(calls["dur_ns"]) if is_nested else calls["dur_ns"]
    runs, labels = pd.factorize(calls["run"].to_numpy("int64", na_value=-1))
    lanes, _ = distinct_rows(
        [
            runs,
            calls["device"].cat.codes.to_numpy().astype(np.int64),
            calls["stream"].cat.codes.to_numpy().astype(np.int64),
        ],
        [len(labels), len(calls["device"].cat.categories), len(calls["stream"].cat.categories)],
        len(calls),
    )
    before, known = _ended_before(lanes, start + span.to_numpy("int64"))
    gap = start - before
    overlaps = Overlaps()
    if not is_nested:  # what ran on unknown streams may well overlap
        is_early = (gap < 0) & known & calls["stream"].notna().to_numpy()
        overlaps = overlaps_of(-gap[is_early], span.to_numpy("int64")[is_early])
    if not has_wait:
        calls["wait_ns"] = pd.arrays.IntegerArray(np.where(known, gap.clip(min=0), 1), ~known)
    return calls, overlaps


def _ended_before(lanes: Ints, ends: Ints) -> tuple[Ints, np.ndarray]:
    """When all calls before each one on its lane had ended, and where there is one before."""
    order = np.argsort(lanes, kind="stable")
    is_first = starts_of(lanes[order])
    before, known = np.empty(len(order), dtype="int64"), np.empty(len(order), dtype=bool)
    before[order], known[order] = ended_before(is_first, ends[order]), ~is_first
    return before, known
