"""What is left to explain of the kernels of one unit, column by column of their alignment."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from fusescope.analysis.align.alignment import Alignment
from fusescope.analysis.align.similarity import ONE_SIDE, SAME_CLASS, SAME_LAUNCHER, SAME_NAME
from fusescope.analysis.compare.explanation.explanation import (
    Calls,
    Change,
    ChangeCode,
    Evidence,
    KernelTime,
    LongOnes,
)
from fusescope.analysis.compare.explanation.operators_of_both import OperatorsOfBoth
from fusescope.analysis.compare.explanation.pieces import Pieces, all_positions, pieces_of
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.joining.agreement import factor, has_more_inputs, sizes
from fusescope.analysis.operators.classes import is_heavy

_RENAMED = 0.05  # of the time, by which the kernels of two sides that are the same may differ
_BATCH = 8  # times as many samples, beyond which one size stands for something else
_EQUAL = 0.02  # of the time of a kernel, by which one of another name may differ and be it
_FEW = 8  # kernels, by which one of another name may stand elsewhere and be it
_ANY = ""  # the key of kernels of all classes
_NEAR = 1.5  # times as long: other tensors that take so little more are no other work


@dataclass(eq=False)
class Remaining:
    """Kernels that stand together, and their times that no change accounts for yet.

    `before` and `after` are positions of the kernels of one unit, -1 on the side that has none;
    `before_ns` and `after_ns` their times, from which each change takes its part away. `evidence`
    has numbers of `align.similarity.EVIDENCE`. A kernel that moved stands with itself.
    """

    sides: tuple[ExplainedSide, ExplainedSide]
    before: np.ndarray
    after: np.ndarray
    before_ns: np.ndarray
    after_ns: np.ndarray
    evidence: np.ndarray
    pieces: Sequence[Pieces]
    # Position, and ns a unit beyond the others, of single long executions of each side.
    long_ones: tuple[list[tuple[int, float]], list[tuple[int, float]]] = field(
        default_factory=lambda: ([], [])
    )

    @classmethod
    def of(cls, sides: tuple[ExplainedSide, ExplainedSide], alignment: Alignment) -> Remaining:
        """Return all columns of an alignment with their times; kernels that became pieces stand
        alone behind the others."""
        pieces = pieces_of(sides, alignment)
        alone = all_positions(pieces)
        operators = OperatorsOfBoth(sides)
        before, after, evidence = _apart(*_apart_by_shapes(sides, alignment), operators.are_others)
        _leave_out(before, after, evidence, alone)
        partners = np.full(len(before), -1, dtype="int64")
        partners[: len(alignment.partners)] = alignment.partners
        moved = _part_by_shapes(sides, before, after, partners)
        _pair_far_ones(sides, before, after, partners)
        _pair_again(sides, before, after, partners, moved)
        gone = np.flatnonzero((after < 0) & (partners >= 0))
        evidence[gone] = SAME_NAME
        left = [_alone(side, before, after, partners) for side in (0, 1)]
        evidence[operators.pair(before, after, left, partners)] = SAME_LAUNCHER
        _pair_equal_ones(sides, before, after, partners)
        _pair_equal_operators(sides, before, after, partners)
        gone = np.flatnonzero((after < 0) & (partners >= 0))
        after[gone], evidence[gone] = after[partners[gone]], np.maximum(evidence[gone], SAME_CLASS)
        kept = (before >= 0) | (after >= 0)
        kept[partners[gone]] = False
        before, after = (
            np.concatenate((before[kept], alone[0], np.full(len(alone[1]), -1))),
            np.concatenate((after[kept], np.full(len(alone[0]), -1), alone[1])),
        )
        more = np.full(len(alone[0]) + len(alone[1]), ONE_SIDE, evidence.dtype)
        evidence = np.concatenate((evidence[kept], more))
        return cls(
            sides,
            before,
            after,
            _times_at(sides[0].ns, before),
            _times_at(sides[1].ns, after),
            evidence,
            pieces,
        )

    @property
    def is_pair(self) -> np.ndarray:
        """True for columns with a kernel on both sides."""
        pairs: np.ndarray = self.evidence != ONE_SIDE
        return pairs

    @property
    def is_renamed(self) -> bool:
        """True where nearly all kernels of both sides stand together and take the same time,
        whatever their names are."""
        whole = max(float(self.before_ns.sum()), float(self.after_ns.sum()), 1.0)
        return float(np.abs(self.change_ns).sum()) < _RENAMED * whole

    @property
    def change_ns(self) -> np.ndarray:
        """What each column takes longer, in ns a unit."""
        change: np.ndarray = self.after_ns - self.before_ns
        return change

    def take(
        self,
        code: ChangeCode,
        columns: np.ndarray,
        evidence: Evidence,
        where: tuple[str, ...] = (),
        repeats: int | None = None,
        **values: str | float,
    ) -> Change:
        """Return all that is left of these columns as one change, and leave nothing of them."""
        ns = float(self.change_ns[columns].sum())
        change = Change(
            code,
            round(ns),
            len(columns) if repeats is None else repeats,
            where,
            self._times(columns, 0),
            self._times(columns, 1),
            evidence=evidence,
            values=values,
            long_ones=(self._long_ones(columns, 0), self._long_ones(columns, 1)),
            calls=self.calls(columns),
        )
        self.after_ns[columns] = self.before_ns[columns]
        return change

    def take_long_one(self, side: int, position: int, excess_ns: float) -> None:
        """Take from what is left what one execution takes beyond the others of its kernel: that
        alone is its time, since what the others take is told with them."""
        column = np.flatnonzero((self.before, self.after)[side] == position)
        (self.before_ns, self.after_ns)[side][column] -= excess_ns
        self.long_ones[side].append((position, excess_ns))

    def _long_ones(self, columns: np.ndarray, side: int) -> LongOnes:
        """Return the single long executions of a side in these columns, which were taken."""
        positions = set((self.before, self.after)[side][columns].tolist())
        excess = [ns for position, ns in self.long_ones[side] if position in positions]
        return LongOnes(len(excess), round(sum(excess)))

    def calls(self, columns: np.ndarray) -> Calls:
        """Return the calls of both sides that stand in these columns."""
        first, second = self.sides
        return first.calls_at(self.before[columns]), second.calls_at(self.after[columns])

    def pairs(self) -> Calls:
        """Return the calls of the same kernels on both sides."""
        return self.calls(np.flatnonzero(self.evidence == SAME_NAME))

    def _times(self, columns: np.ndarray, side: int) -> tuple[KernelTime, ...]:
        """Return the kernels of a side in these columns, with what is left of their times."""
        positions = (self.before, self.after)[side][columns]
        ns = (self.before_ns, self.after_ns)[side][columns]
        inside = positions >= 0
        return self.sides[side].times_of(positions[inside].tolist(), ns[inside].tolist())

    def kernel_names(self, columns: np.ndarray, side: int) -> tuple[str, ...]:
        """Return the distinct names of the kernels of a side in these columns."""
        positions = (self.before, self.after)[side][columns]
        of = self.sides[side]
        return tuple(
            dict.fromkeys(of.names[of.profile.operators[at]] for at in positions if at >= 0)
        )


def _leave_out(
    before: np.ndarray, after: np.ndarray, evidence: np.ndarray, alone: tuple[np.ndarray, ...]
) -> None:
    """Take the positions that became pieces out of their columns."""
    for positions, taken in zip((before, after), alone, strict=True):
        chosen = np.flatnonzero(np.isin(positions, taken)) if len(taken) else taken
        positions[chosen], evidence[chosen] = -1, ONE_SIDE


def _times_at(ns: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the times at these positions, 0 where there is none. A side may have no kernels but
    collectives, which stand in no column."""
    times: np.ndarray = np.append(ns, 0.0)[positions]  # -1 is the last
    return times


def _apart_by_shapes(
    sides: tuple[ExplainedSide, ExplainedSide], alignment: Alignment
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of the columns on both sides and their evidence; kernels of one name
    whose tensors are others, not only of another batch, and whose times are not near one another
    stand in columns of their own."""
    before, after = (alignment.columns[:, side] for side in (0, 1))
    return _apart(
        before,
        after,
        alignment.evidence,
        lambda first, second, _: _do_other_work(sides, first, second),
    )


def _apart(
    before: np.ndarray,
    after: np.ndarray,
    evidence: np.ndarray,
    are_apart: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns and evidence, of pairs of which `are_apart` is true of their positions and
    evidence each kernel in a column of its own, that of the side after behind all others."""
    pairs = np.flatnonzero((before >= 0) & (after >= 0))
    apart = pairs[are_apart(before[pairs], after[pairs], evidence[pairs])]
    first = np.concatenate((before, np.full(len(apart), -1, dtype="int64")))
    second = np.concatenate((after, after[apart]))
    second[apart] = -1
    evidence = np.concatenate((evidence, np.full(len(apart), ONE_SIDE, evidence.dtype)))
    evidence[apart] = ONE_SIDE
    return first, second, evidence


def _part_by_shapes(
    sides: tuple[ExplainedSide, ExplainedSide],
    before: np.ndarray,
    after: np.ndarray,
    partners: np.ndarray,
) -> np.ndarray:
    """Take kernels that moved for two where their shapes differ: another one of the same shapes may
    be elsewhere. Return these pairs (n, 2) of columns."""
    gone = np.flatnonzero((after < 0) & (partners >= 0))
    others = partners[gone]
    is_other = [
        sizes(sides[0].inputs[sides[0].profile.operators[first]])
        != sizes(sides[1].inputs[sides[1].profile.operators[second]])
        for first, second in zip(before[gone].tolist(), after[others].tolist(), strict=True)
    ]
    pairs = np.stack((gone, others), axis=1)[np.array(is_other, dtype=bool)]
    partners[pairs] = -1
    found: np.ndarray = pairs
    return found


def _pair_again(
    sides: tuple[ExplainedSide, ExplainedSide],
    before: np.ndarray,
    after: np.ndarray,
    partners: np.ndarray,
    pairs: np.ndarray,
) -> None:
    """Enter as partners those of these pairs of columns that found no other one, unless only their
    name is the same, by the same rule as for kernels that stand together."""
    pairs = pairs[(partners[pairs] < 0).all(axis=1)]
    first, second = pairs.T
    pairs = pairs[~_do_other_work(sides, before[first], after[second])]
    partners[pairs[:, 0]], partners[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]


def _do_other_work(
    sides: tuple[ExplainedSide, ExplainedSide], before: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """Return for each pair of positions whether their tensors are others, not only of another
    batch, and their times not near one another. A product that also adds a bias, as one that is
    fused does, multiplies the same tensors."""
    inputs = [side.trace.texts("inputs") for side in sides]
    known: dict[tuple[int, int], bool] = {}
    apart = np.zeros(len(before), dtype=bool)
    for place, (first, second) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
        key = (
            int(sides[0].profile.operators[first]),
            int(sides[1].profile.operators[second]),
        )
        if key not in known:
            one, other = inputs[0][key[0]], inputs[1][key[1]]
            is_other = sizes(one) != sizes(other) and not _is_another_batch(one, other)
            multiply = all(
                is_heavy(side.kernels[at].op_class) for side, at in zip(sides, key, strict=True)
            )
            known[key] = is_other and not (multiply and has_more_inputs(one, other))
        apart[place] = known[key] and not _are_near(sides, first, second)
    return apart


def _is_another_batch(one: str, other: str) -> bool:
    """True where all sizes that differ do so by one factor, which is that of a batch."""
    times = factor(one, other)
    return times is not None and 1 / _BATCH <= times <= _BATCH


def _are_near(sides: tuple[ExplainedSide, ExplainedSide], before: int, after: int) -> bool:
    """True for two kernels of which none takes much longer than the other."""
    first, second = float(sides[0].ns[before]), float(sides[1].ns[after])
    return max(first, second) <= _NEAR * min(first, second)


def _pair_far_ones(
    sides: tuple[ExplainedSide, ExplainedSide],
    before: np.ndarray,
    after: np.ndarray,
    partners: np.ndarray,
) -> None:
    """Enter as partners kernels that stand alone on both sides, of one name and one set of shapes,
    however far apart: blocks run in another order, as those of pipeline stages do. The k-th of one
    side is the k-th of the other."""
    alone: list[dict[tuple[str, str], list[int]]] = [{}, {}]
    for side, (of, positions) in enumerate(zip(sides, (before, after), strict=True)):
        inputs = of.trace.texts("inputs")
        for column in _alone(side, before, after, partners):
            operator = of.profile.operators[positions[column]]
            key = (of.kernels[operator].lasting_name, inputs[operator])
            alone[side].setdefault(key, []).append(column)
    for key, columns in alone[0].items():
        for one, other in zip(columns, alone[1].get(key, ()), strict=False):
            partners[one], partners[other] = other, one


def _pair_equal_ones(
    sides: tuple[ExplainedSide, ExplainedSide],
    before: np.ndarray,
    after: np.ndarray,
    partners: np.ndarray,
) -> None:
    """Enter as partners kernels of one operator (where it is not known, of one class) with one set
    of shapes that take the same time under another name: they were renamed. The k-th of one side is
    the k-th of the other, and near it where only the class is known."""
    is_near = _nearness(before, after)
    alone: list[dict[tuple[str, str, str], list[int]]] = [{}, {}]
    for side, (of, positions) in enumerate(zip(sides, (before, after), strict=True)):
        inputs = of.trace.texts("inputs")
        for column in _alone(side, before, after, partners):
            operator = int(of.profile.operators[positions[column]])
            by = of.launchers[operator]
            key = (by, "" if by else of.kernels[operator].op_class, inputs[operator])
            alone[side].setdefault(key, []).append(column)
    for key, columns in alone[0].items():
        for one, other in zip(columns, alone[1].get(key, ()), strict=False):
            took, takes = sides[0].ns[before[one]], sides[1].ns[after[other]]
            is_known = bool(key[0] or key[2]) or is_near(before[[one]], after[[other]])
            if abs(takes - took) <= _EQUAL * took and is_known:
                partners[one], partners[other] = other, one


def _pair_equal_operators(
    sides: tuple[ExplainedSide, ExplainedSide],
    before: np.ndarray,
    after: np.ndarray,
    partners: np.ndarray,
) -> None:
    """Enter as partners all executions of two distinct kernels of one class, as far as it is known,
    that run equally often and equally long on their side and near one another, where no other
    kernel does: they were renamed. Kernels of different work, or of two ends of a unit, take as
    long by chance."""
    is_near = _nearness(before, after)
    alone: list[dict[int, list[int]]] = [{}, {}]
    for side, (of, positions) in enumerate(zip(sides, (before, after), strict=True)):
        for column in _alone(side, before, after, partners):
            operator = int(of.profile.operators[positions[column]])
            alone[side].setdefault(operator, []).append(column)
    alike: dict[tuple[str, int], list[tuple[float, list[int]]]] = {}
    for operator, others in alone[1].items():
        total = float(sides[1].ns[after[others]].sum())
        for op_class in (sides[1].kernels[operator].op_class, _ANY):
            alike.setdefault((op_class, len(others)), []).append((total, others))
    ranked: dict[tuple[str, int], list[tuple[float, list[int]]]] = {}
    for operator, columns in alone[0].items():
        took = float(sides[0].ns[before[columns]].sum())
        key = sides[0].kernels[operator].op_class, len(columns)
        if key not in ranked:
            ranked[key] = sorted(_of_class(alike, *key))
        equal = _equal(ranked[key], took, partners)
        if len(equal) == 1 and is_near(before[columns], after[equal[0]]):
            partners[columns], partners[equal[0]] = equal[0], columns


def _of_class(
    alike: dict[tuple[str, int], list[tuple[float, list[int]]]], op_class: str, count: int
) -> list[tuple[float, list[int]]]:
    """Return kernels that run so often and may be of a class: where that of a side is not known,
    all may be."""
    if op_class == "unknown":
        return alike.get((_ANY, count), [])
    return [*alike.get((op_class, count), ()), *alike.get(("unknown", count), ())]


def _nearness(before: np.ndarray, after: np.ndarray) -> Callable[[np.ndarray, np.ndarray], bool]:
    """Return what says of positions before and positions after whether the k-th of both lie near
    one another: between the same two columns with kernels of both sides, or few kernels beyond."""
    pairs = np.flatnonzero((before >= 0) & (after >= 0))
    pairs = pairs[np.argsort(before[pairs])]
    firsts = before[pairs]
    ends = np.concatenate(([-1], after[pairs], [int(after.max(initial=-1)) + 1]))

    def is_near(first: np.ndarray, second: np.ndarray) -> bool:
        at = np.searchsorted(firsts, first)
        is_above = second >= ends[at] - _FEW
        return bool((is_above & (second <= ends[at + 1] + _FEW)).all())

    return is_near


def _equal(
    ranked: list[tuple[float, list[int]]], took: float, partners: np.ndarray
) -> list[list[int]]:
    """Return the columns of kernels without a partner that take as long, of several only two;
    `ranked` is by time."""
    equal: list[list[int]] = []
    first = bisect_left(ranked, took * (1 - _EQUAL), key=lambda entry: entry[0])
    for total, others in islice(ranked, first, None):
        if total > took * (1 + _EQUAL) or len(equal) > 1:
            break
        if (partners[others] < 0).all():
            equal.append(others)
    return equal


def _alone(side: int, before: np.ndarray, after: np.ndarray, partners: np.ndarray) -> list[int]:
    """Return the columns of kernels that stand on this side alone and have no partner."""
    own, other = (before, after) if side == 0 else (after, before)
    alone: list[int] = np.flatnonzero((own >= 0) & (other < 0) & (partners < 0)).tolist()
    return alone
