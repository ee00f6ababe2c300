"""The same kernels at the same speed: what changed is how long the device waits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal

from fusescope.analysis.compare.explanation.explanation import (
    ChangeCode,
    Explanation,
    UnitOfSide,
)
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.wording.explanation.units import kernels_said, per_unit

_SAME = 0.015  # by which kernels that are the same, and all together, may take longer or shorter
_MOST = 0.5  # of the change of a unit, which is idle time
_SEEN = 0.01  # of a unit: with a larger change of what runs, it is not the same
_OTHERS: tuple[ChangeCode, ...] = ("idle", "communication", "outlier")
# Classes that the time of kernels is without, by whether both sides run the same.
_LEFT_OUT = {True: ("communication",), False: ("communication", "copy")}

_SAME_KERNELS = Message(
    "Both sides run the same {kernels} at the same speed ({before:duration} and "
    "{after:duration}); the device is idle for **{idle_after:duration}** instead of "
    "**{idle_before:duration}** {per}."
)
_BUT_COLLECTIVES = Message(
    "Both sides run the same {kernels}, all but collectives at the same speed ({before:duration} "
    "and {after:duration}); the device is idle for **{idle_after:duration}** instead of "
    "**{idle_before:duration}** {per}."
)
_AS_LONG = Message(
    "All kernels together take as long on both sides ({before:duration} and "
    "{after:duration}); the device is idle for **{idle_after:duration}** instead of "
    "**{idle_before:duration}** {per}."
)

_AS_LONG_WITHOUT_COPIES = Message(
    "All kernels together, without copies and fills of memory, take as long on both sides "
    "({before:duration} and {after:duration}); the device is idle for "
    "**{idle_after:duration}** instead of **{idle_before:duration}** {per}."
)

Why = Literal["at_once", "outside", "both"]

_MORE = 1.002  # times the device's own: beyond what rounding makes
_PART = 0.1  # of what they take more, which is a reason of its own

# By whether they do on the baseline and on the candidate.
_SENTENCES: Mapping[tuple[bool, bool], Mapping[Why, Message]] = {
    (True, True): {
        "at_once": Message(
            "The times of kernels add up to more than the device is busy with them: some run at "
            "the same time."
        ),
        "outside": Message(
            "The times of kernels add up to more than the device is busy with them: some run "
            "outside the run that launched them."
        ),
        "both": Message(
            "The times of kernels add up to more than the device is busy with them: some run at "
            "the same time, and some outside the run that launched them."
        ),
    },
    (True, False): {
        "at_once": Message(
            "The times of the baseline's kernels add up to more than its device is busy with them: "
            "some run at the same time."
        ),
        "outside": Message(
            "The times of the baseline's kernels add up to more than its device is busy with them: "
            "some run outside the run that launched them."
        ),
        "both": Message(
            "The times of the baseline's kernels add up to more than its device is busy with them: "
            "some run at the same time, and some outside the run that launched them."
        ),
    },
    (False, True): {
        "at_once": Message(
            "The times of the candidate's kernels add up to more than its device is busy with "
            "them: some run at the same time."
        ),
        "outside": Message(
            "The times of the candidate's kernels add up to more than its device is busy with "
            "them: some run outside the run that launched them."
        ),
        "both": Message(
            "The times of the candidate's kernels add up to more than its device is busy with "
            "them: some run at the same time, and some outside the run that launched them."
        ),
    },
}

_ON_ONE_SIDE: tuple[ChangeCode, ...] = ("added", "removed")
_COMMON = Message(
    "The kernels that both stages run take as long on both ({before:duration} in the baseline, "
    "{after:duration} in the candidate)."
)


def common_kernels_said(explanation: Explanation) -> list[Said]:
    """Return that the kernels which two stages of a pipeline have in common take as long on both;
    nothing where they do not, or where any runs as another one."""
    changes, drift = explanation.changes, explanation.drift
    codes = {change.code for change in changes}
    is_told = explanation.outcome == "changed" and explanation.difference == "stages"
    if not is_told or drift is None or abs(drift - 1) > _SAME or codes - {*_OTHERS, *_ON_ONE_SIDE}:
        return []
    alone = [change for change in changes if change.code in _ON_ONE_SIDE]
    computed = [each for each in explanation.classes if each.op_class not in _LEFT_OUT[True]]
    before = sum(each.before_ns for each in computed) - sum(each.before_ns for each in alone)
    after = sum(each.after_ns for each in computed) - sum(each.after_ns for each in alone)
    return [_COMMON.of(before=before, after=after)] if before > 0 and after > 0 else []


def same_kernels_said(explanation: Explanation) -> list[Said]:
    """Return that both sides run the same kernels at the same speed and for how long their devices
    are idle; where kernels differ that all of them together take as long; nothing where their time
    has a part in the change, or most of it is no idle time."""
    unit, sides = explanation.unit, explanation.sides
    if explanation.outcome != "changed" or explanation.difference or sides is None:
        return []
    parts = [side.parts for side in sides]
    first, second = parts
    if first is None or second is None or not unit.on_device or explanation.drift is None:
        return []
    idle = (first.idle_ns, second.idle_ns)
    if abs(unit.change_ns) == 0 or (idle[1] - idle[0]) / unit.change_ns < _MOST:
        return []
    are_same = _are_same(explanation)
    computed = [each for each in explanation.classes if each.op_class not in _LEFT_OUT[are_same]]
    before, after = (sum(each.before_ns for each in computed), sum(e.after_ns for e in computed))
    if abs(after - before) > _SAME * before or explanation.has_other_kernels:
        return []
    said = partial(
        Message.of,
        per=per_unit(unit),
        before=before,
        after=after,
        idle_before=idle[0],
        idle_after=idle[1],
    )
    busy = [part.computing_ns + (part.copies_ns if are_same else 0) for part in (first, second)]
    more = _more_than_busy((before, after), (busy[0], busy[1]), sides)
    if not are_same:
        return [said(_AS_LONG_WITHOUT_COPIES if "copies" in unit.others else _AS_LONG), *more]
    waits = _waits_of_both(explanation)
    message = _BUT_COLLECTIVES if "collectives" in unit.others else _SAME_KERNELS
    kernels = kernels_said(round(unit.kernels[0]), unit.others)
    return [said(message, kernels=kernels), *more, *([] if waits is None else [waits])]


def _more_than_busy(
    kernels_ns: tuple[int, int], busy_ns: tuple[int, int], sides: tuple[UnitOfSide, UnitOfSide]
) -> list[Said]:
    """Return that the kernels of a unit of one side or both add up to more than the device is busy,
    and whether they run at the same time or outside of the unit that launched them; nothing where
    they do not."""
    is_more = [ns > _MORE * busy for ns, busy in zip(kernels_ns, busy_ns, strict=True)]
    if not any(is_more):
        return []
    reasons = set()
    for ns, busy, side, has_more in zip(kernels_ns, busy_ns, sides, is_more, strict=True):
        if has_more:
            at_once = min(1.0, side.at_once_ns / (ns - busy))
            reasons |= {"at_once"} if at_once > _PART else set()
            reasons |= {"outside"} if at_once < 1 - _PART else set()
    why: Why = "both" if len(reasons) > 1 else "at_once" if "at_once" in reasons else "outside"
    return [_SENTENCES[is_more[0], is_more[1]][why].of()]


def _are_same(explanation: Explanation) -> bool:
    """Return True where both sides run as many kernels, each at the same speed as on the other."""
    unit, drift = explanation.unit, explanation.drift
    if drift is None or abs(drift - 1) > _SAME:
        return False
    runs = [change for change in explanation.changes if change.code not in _OTHERS]
    if any(abs(change.change_ns) > _SEEN * unit.before_ns for change in runs):
        return False
    return round(unit.kernels[0]) == round(unit.kernels[1])


_ONCE = 0.9  # times a unit, which the host waits at least
_AS_OFTEN = 0.05  # by which that may differ
_WAITS = Message(
    "On both sides the host waits for the device in {call:name}, once {per}, so it cannot launch "
    "far ahead.",
    "On both sides the host waits for the device in {call:name}, {n:count} times {per}, so it "
    "cannot launch far ahead.",
)
_WAITS_IN = Message(
    "On both sides the host waits for the device in {call:name} of {where:name}, once {per}, so it "
    "cannot launch far ahead.",
    "On both sides the host waits for the device in {call:name} of {where:name}, {n:count} times "
    "{per}, so it cannot launch far ahead.",
)


def _waits_of_both(explanation: Explanation) -> Said | None:
    """Return that the host waits for the device in every unit of both sides, where it says why a
    slower host leaves the device idle; None where a change names no such wait."""
    for change in explanation.changes:
        told = change.values
        if told.get("kind") != "synchronisation" or "call_before_count" not in told:
            continue
        before, after = (float(told[f"call_{side}_count"]) for side in ("before", "after"))
        if min(before, after) < _ONCE or abs(after - before) > _AS_OFTEN * before:
            continue
        where = change.host[-2] if len(change.host) > 1 else ""
        return (_WAITS_IN if where else _WAITS).of(
            n=round(after), call=told["call"], where=where, per=per_unit(explanation.unit)
        )
    return None
