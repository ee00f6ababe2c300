"""A sentence about a mean over units, with what holds much of it: a few units, or one gap."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.advice.explanation.explanation import TracedUnit
from fusescope.analysis.messages import Message, Said, Shown
from fusescope.analysis.wording.explanation.units import word as word_of

UNITS = {
    "step": Message("{n:count} step", "{n:count} steps"),
    "run": Message("{n:count} run", "{n:count} runs"),
    "repetition": Message("{n:count} repetition", "{n:count} repetitions"),
}
_OF_ONE_TRACE = Message(
    "{sentence} In {n:count} of {units} it is {some:duration}, in the others {other:duration}."
)
_OF_SIDE = (
    Message(
        "{sentence} In {n:count} of the baseline's {units} it is {some:duration}, in the others "
        "{other:duration}."
    ),
    Message(
        "{sentence} In {n:count} of the candidate's {units} it is {some:duration}, in the others "
        "{other:duration}."
    ),
)
_BEFORE = Message("{sentence} The longest gap, {gap:duration}, is before {kernel:name}.")
_AT_END = Message("{sentence} The longest gap, {gap:duration}, is after the last kernel.")
# Idle time is the mean of all units, the gap of one: it may be the longer of the two.
_BEFORE_IN = {
    "step": Message(
        "{sentence} The longest gap, {gap:duration}, is in step {number:count} of {of:count}, "
        "before {kernel:name}."
    ),
    "run": Message(
        "{sentence} The longest gap, {gap:duration}, is in run {number:count} of {of:count}, "
        "before {kernel:name}."
    ),
    "repetition": Message(
        "{sentence} The longest gap, {gap:duration}, is in repetition {number:count} of "
        "{of:count}, before {kernel:name}."
    ),
}
_AT_END_IN = {
    "step": Message(
        "{sentence} The longest gap, {gap:duration}, is in step {number:count} of {of:count}, "
        "after the last kernel."
    ),
    "run": Message(
        "{sentence} The longest gap, {gap:duration}, is in run {number:count} of {of:count}, "
        "after the last kernel."
    ),
    "repetition": Message(
        "{sentence} The longest gap, {gap:duration}, is in repetition {number:count} of "
        "{of:count}, after the last kernel."
    ),
}


def with_some_units(sentence: Said, values: Mapping[str, object], word: str) -> Said:
    """Return the sentence of a change or a saving, and how much of it some units have, where
    `values` say so; `word` is what a unit is: a step, a run or a repetition."""
    n, of, some, other = (
        values.get(name) for name in ("some_units", "all_units", "some_ns", "other_ns")
    )
    if not (isinstance(n, int) and isinstance(of, int)):
        return sentence
    told: dict[str, Shown] = {
        "sentence": sentence,
        "n": n,
        "units": UNITS[word].of(n=of),
        "some": some if isinstance(some, int) else None,
        "other": other if isinstance(other, int) else None,
    }
    side = values.get("some_side")
    return (_OF_SIDE[side] if isinstance(side, int) else _OF_ONE_TRACE).of(**told)


def with_longest_gap(sentence: Said, values: Mapping[str, object], unit: TracedUnit) -> Said:
    """Return the sentence on idle time with its longest gap, where `values` have one; where there
    are several units, with the number of its own."""
    gap, kernel, number = (values.get(name) for name in ("gap_ns", "before", "unit"))
    if not (isinstance(gap, int) and isinstance(number, int)):
        return sentence
    if unit.count < 2:
        message = _BEFORE if kernel else _AT_END
    else:
        which = word_of(unit.kind, unit.name)
        message = (_BEFORE_IN if kernel else _AT_END_IN)[which]
    return message.of(
        sentence=sentence, gap=gap, kernel=str(kernel), number=number + 1, of=unit.count
    )
