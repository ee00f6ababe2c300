"""Kernels that both sides run and that take another time, as sentences."""

from __future__ import annotations

from fusescope.analysis.compare.explanation.explanation import Change, UnitTimes
from fusescope.analysis.messages import Message, Shown
from fusescope.analysis.wording.explanation.changes.operators import counted, counts_of
from fusescope.analysis.wording.explanation.changes.sentence import Sentence, both_sides
from fusescope.analysis.wording.explanation.kernels import kernel_text
from fusescope.analysis.wording.explanation.some_units import UNITS
from fusescope.analysis.wording.explanation.units import word


def time(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on kernels that take another time everywhere."""
    launcher = change.where[-1] if change.where and "::" in change.where[-1] else None
    values = {**both_sides(change), "operator": launcher}
    return (_TIME_OF, values) if launcher else (_TIME, values)


_TIME = Message(
    "The execution of {before} takes {takes:duration} instead of {took:duration}: "
    "**{ns:signed_duration}** {per}.",
    "The {n:count} executions of {before} take {takes:duration} instead of {took:duration}: "
    "**{ns:signed_duration}** {per}.",
)
_TIME_OF = Message(
    "{operator:name} takes {takes:duration} instead of {took:duration} in {n:executions} of "
    "{before}: **{ns:signed_duration}** {per}.",
)


def shapes(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on kernels that take another time over some shapes."""
    values = {**both_sides(change), "shapes": change.where[-1]}
    if len(change.where) > 1 and "::" in change.where[-2]:
        n = counted(counts_of(change.after), unit)
        return _SHAPES_OF, {**values, "operator": change.where[-2], "n": n}
    return _SHAPES, values


_SHAPES = Message(
    "The execution of {before} over {shapes:name} takes {takes:duration} instead of "
    "{took:duration}: **{ns:signed_duration}** {per}.",
    "The {n:count} executions of {before} over {shapes:name} take {takes:duration} instead of "
    "{took:duration}: **{ns:signed_duration}** {per}.",
)
_SHAPES_OF = Message(
    "{operator:name} over {shapes:name} takes {takes:duration} instead of {took:duration} in "
    "{n}: **{ns:signed_duration}** {per} ({before}).",
)


def place(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on one layer that takes another time."""
    return _PLACE, {**both_sides(change), **change.values}


_PLACE = Message(
    "Only layer {layer:count} of {layers:count} changed: {takes:duration} instead of "
    "{took:duration}, **{ns:signed_duration}** {per} ({before}).",
)


def outlier(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on one execution that takes far longer than the others."""
    side = change.values["side"]
    kernels = kernel_text(change.after or change.before)
    values = {"kernel": kernels, "of": change.values["of"], "longest": change.values["longest_ns"]}
    units = unit.counts[bool(side)]
    if units == 1:
        return (_OUTLIER_AFTER if side else _OUTLIER_BEFORE), values
    several = UNITS[word(unit.kind, unit.name)].of(n=units)
    return (_OF_SEVERAL_AFTER if side else _OF_SEVERAL_BEFORE), {**values, "units": several}


# Executions of all units of a file that has several.
_OF_SEVERAL_BEFORE = Message(
    "One of {of:executions} of {kernel} in {units} took {longest:duration} in the baseline, far "
    "longer than the others: **{ns:signed_duration}** {per}.",
)
_OF_SEVERAL_AFTER = Message(
    "One of {of:executions} of {kernel} in {units} takes {longest:duration} in the candidate, far "
    "longer than the others: **{ns:signed_duration}** {per}.",
)
_OUTLIER_BEFORE = Message(
    "One of {of:executions} of {kernel} took {longest:duration} in the baseline, far longer than "
    "the others: **{ns:signed_duration}** {per}.",
)
_OUTLIER_AFTER = Message(
    "One of {of:executions} of {kernel} takes {longest:duration} in the candidate, far longer than "
    "the others: **{ns:signed_duration}** {per}.",
)


def clocks(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on kernels that take nearly the same share longer or shorter."""
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
