"""Idle time that changed, by what the host did, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.explanation.explanation import Change, UnitTimes
from fusescope.analysis.messages import Message, Shown
from fusescope.analysis.wording.explanation.changes.sentence import Sentence


def idle(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on time in which the device is idle."""
    values: dict[str, Shown] = {
        "took": change.values["before_ns"],
        "takes": change.values["after_ns"],
        "cause": change.values.get("cause"),
    }
    kind = change.values.get("kind")
    if not values["took"] and kind in _NAMED_CALLS and "call" in change.values:
        before_n, after_n = (
            float(change.values[f"call_{side}_count"]) for side in ("before", "after")
        )
        is_same = abs(after_n - before_n) <= _AS_OFTEN * before_n
        values |= {"call": change.values["call"], "before_n": before_n, "after_n": after_n}
        return (_IDLE_AS_OFTEN if is_same else _IDLE_CALLED_BEFORE), values
    if not values["took"] and kind in _IDLE_ONLY_AFTER:
        return _IDLE_ONLY_AFTER[str(kind)], values
    if "inside" in change.values:
        values |= {"inside": change.values["inside"]}
        gap_ns = one_gap_ns(change, unit)
        return (_IDLE_INSIDE, values) if gap_ns is None else (_ONE_GAP, {**values, "gap": gap_ns})
    starting = _from_launch_to_start(change)
    if starting is not None:
        return _IDLE_STARTING, {**values, "start_before": starting[0], "start_after": starting[1]}
    calls = _IDLE_CALLS.get(str(kind))
    if calls is not None and "call" in change.values:
        call, each, was = (change.values[name] for name in ("call", "each_ns", "was_ns"))
        longer_ns = float(each) - float(was)
        # Calls that take less time are no reason for more of it to wait for them.
        if abs(longer_ns) > _AS_LONG * float(was) and longer_ns * change.change_ns > 0:
            values |= {"call": call, "each": each, "was": was}
            values["calls_ns"] = float(change.values["call_after_ns"]) - float(
                change.values["call_before_ns"]
            )
            other = change.values.get("call_before")
            largest = _largest_operator(change, (call, other)) if kind == "launching" else None
            if largest is not None:
                values |= {"largest": largest[0], "largest_ns": largest[1]}
            if kind == "launching" and other is not None:
                message = _OTHER_LAUNCHES if largest is None else _OTHER_LAUNCHES_LARGEST
                return message, {**values, "other": other}
            return calls if largest is None else _LAUNCHES_LARGEST, values
    if str(kind) not in IDLE_BY and change.values.get("unknown_side") in (0, 1):
        return _IDLE_OF_SIDE[int(change.values["unknown_side"])], values
    return (IDLE_BY.get(str(kind)) or _IDLE[unit.on_device]), values


def one_gap_ns(change: Change, unit: UnitTimes) -> int | None:
    """Return the length in ns of the one gap that nearly all of a longer wait is; None of others,
    and of means of several units."""
    before, after = change.longest
    if unit.counts[1] != 1 or after is None or change.change_ns <= 0:
        return None
    shorter_ns = before.end_ns - before.start_ns if before is not None else 0
    gap_ns = after.end_ns - after.start_ns
    is_it = gap_ns - shorter_ns >= _NEARLY_ALL * change.change_ns
    return gap_ns if is_it and shorter_ns <= (1 - _NEARLY_ALL) * gap_ns else None


def _from_launch_to_start(change: Change) -> tuple[int, int] | None:
    """Return how long both sides wait from the launch of a kernel to its start, where much of
    what launching takes longer or shorter is in that: the host is not what takes longer there."""
    if change.values.get("kind") != "launching":
        return None
    before, after = (
        sum(each.ns for each in side if not each.name) for side in (change.before, change.after)
    )
    is_much = (after - before) * change.change_ns > 0 and abs(after - before) >= _MUCH * abs(
        change.change_ns
    )
    return (before, after) if is_much else None


def _largest_operator(change: Change, calls: Sequence[object]) -> tuple[str, int] | None:
    """Return what the host runs meanwhile that has the largest part of the change, and that part in
    ns; None where it is one of the calls that launch."""
    took = {each.name: each.ns for each in change.before}
    takes = {each.name: each.ns for each in change.after}
    sign = 1 if change.change_ns > 0 else -1
    parts = {name: takes.get(name, 0) - took.get(name, 0) for name in {**took, **takes} if name}
    name = max(parts, key=lambda each: sign * parts[each], default=None)
    if name is None or name in calls or sign * parts[name] <= 0:
        return None
    return name, parts[name]


# Causes that name a call of the host, which it may make on both sides.
_NAMED_CALLS = (
    "data_loading", "synchronisation", "allocation", "copy_waits", "compilation",
    "garbage_collection", "python",
)  # fmt: skip
_NEARLY_ALL = 0.8  # of a wait that is longer, which is in one gap
_MUCH = 0.4  # of a change of launching, from which on a part of it is said beside it
_AS_LONG = 0.02  # by which calls of both sides may differ that take the same time
_AS_OFTEN = 0.05  # by which the calls of both sides may differ that are made as often
# Of idle time of which the baseline has none under a call that it makes, too.
_IDLE_AS_OFTEN = Message(
    "The device is idle for {takes:duration} while the host is in {call:name}, which it calls as "
    "often in the baseline, there without idle time: **{ns:signed_duration}** {per}."
)
_IDLE_CALLED_BEFORE = Message(
    "The device is idle for {takes:duration} while the host is in {call:name}: "
    "**{ns:signed_duration}** {per} (calls: {after_n:count}; {before_n:count} in the baseline, "
    "without idle time)."
)
# Of launching, where the host runs one operator meanwhile.
_IDLE_INSIDE = Message(
    "The device is idle for {takes:duration} instead of {took:duration} while the host launches "
    "the next kernel: **{ns:signed_duration}** {per}, nearly all of it in {inside:name}."
)
_ONE_GAP = Message(
    "The device is idle for {takes:duration} instead of {took:duration} while the host launches "
    "the next kernel: **{ns:signed_duration}** {per}, nearly all of it in {inside:name} and in one "
    "gap of {gap:duration}."
)
# With how long the calls of the host take by themselves: each launch, or all loading of a unit.
_IDLE_CALLS = {
    "data_loading": Message(
        "The device waits {takes:duration} instead of {took:duration} for data loading: "
        "**{ns:signed_duration}** {per} ({cause:name} takes {each:duration} instead of "
        "{was:duration})."
    ),
    "launching": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host "
        "launches the next kernel: **{ns:signed_duration}** {per} (each {call:name} takes "
        "{each:duration} instead of {was:duration}, all together "
        "{calls_ns:signed_duration} on the host)."
    ),
}
# Of launches that have another name on each side, as on devices of two makers.
_OTHER_LAUNCHES = Message(
    "The device is idle for {takes:duration} instead of {took:duration} while the host launches "
    "the next kernel: **{ns:signed_duration}** {per} (each {call:name} takes {each:duration}, each "
    "{other:name} of the baseline {was:duration}, all together "
    "{calls_ns:signed_duration} on the host)."
)
# The same, where another operator of the host has the largest part of the change.
_LAUNCHES_LARGEST = Message(
    "The device is idle for {takes:duration} instead of {took:duration} while the host launches "
    "the next kernel: **{ns:signed_duration}** {per}, the largest part in {largest:name} "
    "({largest_ns:signed_duration}); each {call:name} takes {each:duration} instead of "
    "{was:duration}."
)
_OTHER_LAUNCHES_LARGEST = Message(
    "The device is idle for {takes:duration} instead of {took:duration} while the host launches "
    "the next kernel: **{ns:signed_duration}** {per}, the largest part in {largest:name} "
    "({largest_ns:signed_duration}); each {call:name} takes {each:duration}, each {other:name} of "
    "the baseline {was:duration}."
)
# Of launching, where the time from the launch to the start is what changed.
_IDLE_STARTING = Message(
    "The device is idle for {takes:duration} instead of {took:duration} until the next kernel "
    "starts: **{ns:signed_duration}** {per}. Of this, {start_after:duration} instead of "
    "{start_before:duration} pass between the launch of a kernel and its start, in total.",
)
# Of two files, of which one does not show the host.
_IDLE_OF_SIDE = (
    Message(
        "The device is idle for {takes:duration} instead of {took:duration}: "
        "**{ns:signed_duration}** {per}. The baseline's file does not show what the host did then."
    ),
    Message(
        "The device is idle for {takes:duration} instead of {took:duration}: "
        "**{ns:signed_duration}** {per}. The candidate's file does not show what the host did then."
    ),
)
_IDLE = {
    True: Message(
        "The device is idle for {takes:duration} instead of {took:duration}: "
        "**{ns:signed_duration}** {per}. The files do not show what the host did then."
    ),
    False: Message(
        "No operator runs for {takes:duration} instead of {took:duration}: "
        "**{ns:signed_duration}** {per}."
    ),
}
IDLE_BY = {
    "data_loading": Message(
        "The device waits {takes:duration} instead of {took:duration} for data loading "
        "({cause:name}): **{ns:signed_duration}** {per}."
    ),
    "synchronisation": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host "
        "synchronises ({cause:name}): **{ns:signed_duration}** {per}."
    ),
    "allocation": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host "
        "allocates or frees memory ({cause:name}): **{ns:signed_duration}** {per}."
    ),
    "copy_waits": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host waits "
        "for a copy ({cause:name}): **{ns:signed_duration}** {per}."
    ),
    "compilation": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host "
        "compiles ({cause:name}): **{ns:signed_duration}** {per}."
    ),
    "garbage_collection": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host "
        "collects garbage ({cause:name}): **{ns:signed_duration}** {per}."
    ),
    "launching": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host "
        "launches the next kernel: **{ns:signed_duration}** {per}."
    ),
    "python": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host runs "
        "{cause:name}: **{ns:signed_duration}** {per}."
    ),
    "queued": Message(
        "The device is idle for {takes:duration} instead of {took:duration} although the next "
        "kernel was in its queue all that time: **{ns:signed_duration}** {per}."
    ),
}
# Of idle time of which the baseline has none.
_IDLE_ONLY_AFTER = {
    "data_loading": Message(
        "The device waits {takes:duration} for data loading ({cause:name}), which it does not "
        "in the baseline: **{ns:signed_duration}** {per}."
    ),
    "synchronisation": Message(
        "The device is idle for {takes:duration} while the host synchronises ({cause:name}), "
        "which it is not in the baseline: **{ns:signed_duration}** {per}."
    ),
    "allocation": Message(
        "The device is idle for {takes:duration} while the host allocates or frees memory "
        "({cause:name}), which it is not in the baseline: **{ns:signed_duration}** {per}."
    ),
    "copy_waits": Message(
        "The device is idle for {takes:duration} while the host waits for a copy "
        "({cause:name}), which it is not in the baseline: **{ns:signed_duration}** {per}."
    ),
    "compilation": Message(
        "The device is idle for {takes:duration} while the host compiles ({cause:name}), "
        "which it is not in the baseline: **{ns:signed_duration}** {per}."
    ),
    "garbage_collection": Message(
        "The device is idle for {takes:duration} while the host collects garbage "
        "({cause:name}), which it is not in the baseline: **{ns:signed_duration}** {per}."
    ),
    "launching": Message(
        "The device is idle for {takes:duration} while the host launches the next kernel, "
        "which it is not in the baseline: **{ns:signed_duration}** {per}."
    ),
    "python": Message(
        "The device is idle for {takes:duration} while the host runs {cause:name}, which it "
        "is not in the baseline: **{ns:signed_duration}** {per}."
    ),
    "queued": Message(
        "The device is idle for {takes:duration} although the next kernel was in its queue "
        "all that time, which it is not in the baseline: **{ns:signed_duration}** {per}."
    ),
}
