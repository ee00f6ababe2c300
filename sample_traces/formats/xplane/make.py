"""Writes sample.xplane.pb: a hand-made XLA profile of two steps on one device, in miniature.

Protocol buffers are written by the few functions here; no time in it was measured.
"""

from __future__ import annotations

import struct
from pathlib import Path

STREAM = "XLA Ops"


def varint(number: int) -> bytes:
    """A number in groups of seven bits; negative ones as 64 bits."""
    number &= 2**64 - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(*parts: tuple[int, object]) -> bytes:
    """A message of (field number, value): numbers, floats, texts, bytes or messages."""
    out = b""
    for number, value in parts:
        if isinstance(value, float):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else bytes(value)  # type: ignore[call-overload]
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


class Plane:
    """A plane with its tables of names, filled as they are used."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[bytes] = []
        self.events: dict[tuple[str, str], tuple[int, bytes]] = {}
        self.stats: dict[str, int] = {}
        self.own: list[bytes] = []

    def stat(self, name: str, value: object) -> bytes:
        """An XStat; ('ref', text) points to the table of names."""
        key = self.stats.setdefault(name, len(self.stats) + 1)
        if isinstance(value, tuple):
            return message((1, key), (7, self.stats.setdefault(value[1], len(self.stats) + 1)))
        place = {float: 2, int: 4, str: 5, bytes: 6}[type(value)]
        return message((1, key), (place, value))

    def event(
        self, name: str, offset: int, dur: int, display: str = "", /, **stats: object
    ) -> bytes:
        """An XEvent; stats whose name begins with 'of_' stand in the table of events."""
        shared = [(5, self.stat(k[3:], v)) for k, v in stats.items() if k.startswith("of_")]
        own = [(4, self.stat(k, v)) for k, v in stats.items() if not k.startswith("of_")]
        number = len(self.events) + 1
        parts = [(1, number), (2, name), *([(4, display)] if display else []), *shared]
        key, _ = self.events.setdefault((name, display), (number, message(*parts)))
        return message((1, key), (2, offset), (3, dur), *own)

    def line(self, name: str, start_ns: int, events: list[bytes]) -> None:
        """A line of events."""
        parts = [(1, len(self.lines) + 1), (2, name), (3, start_ns), *((4, e) for e in events)]
        self.lines.append(message(*parts))

    def written(self) -> bytes:
        """The XPlane."""
        entries = [(4, message((1, key), (2, made))) for key, made in self.events.values()]
        names = [(5, message((1, k), (2, message((1, k), (2, n))))) for n, k in self.stats.items()]
        lines = [(3, line) for line in self.lines]
        return message(
            (1, 2), (2, self.name), *lines, *entries, *names, *((6, s) for s in self.own)
        )


def space(planes: list[Plane], host: str = "example-host") -> bytes:
    """The XSpace."""
    return message(*((1, plane.written()) for plane in planes), (4, host))


def sample() -> bytes:
    """Two steps: a convolution fusion, a loop with an operator inside, an all-reduce, a copy."""
    device = Plane("/device:TPU:0")
    device.own = [device.stat("device_type_string", "TPU v4")]
    conv = "%fusion.7 = bf16[8,128]{1,0:T(8,128)} fusion(bf16[8,64]{1,0} %p0, f32[128] %p1), kind=k"
    events, steps = [], []
    for step in range(2):
        at = step * 100_000_000
        steps.append(device.event(str(step + 1), at, 90_000_000))
        events += [
            device.event(
                conv, at + 1_000_250, 20_000_750, "fusion.7", of_flops=131072.0,
                of_model_flops=131072.0, of_bytes_accessed=34000,
                of_hlo_category="convolution fusion", of_tf_op="jit(step)/dot_general:",
                of_program_id=5,
            ),
            device.event("%while.2 = () while()", at + 30_000_000, 30_000_000, "while.2"),
            device.event("%add.4 = f32[8]{0} add(f32[8] %a, f32[8] %b)", at + 35_000_000, 5_000_000,
                         "add.4", of_hlo_category="non-fusion elementwise"),
            device.event("%all-reduce.1 = f32[8]{0} all-reduce(f32[8] %x)", at + 62_000_000,
                         7_000_000, "all-reduce.1", of_hlo_category="all-reduce"),
        ]  # fmt: skip
    events.append(device.event("%copy.3 = f32[8]{0} copy(f32[8] %y)", 250_000_000, 1_500, "copy.3"))
    device.line("Steps", 1_000, steps)
    device.line("XLA Modules", 1_000, [device.event("jit_step(5)", 0, 90_000_000)])
    device.line(STREAM, 1_000, events)
    host = Plane("/host:CPU")
    host.line("python", 900, [host.event("$profiler.py:101 start_trace", 0, 5_000_000)])
    return space([device, host])


if __name__ == "__main__":
    (Path(__file__).parent / "sample.xplane.pb").write_bytes(sample())
