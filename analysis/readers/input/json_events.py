"""Trace events: JSON of Chrome-style events, decoded to typed values, damage repaired.

A file is an array of events, or an object that holds them under `traceEvents`. Typed decoding
skips what nobody reads and makes no dicts, which is where the time of a plain JSON load goes.
Damage is repaired only where whole events stay whole, and always counted.
"""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.input.encoding import utf8, valid_utf8, without_lone_surrogates
from fusescope.analysis.readers.input.json_array import check_length
from fusescope.analysis.readers.input.json_value import UNDECODABLE, decode, mended
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, noted

EventT = TypeVar("EventT", bound=msgspec.Struct)
FileT = TypeVar("FileT", bound="EventFile")

_OBJECT = re.compile(rb"\s*\{")
EVENTS = re.compile(rb'"traceEvents"\s*:\s*(?=\[)')
_LAST_EVENT = re.compile(
    rb'\{\s*"(?:cat|ph|name|pid|tid|ts|dur|id|args)"\s*:|\{\s*(?:"\w{0,8}"?\s*)?\Z'
)
_BYTE = re.compile(r"\(byte (\d+)\)")
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
RAW = msgspec.json.Decoder(list[msgspec.Raw])
_MAX_CUTS = 8
TAIL_BYTES = 1024 * 1024


class EventFile(msgspec.Struct):
    """A file of the object form: its events, and in subclasses what else a reader needs of it."""

    trace_events: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="traceEvents")


def decode_events(
    data: bytes, event: type[EventT], where: str, limits: Limits
) -> tuple[list[EventT], list[Diagnostic]]:
    """All events, in file order, and what had to be repaired or dropped.

    Events of a wrong shape are dropped and counted. A file cut short keeps its whole events.
    Raises FuseScopeError with the byte position for anything else that is not JSON, and for more
    than `limits.events` events.
    """
    events, _, notes = decode_file(data, event, EventFile, where, limits)
    return events, notes


def decode_file(
    data: bytes, event: type[EventT], file: type[FileT], where: str, limits: Limits
) -> tuple[list[EventT], FileT, list[Diagnostic]]:
    """Like `decode_events`, with what stands beside the events; defaults in the array form."""
    notes: list[Diagnostic] = []
    data = without_lone_surrogates(utf8(data), notes)
    decoder = msgspec.json.Decoder(list[event])  # type: ignore[valid-type]
    try:
        header = msgspec.json.decode(data, type=file) if _is_object(data) else file()
        array = header.trace_events if _is_object(data) else data
        check_length(array, where, limits, objects=True)
        events: list[EventT] = decoder.decode(array)
    except UNDECODABLE:
        header, raw = _repaired(data, file, where, limits, notes)
        events = decode_each(raw, event, notes)
    return events, header, notes


def _is_object(data: bytes) -> bool:
    return _OBJECT.match(data) is not None


def decode_each(
    raw: list[msgspec.Raw], event: type[EventT], notes: list[Diagnostic]
) -> list[EventT]:
    """Event by event, after typed decoding of all together failed; those of a wrong shape are
    dropped and counted."""
    decoder = msgspec.json.Decoder(event)
    events: list[EventT] = []
    dropped, example = 0, ""
    for item in raw:
        try:
            events.append(decoder.decode(item))
        except UNDECODABLE as error:
            dropped += 1
            example = example or str(error)
    notes += noted("warning", "bad_event", dropped, example)
    return events


def _repaired(
    data: bytes, file: type[FileT], where: str, limits: Limits, notes: list[Diagnostic]
) -> tuple[FileT, list[msgspec.Raw]]:
    """What stands beside the events, and the events undecoded, of a file that is damaged."""
    data = valid_utf8(data, notes)
    try:
        return _split_noted(data, file, where, limits, notes)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _no_trace(error, where) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        damage = error
    if "truncated" not in str(damage):
        sound, count = mended(data)
        try:
            header, raw = _split_noted(sound, file, where, limits, notes)
        except (msgspec.ValidationError, RecursionError) as error:
            raise _no_trace(error, where) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if not _at_end(error, sound):
                raise _damaged(damage, where) from error
            data, damage = sound, error
        else:
            notes.append(Diagnostic("warning", "json_mended", count))
            return header, raw
        notes += noted("warning", "json_mended", count)
    return _cut_short(data, file, where, limits, notes, damage)


def _split_noted(
    data: bytes, file: type[FileT], where: str, limits: Limits, notes: list[Diagnostic]
) -> tuple[FileT, list[msgspec.Raw]]:
    """Like `_split`, without what follows the end of the JSON."""
    try:
        return _split(data, file, where, limits)
    except msgspec.DecodeError as error:
        end = _TRAILING.search(str(error))
        if end is None:
            raise
        at = int(end[1]) - 1  # it counts the first of them
        found = _split(data[:at], file, where, limits)
        notes.append(Diagnostic("warning", "trailing_bytes", len(data) - at))
        return found


def _split(
    data: bytes, file: type[FileT], where: str, limits: Limits
) -> tuple[FileT, list[msgspec.Raw]]:
    header = msgspec.json.decode(data, type=file) if _is_object(data) else file()
    array = (header.trace_events or msgspec.Raw(b"null")) if _is_object(data) else data
    check_length(array, where, limits)
    return header, RAW.decode(array)


def _at_end(error: Exception, data: bytes) -> bool:
    """True when the text ends in the middle of a value."""
    at = _BYTE.search(str(error))
    return "truncated" in str(error) or (at is not None and int(at[1]) >= len(data.rstrip()))


def _cut_short(
    data: bytes,
    file: type[FileT],
    where: str,
    limits: Limits,
    notes: list[Diagnostic],
    damage: Exception,
) -> tuple[FileT, list[msgspec.Raw]]:
    """The whole events of a file that ends too early."""
    text = data.strip()
    begin = 0
    header = file()
    if text.startswith(b"{"):
        found = EVENTS.search(text)
        if found is None:
            raise _damaged(damage, where)
        begin = found.end()
        header = decode(text[: found.start()].rstrip(b", \t\r\n") + b"}", file, file())
    elif not text.startswith(b"["):
        raise _damaged(damage, where)
    whole = text[begin:].rstrip(b", \t\r\n")
    check_length(whole, where, limits)
    for end, bracket in _cut_points(whole, is_object=begin > 0):
        kept = whole[:end].rstrip(b", \t\r\n")
        try:
            raw = RAW.decode(kept + bracket)
        except UNDECODABLE:
            continue
        lost = len(whole[len(kept) :].strip(b", \t\r\n"))
        # Writers may leave out the bracket behind an array; an object they write to its end.
        code: DiagnosticCode = "cut_short" if lost or begin else "missing_bracket"
        notes.append(Diagnostic("warning", code, 1, "", {"bytes_lost": lost}))
        return header, raw
    raise _damaged(damage, where)


def _cut_points(text: bytes, *, is_object: bool) -> list[tuple[int, bytes]]:
    """Where the array may end, and what is missing there.

    At a bracket with something of the object behind it, at the end of the whole text, else before
    one of its last events.
    """
    tail_start = max(1, len(text) - TAIL_BYTES)
    starts = [m.start() for m in _LAST_EVENT.finditer(text, tail_start)]
    closed: list[tuple[int, bytes]] = []
    if is_object:
        at = len(text)
        while len(closed) < _MAX_CUTS and (at := text.rfind(b"]", tail_start, at)) >= 0:
            closed.append((at + 1, b""))
    cuts = [(at, b"]") for at in (len(text), *reversed(starts[-_MAX_CUTS:]))]
    return [*closed, *cuts]


def _no_trace(error: Exception, where: str) -> FuseScopeError:
    if isinstance(error, RecursionError):
        return FuseScopeError("json_too_deep", where=where)
    return FuseScopeError("json_not_events", where=where)


def _damaged(error: Exception, where: str) -> FuseScopeError:
    return damaged(str(error), where)


def damaged(reason: str, where: str) -> FuseScopeError:
    """The error of JSON that cannot be read, with what msgspec says of it."""
    told = reason.removeprefix("JSON is malformed: ")
    return FuseScopeError("json_damaged", where=where, reason=told)
