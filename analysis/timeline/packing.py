"""What the browser gets of a timeline: JSON whose columns of numbers are bytes behind it.

In a file of text, as a report is, the columns stand in the JSON itself, as base64.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from fusescope.analysis.timeline.host_lane import HostLane, HostShown

_SMALLEST = (("u1", 2**8), ("u2", 2**16), ("u4", 2**32))
_ALIGNED = 8  # columns begin at multiples of it, as typed arrays must
_IDS = ("row", "group")
_SHARED = ("op_type", "op_class", "inputs", "outputs", "provider")


class Columns:
    """Columns of whole numbers as what stands in the JSON: base64, or places in `data`."""

    def __init__(self, *, as_text: bool) -> None:
        self._as_text = as_text
        self.data = bytearray()

    def packed(self, values: Any) -> dict[str, Any]:
        """Whole numbers as {type, steps, data} or {type, steps, at, count}: little-endian in the
        smallest type that holds them.

        With `steps` each is the difference to the one before it, the first to 0, where that is
        smaller. Types are u1, u2, u4 and f8, which is exact below 2**53.
        """
        numbers = np.asarray(values, dtype="int64")
        steps = np.diff(numbers, prepend=0)
        plain, stepped = _type_of(numbers), _type_of(steps)
        by_steps = int(stepped[1]) < int(plain[1])
        kind, shown = (stepped, steps) if by_steps else (plain, numbers)
        raw = shown.astype(f"<{kind}").tobytes()
        column = {"type": kind, "steps": by_steps}
        if self._as_text:
            return {**column, "data": base64.b64encode(raw).decode("ascii")}
        self.data += bytes(-len(self.data) % _ALIGNED)
        at = len(self.data)
        self.data += raw
        return {**column, "at": at, "count": len(numbers)}

    def operators(self, ops: dict[str, Any]) -> dict[str, Any]:
        """Columns of operators: ids are {ids: packed}, and texts that they share stand once, as
        {texts, of: packed}; in both 0 is none and the first is 1."""
        return {name: self._operators(name, values) for name, values in ops.items()}

    def _operators(self, name: str, values: Any) -> Any:
        if name in _IDS:
            return {"ids": self.packed([0 if value is None else value + 1 for value in values])}
        if name == "elsewhere":
            return [self.numbers(side) for side in values]
        if isinstance(values, np.ndarray):
            return self.packed(values)
        return self._shared(values) if name in _SHARED else values

    def _shared(self, values: list[str | None]) -> dict[str, Any]:
        number = {text: index for index, text in enumerate(dict.fromkeys(filter(None, values)), 1)}
        return {
            "texts": list(number),
            "of": self.packed([number.get(text or "", 0) for text in values]),
        }

    def numbers(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Each of these columns packed."""
        return {name: self.packed(values) for name, values in columns.items()}


def whole_side(side: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """A side of a payload with all its calls."""
    host: HostLane | None = side.get("host")
    return {
        **_plain(side),
        "ops": columns.operators(side["ops"]),
        "calls": columns.numbers(side["calls"]),
        **({} if host is None else {"host": _whole_host(host, side["dur_ns"], columns)}),
    }


def shown_side(shown: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """A side of an answer (analysis.timeline.detail), packed."""
    host: HostShown | None = shown.get("host")
    return {
        **shown,
        **({} if host is None else {"host": _host_bars(host, columns)}),
        "ops": columns.operators(shown["ops"]),
        "lanes": [
            {
                "lane": lane["lane"],
                "calls": columns.numbers(lane["calls"]),
                "bins": columns.numbers(lane["bins"]),
            }
            for lane in shown["lanes"]
        ],
    }


def overview_side(side: dict[str, Any], shown: dict[str, Any], columns: Columns) -> dict[str, Any]:
    """A side of a payload without its calls, and what an overview shows of them."""
    known = {name: value for name, value in _plain(side).items() if name not in ("ops", "calls")}
    host: HostLane | None = side.get("host")
    return {
        **known,
        "calls_count": len(side["calls"]["op"]),
        "shown": shown_side(shown, columns),
        **({} if host is None else {"host": host.totals}),
    }


def _whole_host(host: HostLane, dur_ns: int, columns: Columns) -> dict[str, Any]:
    """The lane of the host under all calls: its totals, its bars, and of each call how long before
    its start it was launched, counted from 1; 0 where that is not known."""
    bars = _host_bars(host.shown(0, max(1, dur_ns)), columns)
    waits = None if host.waits_ns is None else columns.packed(host.waits_ns + 1)
    return {**host.totals, **({} if waits is None else {"waits": waits}), "bars": bars}


def _host_bars(shown: HostShown, columns: Columns) -> dict[str, Any]:
    return {
        "level": shown.level,
        "bars": columns.numbers(shown.bars),
        "bins": columns.numbers(shown.bins),
        "paths": shown.paths,
    }


def json_text(whole: dict[str, Any]) -> str:
    """As JSON."""
    return json.dumps(whole, allow_nan=False, separators=(",", ":"))


def container(whole: dict[str, Any], columns: Columns) -> bytes:
    """JSON and the columns behind it: the length of the JSON, padded with blanks, in four bytes,
    then four of nothing, then both."""
    head = json_text(whole).encode("utf-8")
    head += b" " * (-len(head) % _ALIGNED)
    return len(head).to_bytes(4, "little") + bytes(4) + head + bytes(columns.data)


def _plain(side: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in side.items() if name not in ("origin_ns", "host")}


def _type_of(numbers: np.ndarray) -> str:
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    return next((kind for kind, bound in _SMALLEST if low >= 0 and high < bound), "f8")
