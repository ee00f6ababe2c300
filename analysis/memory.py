"""Memory: how much a device, or the host, had allocated in the course of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAX_DEVICES = 16  # of one trace, those with most
MAX_POINTS = 4_000  # of one device; of those between two that are kept the highest is


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """Bytes that one device had allocated, and `reserved` for it where that is known, from each of
    `times_ns` to the next, on the clock of the calls. `peak_in` is what of the host's code ran at
    the peak, '' where it is not known."""

    device: str
    times_ns: np.ndarray
    allocated: np.ndarray
    reserved: np.ndarray | None = None
    peak_in: str = ""

    def __post_init__(self) -> None:
        columns = [self.allocated, *([] if self.reserved is None else [self.reserved])]
        if not len(self.times_ns) or any(len(one) != len(self.times_ns) for one in columns):
            raise ValueError("memory: columns differ in length, or are empty")
        if (np.diff(self.times_ns) < 0).any():
            raise ValueError("memory: times go back")

    @property
    def peak(self) -> int:
        """The most bytes that were allocated at once."""
        return int(self.allocated.max())

    @property
    def usual(self) -> int:
        """The bytes below which the allocated ones were for half of the time."""
        order = np.argsort(self.allocated, kind="stable")
        spans = np.diff(self.times_ns, append=self.times_ns[-1])[order]
        if not spans.sum():
            return int(np.median(self.allocated))
        half = int(np.searchsorted(np.cumsum(spans), spans.sum() / 2))
        return int(self.allocated[order][half])
