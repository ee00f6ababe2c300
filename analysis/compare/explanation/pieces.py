"""Work in pieces: one execution that became several smaller ones of the same operator, or several
that became one, such as a convolution in tiles, a large copy in parts, or micro-batches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fusescope.analysis.align.alignment import Alignment
from fusescope.analysis.compare.explanation.explanation import Evidence
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.joining.agreement import sizes
from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.operators.flops import parse_shapes

_MORE = 1.5  # times as many, at least
_SMALLER = 0.7  # of the mean time of the larger ones, which pieces take at most
_WHOLE = 2.5  # times as long, at most, all pieces together
_NEAR = 2.0  # times as many cuts of a tensor as pieces, which overlap or are padded
_SAME = 1.25  # times as long: two executions of one kernel that are no farther apart

Sides = tuple[ExplainedSide, ExplainedSide]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Kernels of both sides that do the same work in another number of executions: `positions` of
    the unit on each side, at `places` of it."""

    positions: tuple[np.ndarray, np.ndarray]
    places: int
    evidence: Evidence


def pieces_of(sides: Sides, alignment: Alignment) -> list[Pieces]:
    """Return what runs in another number of executions between two places where both sides run the
    same kernel: of one name, else of one operator of the framework, else of one family or class of
    heavy operators. Kernels of one place whose number changed alike are told together."""
    groups = _groups(sides, alignment)
    by_place: dict[tuple[int, Fraction], list[_Group]] = {}
    for group in groups:
        by_place.setdefault((group.stretch, group.ratio), []).append(group)
    folded: dict[tuple[object, ...], list[_Group]] = {}
    for together in by_place.values():
        content = tuple(sorted(group.content for group in together))
        folded.setdefault(content, []).extend(together)
    return [
        Pieces(
            (
                np.concatenate([group.before for group in same]),
                np.concatenate([group.after for group in same]),
            ),
            len({group.stretch for group in same}),
            max((group.evidence for group in same), key=_WEAKEST.index),
        )
        for same in folded.values()
    ]


def all_positions(pieces: Sequence[Pieces]) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of all pieces on both sides."""
    nothing = np.zeros(0, dtype="int64")
    before, after = (
        np.concatenate([nothing, *(each.positions[side] for each in pieces)]) for side in (0, 1)
    )
    return before, after


_WEAKEST: tuple[Evidence, ...] = ("named", "ordered", "guessed")


@dataclass(frozen=True, eq=False)
class _Group:
    """Kernels of one key in one stretch."""

    stretch: int
    families: tuple[str, str]
    before: np.ndarray
    after: np.ndarray
    evidence: Evidence

    @property
    def ratio(self) -> Fraction:
        """Return how many executions became one."""
        return Fraction(len(self.before), len(self.after))

    @property
    def content(self) -> tuple[str, str, Fraction]:
        """Return the families of both sides and the ratio, whatever the counts of a stretch."""
        return (*self.families, self.ratio)


def _groups(sides: Sides, alignment: Alignment) -> list[_Group]:
    """Return the kernels of all stretches that run in another number of executions, by the
    strongest key that says so."""
    columns = alignment.columns
    is_open = _is_open(sides, alignment)
    stretches = np.cumsum((alignment.is_same & ~is_open) | alignment.begins_stream)
    is_free = is_open & ~alignment.moved
    all_groups: list[_Group] = []
    for keys, evidence, has_pairs in _keys(sides):
        usable = is_free if has_pairs else is_free & ~alignment.is_same
        groups = list(_by_key(sides, columns[usable], stretches[usable], keys, evidence))
        all_groups += groups
        for side, of in ((0, "before"), (1, "after")):
            taken = [getattr(group, of) for group in groups]
            if taken:
                is_free &= ~np.isin(columns[:, side], np.concatenate(taken))
    return all_groups


def _is_open(sides: Sides, alignment: Alignment) -> np.ndarray:
    """Return for each column whether the two sides do not do the same work there: a kernel alone,
    another one, one of other shapes, or one of a time that is not near. Several kernels of one
    operator all have the shapes of its inputs, so equal shapes alone say nothing."""
    is_open: np.ndarray = ~alignment.is_same
    pairs = np.flatnonzero(alignment.is_same)
    before, after = alignment.columns[pairs].T
    operators = np.stack(
        [
            side.profile.operators[positions]
            for side, positions in zip(sides, (before, after), strict=True)
        ]
    )
    distinct, at = np.unique(operators, axis=1, return_inverse=True)
    is_other = np.array(
        [
            sizes(sides[0].inputs[first]) != sizes(sides[1].inputs[second])
            for first, second in distinct.T.tolist()
        ],
        dtype=bool,
    )
    times = sides[0].ns[before], sides[1].ns[after]
    is_far = np.maximum(*times) > _SAME * np.minimum(*times)
    is_open[pairs] = is_other[at.ravel()] | is_far
    return is_open


def _keys(sides: Sides) -> Iterator[tuple[tuple[np.ndarray, np.ndarray], Evidence, bool]]:
    """Yield a number for each distinct kernel of both sides by which pieces belong together, -1 for
    none, the strongest first; the evidence that it is; and whether pairs may be part of it."""
    names: list[list[str]] = []
    launchers: list[list[str]] = []
    classes: list[list[str]] = []
    for side in sides:
        names.append([kernel.lasting_name for kernel in side.kernels])
        launchers.append(
            [
                f"{by} {kernel.op_class}" if by else ""
                for by, kernel in zip(side.launchers, side.kernels, strict=True)
            ]
        )
        classes.append(
            [
                k.op_class if is_heavy(k.op_class) or k.op_class == "copy" else ""
                for k in side.kernels
            ]
        )
    yield _numbers(names), "ordered", True
    yield _numbers(launchers), "named", False
    yield _numbers(classes), "guessed", False


def _numbers(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for each text, equal where the texts are, -1 for ''."""
    known: dict[str, int] = {"": -1}
    first, second = (
        np.array([known.setdefault(text, len(known)) for text in side], dtype="int64")
        for side in texts
    )
    return first, second


def _by_key(
    sides: Sides,
    columns: np.ndarray,
    stretches: np.ndarray,
    keys: tuple[np.ndarray, np.ndarray],
    evidence: Evidence,
) -> Iterator[_Group]:
    """Yield the kernels of one key of each stretch that are pieces of one another."""
    count = max(int(side.max(initial=0)) for side in keys) + 1
    counted = [
        _counted(side, positions, key, stretches, count)
        for side, positions, key in zip(sides, columns.T, keys, strict=True)
    ]
    before_keys, after_keys = counted
    both, first, second = np.intersect1d(before_keys.codes, after_keys.codes, return_indices=True)
    is_piece = _are_pieces(
        before_keys.counts[first],
        after_keys.counts[second],
        before_keys.times_ns[first],
        after_keys.times_ns[second],
    )
    for at in np.flatnonzero(is_piece).tolist():
        before, after = before_keys.members(first[at]), after_keys.members(second[at])
        one, other = _family(sides[0], before), _family(sides[1], after)
        is_smaller = _are_smaller(sides, before, after)
        if one and other and is_smaller and _do_shapes_fit(sides, before, after):
            stretch = int(both[at]) // count
            named = _evidence(sides, before, after, evidence)
            yield _Group(stretch, (one, other), before, after, named)


@dataclass(frozen=True, eq=False)
class _Counted:
    """The kernels of a side by stretch and key: a code for each pair, how many they are, their
    time, and where the first of them stands in `positions`."""

    codes: np.ndarray
    counts: np.ndarray
    times_ns: np.ndarray
    firsts: np.ndarray
    positions: np.ndarray

    def members(self, at: int) -> np.ndarray:
        """Return the positions of the kernels of a code."""
        first = self.firsts[at]
        return self.positions[first : first + self.counts[at]]


def _counted(
    side: ExplainedSide, positions: np.ndarray, key: np.ndarray, stretches: np.ndarray, count: int
) -> _Counted:
    """Return the kernels at these positions by stretch and key, of which there are `count`."""
    chosen = np.flatnonzero(positions >= 0)
    of = key[side.profile.operators[positions[chosen]]]
    chosen, of = chosen[of >= 0], of[of >= 0]
    code = stretches[chosen] * count + of
    order = np.argsort(code, kind="stable")
    distinct, firsts, number = np.unique(code[order], return_index=True, return_counts=True)
    ordered = positions[chosen[order]]
    ns = side.ns[ordered]
    times_ns = np.add.reduceat(ns, firsts) if len(ns) else ns
    return _Counted(distinct, number, times_ns, firsts, ordered)


def _are_pieces(
    before: np.ndarray, after: np.ndarray, took_ns: np.ndarray, takes_ns: np.ndarray
) -> np.ndarray:
    """Return for each pair of counts and times whether more executions do the work of fewer: each
    of them is shorter, and all take about as long."""
    ratio = after / before
    whole = takes_ns / np.maximum(took_ns, 1.0)
    is_many = np.maximum(ratio, 1 / ratio) >= _MORE
    each = whole / ratio  # of the mean time before
    is_smaller = np.where(ratio > 1, each <= _SMALLER, each >= 1 / _SMALLER)
    is_whole = (whole <= _WHOLE) & (whole >= 1 / _WHOLE)
    are_pieces: np.ndarray = is_many & is_smaller & is_whole
    return are_pieces


def _are_smaller(sides: Sides, before: np.ndarray, after: np.ndarray) -> bool:
    """Return False where one of the pieces takes as long as what they are pieces of: it runs on
    both sides, and the others are something else."""
    longest = float(sides[0].ns[before].max()), float(sides[1].ns[after].max())
    fewer, more = longest if len(before) < len(after) else longest[::-1]
    return more <= _SMALLER * fewer


def _do_shapes_fit(sides: Sides, before: np.ndarray, after: np.ndarray) -> bool:
    """Return False where the shapes of the inputs say that so many pieces are not the whole. Each
    tensor is cut into at most as many as there are pieces, or stays whole as weights do."""
    fewer, more = _sizes_of(sides[0], before), _sizes_of(sides[1], after)
    if len(before) > len(after):
        fewer, more = more, fewer
    if fewer & more and not more <= fewer:  # one of them runs on both sides, the others elsewhere
        return False
    largest = [
        side.inputs[side.profile.operators[positions[np.argmax(side.ns[positions])]]]
        for side, positions in zip(sides, (before, after), strict=True)
    ]
    if not all(largest) or sizes(largest[0]) == sizes(largest[1]):
        return True
    whole, piece = ([math.prod(shape) for shape in parse_shapes(text)] for text in largest)
    times = len(after) / len(before)
    if times < 1:
        whole, piece, times = piece, whole, 1 / times
    if len(whole) != len(piece):  # such as with a bias, or a list of tensors
        whole, piece = [max(whole, default=0)], [max(piece, default=0)]
    cuts = [one / max(1, other) for one, other in zip(whole, piece, strict=True) if one]
    return max(cuts, default=1.0) <= _NEAR * times and math.prod(cuts) * _NEAR >= times


def _sizes_of(side: ExplainedSide, positions: np.ndarray) -> set[object]:
    """Return the sizes of the inputs of these kernels, each once; nothing of unknown ones."""
    texts = {side.inputs[at] for at in side.profile.operators[positions].tolist()}
    return {sizes(text) for text in texts if text}


def _family(side: ExplainedSide, positions: np.ndarray) -> str | None:
    """Return the family of all these kernels, None for several."""
    found = {side.kernels[at].family for at in side.profile.operators[positions].tolist()}
    return found.pop() if len(found) == 1 else None


def _evidence(sides: Sides, before: np.ndarray, after: np.ndarray, known: Evidence) -> Evidence:
    """Return 'named' where one operator of the framework launched all of them, else what is
    known."""
    launchers = {
        side.launchers[at]
        for side, positions in zip(sides, (before, after), strict=True)
        for at in side.profile.operators[positions].tolist()
    }
    return "named" if len(launchers) == 1 and "" not in launchers else known
