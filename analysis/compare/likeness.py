"""How alike two traces are: which of several files belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

from fusescope.analysis.trace import Trace

_WORD = re.compile(r"[a-z]+|\d+")
_OF_NAMES = 0.5  # what equal names weigh beside equal operators
_NEARLY = 0.85  # part of the best likeness from which traces belong together, too


def likeness(one: tuple[str, Trace], other: tuple[str, Trace]) -> float:
    """Return how alike two named traces are, from 0 to 1.

    The part of operator time that both have in common, by op type or by what launched the
    operators (another GPU has other kernels), whichever is more; with half its weight the part of
    the words of both names that are in both. 0 for traces of two formats.
    """
    if one[1].meta.format != other[1].meta.format:
        return 0.0
    of_time = max(
        _common(_shares(one[1], column), _shares(other[1], column))
        for column in ("op_type", "launched_by")
    )
    return (of_time + _OF_NAMES * _common_words(one[0], other[0])) / (1 + _OF_NAMES)


def belong_together(named: Sequence[tuple[str, Trace]]) -> tuple[int, ...]:
    """Return the places of the two most alike of at least two named traces, and of all that are
    nearly as much like one of these."""
    alike = {
        pair: likeness(named[pair[0]], named[pair[1]])
        for pair in combinations(range(len(named)), 2)
    }
    best = max(alike, key=alike.__getitem__)
    near = (
        place
        for pair, value in alike.items()
        for place in pair
        if value >= _NEARLY * alike[best] and set(pair) & set(best)
    )
    return tuple(sorted({*best, *near}))


def like_these(
    pair: Sequence[tuple[str, Trace]], others: Sequence[tuple[str, Trace]]
) -> tuple[int, ...]:
    """Return the places of the other named traces that are nearly as much like one of a pair as
    these two are like each other."""
    least = _NEARLY * likeness(*pair)
    values = (max(likeness(one, other) for one in pair) for other in others)
    return tuple(at for at, value in enumerate(values) if value > 0 and value >= least)


def _shares(trace: Trace, column: str) -> dict[str, float]:
    """Return the part of the operator time of each value of a column; of what is null, nothing."""
    times = trace.calls.groupby("operator")["dur_ns"].sum()
    by_value = times.groupby(trace.operators[column].astype("object").reindex(times.index)).sum()
    total = float(times.sum())
    return {str(value): float(ns) / total for value, ns in by_value.items()} if total else {}


def _common(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(min(share, other.get(value, 0.0)) for value, share in one.items())


def _common_words(one: str, other: str) -> float:
    first, second = _words(one), _words(other)
    every = first | second
    return len(first & second) / len(every) if every else 0.0


def _words(name: str) -> set[str]:
    found: Iterable[str] = _WORD.findall(name.lower())
    return set(found)
