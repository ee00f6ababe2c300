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
import pandas as pd

from analysis.errors import FuseScopeError
from analysis.limits import DEFAULT_LIMITS, Limits
from analysis.messages.places import row_of
from analysis.operators import flops
from analysis.operators.classes import kernel_class, op_class
from analysis.readers.building.iterations import profiled_runs
from analysis.readers.building.repeats import without_repeats
from analysis.text import clean_text
from analysis.trace import (
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

_IDENTITY = [name for name in OPERATOR_COLUMNS if name != "operator"]
_TEXTS = [name for name, dtype in OPERATOR_COLUMNS.items() if dtype == "category"]
_SIZES = ("bytes_in", "bytes_param", "bytes_out", "flops")
_MAX = 2**62
_LONGEST_NS = 2**55  # a year; sums of what is longer would not fit 64 bits
_HOSTS = r"CPU|Host|\w*ExecutionProvider"  # as tables that we wrote name the core
_MANY_OVERLAPS = 8
_MUCH_OVERLAP = 0.25  # of all executions
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
    and counted. `run` holds any label per row (None: outside every run); `runs` a runs table whose
    `run` those labels are, else runs of `run_kind` span the calls of each label. Without `run`
    there is one run of kind `file`. Derived where not given: `op_class`, `flops`, `bytes_in`,
    `bytes_out`, `wait_ns`. Raises FuseScopeError when no row has a valid time.
    """
    found = [_clean(note) for note in notes]
    columns, kept = _valid(rows, meta, found, limits)
    columns, kept = without_repeats(columns, kept, found)
    found += _long_text(columns, limits)
    operators, codes = _operators(columns, limits)
    count = len(kept)
    calls: dict[str, object] = {"operator": codes}
    labels = columns.get("run", [None] * count)
    if runs is None:
        runs, labels = _derived_runs(columns, labels, run_kind, found)
    calls["run"] = _whole_numbers(labels)
    for name in ("device", "stream"):
        calls[name] = _texts(columns.get(name), count, limits)
    for name in ("start_ns", "dur_ns", "span_ns", "wait_ns", "n"):
        if name in columns:
            calls[name] = _whole_numbers(columns[name])
    if "n" in columns:
        calls["n"] = _whole_numbers(columns["n"]).fillna(1)
    calls["source_row"] = columns.get("source_row", kept)
    for name, values in columns.items():
        name = clean_text(name, _HEAD_CHARS)
        if name not in OPERATOR_COLUMNS and name not in CALL_COLUMNS:
            counters = pd.to_numeric(pd.Series(list(values), dtype="object"), errors="coerce")
            numbers_only = counters.astype("float64").replace([math.inf, -math.inf], math.nan)
            if numbers_only.notna().any():
                calls[name] = numbers_only.astype("Float64")
    frame = calls_frame(**calls)
    frame, overlapping = _in_order(frame, has_wait="wait_ns" in columns)
    if overlapping:
        found.append(_overlap(overlapping, frame, operators))
    return Trace(meta, runs, operators, frame, tuple(found))


def _overlap(count: int, calls: pd.DataFrame, operators: pd.DataFrame) -> Diagnostic:
    """A note on executions that overlap on their stream, serious where many kernels do.

    A stream of a device runs one kernel at a time, so they are of several devices told as one.
    """
    on_host = operators["provider"].astype("object").fillna("").str.fullmatch(_HOSTS)
    is_device = (operators["level"] == "device_kernel").all() and not on_host.any()
    if is_device and count >= _MANY_OVERLAPS and count >= _MUCH_OVERLAP * len(calls):
        return Diagnostic("warning", "streams_overlap", count, values={"of": len(calls)})
    return Diagnostic("info", "overlapping_calls", count)


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
) -> tuple[dict[str, list[object]], list[int]]:
    """The columns without rows that have no valid time, and the positions of those kept."""
    columns = {name: list(values) for name, values in rows.items()}
    total = len(columns["dur_ns"])
    if total > limits.events:
        raise FuseScopeError(
            "too_many_events",
            where=meta.file_name,
            n=total,
            limit=limits.events,
            raised=limits.raised("events", total),
        )
    kept = [index for index, dur in enumerate(columns["dur_ns"]) if _is_time(dur)]
    if len(kept) < total:
        good = set(kept)
        first = next(index for index in range(total) if index not in good)
        row = columns["source_row"][first] if "source_row" in columns else first + 1
        example = row_of(int(str(row)), clean_text(str(columns["name"][first]), 80))
        notes.append(Diagnostic("warning", "bad_time", total - len(kept), example))
        columns = {name: [values[p] for p in kept] for name, values in columns.items()}
    if not kept:
        raise FuseScopeError("no_valid_times" if total else "no_operators", where=meta.file_name)
    if sum(int(str(dur)) for dur in columns["dur_ns"]) >= _MAX:
        raise FuseScopeError("times_too_long", where=meta.file_name)
    return columns, kept


def _clean(note: Diagnostic) -> Diagnostic:
    """The note with texts that are fit to be shown: examples are often cells as they came."""
    values = {
        key: clean_text(value) if isinstance(value, str) else value
        for key, value in note.values.items()
    }
    return replace(note, example=clean_example(note.example), values=values)


def _is_time(value: object) -> bool:
    return isinstance(value, int | np.integer) and 0 <= int(value) < _LONGEST_NS


def _operators(
    columns: Mapping[str, list[object]], limits: Limits
) -> tuple[pd.DataFrame, np.ndarray]:
    """The distinct operators in order of appearance, and each row's operator."""
    given = [name for name in _IDENTITY if name in columns]
    rows = list(zip(*(columns[name] for name in given), strict=True))
    number: dict[tuple[object, ...], int] = {}
    codes = np.fromiter((number.setdefault(row, len(number)) for row in rows), "int64", len(rows))
    distinct = dict(zip(given, zip(*number, strict=True), strict=True))
    count = len(number)
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
            made[column] = pd.array([tensor_bytes(text) for text in texts], dtype="Int64")
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
    derived = [
        (flops.from_tensors(kind, ins, outs) if kind and ins else None) or (None, None)
        for kind, ins, outs in zip(types, inputs, outputs, strict=True)
    ]
    return {
        "flops": pd.array([_size(value) for value, _ in derived], dtype="Int64"),
        "flops_source": [source for _, source in derived],
    }


def _class(op_type: str | None, name: str) -> str:
    """By the type; by the name of the kernel where that says nothing."""
    known = op_class(op_type)
    return known if known != "unknown" else kernel_class(name)


def _text(value: object) -> str | None:
    return None if value is None or pd.isna(value) else str(value) or None  # type: ignore[call-overload]


def _texts(
    values: Sequence[object] | None, count: int, limits: Limits, *, is_name: bool = True
) -> pd.Categorical[str]:
    """A column of text made fit to be shown, '' and None as null."""
    values = [None] * count if values is None else values
    known: dict[object, int] = {}
    categories: dict[str, int] = {}
    codes = np.empty(len(values), dtype="int64")
    for index, value in enumerate(values):
        code = known.get(value)
        if code is None:
            text = _text(value)
            shown = clean_text(text, limits.text_chars, is_name=is_name) if text else ""
            code = known[value] = categories.setdefault(shown, len(categories)) if shown else -1
        codes[index] = code
    return pd.Categorical.from_codes(codes, pd.Index(list(categories)))


def _members(values: Sequence[object], limits: Limits) -> pd.Categorical:
    """Lists of names, longer than other text; '' says that the operator was inserted."""
    chars = _MEMBERS_CHARS * limits.text_chars
    out = [None if value is None else clean_text(str(value), chars) for value in values]
    return pd.Categorical(out, categories=list(dict.fromkeys(v for v in out if v is not None)))


def _whole_numbers(values: Sequence[object]) -> pd.Series:
    return pd.Series(list(values), dtype="Int64")


def _long_text(columns: Mapping[str, list[object]], limits: Limits) -> list[Diagnostic]:
    """How many different texts are cut, one of them as example."""
    texts = {
        text
        for name in (*_TEXTS, "device", "stream")
        if name != "members"
        for text in columns.get(name, ())
        if isinstance(text, str) and len(text) > limits.text_chars
    }
    return noted("info", "long_text", sorted(texts), chars=80)


def _size(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    return int(value) if math.isfinite(value) and 0 <= value < _MAX else None


def _derived_runs(
    columns: Mapping[str, list[object]],
    labels: list[object],
    kind: str,
    notes: list[Diagnostic],
) -> tuple[pd.DataFrame, list[object]]:
    """Runs that span the calls of each label, and each row's run; one run without labels."""
    durations = [int(str(value)) for value in columns["dur_ns"]]
    starts = columns.get("start_ns", [None] * len(durations))
    if all(label is None for label in labels):
        notes.append(Diagnostic("info", "no_runs"))
        labels, kind = ["file"] * len(durations), "file"
    order = dict.fromkeys(label for label in labels if label is not None)
    number = {label: index for index, label in enumerate(order)}
    first: list[int | None] = [None] * len(order)
    last, total = [0] * len(order), [0] * len(order)
    timed = [True] * len(order)
    spans = columns.get("span_ns", [None] * len(durations))
    for label, start, dur, span in zip(labels, starts, durations, spans, strict=True):
        if label is None:
            continue
        run = number[label]
        total[run] += dur
        if not isinstance(start, int | np.integer):
            timed[run] = False
            continue
        begin, known = int(start), first[run]
        first[run] = begin if known is None else min(known, begin)
        whole = int(span) if isinstance(span, int | np.integer) else dur
        last[run] = begin + whole if known is None else max(last[run], begin + whole)
    dur_ns = [
        min(_MAX, last[run] - begin if timed[run] and begin is not None else total[run])
        for run, begin in enumerate(first)
    ]
    starts_ns = [begin if known else None for begin, known in zip(first, timed, strict=True)]
    frame = profiled_runs(kind, starts_ns, dur_ns)
    return frame, [None if label is None else number[label] for label in labels]


def _in_order(calls: pd.DataFrame, *, has_wait: bool) -> tuple[pd.DataFrame, int]:
    """Calls by start where all have one, with the gap before each; how many overlap on a stream."""
    if calls["start_ns"].isna().any():
        return calls, 0
    calls = calls.sort_values("start_ns", kind="stable").reset_index(drop=True)
    start = calls["start_ns"].to_numpy("int64")
    span = calls["span_ns"].fillna(calls["dur_ns"]).to_numpy("int64")
    keys = [calls["run"].fillna(-1), calls["device"].cat.codes, calls["stream"].cat.codes]
    lanes = [key.to_numpy("int64") for key in keys]
    ends = pd.Series(pd.array(start + span, dtype="Int64"))
    before = ends.groupby(lanes, sort=False).cummax().groupby(lanes, sort=False).shift()
    gap = calls["start_ns"] - before
    known = calls["stream"].notna()  # what ran on unknown streams may well overlap
    overlapping = int(((gap < 0) & known).sum()) if calls["span_ns"].isna().all() else 0
    if not has_wait:
        calls["wait_ns"] = gap.clip(lower=0)
    return calls, overlapping
