"""A sentence about idle time, with the one gap that is far longer than the others."""

from __future__ import annotations

from fusescope.analysis.compare.explanation.explanation import Change, UnitTimes
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.wording.explanation.changes.idle import one_gap_ns

_OF_SIDE = (
    Message(
        "{sentence} One of the baseline's {of:count} gaps in {call:name} lasts {longest:duration}, "
        "the others {usual:duration} on average: {ns:signed_duration} of the change."
    ),
    Message(
        "{sentence} One of the candidate's {of:count} gaps in {call:name} lasts "
        "{longest:duration}, the others {usual:duration} on average: {ns:signed_duration} of the "
        "change."
    ),
)


def with_long_gap(sentence: Said, change: Change, unit: UnitTimes) -> Said:
    """Return the sentence of a change, and the one gap under a call of the host that is a part of
    it by itself, where there is one and the sentence has none."""
    side = change.values.get("long_side")
    has_gap = "inside" in change.values and one_gap_ns(change, unit) is not None
    if not isinstance(side, int) or has_gap:
        return sentence
    return _OF_SIDE[side].of(
        sentence=sentence,
        of=change.values["long_of"],
        call=change.values["long_call"],
        longest=change.values["long_ns"],
        usual=change.values["long_usual_ns"],
        ns=change.values["long_more_ns"],
    )
