"""Levels of detail of one row of calls: bins of 2**level ns, and the calls too long for a bin."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# Bins are kept from the level on at which a bin has so many calls; below it they are made of the
# few calls in view.
_CALLS_A_BIN = 4
_FEWEST_BINS = 32
MAX_LEVEL = 60
SHARES = 65_535  # parts of a bin in which shares are counted
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Bins:
    """Bins in which something short ran, in order: bin `at` is from at * 2**level ns on.

    `busy_ns` is how long something short ran in it and `times` that by class; `count` the calls
    that begin in it; `longest` the first of the longest calls that touch it, a place in the row.
    """

    at: np.ndarray
    busy_ns: np.ndarray
    count: np.ndarray
    longest: np.ndarray
    times: np.ndarray

    def between(self, first: int, last: int) -> Bins:
        """The bins from `first` to `last`, both included."""
        part = slice(*np.searchsorted(self.at, (first, last + 1)).tolist())
        columns = (self.at, self.busy_ns, self.count, self.longest, self.times)
        return Bins(*(column[part] for column in columns))

    def __len__(self) -> int:
        return len(self.at)


@dataclass(frozen=True)
class View:
    """What a window shows of a row: `calls` as they are, places in the row, and bins of those that
    are shorter than a bin; no bins at level 0 or where all calls are in `calls`."""

    calls: np.ndarray
    bins: Bins


@dataclass
class Row:
    """Calls that do not overlap, in the order of their starts, with their class as a number below
    `classes`. Times are ns."""

    starts: np.ndarray
    durs: np.ndarray
    kinds: np.ndarray
    classes: int
    _levels: dict[int, Bins] = field(default_factory=dict)
    _long: dict[int, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts)

    def window(self, start: int, end: int) -> tuple[int, int]:
        """The calls that run between two times, from the first to behind the last."""
        first, last = np.searchsorted(self.starts, (start, end)).tolist()
        if first > 0 and self.starts[first - 1] + self.durs[first - 1] > start:
            first -= 1
        return first, max(first, last)

    def view(self, start: int, end: int, level: int, most: int | None = None) -> View:
        """What runs between two times: all calls where they are at most `most`, without it as many
        as there may be bins, else those of
        2**level ns and more, and bins of the shorter ones."""
        first, last = self.window(start, end)
        if last - first <= (_bins_in(start, end, level) if most is None else most):
            return View(np.arange(first, last), self._nothing())
        return View(self._long_calls(level, first, last), self._bins(level, start, end))

    def items(self, start: int, end: int, level: int) -> int:
        """How many calls and bins `view` has at most, without making them."""
        first, last = self.window(start, end)
        bins = _bins_in(start, end, level)
        if last - first <= bins:
            return last - first
        if self._has(level):
            long = len(self._long_calls(level, first, last))
            return long + min(bins, 2 * (last - first - long))
        return min(2 * (last - first), 2 * bins + 1)

    def _long_calls(self, level: int, first: int, last: int) -> np.ndarray:
        known = self._long.get(level)
        if known is None and self._has(level):
            known = self._long[level] = np.flatnonzero(self.durs >= 1 << level)
        if known is None:
            return first + np.flatnonzero(self.durs[first:last] >= 1 << level)
        part = slice(*np.searchsorted(known, (first, last)).tolist())
        return known[part]

    def _bins(self, level: int, start: int, end: int) -> Bins:
        first, last = start >> level, (end - 1) >> level
        if self._has(level):
            return self._levels[level].between(first, last)
        # A call of a bin before may reach into the first one.
        calls = np.arange(*self.window(first << level, (last + 1) << level))
        return _bins_of(self, calls[self.durs[calls] < 1 << level], level).between(first, last)

    def _has(self, level: int) -> bool:
        """Whether bins of a level are kept."""
        if not self._levels:
            self._build()
        return level in self._levels

    def _build(self) -> None:
        """Bins of all levels with fewer bins than calls, each made of the level below."""
        span = int((self.starts + self.durs).max(initial=1))
        level = self._first_level()
        bins = _bins_of(self, np.flatnonzero(self.durs < 1 << level), level)
        self._levels[level] = bins
        while span >> level > _FEWEST_BINS:
            grown = np.flatnonzero((self.durs >= 1 << level) & (self.durs < 2 << level))
            level += 1
            bins = _coarser(self, bins, _bins_of(self, grown, level))
            self._levels[level] = bins

    def _first_level(self) -> int:
        most = max(1, len(self) // _CALLS_A_BIN)
        level = max(0, int(np.diff(self.starts).mean()).bit_length() if len(self) > 1 else 0)
        while level > 0 and _distinct(self.starts >> (level - 1)) <= most:
            level -= 1
        while _distinct(self.starts >> level) > most:
            level += 1
        return level

    def _nothing(self) -> Bins:
        none = np.empty(0, dtype="int64")
        return Bins(none, none, none, none, np.empty((0, self.classes), dtype="int64"))


def shares(bins: Bins, level: int) -> np.ndarray:
    """The part of each bin in which something short ran, in parts of SHARES."""
    parts: np.ndarray = np.rint(bins.busy_ns * (SHARES / 2**level)).astype("int64")
    return parts


def kinds(at: np.ndarray, times: np.ndarray, longest: np.ndarray) -> np.ndarray:
    """One class of each bin, drawn by its share of the bin's time; that of its longest call, which
    is `longest`, where nothing took any time."""
    if not len(at):
        return np.empty(0, dtype="int64")
    sums = np.cumsum(times, axis=1)
    noise = ((at + 1) * _GOLDEN) % 1.0
    found = (sums <= (noise * sums[:, -1])[:, None]).sum(axis=1)
    chosen: np.ndarray = np.where(sums[:, -1] > 0, found, longest)
    return chosen


def _bins_in(start: int, end: int, level: int) -> int:
    return ((end - 1) >> level) - (start >> level) + 1


def _bins_of(row: Row, calls: np.ndarray, level: int) -> Bins:
    """Bins of these calls, all shorter than a bin, so that each touches one or two."""
    if not len(calls):
        return row._nothing()
    starts, durs = row.starts[calls], row.durs[calls]
    ends = starts + durs
    first = starts >> level
    last = np.maximum(first, (ends - 1) >> level)
    split = last > first
    inside = np.where(split, ((first + 1) << level) - starts, durs)
    at = np.r_[first, last[split]]
    busy = np.r_[inside, (ends - (last << level))[split]]
    count = np.r_[np.ones(len(calls), dtype="int64"), np.zeros(int(split.sum()), dtype="int64")]
    longest = np.r_[calls, calls[split]]
    groups = _Groups.of(at)
    spread = groups.number * row.classes + row.kinds[longest]
    times = np.bincount(spread, weights=busy, minlength=len(groups.keys) * row.classes)
    return Bins(
        groups.keys,
        groups.sums(busy),
        groups.sums(count),
        groups.longest(row, longest),
        times.astype("int64").reshape(len(groups.keys), row.classes),
    )


def _coarser(row: Row, fine: Bins, added: Bins) -> Bins:
    """Bins of the next level: pairs of bins, and those of calls that are short only now."""
    if not len(fine) and not len(added):
        return fine
    groups = _Groups.of(np.r_[fine.at >> 1, added.at])
    return Bins(
        groups.keys,
        groups.sums(np.r_[fine.busy_ns, added.busy_ns]),
        groups.sums(np.r_[fine.count, added.count]),
        groups.longest(row, np.r_[fine.longest, added.longest]),
        groups.sums(np.r_[fine.times, added.times]),
    )


@dataclass(frozen=True)
class _Groups:
    """Things with one key each: `keys` in order, the `number` of each one's key, and `order` puts
    them by key, a group from each of `firsts` on."""

    keys: np.ndarray
    number: np.ndarray
    order: np.ndarray
    firsts: np.ndarray

    @classmethod
    def of(cls, at: np.ndarray) -> _Groups:
        """Groups of these keys, few runs of rising ones: so a stable sort costs little."""
        order = np.argsort(at, kind="stable")
        ranked = at[order]
        begins = np.r_[True, ranked[1:] != ranked[:-1]]
        number = np.empty(len(at), dtype="int64")
        number[order] = np.cumsum(begins) - 1
        firsts = np.flatnonzero(begins)
        return cls(ranked[firsts], number, order, firsts)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sum of each group."""
        return np.add.reduceat(values[self.order], self.firsts, axis=0)

    def longest(self, row: Row, calls: np.ndarray) -> np.ndarray:
        """Of the calls of each group, the longest; the first of equal ones."""
        calls = calls[self.order]
        durs = row.durs[calls]
        sizes = np.diff(np.r_[self.firsts, len(calls)])
        is_longest = durs == np.repeat(np.maximum.reduceat(durs, self.firsts), sizes)
        return np.minimum.reduceat(np.where(is_longest, calls, len(row)), self.firsts)


def _distinct(rising: np.ndarray) -> int:
    return int(np.count_nonzero(np.diff(rising))) + min(1, len(rising))
