"""Trace events in windows of some MB: what is in memory of a large file is one window of it.

A window is cut where one event seems to end and the next to begin. That it decodes as an array
proves the cut: a reader of JSON that has come so far is between two events, whatever stood in
front of the window. Where it does not decode, the end is found by strings and brackets; what that
does not explain is read whole, as small files are, with all repairs.
"""

from __future__ import annotations

import codecs
import gc
import io
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol, TypeVar

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB
from fusescope.analysis.readers.input.encoding import without_lone_surrogates
from fusescope.analysis.readers.input.json_array import element_end
from fusescope.analysis.readers.input.json_events import (
    EVENTS,
    RAW,
    TAIL_BYTES,
    EventFile,
    damaged,
    decode_each,
    decode_file,
)
from fusescope.analysis.readers.input.json_value import UNDECODABLE
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, noted

FileT = TypeVar("FileT", bound=EventFile)
EventT = TypeVar("EventT", bound=msgspec.Struct)
CollectorT = TypeVar("CollectorT", bound="Collector[Any]")
EventT_contra = TypeVar("EventT_contra", contravariant=True)

_WINDOW = MIB  # its events fit a processor's cache
_LARGEST = 64 * MIB
_MENDABLE = 1024 * MIB  # a larger file that is damaged inside is refused
_SEARCHED = 64 * 1024
_MOST_OBJECTS = 100_000  # of a window: each becomes an object of Python
_BETWEEN = re.compile(rb"\}\s{0,64},\s{0,64}(?=\{)")
_HEAD = re.compile(rb'\s{0,64}\{\s{0,64}("\w{1,32}")')
_UNTOLD: frozenset[DiagnosticCode] = frozenset(("json_mended", "bad_unicode"))
_BYTE = re.compile(r"\(byte (\d+)\)")


class Inexact(Exception):
    """The plain types of events lose something that this window says."""


class Collector(Protocol[EventT_contra]):
    """What events become, part by part of the file; `count` are all events so far.

    `plain` is a type of events that is decoded more quickly and fits most files; None where there
    is none, or where it did not fit. `add` raises Inexact, and adds nothing, where it does not.
    """

    count: int

    @property
    def plain(self) -> type[msgspec.Struct] | None: ...

    def add(self, events: Sequence[EventT_contra], *, escaped: bool = False) -> None:
        """The next events, decoded from text in which characters are `escaped`, or not."""

    def miss(self) -> None:
        """The plain type did not fit."""


class _Unsplit(Exception):
    """The file cannot be read window by window."""


def collect_events(
    source: Source,
    event: type[EventT],
    file: type[FileT],
    make: Callable[[], CollectorT],
    *,
    window: int = _WINDOW,
    kept: int = 2 * TAIL_BYTES,
) -> tuple[CollectorT, FileT, list[Diagnostic]]:
    """All events of a file in a collector, what stands beside them, and what had to be repaired.

    The same as `decode_file` of the whole, which is what a file of up to `window` and `kept` bytes
    is read with; `kept` bytes at the end are read as one.
    """
    found = make()
    reading = _Reading(source, event, file, found, window, kept)
    try:
        with _without_collection():
            header, notes = reading.all()
        return found, header, notes
    except _Unsplit:
        if reading.damage is not None and _is_longer(source, _MENDABLE):
            raise reading.damage from None
    del reading  # with the window that it holds, which may be all of the file
    found = make()
    events, header, notes = decode_file(source.content, event, file, source.name, source.limits)
    found.add(events)
    return found, header, notes


@dataclass
class _Reading:
    source: Source
    event: type[msgspec.Struct]
    file: type[EventFile]
    found: Collector[Any]
    window: int
    kept: int
    damage: FuseScopeError | None = None
    _surrogates: int = 0
    _bad: list[Diagnostic] = field(default_factory=list)
    _is_valid: bool = True  # all windows are UTF-8
    _is_careful: bool = False  # cuts are found by brackets

    def all(self) -> Any:
        """What stands beside the events, and notes. Raises _Unsplit."""
        self._decoder = msgspec.json.Decoder(list[self.event])  # type: ignore[name-defined]
        blocks = self.source.blocks(self.window)
        self._buffer, self._ended, self._offset = b"", False, 0
        self._ahead, self._ahead_size = deque[bytes](), 0
        self._read(blocks, self.window + self.kept)
        if self._ended:
            raise _Unsplit
        self._fill(self._ahead_size)
        prefix = self._beginning()
        window = self.window
        while True:
            self._read(blocks, window + self.kept)
            room = len(self._buffer) + self._ahead_size - self.kept
            if self._ended and room <= self.window:
                break
            room = min(window, room)
            self._fill(room)
            cut = self._cut(room)
            if cut < 0:  # the array has ended
                break
            if cut:
                begin = self._buffer.index(b",", cut) + 1
                self._buffer, self._offset = self._buffer[begin:], self._offset + begin
                window = self.window
            elif window >= _LARGEST:
                raise _Unsplit
            else:
                window *= 2
        return self._end(prefix, self._rest(prefix, blocks))

    def _rest(self, prefix: bytes, blocks: Iterator[bytes]) -> bytes:
        """The beginning with all that is left: once in memory, as it may be long."""
        rest = io.BytesIO()
        rest.write(prefix + b"[")
        rest.write(self._buffer)
        rest.writelines(self._ahead)
        self._buffer = b""
        self._ahead.clear()
        if not self._ended:
            rest.writelines(blocks)
        return rest.getvalue()

    def _read(self, blocks: Iterator[bytes], size: int) -> None:
        """Have so many bytes in the buffer and ahead of it, or all that follow."""
        while len(self._buffer) + self._ahead_size < size and not self._ended:
            block = next(blocks, None)
            if block is None:
                self._ended = True
            else:
                self._ahead.append(block)
                self._ahead_size += len(block)

    def _fill(self, size: int) -> None:
        """Have so many bytes in the buffer, out of those ahead of it."""
        parts, count = [self._buffer], len(self._buffer)
        while count < size and self._ahead:
            parts.append(self._ahead.popleft())
            count += len(parts[-1])
        self._ahead_size -= count - len(self._buffer)
        self._buffer = b"".join(parts) if len(parts) > 1 else parts[0]

    def _beginning(self) -> bytes:
        """What stands in front of the first event; the buffer begins there then."""
        text = self._buffer
        if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise _Unsplit
        text = text.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")
        prefix = b""
        if text.startswith(b"{"):
            events = EVENTS.search(text)
            if events is None:
                raise _Unsplit
            prefix = text[: events.end()]
            try:
                msgspec.json.decode(prefix + b"[]}", type=self.file)
            except UNDECODABLE as error:
                raise _Unsplit from error
        elif not text.startswith(b"["):
            raise _Unsplit
        begin = len(prefix) + 1
        self._offset = len(self._buffer) - len(text) + begin
        self._buffer = text[begin:]
        return prefix

    def _cut(self, room: int) -> int:
        """Adds the events of a window of up to `room` bytes; where it ends, 0 where no event does
        so, below 0 where the events end."""
        while room > _SEARCHED and self._buffer.count(b"{", 0, room) > _MOST_OBJECTS:
            room //= 2
        if not self._is_careful:
            cut = self._seeming_end(room)
            if cut and self._is_added(cut):
                return cut
            self._is_careful = True
        self._check_content()
        cut, has_closed = element_end(self._buffer, room)
        if has_closed:
            return -1
        if cut and not self._is_added(cut):
            raise _Unsplit
        return cut

    def _seeming_end(self, room: int) -> int:
        """Where an event seems to end, the last such place; in front of one that begins as the
        first of the window where there is such, since objects inside of events begin otherwise."""
        begin = max(0, room - _SEARCHED)
        head = _HEAD.match(self._buffer)
        key = re.escape(head[1]) if head is not None else b""
        alike = re.compile(rb"\}\s{0,64},\s{0,64}(?=\{\s{0,64}%b)" % key)
        for pattern in (alike, _BETWEEN):
            last = None
            for last in pattern.finditer(self._buffer, begin, room):
                pass
            if last is not None:
                return last.start() + 1
        return 0

    def _is_added(self, cut: int) -> bool:
        """Adds the events of a window up to there; False where it is not an array of values."""
        array = b"".join((b"[", memoryview(self._buffer)[:cut], b"]"))
        escaped = b"\\" in array
        if escaped:
            notes: list[Diagnostic] = []
            array = without_lone_surrogates(array, notes)
            self._surrogates += sum(note.count for note in notes)
        try:
            self._add(array, escaped=escaped)
        except msgspec.DecodeError as error:
            self._note_damage(error)
            return False
        except (UnicodeDecodeError, RecursionError) as error:
            raise _Unsplit from error
        self._is_valid = self._is_valid and (array.isascii() or _is_utf8(array))
        self.source.limits.check_events(
            self.found.count, "more_events_than_limit", self.source.name
        )
        return True

    def _add(self, array: bytes, *, escaped: bool) -> None:
        plain = self.found.plain
        if plain is not None:
            try:
                events = _plain_decoder(plain).decode(array)
                self.found.add(events, escaped=escaped)
                return
            except (msgspec.ValidationError, Inexact):
                self.found.miss()
        try:
            events = self._decoder.decode(array)
        except msgspec.ValidationError:
            if array.count(b",") > 8 * _MOST_OBJECTS:
                raise _Unsplit from None
            events = decode_each(RAW.decode(array), self.event, self._bad)
        self.found.add(events, escaped=escaped)

    def _end(self, prefix: bytes, rest: bytes) -> tuple[EventFile, list[Diagnostic]]:
        """The events of the rest, which is read as small files are."""
        try:
            events, header, notes = decode_file(
                rest, self.event, self.file, self.source.name, self.source.limits
            )
        except FuseScopeError as error:
            raise _Unsplit from error
        told = header.trace_events
        own = memoryview(rest)[len(prefix) : len(prefix) + len(told)]
        is_repaired = bool(notes or self._bad)
        is_valid = self._is_valid and (rest.isascii() or _is_utf8(rest))
        if (
            (prefix and len(told) and own != memoryview(told))
            or (is_repaired and not is_valid)
            or any(note.code in _UNTOLD for note in notes)
        ):
            raise _Unsplit
        self.found.add(events, escaped=True)
        self.source.limits.check_events(
            self.found.count, "more_events_than_limit", self.source.name
        )
        bad = [*self._bad, *(note for note in notes if note.code == "bad_event")]
        return header, [
            *noted("warning", "bad_unicode", self._surrogates),
            *(note for note in notes if note.code != "bad_event"),
            *noted(
                "warning", "bad_event", sum(n.count for n in bad), bad[0].example if bad else ""
            ),
        ]

    def _note_damage(self, error: Exception) -> None:
        """What to say should the file be too large to be repaired: where in the file it is."""
        text = _BYTE.sub(
            lambda match: f"(byte {int(match[1]) - 1 + self._offset})", str(error), count=1
        )
        self.damage = damaged(text, self.source.name)

    def _check_content(self) -> None:
        """Refuses a file that goes on with what is not text: repairing it would take long."""
        self._fill(len(self._buffer) + self._ahead_size)
        for code in (0, ord("\\")):
            if 2 * self._buffer.count(code) > len(self._buffer):
                at = self._buffer.index(code) + self._offset
                raise damaged(f"invalid character (byte {at})", self.source.name)


def _plain_decoder(plain: type[msgspec.Struct]) -> Any:
    decoder = _DECODERS.get(plain)
    if decoder is None:
        decoder = _DECODERS[plain] = msgspec.json.Decoder(list[plain])  # type: ignore[valid-type]
    return decoder


_DECODERS: dict[type[msgspec.Struct], Any] = {}


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_longer(source: Source, size: int) -> bool:
    count = 0
    for block in source.blocks(_WINDOW):
        count += len(block)
        if count > size:
            return True
    return False


_LOCK = Lock()
_decoding = 0


@contextmanager
def _without_collection() -> Iterator[None]:
    """Without the search for cycles, which looks at every object made again and again: events
    hold none. Other threads go without it meanwhile, so it is for moments."""
    global _decoding
    with _LOCK:
        _decoding += 1
        was_on = gc.isenabled()
        gc.disable()
    try:
        yield
    finally:
        with _LOCK:
            _decoding -= 1
            if was_on and not _decoding:
                gc.enable()
