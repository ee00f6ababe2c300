"""Communication: collectives by name, however the two sides order them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from analysis.compare.explanation.explanation import Calls, Change, KernelTime, UnitTimes
from analysis.compare.explanation.sides import ExplainedSide
from analysis.metrics.some_units import in_some_units


def communication_changes(sides: Sides, least_ns: float) -> list[Change]:
    """Return collectives that take at least `least_ns` a unit longer or shorter. Their time holds
    the wait for other ranks, which no file of one rank tells apart."""
    before, after = (side.communication for side in sides)
    names = _old_names(before, after)
    after = {names.get(name, name): times for name, times in after.items()}
    found = []
    for name in dict.fromkeys((*before, *after)):
        (count, ns), (count_after, ns_after) = before.get(name, _NONE), after.get(name, _NONE)
        if abs(ns_after - ns) >= least_ns:
            calls = _calls(sides, name, names)
            found.append(
                Change(
                    "communication",
                    round(ns_after - ns),
                    round(max(count, count_after)),
                    (name,),
                    (KernelTime(name, count, round(ns)),) if count else (),
                    (KernelTime(name, count_after, round(ns_after)),) if count_after else (),
                    evidence="named",
                    values=_some_units(sides, calls, int(ns_after > ns)),
                    calls=calls,
                )
            )
    return found


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
    found = in_some_units(of_units)
    return {**found, "some_side": longer} if found else {}


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


Sides = tuple[ExplainedSide, ExplainedSide]
Times = Mapping[str, tuple[float, float]]  # count and ns of a unit
_COUNT = 0.01  # of a collective in a unit, by which two counts that are equal may differ
_SENDS = re.compile(r"(?i)send|recv|receive").search
_EQUAL = 0.02  # of a step, by which those of two stages may differ
_WAIT = 0.05  # of a step, by which one waits longer
_NONE = (0.0, 0.0)
