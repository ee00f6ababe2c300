"""The JSON of rocprofv3: each process has its own kernels, agents and records.

A dispatch names its kernel by number, and agents by a handle. Every part may lack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.amd.rows import (
    MAX_COUNTERS,
    RocprofRows,
    agent_name,
    copy_name,
    durations,
    is_call,
    kernel_name,
)
from fusescope.analysis.readers.building.kernels import kernel_columns
from fusescope.analysis.readers.input.encoding import utf8, valid_utf8
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_array import check_length
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.json_value import decode, decoded_whole, refused
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS

PartT = TypeVar("PartT")

_MAX_COUNTED = 1e300  # a larger number is neither a counter nor a double
_SIGN = re.compile(rb'\{\s*"rocprofiler-sdk-tool"\s*:')
_GPU = 2  # rocprofiler_agent_type_t


_Cell = str | int | float | bool | None  # numbers may be text


class _Handle(msgspec.Struct, gc=False):
    """A number that stands in an object: {'handle': 7}."""

    handle: _Cell = None


_Number = _Handle | _Cell


class _Correlation(msgspec.Struct, gc=False):
    """The number of a call, which what it launched has as well."""

    internal: _Cell = None


class _Info(msgspec.Struct, gc=False):
    """What was dispatched, and where."""

    kernel_id: _Number = None
    agent_id: _Number = None
    queue_id: _Number = None
    dispatch_id: _Number = None


class _Dispatch(msgspec.Struct, gc=False):
    """A dispatch or copy; every part may lack."""

    start_timestamp: _Cell = None
    end_timestamp: _Cell = None
    dispatch_info: _Info | _Cell = None
    stream_id: _Number = None
    operation: _Cell = None
    dst_agent_id: _Number = None
    bytes: _Cell = None
    kernel_name: _Cell = None
    correlation_id: _Correlation | _Cell = None


class _Call(msgspec.Struct, gc=False):
    """A call of HIP; its name stands under the numbers of kind and operation."""

    kind: _Cell = None
    operation: _Cell = None
    thread_id: _Number = None
    start_timestamp: _Cell = None
    end_timestamp: _Cell = None
    correlation_id: _Correlation | _Cell = None


class _Agent(msgspec.Struct, gc=False):
    id: _Number = None
    node_id: _Number = None
    type: _Cell = None
    name: _Cell = None
    product_name: _Cell = None


class _Symbol(msgspec.Struct, gc=False):
    """A kernel; it has its demangled name in newer files."""

    kernel_id: _Number = None
    formatted_kernel_name: _Cell = None
    demangled_kernel_name: _Cell = None
    kernel_name: _Cell = None


class _Counter(msgspec.Struct, gc=False):
    id: _Number = None
    name: _Cell = None


class _Value(msgspec.Struct, gc=False):
    counter_id: _Number = None
    value: _Cell = None


class _Counted(msgspec.Struct, gc=False):
    dispatch_info: _Info | _Cell = None


class _Record(msgspec.Struct, gc=False):
    """Counters of one dispatch, one entry a unit of the device."""

    dispatch_data: _Counted | _Cell = None
    records: msgspec.Raw = msgspec.Raw(b"[]")


class _Kind(msgspec.Struct, gc=False):
    kind: _Cell = None
    operations: msgspec.Raw = msgspec.Raw(b"[]")


class _Strings(msgspec.Struct, gc=False):
    buffer_records: msgspec.Raw = msgspec.Raw(b"[]")


class _Node(msgspec.Struct, gc=False):
    hostname: _Cell = None


class _Metadata(msgspec.Struct, gc=False):
    node: _Node | _Cell = None
    pid: _Number = None


class _Records(msgspec.Struct, gc=False):
    """What was recorded, by kind."""

    kernel_dispatch: msgspec.Raw = msgspec.Raw(b"[]")
    memory_copy: msgspec.Raw = msgspec.Raw(b"[]")
    counter_collection: msgspec.Raw = msgspec.Raw(b"[]")
    hip_api: msgspec.Raw = msgspec.Raw(b"[]")


class _Tool(msgspec.Struct, gc=False):
    """One process; what is not read stays undecoded."""

    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    agents: msgspec.Raw = msgspec.Raw(b"[]")
    counters: msgspec.Raw = msgspec.Raw(b"[]")
    strings: msgspec.Raw = msgspec.Raw(b"{}")
    kernel_symbols: msgspec.Raw = msgspec.Raw(b"[]")
    callback_records: msgspec.Raw = msgspec.Raw(b"{}")
    buffer_records: msgspec.Raw = msgspec.Raw(b"{}")


class _File(msgspec.Struct):
    """The whole JSON."""

    tools: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"[]"), name="rocprofiler-sdk-tool")


def is_json(head: bytes) -> bool:
    """True for the JSON that rocprofv3 writes."""
    return _SIGN.match(utf8(head).lstrip()) is not None


def add_json(rows: RocprofRows, data: bytes, where: str) -> None:
    """The dispatches and copies of every process. Raises FuseScopeError when damaged."""
    with refused(where):
        file = decoded_whole(valid_utf8(utf8(data), rows.notes), _File, rows.notes)
    processes: set[Hashable] = set()
    for number, raw in enumerate(_items(file.tools, where, rows.limits), start=1):
        tool = _decoded(raw, _Tool, where)
        told = _handle(_typed(tool.metadata, _Metadata).pid)
        process = told if told and told not in processes else f"#{number}"
        processes.add(process)
        _add_tool(rows, tool, process, where)


def _add_tool(rows: RocprofRows, tool: _Tool, process: str, where: str) -> None:
    kernels = _kernel_names(_typed_items(tool.kernel_symbols, _Symbol, where, rows.limits))
    agents = _agents(rows, _typed_items(tool.agents, _Agent, where, rows.limits))
    metadata = _typed(tool.metadata, _Metadata)
    if isinstance(metadata.node, _Node) and (host := _text(metadata.node.hostname)):
        rows.private["host"] = clean_text(host, 120)
    records = _typed(tool.buffer_records, _Records)
    _add_calls(rows, tool, process, where)
    operations = _operations(tool.strings, where, rows.limits)
    for kind, raw in (
        ("kernel_dispatch", records.kernel_dispatch),
        ("memory_copy", records.memory_copy),
    ):
        is_kernel = kind == "kernel_dispatch"
        name_of = _kernel_of(kernels) if is_kernel else _copy_of(operations)
        found, _, notes = collect_events(
            _Array(raw, where, rows.limits),
            _Dispatch,
            EventFile,
            lambda name_of=name_of, is_kernel=is_kernel: _Dispatches(  # type: ignore[misc]
                name_of, agents, is_kernel=is_kernel
            ),
        )
        rows.notes += notes
        names, columns = found.names, found.columns
        if not names:
            continue
        ends, dispatches = columns.pop("end"), columns.pop("dispatch")
        columns["dur_ns"] = list(durations(columns["start_ns"], ends))
        columns["source_row"] = list(range(1, len(names) + 1))
        columns["process"] = [process] * len(names)
        if kind == "kernel_dispatch":
            del columns["bytes"]
            columns.update(_counter_columns(rows, tool, dispatches, where))
        rows.columns.extend({**kernel_columns(names), **columns})


def _add_calls(rows: RocprofRows, tool: _Tool, process: str, where: str) -> None:
    """The calls of HIP."""
    kinds = [
        [_text(_typed(name, str)) for name in _items(kind.operations, where, rows.limits)]
        if _text(kind.kind).startswith("HIP_")
        else []
        for kind in _typed_items(
            _typed(tool.strings, _Strings).buffer_records, _Kind, where, rows.limits
        )
    ]
    raw = _typed(tool.buffer_records, _Records).hip_api
    if _is_array(raw):
        # An entry of another shape is not a call, so it is not reported.
        found, _, _ = collect_events(
            _Array(raw, where, rows.limits), _Call, EventFile, lambda: _Calls(kinds)
        )
    else:
        found = _Calls(kinds)
        found.add(list(_typed_items(raw, _Call, where, rows.limits)))
    for name, thread, start, end, correlation in found.calls:
        rows.add_call(name, process, thread, start, end, correlation)


def _is_array(raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:64]).lstrip().startswith(b"[")


class _Array(Source):
    """An array inside of the file, as a file: it is read in windows, without a copy of it."""

    def __init__(self, raw: msgspec.Raw, name: str, limits: Limits) -> None:
        super().__init__(name, lambda count: bytes(memoryview(raw)[:count]), limits)
        self._array = memoryview(raw)

    def blocks(self, size: int) -> Iterator[bytes]:
        for at in range(0, len(self._array), size):
            yield bytes(self._array[at : at + size])


class _Calls:
    """Calls of HIP, part by part: name, thread, start and end in ns, and correlation.

    `kinds` are names of operations by the number of their kind.
    """

    plain = None

    def __init__(self, kinds: Sequence[Sequence[str]]) -> None:
        self.count = 0
        self.calls: list[tuple[str, str | None, int | None, int | None, str | None]] = []
        self._kinds = kinds

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[_Call], *, escaped: bool = False) -> None:
        """The next calls."""
        self.count += len(events)
        for call in events:
            number = call.kind
            if not isinstance(number, int) or not 0 <= number < len(self._kinds):
                continue
            name = _name_of(self._kinds[number], call.operation)
            if is_call(name):
                start, end = _ns(call.start_timestamp), _ns(call.end_timestamp)
                thread, number = _handle(call.thread_id), _correlation(call.correlation_id)
                self.calls.append((name, thread, start, end, number))


class _Dispatches:
    """Dispatches or copies as columns, part by part."""

    plain = None

    def __init__(
        self,
        name_of: Callable[[_Dispatch, _Info], str],
        agents: Mapping[str, str],
        *,
        is_kernel: bool,
    ) -> None:
        self.count = 0
        self.names: list[str] = []
        self.columns: dict[str, list[object]] = {
            name: []
            for name in ("device", "stream", "start_ns", "end", "bytes", "dispatch", "correlation")
        }
        self._name_of, self._agents, self._is_kernel = name_of, agents, is_kernel
        self._handles: dict[object, str | None] = {}

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[_Dispatch], *, escaped: bool = False) -> None:
        """The next ones."""
        self.count += len(events)
        columns = self.columns
        infos = [
            info if isinstance(info := event.dispatch_info, _Info) else _NO_INFO for event in events
        ]
        self.names += map(self._name_of, events, infos)
        if self._is_kernel:
            agents = [self._handle(info.agent_id) for info in infos]
            columns["stream"] += [self._handle(info.queue_id) for info in infos]
        else:
            agents = [self._handle(event.dst_agent_id) for event in events]
            columns["stream"] += [self._handle(event.stream_id) for event in events]
            columns["bytes"] += [_ns(event.bytes) for event in events]
        columns["device"] += [self._agents.get(agent or "", agent) for agent in agents]
        columns["start_ns"] += [_ns(event.start_timestamp) for event in events]
        columns["end"] += [_ns(event.end_timestamp) for event in events]
        columns["dispatch"] += [_handle(info.dispatch_id) for info in infos]
        columns["correlation"] += [_correlation(event.correlation_id) for event in events]

    def _handle(self, value: _Number) -> str | None:
        """The text of a handle, of which there are few, each once."""
        number = value.handle if isinstance(value, _Handle) else value
        if type(number) is not int:
            return _handle(number)
        found = self._handles.get(number)
        if found is None:
            found = self._handles[number] = _handle(number)
        return found


_NO_INFO = _Info()
_LATEST = 2**62


def _kernel_of(kernels: Mapping[str, str]) -> Callable[[_Dispatch, _Info], str]:
    def name(event: _Dispatch, info: _Info) -> str:
        number = _handle(info.kernel_id)
        known = kernels.get(str(number))
        return known or kernel_name(_text(event.kernel_name) or f"kernel {number}")

    return name


def _copy_of(operations: Sequence[str]) -> Callable[[_Dispatch, _Info], str]:
    return lambda event, _: copy_name(_name_of(operations, event.operation))


def _ns(value: _Cell) -> int | None:
    """A time in ns; whole numbers are what nearly all files have."""
    if type(value) is int and -_LATEST < value < _LATEST:
        return value
    return exact_ns(value, "ns")


def _agents(rows: RocprofRows, agents: Iterable[_Agent]) -> dict[str, str]:
    """Handle of an agent -> its number among all agents, as the tables write it."""
    found: dict[str, str] = {}
    for agent in agents:
        handle, number = _handle(agent.id), _handle(agent.node_id)
        if handle is None:
            continue
        found[handle] = agent_name(number) or handle
        product = _text(agent.product_name) or _text(agent.name)
        if agent.type in (_GPU, "GPU") and product:
            rows.products[found[handle]] = clean_text(product, 80)
    return found


def _counter_columns(
    rows: RocprofRows, tool: _Tool, dispatches: Sequence[object], where: str
) -> dict[str, list[object]]:
    """Counters of the JSON by dispatch: the sum over all units of the device."""
    limits = rows.limits
    records = _typed(tool.callback_records, _Records).counter_collection
    if bytes(memoryview(records)[:2]) == b"[]":
        return {}
    names: dict[str, str] = {}
    for counter in _typed_items(tool.counters, _Counter, where, limits):
        name = _text(counter.name)
        if name and name not in OPERATOR_COLUMNS and name not in CALL_COLUMNS:
            names[_handle(counter.id) or ""] = name
    index = {str(number): row for row, number in enumerate(dispatches) if number is not None}
    columns: dict[str, list[object]] = {}
    beyond: list[str] = []
    for record in _typed_items(records, _Record, where, limits):
        data = record.dispatch_data
        info = data.dispatch_info if isinstance(data, _Counted) else None
        number = _handle(info.dispatch_id) if isinstance(info, _Info) else None
        row = index.get(number or "")
        if row is None:
            continue
        for item in _typed_items(record.records, _Value, where, limits):
            known_name = names.get(_handle(item.counter_id) or "")
            value = item.value
            if known_name is None or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            if not abs(value) < _MAX_COUNTED:
                continue
            if known_name not in columns and len(columns) >= MAX_COUNTERS:
                beyond.append(known_name)
                continue
            column = columns.setdefault(known_name, [None] * len(dispatches))
            known = column[row]
            column[row] = (known if isinstance(known, float) else 0.0) + float(value)
    rows.note_beyond(beyond)
    return columns


def _kernel_names(symbols: Iterable[_Symbol]) -> dict[str, str]:
    """Number of a kernel -> its name, demangled where the file has it."""
    found = {}
    for symbol in symbols:
        names = (symbol.formatted_kernel_name, symbol.demangled_kernel_name, symbol.kernel_name)
        if name := next((text for each in names if (text := _text(each))), ""):
            found[str(_handle(symbol.kernel_id))] = kernel_name(name)
    return found


def _operations(raw: msgspec.Raw, where: str, limits: Limits) -> list[str]:
    """Names of the kinds of copy, by their number."""
    kinds = _typed(raw, _Strings).buffer_records
    for kind in _typed_items(kinds, _Kind, where, limits):
        if kind.kind == "MEMORY_COPY":
            return [_typed(name, str) for name in _items(kind.operations, where, limits)]
    return []


def _name_of(names: Sequence[str], number: object) -> str:
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(names):
        return names[number]
    return _text(number)


def _handle(value: _Number) -> str | None:
    """A number that may stand in an object: {'handle': 7} and 7 are '7'."""
    if isinstance(value, _Handle):
        value = value.handle
    return None if value is None or isinstance(value, bool) else str(value)[:40]


def _correlation(value: _Correlation | _Cell) -> str | None:
    """Return the number of a call; 0 is none."""
    number = _handle(value.internal) if isinstance(value, _Correlation) else None
    return None if number == "0" else number


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _typed(raw: msgspec.Raw, kind: type[PartT]) -> PartT:
    """What `raw` holds of a kind; an empty one where it is none."""
    return decode(raw, kind, kind())


def _typed_items(
    raw: msgspec.Raw, kind: type[PartT], where: str, limits: Limits
) -> Iterator[PartT]:
    return (_typed(item, kind) for item in _items(raw, where, limits))


def _items(raw: msgspec.Raw, where: str, limits: Limits) -> list[msgspec.Raw]:
    """Entries of an array; an object counts as its only one. Raises for more than the limit."""
    if bytes(memoryview(raw)[:64]).lstrip().startswith(b"{"):
        return [raw]
    check_length(raw, where, limits)
    return decode(raw, list[msgspec.Raw], [])


def _decoded(data: bytes | msgspec.Raw, kind: Callable[..., Any], where: str) -> Any:
    with refused(where):
        return msgspec.json.decode(data, type=kind)
