"""A sentence about kernels, with the single long executions that its times are without."""

from __future__ import annotations

from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode
from fusescope.analysis.messages import Message, Said

_LEAST = 0.001  # of the time of the kernels, below which the times do not differ as they are shown
_WITHOUT_TIMES: tuple[ChangeCode, ...] = ("fused", "split")  # whose sentences have the change alone
_OF_SIDE = (
    Message(
        "{sentence} That is without the {long:duration} that one execution of the baseline takes "
        "beyond the others.",
        "{sentence} That is without the {long:duration} that {n:count} executions of the baseline "
        "take beyond the others.",
    ),
    Message(
        "{sentence} That is without the {long:duration} that one execution of the candidate takes "
        "beyond the others.",
        "{sentence} That is without the {long:duration} that {n:count} executions of the candidate "
        "take beyond the others.",
    ),
)
_OF_BOTH = Message(
    "{sentence} That is without what single long executions take beyond the others, "
    "{took:duration} in the baseline and {takes:duration} in the candidate."
)


def with_long_ones(sentence: Said, change: Change) -> Said:
    """Return the sentence of a change, and the time of single long executions of its kernels, which
    are changes of their own, where the times in the sentence are without it."""
    sides = sides_with_long_ones(change)
    if not sides or change.code in _WITHOUT_TIMES:
        return sentence
    took, takes = change.long_ones
    if len(sides) == 2:
        return _OF_BOTH.of(sentence=sentence, took=took.ns, takes=takes.ns)
    long = change.long_ones[sides[0]]
    return _OF_SIDE[sides[0]].of(sentence=sentence, long=long.ns, n=long.count)


def sides_with_long_ones(change: Change) -> list[int]:
    """Return the sides, 0 for the baseline, whose times of this change are without single long
    executions that would make them others as they are shown."""
    least_ns = _LEAST * max(change.before_ns, change.after_ns)
    return [side for side, long in enumerate(change.long_ones) if long.ns > least_ns]
