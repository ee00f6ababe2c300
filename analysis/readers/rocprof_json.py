"""The JSON of rocprofv3: each process has its own kernels, agents and records.

A dispatch names its kernel by number, and agents by a handle. Every part may lack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from analysis.errors import FuseScopeError
from analysis.readers.encoding import utf8, valid_utf8
from analysis.readers.events import decode_events
from analysis.readers.rocprof_rows import (
    MOST_COUNTERS,
    RocprofRows,
    agent_name,
    copy_name,
    described,
    durations,
    kernel_name,
)
from analysis.readers.source import clean_text
from analysis.readers.times import exact_ns
from analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS

_MOST_COUNTED = 1e300  # a larger number is no counter, and no double
_SIGN = re.compile(rb'\{\s*"rocprofiler-sdk-tool"\s*:')
_GPU = 2  # rocprofiler_agent_type_t


class _Dispatch(msgspec.Struct, gc=False):
    """A dispatch or copy; numbers may be text, and every part may lack."""

    start_timestamp: Any = None
    end_timestamp: Any = None
    dispatch_info: Any = None
    correlation_id: Any = None
    stream_id: Any = None
    operation: Any = None
    src_agent_id: Any = None
    dst_agent_id: Any = None
    bytes: Any = None
    kernel_name: Any = None


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
    file = _decoded(valid_utf8(utf8(data), rows.notes), _File, where)
    for raw in _items(file.tools):
        _add_tool(rows, _decoded(raw, _Tool, where), where)


def _add_tool(rows: RocprofRows, tool: _Tool, where: str) -> None:
    kernels = _kernel_names(tool.kernel_symbols)
    agents = _agents(rows, tool.agents)
    metadata = _plain(tool.metadata)
    if isinstance(metadata, dict) and isinstance(metadata.get("node"), dict):
        host = metadata["node"].get("hostname")
        if isinstance(host, str) and host:
            rows.private["host"] = clean_text(host, 120)
    records = _plain_map(tool.buffer_records)
    operations = _operations(tool.strings)
    for kind in ("kernel_dispatch", "memory_copy"):
        raw = records.get(kind, msgspec.Raw(b"[]"))
        events, notes = decode_events(bytes(raw) or b"[]", _Dispatch, where, rows.limits)
        rows.notes += notes
        names: list[str] = []
        columns: dict[str, list[object]] = {
            name: [] for name in ("device", "stream", "start_ns", "end", "bytes", "dispatch")
        }
        for event in events:
            info = event.dispatch_info if isinstance(event.dispatch_info, dict) else {}
            if kind == "kernel_dispatch":
                number = info.get("kernel_id")
                names.append(
                    kernels.get(str(number))
                    or kernel_name(_text(event.kernel_name) or f"kernel {number}")
                )
                agent, queue = _handle(info.get("agent_id")), _handle(info.get("queue_id"))
            else:
                names.append(copy_name(_name_of(operations, event.operation)))
                agent, queue = _handle(event.dst_agent_id), _handle(event.stream_id)
            columns["device"].append(agents.get(agent or "", agent))
            columns["stream"].append(queue)
            columns["start_ns"].append(exact_ns(event.start_timestamp, "ns"))
            columns["end"].append(exact_ns(event.end_timestamp, "ns"))
            columns["bytes"].append(exact_ns(event.bytes, "ns"))
            columns["dispatch"].append(_handle(info.get("dispatch_id")))
        if not names:
            continue
        ends, dispatches = columns.pop("end"), columns.pop("dispatch")
        columns["dur_ns"] = list(durations(columns["start_ns"], ends))
        columns["source_row"] = list(range(1, len(names) + 1))
        if kind == "kernel_dispatch":
            del columns["bytes"]
            columns.update(_counter_columns(tool, dispatches))
        rows.extend({**described(names), **columns})


def _agents(rows: RocprofRows, raw: msgspec.Raw) -> dict[str, str]:
    """Handle of an agent -> its number among all agents, as the tables write it."""
    found: dict[str, str] = {}
    for agent in _items(raw):
        value = _plain(agent)
        if not isinstance(value, dict):
            continue
        handle, number = _handle(value.get("id")), _handle(value.get("node_id"))
        if handle is None:
            continue
        found[handle] = agent_name(number) or handle
        product = value.get("product_name") or value.get("name")
        if value.get("type") in (_GPU, "GPU") and isinstance(product, str):
            rows.products[found[handle]] = clean_text(product, 80)
    return found


def _counter_columns(tool: _Tool, dispatches: Sequence[object]) -> dict[str, list[object]]:
    """Counters of the JSON by dispatch: the sum over all units of the device."""
    names: dict[str, str] = {}
    for raw in _items(tool.counters):
        value = _plain(raw)
        if isinstance(value, dict) and isinstance(value.get("name"), str):
            if value["name"] in OPERATOR_COLUMNS or value["name"] in CALL_COLUMNS:
                continue
            names[_handle(value.get("id")) or ""] = value["name"]
    place = {str(number): row for row, number in enumerate(dispatches) if number is not None}
    columns: dict[str, list[object]] = {}
    records = _plain_map(tool.callback_records).get("counter_collection")
    for raw in _items(records) if records is not None else ():
        record = _plain(raw)
        data = record.get("dispatch_data") if isinstance(record, dict) else None
        info = data.get("dispatch_info") if isinstance(data, dict) else None
        number = _handle(info.get("dispatch_id")) if isinstance(info, dict) else None
        row = place.get(number or "")
        found = record.get("records") if isinstance(record, dict) else None
        if row is None or not isinstance(found, list):
            continue
        for item in found:
            if not isinstance(item, dict):
                continue
            name = names.get(_handle(item.get("counter_id")) or "")
            value = item.get("value")
            if name is None or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            if not abs(value) < _MOST_COUNTED:
                continue
            if name not in columns and len(columns) >= MOST_COUNTERS:
                continue
            column = columns.setdefault(name, [None] * len(dispatches))
            known = column[row]
            column[row] = (known if isinstance(known, float) else 0.0) + float(value)
    return columns


def _kernel_names(raw: msgspec.Raw) -> dict[str, str]:
    """Number of a kernel -> its name, demangled where the file has it."""
    found = {}
    for item in _items(raw):
        symbol = _plain(item)
        if not isinstance(symbol, dict):
            continue
        for key in ("formatted_kernel_name", "demangled_kernel_name", "kernel_name"):
            name = _text(symbol.get(key))
            if name:
                found[str(_handle(symbol.get("kernel_id")))] = kernel_name(name)
                break
    return found


def _operations(raw: msgspec.Raw) -> list[str]:
    """Names of the kinds of copy, by their number."""
    strings = _plain(raw)
    kinds = strings.get("buffer_records") if isinstance(strings, dict) else None
    for kind in kinds if isinstance(kinds, list) else ():
        if isinstance(kind, dict) and kind.get("kind") == "MEMORY_COPY":
            names = kind.get("operations")
            return [str(name) for name in names] if isinstance(names, list) else []
    return []


def _name_of(names: Sequence[str], number: object) -> str:
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(names):
        return names[number]
    return _text(number)


def _handle(value: object) -> str | None:
    """A number that may stand in an object: {'handle': 7} and 7 are '7'."""
    if isinstance(value, dict):
        value = value.get("handle")
    if value is None or isinstance(value, bool | dict | list):
        return None
    return str(value)[:40]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _plain(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def _plain_map(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return {}


def _items(raw: msgspec.Raw) -> list[msgspec.Raw]:
    """Entries of an array; an object counts as its only one."""
    try:
        return msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return [raw] if bytes(raw).lstrip().startswith(b"{") else []


def _decoded(data: bytes | msgspec.Raw, kind: Callable[..., Any], where: str) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as error:
        raise FuseScopeError(
            "This JSON is nested too deep to be a trace",
            where=where,
            hint="Give the profiler's own file.",
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        raise FuseScopeError(
            f"This JSON of rocprofv3 is damaged: {clean_text(reason, 120)}",
            where=where,
            hint="Copy or record it again.",
        ) from error
