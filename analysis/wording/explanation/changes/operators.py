"""Operators that take another time by other kernels, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.explanation.explanation import Change, KernelTime, UnitTimes
from fusescope.analysis.messages import Message, Shown
from fusescope.analysis.operators.classes import LABELS
from fusescope.analysis.wording.explanation.changes.sentence import Sentence, both_sides
from fusescope.analysis.wording.explanation.kernels import names_text


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


def operator(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on an operator that takes another time by other kernels."""
    op_class = change.values.get("op_class")
    values: dict[str, Shown] = {**both_sides(change), "operator": change.where[-1]}
    if isinstance(op_class, str) and "by_class" in change.values:
        names = {"before": names_text(change.before), "after": names_text(change.after)}
        return _ALL_OF_CLASS, {**values, "operator": LABELS[op_class], **names}
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
# Of one model whose operators have other names on each side, as before and after fusion.
_ALL_OF_CLASS = Message(
    "Operators of the class {operator} take {takes:duration} ({after}) instead of {took:duration} "
    "({before}): **{ns:signed_duration}** {per}.",
)
_CLASS = Message(
    "Kernels of which the file does not say who launched them, {operator}, take {takes:duration} "
    "instead of {took:duration}: **{ns:signed_duration}** {per}.",
)
