"""Layers that repeat in the order of kernels, as places of a model whose modules nothing names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fusescope.analysis.advice.explanation.blocks import folded
from fusescope.analysis.align.repeats import Repeat
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.model_tree.paths import NUMBERED, Places
from fusescope.analysis.compare.model_tree.repeat_name import RepeatName

_FEWEST = 4  # copies, from which what repeats are layers
_LEAST = 0.03  # of the time of a unit, below which they are no level of their own
_ALL = 0.3  # of it, which all layers take together

Path = tuple[str, ...]


def places_in_repeats(side: ExplainedSide) -> Places | None:
    """Return the place of each call in the layers that repeat, each named by how many kernels it
    has, several with as many by a number behind that, '32:1' and '32:2'; None where layers take
    less than a third of the time."""
    ns, count = side.ns, len(side.profile.operators)
    repeats = _long_enough(folded(side), ns, _LEAST * max(1.0, float(ns.sum())))
    if sum(float(ns[each.start : each.stop].sum()) for each in repeats) < _ALL * float(ns.sum()):
        return None
    paths: list[tuple[Path, Path]] = [((), ())] * (count + 1)  # the last one of no place
    for repeat, name in zip(repeats, _names(side, repeats), strict=True):
        _fill(side, paths, repeat, repeat.start, ((), (), name))
    distinct = {path: at for at, path in enumerate(dict.fromkeys(paths))}
    numbers = np.array([distinct[path] for path in paths], dtype="int64")
    modules, instances = zip(*distinct, strict=True)
    return Places(modules, instances, numbers[side.profile.place_of])


def _long_enough(repeats: Sequence[Repeat], ns: np.ndarray, least_ns: float) -> list[Repeat]:
    return [
        each
        for each in repeats
        if (each.copies >= _FEWEST or each.inside)
        and float(ns[each.start : each.stop].sum()) >= least_ns
    ]


def _names(side: ExplainedSide, repeats: Sequence[Repeat]) -> list[str]:
    """Return a name of each of several repeats, all different."""
    names = [_name(side, each) for each in repeats]
    counts, seen = Counter(names), Counter[RepeatName]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(str(name.numbered(seen[name]) if counts[name] > 1 else name))
    return found


def _name(side: ExplainedSide, repeat: Repeat) -> RepeatName:
    lengths = repeat.lengths or (repeat.period,)
    operators = side.profile.operators[repeat.start : repeat.stop]
    copies = bool(side.are_copies[operators].any())
    return RepeatName(repeat.period, min(lengths), max(lengths), copies)


def _fill(
    side: ExplainedSide,
    paths: list[tuple[Path, Path]],
    repeat: Repeat,
    start: int,
    around: tuple[Path, Path, str],
) -> None:
    """Write the paths of the places of a repeat that begins at `start`: `around` are the types and
    the instances that hold it, and its own name."""
    lengths = repeat.lengths or (repeat.period,) * repeat.copies
    inside = [each for each in repeat.inside if each.copies >= _FEWEST]
    types, above, own = around
    for copy, length in enumerate(lengths):
        inner, path = (*types, own), (*above, f"{own}{NUMBERED}{copy + 1}")
        paths[start : start + length] = [(inner, path)] * length
        if length == repeat.period:  # what is inside is known of such a copy
            first = int(repeat.starts[lengths.index(repeat.period)])
            for each, name in zip(inside, _names(side, inside), strict=True):
                _fill(side, paths, each, start + each.start - first, (inner, path, name))
        start += length
