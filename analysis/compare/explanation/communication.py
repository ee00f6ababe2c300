"""Communication: collectives by name, however the two sides order them; stages of a pipeline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.compare.explanation.explanation import (
    Calls,
    Change,
    Explanation,
    KernelTime,
    UnitTimes,
)
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.metrics.some_units import in_some_units
from fusescope.analysis.ranks.pair import RankPair
from fusescope.analysis.ranks.waits import KNOWN, LEAST, WaitBasis, Waits, waits_of, waits_of_pair


def communication_changes(
    sides: Sides, least_ns: float, ranks: RankPair | None = None
) -> list[Change]:
    """Return collectives that take at least `least_ns` a unit longer or shorter, and how much of
    that is the wait for other ranks, where two `ranks` of one job or the profiler say it. Of two
    files of the same place in a job, what computing hides is left out, where that is much."""
    waits = _Waiting.of(sides, ranks)
    all_before, all_after = (side.communication for side in sides)
    before, after = (_exposed(sides) if ranks is None else None) or (all_before, all_after)
    names = _old_names(all_before, all_after)
    after = {names.get(name, name): times for name, times in after.items()}
    all_after = {names.get(name, name): times for name, times in all_after.items()}
    changes = []
    for name in dict.fromkeys((*before, *after)):
        (count, ns), (count_after, ns_after) = before.get(name, _NONE), after.get(name, _NONE)
        if abs(ns_after - ns) >= least_ns:
            calls = _calls(sides, name, names)
            changes.append(
                Change(
                    "communication",
                    round(ns_after - ns),
                    round(max(count, count_after)),
                    (name,),
                    (KernelTime(name, count, round(ns)),) if count else (),
                    (KernelTime(name, count_after, round(ns_after)),) if count_after else (),
                    evidence="named",
                    values={
                        **_in_all((all_before, before), (all_after, after), name),
                        **_some_units(sides, calls, int(ns_after > ns)),
                        **waits.values(calls),
                    },
                    calls=calls,
                )
            )
    return changes


def _exposed(sides: Sides) -> tuple[Times, Times] | None:
    """Return the collectives of both sides with the time in which nothing is computed; None where
    that is nearly all of it on both sides, or not known of one."""
    known = [side.exposed for side in sides]
    whole = [sum(ns for _, ns in side.communication.values()) for side in sides]
    if any(each is None for each in known):
        return None
    shown = [each or {} for each in known]
    if all(sum(of.values()) >= _EXPOSED * ns for of, ns in zip(shown, whole, strict=True)):
        return None
    first, second = (
        {name: (count, of[name]) for name, (count, _) in side.communication.items()}
        for side, of in zip(sides, shown, strict=True)
    )
    return first, second


def _in_all(
    before: tuple[Times, Times], after: tuple[Times, Times], name: str
) -> dict[str, str | int | float]:
    """Return how long a collective takes in all on both sides, each given with all of its time and
    what is told of it; nothing where that is the same."""
    all_ns = [whole.get(name, _NONE)[1] for whole, _ in (before, after)]
    shown_ns = [shown.get(name, _NONE)[1] for _, shown in (before, after)]
    if all_ns == shown_ns:
        return {}
    return {"all_before_ns": round(all_ns[0]), "all_after_ns": round(all_ns[1])}


@dataclass(frozen=True, eq=False)
class _Waiting:
    """What the collectives of both sides wait, by each basis that there is, the best one first;
    `ranks` are two of one job, else None."""

    sides: Sides
    known: tuple[tuple[Waits, Waits], ...]
    ranks: RankPair | None

    @classmethod
    def of(cls, sides: Sides, ranks: RankPair | None) -> _Waiting:
        """Return what is known of the waits of both sides."""
        traces = (sides[0].trace, sides[1].trace)
        if not all(side.communication for side in sides):
            return cls(sides, (), None)
        pair = ranks if ranks is not None and ranks.is_one_job else None
        measured = waits_of_pair(*traces) if pair else None
        one, other = map(waits_of, traces)
        alone = [(one, other)] if one and other and one.basis == other.basis else []
        return cls(sides, (*([measured] if measured else []), *alone), pair)

    def values(self, calls: Calls) -> Mapping[str, str | int | float]:
        """Return what calls of one collective wait on both sides in a unit, and the basis of that;
        nothing where less than half of their time is known, and of a bound that is hardly any."""
        for waits in self.known:
            ns, time_ns, known_ns = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
            for at, side in enumerate(self.sides):
                lasts = side.trace.calls["dur_ns"].to_numpy()[calls[at]]
                waited, is_known = waits[at].of(calls[at])
                count = side.units.count
                ns[at], time_ns[at] = waited / count, float(lasts.sum()) / count
                known_ns[at] = float(lasts[is_known].sum()) / count
            is_bound = waits[0].basis == "modelled"
            is_much = max(ns) >= LEAST * max(time_ns) if is_bound else True
            if is_much and sum(known_ns) >= KNOWN * sum(time_ns) > 0:
                return self._values(waits[0].basis, round(ns[0]), round(ns[1]))
        return {}

    def _values(
        self, basis: WaitBasis, before_ns: int, after_ns: int
    ) -> Mapping[str, str | int | float]:
        values: dict[str, str | int | float] = {
            "wait_basis": basis,
            "wait_before_ns": before_ns,
            "wait_after_ns": after_ns,
        }
        before, after = self.ranks.ranks if self.ranks else (None, None)
        if basis == "measured" and before is not None and after is not None:
            values |= {"wait_before_for": after, "wait_after_for": before}
        return values


def _calls(sides: Sides, name: str, names: Mapping[str, str]) -> Calls:
    """Return the calls of a collective in all units of both sides."""
    new = {old: new for new, old in names.items()}
    before, after = sides
    return before.collective_calls(name), after.collective_calls(new.get(name, name))


def _some_units(sides: Sides, calls: Calls, longer: int) -> dict[str, int]:
    """Return the units that hold nearly all time of a collective on the side on which it takes
    longer."""
    of, mine = sides[longer], np.array(calls[longer], dtype="int64")
    dur_ns = of.trace.calls["dur_ns"].to_numpy()[mine]
    of_units = np.bincount(of.units.unit_of[mine], weights=dur_ns, minlength=of.units.count)
    few_units = in_some_units(of_units)
    return {**few_units, "some_side": longer} if few_units else {}


def _old_names(before: Times, after: Times) -> Mapping[str, str]:
    """Return the names of the baseline for collectives of the candidate that only have a new name:
    as many, in the same time, where only one fits."""
    gone = [name for name in before if name not in after]
    renamed: dict[str, str] = {}
    for name, (count, ns) in after.items():
        fitting = [
            old
            for old in gone
            if name not in before
            and abs(before[old][0] - count) < _COUNT
            and abs(before[old][1] - ns) <= _EQUAL * before[old][1]
        ]
        if len(fitting) == 1:
            renamed[name] = fitting[0]
    return renamed


def are_stages(changes: Sequence[Change], times: UnitTimes) -> bool:
    """Return whether two files look like two stages of one pipeline: their steps take the same
    time, in which one of them waits longer for what it receives."""
    waits = [each for each in changes if each.code == "communication" and _SENDS(each.where[0])]
    is_equal = abs(times.change_ns) < _EQUAL * times.before_ns
    return is_equal and any(abs(each.change_ns) >= _WAIT * times.before_ns for each in waits)


@dataclass(frozen=True)
class UnevenStages:
    """The ranks of two stages of one job, the one that computes for `longer_ns` of a unit and the
    one that computes for `shorter_ns`."""

    longer: int
    shorter: int
    longer_ns: float
    shorter_ns: float


def uneven_stages(explanation: Explanation) -> UnevenStages | None:
    """Return which of two stages of one job computes for longer; None where they compute for about
    as long, where it is not known, and of other files."""
    ranks, sides = explanation.ranks, explanation.sides
    if explanation.difference != "stages" or ranks is None or not ranks.is_one_job or sides is None:
        return None
    before, after = (side.parts for side in sides)
    first, second = ranks.ranks
    if before is None or after is None or first is None or second is None:
        return None
    (shorter_ns, shorter), (longer_ns, longer) = sorted(
        ((before.computing_ns, first), (after.computing_ns, second))
    )
    if longer_ns < _UNEVEN * shorter_ns:
        return None
    return UnevenStages(longer, shorter, longer_ns, shorter_ns)


Sides = tuple[ExplainedSide, ExplainedSide]
Times = Mapping[str, tuple[float, float]]  # count and ns of a unit
_COUNT = 0.01  # of a collective in a unit, by which two counts that are equal may differ
_SENDS = re.compile(r"(?i)send|recv|receive").search
_EQUAL = 0.02  # of a step, by which those of two stages may differ
_WAIT = 0.05  # of a step, by which one waits longer
_UNEVEN = 1.1  # times as long as the other stage, which a stage computes at least
_EXPOSED = 0.95  # of the time of collectives, from which computing hides next to nothing
_NONE = (0.0, 0.0)
