"""Each change of an explanation as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from analysis.compare.explanation.explanation import (
    Change,
    ChangeCode,
    KernelTime,
    UnitTimes,
)
from analysis.messages import Message, Said, Shown
from analysis.operators.classes import LABELS
from analysis.wording.explanation.alone import added, removed
from analysis.wording.explanation.kernels import common_class, kernel_text, names_text
from analysis.wording.explanation.some_units import with_some_units
from analysis.wording.explanation.uncached import with_uncached
from analysis.wording.explanation.units import PER, word


def change_said(change: Change, unit: UnitTimes) -> Said:
    """Return one change as a sentence, with its time in each unit."""
    message, values = _SENTENCES[change.code](change, unit)
    said = message.of(ns=change.change_ns, per=PER[unit.kind], **values)
    said = with_uncached(said, change.values, PER[unit.kind])
    return with_some_units(said, change.values, word(unit.kind, unit.name))


Sentence = tuple[Message, Mapping[str, Shown]]


def _both(change: Change) -> Mapping[str, Shown]:
    return {
        "before": kernel_text(change.before),
        "after": kernel_text(change.after),
        "n": change.repeats,
        "took": change.before_ns,
        "takes": change.after_ns,
    }


def _fused(change: Change, unit: UnitTimes) -> Sentence:
    return _FUSED, _both(change)


_FUSED = Message(
    "Fused in {n:count} place: {before} became {after}, **{ns:signed_duration}** {per}.",
    "Fused in {n:count} places: {before} became {after}, **{ns:signed_duration}** {per}.",
)


def _split(change: Change, unit: UnitTimes) -> Sentence:
    return _SPLIT, _both(change)


_SPLIT = Message(
    "No longer fused in {n:count} place: {before} became {after}, **{ns:signed_duration}** {per}.",
    "No longer fused in {n:count} places: {before} became {after}, **{ns:signed_duration}** {per}.",
)


def _replaced(change: Change, unit: UnitTimes) -> Sentence:
    op_class = common_class((*change.before, *change.after))
    names = {"before": names_text(change.before), "after": names_text(change.after)}
    if str(names["before"]) == str(names["after"]):
        return _REPLACED_ALIKE, _both(change)
    if op_class is None:
        return _REPLACED, _both(change)
    return _REPLACED_OF, {**_both(change), **names, "op_class": LABELS[op_class]}


# Of two kernels whose names differ only where they are cut.
_REPLACED_ALIKE = Message(
    "In {n:count} place another kernel of this kind runs, {before}: {takes:duration} instead of "
    "{took:duration}, **{ns:signed_duration}** {per}.",
    "In {n:count} places another kernel of this kind runs, {before}: {takes:duration} instead of "
    "{took:duration}, **{ns:signed_duration}** {per}.",
)
_REPLACED = Message(
    "In {n:count} place the candidate runs {after} instead of {before}: {takes:duration} instead "
    "of {took:duration}, **{ns:signed_duration}** {per}.",
    "In {n:count} places the candidate runs {after} instead of {before}: {takes:duration} instead "
    "of {took:duration}, **{ns:signed_duration}** {per}.",
)
_REPLACED_OF = Message(
    "In {n:count} place {op_class} runs as {after} instead of {before}: {takes:duration} instead "
    "of {took:duration}, **{ns:signed_duration}** {per}.",
    "In {n:count} places {op_class} runs as {after} instead of {before}: {takes:duration} instead "
    "of {took:duration}, **{ns:signed_duration}** {per}.",
)


def _pieces(change: Change, unit: UnitTimes) -> Sentence:
    before_n, after_n = (sum(each.count for each in side) for side in (change.before, change.after))
    values: dict[str, Shown] = {
        **_both(change),
        "n": round(before_n),
        "m": round(after_n),
        "was": change.before_ns / before_n,
        "each": change.after_ns / after_n,
    }
    names = [{kernel.name for kernel in side} for side in (change.before, change.after)]
    if max(map(len, names)) > 1:
        return (_SMALLER if after_n > before_n else _LARGER), values
    return (_PIECES if names[0] == names[1] else _OTHER_PIECES), values


_PIECES = Message(
    "{n:executions} of {before} of {was:duration} became {m:count} of {each:duration}: "
    "**{ns:signed_duration}** {per}.",
)
_OTHER_PIECES = Message(
    "{n:executions} of {before} of {was:duration} became {m:count} of {after} of {each:duration}: "
    "**{ns:signed_duration}** {per}.",
)
_SMALLER = Message(
    "{before} run in {m:executions} instead of {n:count}, on less each time: {takes:duration} "
    "instead of {took:duration}, **{ns:signed_duration}** {per}.",
)
_LARGER = Message(
    "{before} run in {m:executions} instead of {n:count}, on more each time: {takes:duration} "
    "instead of {took:duration}, **{ns:signed_duration}** {per}.",
)


def _time(change: Change, unit: UnitTimes) -> Sentence:
    launcher = change.where[-1] if change.where and "::" in change.where[-1] else None
    values = {**_both(change), "operator": launcher}
    return (_TIME_OF, values) if launcher else (_TIME, values)


_TIME = Message(
    "The only execution of {before} takes {takes:duration} instead of {took:duration}: "
    "**{ns:signed_duration}** {per}.",
    "The {n:count} executions of {before} take {takes:duration} instead of {took:duration}: "
    "**{ns:signed_duration}** {per}.",
)
_TIME_OF = Message(
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n:executions} of "
    "{before}: **{ns:signed_duration}** {per}.",
)


def counts_of(kernels: Sequence[KernelTime]) -> tuple[int, int]:
    """Return how many of these are kernels, and how many are copies or fills of memory."""
    copies = round(sum(each.count for each in kernels if each.is_copy))
    return round(sum(each.count for each in kernels)) - copies, copies


def counted(counts: tuple[int, int], unit: UnitTimes) -> str:
    """Return how many kernels, copies and fills these are, of a host how many executions."""
    kernels, copies = counts
    if not unit.on_device:
        return str(_EXECUTIONS.of(n=kernels + copies))
    if copies and not kernels:
        return str(_COPIES.of(n=copies))
    return str((_WITH_COPIES if copies else _KERNELS).of(n=kernels + copies))


_EXECUTIONS = Message("{n:executions}")
_KERNELS = Message("{n:count} kernel", "{n:count} kernels")
_COPIES = Message("{n:count} copy or fill", "{n:count} copies or fills")
_WITH_COPIES = Message("{n:count} kernels, copies and fills")


def _operator(change: Change, unit: UnitTimes) -> Sentence:
    op_class = change.values.get("op_class")
    values: dict[str, Shown] = {**_both(change), "operator": change.where[-1]}
    if isinstance(op_class, str):
        return _CLASS, {**values, "operator": LABELS[op_class]}
    before, after = (counts_of(side) for side in (change.before, change.after))
    if before != after:
        if before[0] == after[0] > 0:
            more = after[1] - before[1]
            message = _OPERATOR_MORE if more > 0 else _OPERATOR_FEWER
            return message, {**values, "n": after[0], "by": abs(more)}
        texts = {"before_n": counted(before, unit), "after_n": counted(after, unit)}
        return _OPERATOR_COUNTS, {**values, **texts}
    values["n"] = counted(after, unit)
    if len(change.before) != 1 or len(change.after) != 1:
        return _OPERATOR, values  # the names of several kernels say less than their operator
    names = {"before": names_text(change.before), "after": names_text(change.after)}
    if str(names["before"]) == str(names["after"]):
        return _OPERATOR, values  # they differ only where they are cut
    return _OPERATOR_AS, {**values, **names}


_OPERATOR = Message(
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n}: "
    "**{ns:signed_duration}** {per}.",
)
_OPERATOR_FEWER = Message(
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n:count} kernel on both "
    "sides, with {by:count} fewer copies or fills: **{ns:signed_duration}** {per}.",
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n:count} kernels on "
    "both sides, with {by:count} fewer copies or fills: **{ns:signed_duration}** {per}.",
)
_OPERATOR_MORE = Message(
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n:count} kernel on both "
    "sides, with {by:count} more copies or fills: **{ns:signed_duration}** {per}.",
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n:count} kernels on "
    "both sides, with {by:count} more copies or fills: **{ns:signed_duration}** {per}.",
)
_OPERATOR_COUNTS = Message(
    "{operator:name} takes {takes:duration} in {after_n} instead of {took:duration} in {before_n}: "
    "**{ns:signed_duration}** {per}.",
)
_OPERATOR_AS = Message(
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n}: "
    "**{ns:signed_duration}** {per} ({after} instead of {before}).",
)
_CLASS = Message(
    "Kernels of which the file does not say who launched them, {operator}, take {takes:duration} "
    "instead of {took:duration}: **{ns:signed_duration}** {per}.",
)


def _shapes(change: Change, unit: UnitTimes) -> Sentence:
    values = {**_both(change), "shapes": change.where[-1]}
    if len(change.where) > 1 and "::" in change.where[-2]:
        n = counted(counts_of(change.after), unit)
        return _SHAPES_OF, {**values, "operator": change.where[-2], "n": n}
    return _SHAPES, values


_SHAPES = Message(
    "The only execution of {before} over {shapes:name} takes {takes:duration} instead of "
    "{took:duration}: **{ns:signed_duration}** {per}.",
    "The {n:count} executions of {before} over {shapes:name} take {takes:duration} instead of "
    "{took:duration}: **{ns:signed_duration}** {per}.",
)
_SHAPES_OF = Message(
    "{operator:name} over {shapes:name} takes {takes:duration} instead of {took:duration} in "
    "{n}: **{ns:signed_duration}** {per} ({before}).",
)


def _place(change: Change, unit: UnitTimes) -> Sentence:
    return _PLACE, {**_both(change), **change.values}


_PLACE = Message(
    "Only layer {layer:count} of {layers:count} changed: {takes:duration} instead of "
    "{took:duration}, **{ns:signed_duration}** {per} ({before}).",
)


def _outlier(change: Change, unit: UnitTimes) -> Sentence:
    side = change.values["side"]
    kernels = kernel_text(change.after or change.before)
    values = {"kernel": kernels, "of": change.values["of"], "longest": change.values["longest_ns"]}
    return (_OUTLIER_AFTER if side else _OUTLIER_BEFORE), values


_OUTLIER_BEFORE = Message(
    "One of {of:executions} of {kernel} took {longest:duration} in the baseline, far longer than "
    "the others: **{ns:signed_duration}** {per}.",
)
_OUTLIER_AFTER = Message(
    "One of {of:executions} of {kernel} takes {longest:duration} in the candidate, far longer than "
    "the others: **{ns:signed_duration}** {per}.",
)


def _repeats(change: Change, unit: UnitTimes) -> Sentence:
    return _REPEATS, dict(change.values)


_REPEATS = Message(
    "The model has {after:count} instead of {before:count} layers: **{ns:signed_duration}** {per}.",
)


def _clocks(change: Change, unit: UnitTimes) -> Sentence:
    values = change.values
    shifts = [abs(float(values[key]) - 1) for key in ("ratio", "low", "high")]
    is_longer = float(values["ratio"]) > 1
    shown: dict[str, Shown] = {
        "ratio": shifts[0],
        "least": min(shifts[1:]),
        "most": max(shifts[1:]),
        "n": values["kernels"],
        "all": values["all_kernels"],
        "took": change.before_ns,
        "of": values["all_ns"],
    }
    if shown["n"] != shown["all"]:
        return _CLOCK[is_longer], shown
    is_even = max(shifts) - min(shifts) < _EVEN
    return (_CLOCK_OF_ALL if is_even else _CLOCK_OF_ALL_NEARLY)[is_longer], shown


_EVEN = 0.001  # by which shifts differ that are told as one
_CLOCK_OF_ALL = {
    True: Message(
        "The {n:count} kernels that are the same on both sides all take {ratio:percent} longer, as "
        "with lower clocks: **{ns:signed_duration}** {per}.",
    ),
    False: Message(
        "The {n:count} kernels that are the same on both sides all take {ratio:percent} less time, "
        "as with higher clocks: **{ns:signed_duration}** {per}.",
    ),
}
_CLOCK_OF_ALL_NEARLY = {
    True: Message(
        "The {n:count} kernels that are the same on both sides all take {least:percent} to "
        "{most:percent} longer (the median by time is {ratio:percent}), as with lower clocks: "
        "**{ns:signed_duration}** {per}.",
    ),
    False: Message(
        "The {n:count} kernels that are the same on both sides all take {least:percent} to "
        "{most:percent} less time (the median by time is {ratio:percent}), as with higher clocks: "
        "**{ns:signed_duration}** {per}.",
    ),
}
_CLOCK = {
    True: Message(
        "{n:count} of {all:count} kernels that are the same on both sides, with {took:duration} of "
        "{of:duration}, take {least:percent} to {most:percent} longer (the median by time is "
        "{ratio:percent}), as with lower clocks: **{ns:signed_duration}** {per}.",
    ),
    False: Message(
        "{n:count} of {all:count} kernels that are the same on both sides, with {took:duration} of "
        "{of:duration}, take {least:percent} to {most:percent} less time (the median by time is "
        "{ratio:percent}), as with higher clocks: **{ns:signed_duration}** {per}.",
    ),
}


def _idle(change: Change, unit: UnitTimes) -> Sentence:
    values: dict[str, Shown] = {
        "took": change.values["before_ns"],
        "takes": change.values["after_ns"],
        "cause": change.values.get("cause"),
    }
    kind = change.values.get("kind")
    if not values["took"] and kind in NAMED_CALLS and "call" in change.values:
        before_n, after_n = (
            float(change.values[f"call_{side}_count"]) for side in ("before", "after")
        )
        is_same = abs(after_n - before_n) <= _AS_OFTEN * before_n
        values |= {"call": change.values["call"], "before_n": before_n, "after_n": after_n}
        return (_IDLE_AS_OFTEN if is_same else _IDLE_CALLED_BEFORE), values
    if not values["took"] and kind in _IDLE_ONLY_AFTER:
        return _IDLE_ONLY_AFTER[str(kind)], values
    calls = _IDLE_CALLS.get(str(kind))
    if calls is not None and "call" in change.values:
        told = change.values
        return calls, {
            **values,
            "call": told["call"],
            "each": told["each_ns"],
            "was": told["was_ns"],
        }
    return (IDLE_BY.get(str(kind)) or _IDLE[unit.on_device]), values


# Causes that name a call of the host, which it may make on both sides.
NAMED_CALLS = (
    "data_loading", "synchronisation", "allocation", "copy_waits", "compilation",
    "garbage_collection", "python",
)  # fmt: skip
_AS_OFTEN = 0.05  # by which the calls of both sides may differ that are made as often
# Of idle time of which the baseline has none under a call that it makes, too.
_IDLE_AS_OFTEN = Message(
    "The device is idle for {takes:duration} while the host is in {call:name}, which it calls as "
    "often as before, but then without idle time: **{ns:signed_duration}** {per}."
)
_IDLE_CALLED_BEFORE = Message(
    "The device is idle for {takes:duration} while the host is in {call:name}: "
    "**{ns:signed_duration}** {per} (calls: {after_n:count}, before {before_n:count} and without "
    "idle time)."
)
# With how long the calls of the host take by themselves: each launch, or all loading of a unit.
_IDLE_CALLS = {
    "data_loading": Message(
        "The device waits {takes:duration} instead of {took:duration} for data loading: "
        "**{ns:signed_duration}** {per} ({cause:name} takes {each:duration}, before "
        "{was:duration})."
    ),
    "launching": Message(
        "The device is idle for {takes:duration} instead of {took:duration} while the host "
        "launches the next kernel: **{ns:signed_duration}** {per} (each {call:name} takes "
        "{each:duration}, before {was:duration})."
    ),
}
_IDLE = {
    True: Message(
        "The device is idle for {takes:duration} instead of {took:duration}: "
        "**{ns:signed_duration}** {per}. The file does not show what the host did then."
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
        "kernel was launched already: **{ns:signed_duration}** {per}."
    ),
}

# Of idle time of which the baseline has none.
_IDLE_ONLY_AFTER = {
    "data_loading": Message(
        "The device waits {takes:duration} for data loading ({cause:name}), which it did not "
        "before: **{ns:signed_duration}** {per}."
    ),
    "synchronisation": Message(
        "The device is idle for {takes:duration} while the host synchronises ({cause:name}), "
        "which it was not before: **{ns:signed_duration}** {per}."
    ),
    "allocation": Message(
        "The device is idle for {takes:duration} while the host allocates or frees memory "
        "({cause:name}), which it was not before: **{ns:signed_duration}** {per}."
    ),
    "copy_waits": Message(
        "The device is idle for {takes:duration} while the host waits for a copy "
        "({cause:name}), which it was not before: **{ns:signed_duration}** {per}."
    ),
    "compilation": Message(
        "The device is idle for {takes:duration} while the host compiles ({cause:name}), "
        "which it was not before: **{ns:signed_duration}** {per}."
    ),
    "garbage_collection": Message(
        "The device is idle for {takes:duration} while the host collects garbage "
        "({cause:name}), which it was not before: **{ns:signed_duration}** {per}."
    ),
    "launching": Message(
        "The device is idle for {takes:duration} while the host launches the next kernel, "
        "which it was not before: **{ns:signed_duration}** {per}."
    ),
    "python": Message(
        "The device is idle for {takes:duration} while the host runs {cause:name}, which it "
        "was not before: **{ns:signed_duration}** {per}."
    ),
    "queued": Message(
        "The device is idle for {takes:duration} although the next kernel was launched "
        "already, which it was not before: **{ns:signed_duration}** {per}."
    ),
}


def _overlap(change: Change, unit: UnitTimes) -> Sentence:
    return _OVERLAP, {"took": change.values["before_ns"], "takes": change.values["after_ns"]}


_OVERLAP = Message(
    "Kernels run beside one another for {takes:duration} instead of {took:duration}: "
    "**{ns:signed_duration}** {per}.",
)


def _communication(change: Change, unit: UnitTimes) -> Sentence:
    counts = [round(sum(each.count for each in side)) for side in (change.before, change.after)]
    waits = _WAITS.get(change.values.get("wait_basis"))
    values: dict[str, Shown] = {**_both(change), "name": change.where[0]}
    if waits is not None:
        values["waits"] = waits.of(**change.values)
    if counts[0] != counts[1]:
        message = _OTHER_COUNT if waits is None else _OTHER_COUNT_PARTED
        return message, {**values, "before_n": counts[0], "after_n": counts[1]}
    return (_COMMUNICATION if waits is None else _COMMUNICATION_PARTED), values


_OTHER_COUNT = Message(
    "{name:name} takes {takes:duration} in {after_n:executions} instead of {took:duration} in "
    "{before_n:executions}, with the wait for other ranks: **{ns:signed_duration}** {per}.",
)
_OTHER_COUNT_PARTED = Message(
    "{name:name} takes {takes:duration} in {after_n:executions} instead of {took:duration} in "
    "{before_n:executions}: **{ns:signed_duration}** {per}. {waits}",
)
_COMMUNICATION_PARTED = Message(
    "{name:name} takes {takes:duration} instead of {took:duration} in {n:executions}: "
    "**{ns:signed_duration}** {per}. {waits}",
)
# How much of both times is no transfer, by what says it.
_WAITS: Mapping[str | int | float | None, Message] = {
    "measured": Message(
        "Of that the baseline waits {wait_before_ns:duration} for rank {wait_before_for:count}, "
        "the candidate {wait_after_ns:duration} for rank {wait_after_for:count}."
    ),
    "counter": Message(
        "Of that no data moved for {wait_before_ns:duration} in the baseline and for "
        "{wait_after_ns:duration} in the candidate, as while waiting for other ranks."
    ),
    "modelled": Message(
        "Of that at least {wait_before_ns:duration} in the baseline and {wait_after_ns:duration} "
        "in the candidate are the wait for other ranks, modelled: the shortest execution bounds "
        "what a transfer takes."
    ),
}
_COMMUNICATION = Message(
    "{name:name} takes {takes:duration} instead of {took:duration} in {n:executions}, with the "
    "wait for other ranks: **{ns:signed_duration}** {per}.",
)

_SENTENCES: Mapping[ChangeCode, Callable[[Change, UnitTimes], Sentence]] = {
    "added": added,
    "removed": removed,
    "fused": _fused,
    "split": _split,
    "replaced": _replaced,
    "pieces": _pieces,
    "time": _time,
    "operator": _operator,
    "shapes": _shapes,
    "place": _place,
    "outlier": _outlier,
    "repeats": _repeats,
    "clocks": _clocks,
    "idle": _idle,
    "overlap": _overlap,
    "communication": _communication,
}
