"""Units that fall into those that take long and the others, as a sentence."""

from __future__ import annotations

from fusescope.analysis.advice.explanation.explanation import Uneven
from fusescope.analysis.messages import Message, Said, listed
from fusescope.analysis.wording.quantities import range_said

_SAME_BUSY = 0.05  # by which the time differs in which anything runs, and is the same
_SHOWN = 6  # numbers of units

_MANY_SAME = {
    "step": Message(
        "Steps {steps} of {of:count} take {slow}, the others {fast}, for the same "
        "{busy:duration} of kernels."
    ),
    "run": Message(
        "Runs {steps} of {of:count} take {slow}, the others {fast}, for the same "
        "{busy:duration} of kernels."
    ),
    "repetition": Message(
        "Repetitions {steps} of {of:count} take {slow}, the others {fast}, for the same "
        "{busy:duration} of kernels."
    ),
}
_ONE_SAME = {
    "step": Message(
        "Step {steps} of {of:count} takes {slow}, the others {fast}, for the same "
        "{busy:duration} of kernels."
    ),
    "run": Message(
        "Run {steps} of {of:count} takes {slow}, the others {fast}, for the same "
        "{busy:duration} of kernels."
    ),
    "repetition": Message(
        "Repetition {steps} of {of:count} takes {slow}, the others {fast}, for the same "
        "{busy:duration} of kernels."
    ),
}
_MANY = {
    "step": Message(
        "Steps {steps} of {of:count} take {slow}, with {busy:duration} of kernels, the "
        "others {fast}, with {fast_busy:duration}."
    ),
    "run": Message(
        "Runs {steps} of {of:count} take {slow}, with {busy:duration} of kernels, the others"
        " {fast}, with {fast_busy:duration}."
    ),
    "repetition": Message(
        "Repetitions {steps} of {of:count} take {slow}, with {busy:duration} of kernels, the"
        " others {fast}, with {fast_busy:duration}."
    ),
}
_ONE = {
    "step": Message(
        "Step {steps} of {of:count} takes {slow}, with {busy:duration} of kernels, the "
        "others {fast}, with {fast_busy:duration}."
    ),
    "run": Message(
        "Run {steps} of {of:count} takes {slow}, with {busy:duration} of kernels, the others"
        " {fast}, with {fast_busy:duration}."
    ),
    "repetition": Message(
        "Repetition {steps} of {of:count} takes {slow}, with {busy:duration} of kernels, the"
        " others {fast}, with {fast_busy:duration}."
    ),
}
_FROM_TO = Message("{first:count} to {last:count}")


def uneven_said(found: Uneven, word: str) -> Said:
    """Return which units take long, with the time in which anything runs in both kinds."""
    slow_busy, fast_busy = found.busy_ns
    is_same = abs(slow_busy - fast_busy) <= _SAME_BUSY * max(slow_busy, fast_busy)
    if is_same:  # one time for both: the mean of all units, which is what other sentences have
        slow = len(found.slow)
        slow_busy = round((slow_busy * slow + fast_busy * (found.of - slow)) / found.of)
    same, other = (_ONE_SAME, _ONE) if len(found.slow) == 1 else (_MANY_SAME, _MANY)
    return (same if is_same else other)[word].of(
        steps=_numbers(found.slow),
        of=found.of,
        slow=range_said(*found.slow_ns),
        fast=range_said(*found.fast_ns),
        busy=slow_busy,
        fast_busy=fast_busy,
    )


def _numbers(numbers: tuple[int, ...]) -> str:
    """Return '3 to 5' of numbers that follow one another, else '1, 3 and 7'; of many the first."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 2 and last - first == len(numbers) - 1:
        return _FROM_TO.text(first=first, last=last)
    shown = [str(number) for number in numbers[:_SHOWN]]
    return listed([*shown, "…"] if len(numbers) > _SHOWN else shown)
