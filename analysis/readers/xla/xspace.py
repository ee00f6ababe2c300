"""XSpace: planes, lines and events of an XLA profile, decoded as far as they are asked for.

Field numbers are those of the published `xplane.proto`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.readers.xla.hlo import Instruction, from_text, read_module
from fusescope.analysis.readers.xla.protobuf import (
    DamagedMessage,
    Value,
    double,
    fields,
    signed,
    text,
)
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic

_PROGRAM = re.compile(r"\((\d+)\)$")
_MAX_TEXT = 8192  # bytes of one stat; an event may name the same one a million times
COUNTERS = ("bytes_accessed", "raw_bytes_accessed")
_WANTED = frozenset(
    (
        "hlo_op", "hlo_module", "hlo_category", "tf_op", "name", "kernel_details", "flops",
        "model_flops", "program_id", "run_id", "step_num", "occupancy_pct",
        "theoretical_occupancy_pct", "correlation_id", *COUNTERS,
    )
)  # fmt: skip


@dataclass
class Plane:
    """A device or a host: its lines undecoded, its tables of names."""

    name: str = ""
    lines: list[memoryview] = field(default_factory=list)
    events: dict[int, memoryview] = field(default_factory=dict)
    stat_names: dict[int, str] = field(default_factory=dict)
    stats: list[memoryview] = field(default_factory=list)
    facts: dict[int, Fact] = field(default_factory=dict)


@dataclass(frozen=True)
class Fact:
    """What the table of events says of one kind of event."""

    name: str
    display_name: str
    stats: Mapping[str, object]
    hlo: Instruction | None


@dataclass
class Line:
    """A stream or thread; its events undecoded, `start_ns` is what their offsets count from."""

    name: str = ""
    start_ns: int = 0
    events: list[memoryview] = field(default_factory=list)


def read_space(source: Source) -> tuple[list[Plane], list[str], list[Diagnostic]]:
    """Planes and host names. A file cut short keeps its whole planes."""
    data = memoryview(source.content)
    planes: list[memoryview] = []
    hosts: list[str] = []
    notes: list[Diagnostic] = []
    try:
        for number, value in fields(data):
            if number == 1 and not isinstance(value, int):
                planes.append(value)
            elif number == 4:
                hosts.append(clean_text(text(value) or "", 80))
    except DamagedMessage:
        if not planes or is_mangled(source.content):
            raise
        lost = len(data) - sum(map(len, planes))
        notes.append(Diagnostic("warning", "cut_short", 1, "", {"bytes_lost": lost}))
    return [_plane(plane) for plane in planes], [host for host in hosts if host], notes


def _plane(data: memoryview) -> Plane:
    plane = Plane()
    for number, value in fields(data):
        if isinstance(value, int):
            continue
        if number == 2:
            plane.name = text(value) or ""
        elif number == 3:
            plane.lines.append(value)
        elif number == 4:
            key, message = _entry(value)
            plane.events[key] = message
        elif number == 5:
            key, message = _entry(value)
            named = [v for n, v in fields(message) if n == 2 and not isinstance(v, int)]
            plane.stat_names[key] = (text(named[-1][:_MAX_TEXT]) if named else None) or ""
        elif number == 6:
            plane.stats.append(value)
    return plane


def _entry(data: memoryview) -> tuple[int, memoryview]:
    """Key and message of an entry of a map."""
    key, message = 0, data[:0]
    for number, value in fields(data):
        if number == 1:
            key = signed(value) or 0
        elif number == 2 and not isinstance(value, int):
            message = value
    return key, message


def read_line(data: memoryview) -> Line:
    """The line in an XLine message."""
    line = Line()
    display = ""
    for number, value in fields(data):
        if number == 2:
            line.name = text(value) or ""
        elif number == 11:
            display = text(value) or ""
        elif number == 3:
            line.start_ns = signed(value) or 0
        elif number == 4 and not isinstance(value, int):
            line.events.append(value)
    line.name = line.name or display
    return line


@dataclass(frozen=True)
class Event:
    """One execution, or a total of `n` without a start; its kind points into the plane's table."""

    kind: int
    start_ns: int | None
    dur_ns: int | None
    n: int
    stats: Sequence[memoryview]


def read_event(data: memoryview, line: Line) -> Event:
    """The event in an XEvent message; a time beyond 64 bits is None."""
    kind = offset = dur = 0
    count = None
    stats: list[memoryview] = []
    for number, value in fields(data):
        if number == 1:
            kind = signed(value) or 0
        elif number == 2:
            offset = signed(value) or 0
        elif number == 3:
            dur = signed(value) or 0
        elif number == 4 and not isinstance(value, int):
            stats.append(value)
        elif number == 5:
            count = signed(value)
    start = _ns(offset)
    if count is not None and count > 0:  # a total of so many executions, without a start
        return Event(kind, None, _ns(dur), count, stats)
    begin = line.start_ns + start if start is not None else None
    if begin is not None and not 0 <= begin < 2**62:
        begin = None
    return Event(kind, begin, _ns(dur) if begin is not None else None, 1, stats)


def _ns(ps: int) -> int | None:
    return ps // 1000 if ps % 1000 == 0 else exact_ns(ps, "ps")


def stats_of(plane: Plane, data: Sequence[memoryview]) -> dict[str, object]:
    """Values by name, of the names that are wanted here."""
    found: dict[str, object] = {}
    for stat in data:
        name, value = "", None
        for number, raw in fields(stat):
            if number == 1:
                name = plane.stat_names.get(signed(raw) or 0, "")
                if name not in _WANTED:
                    break
            else:
                value = _value(plane, number, raw)
        if name in _WANTED and value is not None:
            found[name] = value
    return found


def _value(plane: Plane, number: int, raw: Value) -> object:
    if number == 2:
        return double(raw)
    if number == 3:
        return raw if isinstance(raw, int) else None
    if number == 4:
        return signed(raw)
    if number == 5:
        return text(raw if isinstance(raw, int) else raw[:_MAX_TEXT])
    if number == 7:
        return plane.stat_names.get(raw) if isinstance(raw, int) else None
    return None


def fact_of(plane: Plane, kind: int) -> Fact:
    """What the plane's table says of this kind of event, decoded once."""
    known = plane.facts.get(kind)
    if known is not None:
        return known
    name = display = ""
    stats: list[memoryview] = []
    for number, value in fields(plane.events.get(kind, memoryview(b""))):
        if number == 2:
            name = text(value) or ""
        elif number == 4:
            display = text(value) or ""
        elif number == 5 and not isinstance(value, int):
            stats.append(value)
    told = from_text(name) if " = " in name[:300] else None
    fact = plane.facts[kind] = Fact(
        name=told[0] if told else name,
        display_name=display,
        stats=stats_of(plane, stats),
        hlo=told[1] if told else None,
    )
    return fact


class Programs:
    """Instructions of the programs whose HLO the profile holds, read when one is asked for."""

    def __init__(self, planes: Sequence[Plane]) -> None:
        self._protos: dict[str, memoryview] = {}
        self._read: dict[str, dict[str, Instruction]] = {}
        for plane in planes:
            if plane.name != "/host:metadata":
                continue
            for message in plane.events.values():
                name, proto = self._stored(plane, message)
                number = _PROGRAM.search(name)
                if proto is not None and number:
                    self._protos[number[1]] = proto

    @staticmethod
    def _stored(plane: Plane, message: memoryview) -> tuple[str, memoryview | None]:
        name, proto = "", None
        for number, value in fields(message):
            if number == 2:
                name = text(value) or ""
            elif number == 5 and not isinstance(value, int):
                parts = dict(fields(value))
                stat = plane.stat_names.get(signed(parts.get(1, 0)) or 0, "")
                raw = parts.get(6)
                if "hlo proto" in stat.lower().replace("_", " ") and isinstance(raw, memoryview):
                    proto = raw
        return name, proto

    def find(self, program: object, name: str) -> Instruction | None:
        """The instruction of that name, None where its program was not stored."""
        return self._module(program).get(name)

    def scheduled(self, program: object) -> list[tuple[str, Instruction]]:
        """What the program runs, one after the other; nothing where that is not known."""
        told = [(one.turn, name) for name, one in self._module(program).items()
                if one.turn is not None]  # fmt: skip
        return [(name, self._module(program)[name]) for _, name in sorted(told)]

    def _module(self, program: object) -> Mapping[str, Instruction]:
        key = str(program) if program is not None else ""
        if key not in self._protos:
            return {}
        if key not in self._read:
            try:
                self._read[key] = read_module(self._protos[key])
            except DamagedMessage:
                self._read[key] = {}
        return self._read[key]


def is_mangled(data: bytes) -> bool:
    """True where every byte above 0x7F belongs to a replacement character."""
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    return high > 0 and high == 3 * data.count(b"\xef\xbf\xbd")


def device_name(devices: Sequence[Plane]) -> str | None:
    """The first device, as its plane describes it: 'TPU v4', 'AMD GPU, compute capability 9.4'."""
    for plane in devices:
        facts: dict[str, object] = {}
        for stat in plane.stats:
            name, value = "", None
            for number, raw in fields(stat):
                if number == 1:
                    name = plane.stat_names.get(signed(raw) or 0, "")
                else:
                    value = _value(plane, number, raw)
            facts[name] = value
        told = text_of(facts.get("device_type_string")) or text_of(facts.get("device_name"))
        if told:
            return clean_text(told, 80)
        vendor = text_of(facts.get("device_vendor"))
        if vendor:
            kind = plane.name.removeprefix("/device:").split(":")[0]
            major, minor = facts.get("compute_cap_major"), facts.get("compute_cap_minor")
            grade = f", compute capability {major}.{minor}" if major is not None else ""
            return clean_text(f"{vendor} {kind}{grade}", 80)
    return None


def text_of(value: object) -> str:
    """The value where it is text, else ''."""
    return value if isinstance(value, str) else ""
