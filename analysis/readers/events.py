"""Trace events: JSON arrays of Chrome-style events, decoded to typed values, damage repaired.

Typed decoding skips what nobody reads and makes no dicts, which is where the time of a plain
JSON load goes. Damage is repaired only where whole events stay whole, and always counted.
"""

from __future__ import annotations

import codecs
import math
import re
from typing import TypeVar

import msgspec

from analysis.errors import FuseScopeError
from analysis.limits import Limits
from analysis.trace import Diagnostic

EventT = TypeVar("EventT", bound=msgspec.Struct)

_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})"
    rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_LAST_EVENT = re.compile(rb'\{\s*"(?:cat|ph|name|pid|ts)"\s*:')
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_MOST_OBJECTS = 40  # per event, on average over a file
_TAIL_BYTES = 1024 * 1024
_MAX_US = 2**52  # beyond this a time is no time, and int64 nanoseconds overflow


def utf8(data: bytes) -> bytes:
    """The text as UTF-8 without byte order mark; UTF-16 is transcoded."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def decode_events(
    data: bytes, event: type[EventT], where: str, limits: Limits
) -> tuple[list[EventT], list[Diagnostic]]:
    """All events of a JSON array, in file order, and what had to be repaired or dropped.

    Events of a wrong shape are dropped and counted. A file cut short keeps its whole events.
    Raises FuseScopeError with the byte position for anything else that is not JSON, and for more
    than `limits.events` events.
    """
    decoder = msgspec.json.Decoder(list[event])  # type: ignore[valid-type]
    notes: list[Diagnostic] = []
    data = utf8(data)
    _check_count(data, where, limits)
    if b"\\ud" in data or b"\\uD" in data:
        data, replaced = _LONE_SURROGATE.subn(rb"\\ufffd", data)
        if replaced:
            notes.append(Diagnostic("warning", "bad_unicode", replaced))
    try:
        events: list[EventT] = decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        text = data.decode(errors="replace")
        if broken := text.count("\ufffd") - data.count(b"\xef\xbf\xbd"):
            notes.append(Diagnostic("warning", "bad_unicode", broken))
            data = text.encode()
        events = _decode_each(_raw_events(data, where, notes), event, notes)
    if len(events) > limits.events:
        raise FuseScopeError(
            f"This trace has {len(events)} events, more than the limit of {limits.events}",
            where=where,
            hint="Record fewer runs.",
        )
    return events, notes


def _check_count(data: bytes, where: str, limits: Limits) -> None:
    """Refuse what would fill the memory before it is decoded.

    An event has one "cat" (or "ph") and, with shapes and thread statistics, some ten objects.
    """
    events = max(data.count(b'"cat"'), data.count(b'"ph"'))
    if events > limits.events:
        raise FuseScopeError(
            f"This trace has {events} events, more than the limit of {limits.events}",
            where=where,
            hint="Record fewer runs.",
        )
    if data.count(b"{") > _MOST_OBJECTS * events + 10_000:
        raise FuseScopeError(
            "This JSON holds far more objects than events, so it is no trace",
            where=where,
            hint="Give the profiler's own file.",
        )


def microseconds(value: object) -> int | None:
    """A time field in µs (number or numeric string) as whole ns; None when it is no time."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int):
        return value * 1000 if -_MAX_US < value < _MAX_US else None
    if isinstance(value, float) and math.isfinite(value) and abs(value) < _MAX_US:
        return round(value * 1000)
    return None


def _decode_each(
    raw: list[msgspec.Raw], event: type[EventT], notes: list[Diagnostic]
) -> list[EventT]:
    """Event by event, after the typed decoding of the whole failed."""
    decoder = msgspec.json.Decoder(event)
    events: list[EventT] = []
    dropped, example = 0, ""
    for item in raw:
        try:
            events.append(decoder.decode(item))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            dropped += 1
            example = example or str(error)
    if dropped:
        notes.append(Diagnostic("warning", "bad_event", dropped, example))
    return events


def _raw_events(data: bytes, where: str, notes: list[Diagnostic]) -> list[msgspec.Raw]:
    """The elements of the array; of an array that ends too early its whole elements."""
    try:
        return _RAW.decode(data)
    except msgspec.ValidationError as error:
        raise FuseScopeError(
            "This JSON is not a list of trace events",
            where=where,
            hint="Give the profiler's own file.",
        ) from error
    except RecursionError as error:
        raise FuseScopeError(
            "This JSON is nested too deep to be a trace",
            where=where,
            hint="Give the profiler's own file.",
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        text = data.strip()
        if text.startswith(b"[") and "truncated" in str(error):
            whole = text.rstrip(b", \t\r\n")
            for end in _cut_points(whole):
                kept = whole[:end].rstrip(b", \t\r\n")
                try:
                    raw = _RAW.decode(kept + b"]")
                except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
                    continue
                lost = len(whole) - len(kept)
                code = "cut_short" if lost else "missing_bracket"
                notes.append(Diagnostic("warning", code, 1, "", {"bytes_lost": lost}))
                return raw
        raise FuseScopeError(
            f"This JSON is damaged: {str(error).removeprefix('JSON is malformed: ')}",
            where=where,
            hint="Copy or record the file again.",
        ) from error


def _cut_points(text: bytes) -> list[int]:
    """Where the array may end: the whole text, else before one of its last events."""
    tail_start = max(1, len(text) - _TAIL_BYTES)
    starts = [m.start() for m in _LAST_EVENT.finditer(text, tail_start)]
    return [len(text), *reversed(starts[-8:])]
