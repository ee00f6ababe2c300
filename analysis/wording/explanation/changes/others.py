"""Kernels that became others, or run in another number, as sentences."""

from __future__ import annotations

from fusescope.analysis.compare.explanation.explanation import Change, UnitTimes
from fusescope.analysis.messages import Message, Shown
from fusescope.analysis.operators.classes import LABELS
from fusescope.analysis.wording.explanation.changes.sentence import Sentence, both_sides
from fusescope.analysis.wording.explanation.kernels import common_class, names_text


def fused(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on places where fewer kernels do the work of more."""
    return _FUSED, both_sides(change)


_FUSED = Message(
    "Fused in {n:count} place: {before} became {after}, **{ns:signed_duration}** {per}.",
    "Fused in {n:count} places: {before} became {after}, **{ns:signed_duration}** {per}.",
)


def split(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on places where more kernels do the work of fewer."""
    return _SPLIT, both_sides(change)


_SPLIT = Message(
    "No longer fused in {n:count} place: {before} became {after}, **{ns:signed_duration}** {per}.",
    "No longer fused in {n:count} places: {before} became {after}, **{ns:signed_duration}** {per}.",
)


def replaced(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on kernels that became others."""
    op_class = common_class((*change.before, *change.after))
    names = {"before": names_text(change.before), "after": names_text(change.after)}
    if str(names["before"]) == str(names["after"]):
        return _REPLACED_ALIKE, both_sides(change)
    if op_class is None:
        return _REPLACED, both_sides(change)
    return _REPLACED_OF, {**both_sides(change), **names, "op_class": LABELS[op_class]}


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


def pieces(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on executions that became several smaller ones, or fewer larger ones."""
    before_n, after_n = (sum(each.count for each in side) for side in (change.before, change.after))
    values: dict[str, Shown] = {
        **both_sides(change),
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


def repeats(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on another number of layers."""
    return _REPEATS, dict(change.values)


_REPEATS = Message(
    "The model has {after:count} instead of {before:count} layers: **{ns:signed_duration}** {per}.",
)
