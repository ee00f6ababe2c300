"""Values by group, sorted once: least, median and quartiles of many groups without a loop."""

from __future__ import annotations

import numpy as np


class Grouped:
    """`values` of `groups`, numbered 0, 1, 2, …; every figure is one entry a group.

    A group without values has NaN.
    """

    def __init__(self, groups: np.ndarray, values: np.ndarray, count: int | None = None) -> None:
        self.order = np.lexsort((values, groups))
        self.values = values[self.order].astype("float64")
        total = int(groups.max()) + 1 if count is None and len(groups) else (count or 0)
        self.counts = np.bincount(groups, minlength=total)
        self.starts = np.r_[0, np.cumsum(self.counts)[:-1]] if total else np.zeros(0, dtype="int64")

    def at(self, place: int) -> np.ndarray:
        """The value at that place of each group, 0 is the least."""
        return self._picked(self.starts + place, self.counts > place)

    def first(self) -> np.ndarray:
        """Row of the least value of each group in what was given; -1 without any."""
        rows = np.full(len(self.counts), -1, dtype="int64")
        has = self.counts > 0
        rows[has] = self.order[self.starts[has]]
        return rows

    def quantile(self, share: float, skip: int = 0) -> np.ndarray:
        """Between the neighbours of (n - 1) · share, without the `skip` least values."""
        counts = self.counts - skip
        at = self.starts + skip + np.maximum(0, counts - 1) * share
        below = np.floor(at).astype("int64")
        low = self._picked(below, counts > 0)
        high = self._picked(np.ceil(at).astype("int64"), counts > 0)
        found: np.ndarray = low + (high - low) * (at - below)
        return found

    def median(self, skip: int = 0) -> np.ndarray:
        """Median of each group, without the `skip` least values."""
        return self.quantile(0.5, skip)

    def spread(self, skip: int = 0) -> np.ndarray:
        """Interquartile range / 1.349: the standard deviation, were they normal."""
        spread: np.ndarray = (self.quantile(0.75, skip) - self.quantile(0.25, skip)) / 1.349
        return spread

    def _picked(self, places: np.ndarray, has: np.ndarray) -> np.ndarray:
        found = np.full(len(self.counts), np.nan)
        if len(self.values):
            found[has] = self.values[np.minimum(places[has], len(self.values) - 1)]
        return found
