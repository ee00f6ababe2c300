"""Units of what a command prints: a time, or a rate of which more is faster."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_NS = {
    "ns": 1.0, "nsec": 1.0, "nanoseconds": 1.0,
    "us": 1e3, "µs": 1e3, "μs": 1e3, "usec": 1e3, "microseconds": 1e3,
    "ms": 1e6, "msec": 1e6, "milliseconds": 1e6,
    "s": 1e9, "sec": 1e9, "secs": 1e9, "second": 1e9, "seconds": 1e9,
    "min": 6e10, "minute": 6e10, "minutes": 6e10, "h": 3.6e12, "hour": 3.6e12,
}  # fmt: skip
_RATES = {"fps": "frame/s", "qps": "query/s", "rps": "request/s", "hz": "run/s"}
_PER = re.compile(r"\s*/\s*|\s+per\s+")
_FEW_NS = 10_000  # below this a sample in whole ns has fewer than four digits
_SCALES = (1, 1_000, 1_000_000, 1_000_000_000)


@dataclass(frozen=True)
class Unit:
    """`text` as it was given. `ns` are those of its time; with `is_rate` a value counts things in
    that time, else it is a time for one of them."""

    text: str
    ns: float
    is_rate: bool

    def sample_ns(self, value: float, scale: int) -> int | None:
        """Return what `scale` of the counted things take at that value, in whole ns; None for a
        value that is no time."""
        ns = scale * self._one_ns(value)
        return round(ns) if math.isfinite(ns) and 1 <= round(ns) < 2**50 else None

    def scale(self, value: float) -> int:
        """Return how many of the counted things a sample is of, so that whole ns are exact enough:
        1 unless one takes less than 10 µs."""
        ns = self._one_ns(value)
        return next((one for one in _SCALES if ns * one >= _FEW_NS), _SCALES[-1])

    def _one_ns(self, value: float) -> float:
        """What one of the counted things takes, in ns; NaN for a value that is no time."""
        if not (math.isfinite(value) and value > 0):
            return math.nan
        return self.ns / value if self.is_rate else self.ns * value


def unit_of(text: str) -> Unit | None:
    """Return the unit of that name: 'ms', 'ms/token', 'tok/s', 'tokens per second'; None for what
    is neither a time nor a rate."""
    given = " ".join(text.split())
    parts = _PER.split(_RATES.get(given.casefold(), given))
    if len(parts) == 1:
        ns = _NS.get(parts[0].casefold())
        return None if ns is None else Unit(given, ns, is_rate=False)
    if len(parts) != 2 or not all(parts):
        return None
    over, under = (_NS.get(part.casefold()) for part in parts)
    if over is not None and under is None:
        return Unit(given, over, is_rate=False)
    if over is None and under is not None:
        return Unit(given, under, is_rate=True)
    return None
