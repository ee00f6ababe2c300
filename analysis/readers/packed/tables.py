"""A Trace as one file: a line of JSON that describes its tables, and their cells."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.job import MAX_GROUPS, MAX_RANKS, Group, Job
from fusescope.analysis.limits import Limits
from fusescope.analysis.messages import mark
from fusescope.analysis.operators.classes import OP_CLASSES
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.packed.columns import Column, packed, unpacked
from fusescope.analysis.readers.packed.context import SCHEMAS, context_of, frames_of
from fusescope.analysis.readers.packed.notes import Note, diagnostics_of, note_of
from fusescope.analysis.readers.reader import ALWAYS, FIELDS, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, RUN_COLUMNS, Meta, Part, Trace

MAGIC = b"FuseScope tables 1\n"
_HEADER_SHARE = 4  # of the bytes that a file may unpack to, for its names
_MAX = 2**62
_LONGEST_NS = 2**55  # as building.trace_tables has it
_MAX_COUNTERS = 400
_CELLS = 64  # a row, on average: times the limit of rows
# Cleaning again what was cut once must not cut it again: escapes make it longer.
_CHARS, _MEMBERS = 4, 256  # times those of other text
_WORDS: Mapping[str, tuple[str, ...]] = {
    "kind": ("model_run", "step", "iteration", "repeat", "file"),
    "op_class": OP_CLASSES,
    "level": ("device_kernel", "framework_op", "graph_layer"),
}
_WITH_WORDS = (RUN_COLUMNS, OPERATOR_COLUMNS)  # in other tables these columns say something else
_DURATIONS = ("dur_ns", "cpu_ns", "span_ns", "wait_ns", "launch_ns", "transfer_ns")
_SIGNED = ("start_ns",)
_SHA256 = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")]
_Start = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
_Rank = Annotated[int, msgspec.Meta(ge=0, le=MAX_RANKS)]
_Format = Annotated[str, msgspec.Meta(pattern="^[a-z0-9_]{1,40}$")]


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Part."""

    name: str
    sha256: _SHA256
    started_ns: _Start | None = None


class OfGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Group."""

    name: str
    purpose: str = ""
    ranks: Annotated[list[_Rank], msgspec.Meta(max_length=MAX_RANKS)] = []


class OfJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Job."""

    rank: _Rank | None = None
    world: _Rank | None = None
    groups: Annotated[list[OfGroup], msgspec.Meta(max_length=MAX_GROUPS)] = []
    ids: Annotated[list[str], msgspec.Meta(max_length=MAX_GROUPS)] = []

    @classmethod
    def of(cls, job: Job | None) -> OfJob | msgspec.UnsetType:
        """Return what is kept of a job."""
        if job is None:
            return msgspec.UNSET
        groups = [OfGroup(one.name, one.purpose, list(one.ranks)) for one in job.groups]
        return cls(job.rank, job.world, groups, list(job.ids))

    def job(self, clean: Callable[[str], str] = str) -> Job:
        """Return the job, its texts as `clean` has them."""
        groups = (
            Group(clean(one.name), clean(one.purpose), tuple(one.ranks)) for one in self.groups
        )
        return Job(self.rank, self.world, tuple(groups), tuple(map(clean, self.ids)))


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Meta."""

    format: _Format
    tool: str
    version: str | None
    device: str | None
    file_name: str
    sha256: _SHA256
    variant: str | None
    files: list[str]
    redactable: dict[str, str]
    started_ns: _Start | None = None
    parts: list[Recording] = []
    job: OfJob | msgspec.UnsetType = msgspec.UNSET


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows and columns; the cells of the columns follow one another."""

    rows: Annotated[int, msgspec.Meta(ge=0, le=2**40)]
    columns: list[Column]

    @property
    def size(self) -> int:
        """Bytes of all cells."""
        return sum(column.size(self.rows) for column in self.columns)


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What stands in front of the cells: of runs, then operators, then calls, then of what the
    trace has beside them, in the order of SCHEMAS."""

    meta: Origin
    notes: list[Note]
    runs: Table
    operators: Table
    calls: Table
    context: dict[str, Table] = {}


def packed_trace(trace: Trace) -> bytes:
    """The trace as `parse_trace` reads it. Equal traces give equal bytes."""
    return b"".join(_parts(trace, _Cells()))


def packed_within(trace: Trace, most: int) -> bytes | None:
    """`packed_trace`; None as soon as its cells, compressed as fast as can be, take more bytes."""
    try:
        return b"".join(_parts(trace, _Cells(most)))
    except _TooLargeError:
        return None


class _TooLargeError(Exception):
    """More cells than there is room for."""


class _Cells:
    """The cells of columns as they come; with `most` not more than that when compressed."""

    def __init__(self, most: int | None = None) -> None:
        self.parts: list[bytes] = []
        self._most = most
        self._compressor = zlib.compressobj(1)
        self._size = 0

    def add(self, data: bytes) -> None:
        """One column more. Raises _TooLargeError."""
        self.parts.append(data)
        if self._most is not None:
            self._size += len(self._compressor.compress(data))
            if self._size > self._most:
                raise _TooLargeError


def _parts(trace: Trace, cells: _Cells) -> list[bytes]:
    meta = trace.meta
    origin = Origin(
        meta.format,
        meta.tool,
        meta.version,
        meta.device,
        meta.file_name,
        meta.sha256,
        meta.variant,
        list(meta.files),
        dict(meta.redactable),
        meta.started_ns,
        [Recording(part.name, part.sha256, part.started_ns) for part in meta.parts],
        OfJob.of(meta.job),
    )
    runs, operators, calls = (
        _packed_table(frame, cells) for frame in (trace.runs, trace.operators, trace.calls)
    )
    notes = [note_of(note) for note in trace.diagnostics]
    context = {name: _packed_table(frame, cells) for name, frame in frames_of(trace).items()}
    header = msgspec.json.encode(Header(origin, notes, runs, operators, calls, context))
    return [MAGIC, header, b"\n", *cells.parts]


def _packed_table(frame: pd.DataFrame, cells: _Cells) -> Table:
    columns = []
    for name in frame.columns:
        column, data = packed(str(name), frame[name])
        columns.append(column)
        cells.add(data)
    return Table(len(frame), columns)


def parse_trace(data: bytes, where: str, limits: Limits) -> Trace:
    """The trace that was packed. Raises FuseScopeError for anything else, and beyond the limits."""
    try:
        return _trace(data, limits)
    except FuseScopeError as error:
        raise error.at(where) from error
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError) as error:
        reason = clean_text(str(error), 160)
        raise FuseScopeError("tables_damaged", where=where, reason=reason) from error


def _trace(data: bytes, limits: Limits) -> Trace:
    if not data.startswith(MAGIC):
        raise ValueError("it does not start as it must")
    end = data.find(b"\n", len(MAGIC))
    if end < 0 or end > limits.unpacked_bytes // _HEADER_SHARE:
        raise ValueError("its description has no end")
    header = msgspec.json.decode(data[len(MAGIC) : end], type=Header)
    beside = {name: header.context[name] for name in SCHEMAS if name in header.context}
    if len(beside) < len(header.context):
        raise ValueError("a table that no trace has")
    tables = (header.runs, header.operators, header.calls, *beside.values())
    for table in tables:
        limits.check_events(table.rows, "more_rows_than_limit", None)
    if sum(table.rows * len(table.columns) for table in tables) > _CELLS * limits.events:
        raise ValueError("it has too many cells")
    if sum(table.size for table in tables) != len(data) - end - 1:
        raise ValueError("its cells are not as long as it says")
    at = end + 1
    frames = []
    schemas = (
        RUN_COLUMNS,
        OPERATOR_COLUMNS,
        CALL_COLUMNS,
        *(SCHEMAS[name] for name in beside),
    )
    for table, schema in zip(tables, schemas, strict=True):
        frames.append(_frame(table, memoryview(data)[at : at + table.size], schema, limits))
        at += table.size
    runs, operators, calls = frames[:3]
    context = context_of(dict(zip(beside, frames[3:], strict=True)))
    _check(runs, calls)
    _check_parts(runs, len(header.meta.parts))
    notes = diagnostics_of(header.notes)
    return Trace(_meta(header.meta, limits), runs, operators, calls, notes, **context)


def _frame(
    table: Table, cells: memoryview, schema: Mapping[str, str], limits: Limits
) -> pd.DataFrame:
    made: dict[str, Any] = {}
    at = 0
    if len(table.columns) > len(schema) + _MAX_COUNTERS:
        raise ValueError("it has too many columns")
    for column in table.columns:
        name = column.name if column.name in schema else clean_text(column.name, 4 * 160)
        is_counter = name not in schema
        is_allowed = schema is CALL_COLUMNS and column.dtype == "Float64"
        if name in made or (is_counter and not is_allowed):
            raise ValueError(f"{name}: a column that no trace has")
        size = column.size(table.rows)
        values = unpacked(column, bytes(cells[at : at + size]), table.rows)
        words = _WORDS.get(column.name) if schema in _WITH_WORDS else None
        made[name] = _checked(column, values, words, limits)
        at += size
    return pd.DataFrame(made, index=pd.RangeIndex(table.rows))


def _checked(column: Column, values: Any, words: Sequence[str] | None, limits: Limits) -> Any:
    """Return the cells of a column within what readers give, which has only these words if any."""
    if column.form == "f8" and column.dtype != "Float64":
        raise ValueError(f"{column.name}: not a number")
    if column.dtype == "category":
        return _category(column, values, words, limits)
    if column.dtype == "Float64":
        numbers = values.to_numpy("float64", na_value=0.0)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{column.name}: not a number")
        return values
    if column.dtype == "bool" or not len(values):
        return values
    numbers = values if column.dtype == "int64" else values.to_numpy("int64", na_value=0)
    low = -_MAX if column.name in _SIGNED else 0
    high = _LONGEST_NS if column.name in _DURATIONS else _MAX
    if int(numbers.min()) < low or int(numbers.max()) > high:
        raise ValueError(f"{column.name}: out of range")
    if column.name in _DURATIONS and float(numbers.astype("float64").sum()) >= _MAX:
        raise ValueError(f"{column.name}: out of range")
    return values


def _category(
    column: Column, codes: np.ndarray, words: Sequence[str] | None, limits: Limits
) -> pd.Categorical:
    times = _MEMBERS if column.name == "members" else _CHARS
    if words is not None and not set(column.texts) <= set(words):
        raise ValueError(f"{column.name}: an unknown word")
    if len(codes) and not (-1 <= int(codes.min()) and int(codes.max()) < len(column.texts)):
        raise ValueError(f"{column.name}: out of range")
    places: dict[str, int] = {}
    known = [
        places.setdefault(clean_text(text, times * limits.text_chars), len(places))
        for text in column.texts
    ]
    new = np.array([*known, -1], dtype="int64")[codes]
    return pd.Categorical.from_codes(new, pd.Index(list(places), dtype="str"))


def _check(runs: pd.DataFrame, calls: pd.DataFrame) -> None:
    """Runs are told apart, and calls lie in runs that there are."""
    if not {"run", "kind"} <= set(runs) or "run" not in calls or "n" not in calls:
        raise ValueError("a column is missing")
    if runs["kind"].isna().any() or not runs["run"].is_unique:
        raise ValueError("runs: not told apart")
    if not calls["run"].dropna().isin(runs["run"]).all():
        raise ValueError("calls: in no run")
    if (calls["n"] < 1).any():
        raise ValueError("calls: none of an entry")


def _check_parts(runs: pd.DataFrame, parts: int) -> None:
    block = runs["block"]
    if parts and not (block.notna().all() and block.between(0, parts - 1).all()):
        raise ValueError("runs: in none of its parts")


def _meta(origin: Origin, limits: Limits) -> Meta:
    def clean(text: str) -> str:
        return clean_text(text, _CHARS * limits.text_chars)

    return Meta(
        origin.format,
        clean(origin.tool),
        None if origin.version is None else clean(origin.version),
        None if origin.device is None else clean(origin.device),
        clean(origin.file_name),
        origin.sha256,
        None if origin.variant is None else clean(origin.variant),
        tuple(clean(path) for path in origin.files),
        MappingProxyType({clean(key): clean(text) for key, text in origin.redactable.items()}),
        origin.started_ns,
        tuple(Part(clean(part.name), part.sha256, part.started_ns) for part in origin.parts),
        origin.job.job(clean) if isinstance(origin.job, OfJob) else None,
    )


def _read(source: Source) -> Trace:
    return parse_trace(source.content, source.name, source.limits)


PACKED = Reader(
    name="packed",
    title=mark("Trace in a FuseScope report"),
    fields=dict.fromkeys(FIELDS, ALWAYS),
    recording="`fusescope compare … --html FILE` writes a report that holds it.",
    sniff=lambda head: head.startswith(MAGIC),
    read=_read,
)
