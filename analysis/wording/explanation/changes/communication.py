"""Collectives that take another time, with the wait for other ranks, as sentences."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.compare.explanation.explanation import Change, UnitTimes
from fusescope.analysis.messages import Message, Shown
from fusescope.analysis.wording.explanation.changes.sentence import Sentence, both_sides


def communication(change: Change, unit: UnitTimes) -> Sentence:
    """Return the sentence on a collective that takes another time."""
    counts = [round(sum(each.count for each in side)) for side in (change.before, change.after)]
    waits = _WAITS.get(change.values.get("wait_basis"))
    values: dict[str, Shown] = {**both_sides(change), "name": change.where[0]}
    if "all_before_ns" in change.values:
        values["in_all"] = _IN_ALL[counts[0] == counts[1]].of(
            before=change.values["all_before_ns"],
            after=change.values["all_after_ns"],
            before_n=counts[0],
            after_n=counts[1],
        )
        if waits is None:
            return _EXPOSED, values
        return _EXPOSED_PARTED, {**values, "waits": waits.of(**change.values)}
    if 0 in counts:
        return _ONLY[counts[0] == 0], {**values, "n": sum(counts)}
    if waits is not None:
        values["waits"] = waits.of(**change.values)
    if counts[0] != counts[1]:
        message = _OTHER_COUNT if waits is None else _OTHER_COUNT_PARTED
        return message, {**values, "before_n": counts[0], "after_n": counts[1]}
    return (_COMMUNICATION if waits is None else _COMMUNICATION_PARTED), values


# By whether it is the candidate that runs it.
_ONLY = (
    Message(
        "{name:name} runs only in the baseline, in {n:executions}, with the wait for other ranks: "
        "**{ns:signed_duration}** {per}."
    ),
    Message(
        "{name:name} runs only in the candidate, in {n:executions}, with the wait for other ranks: "
        "**{ns:signed_duration}** {per}."
    ),
)
# Of collectives that computing hides in part: hidden time makes no unit longer.
_EXPOSED = Message(
    "{name:name} runs for {takes:duration} instead of {took:duration} while nothing is computed, "
    "with the wait for other ranks: **{ns:signed_duration}** {per} (in all {in_all}; computing "
    "hides the rest).",
)
_EXPOSED_PARTED = Message(
    "{name:name} runs for {takes:duration} instead of {took:duration} while nothing is computed: "
    "**{ns:signed_duration}** {per}. In all it takes {in_all}; computing hides the rest. {waits}",
)
_IN_ALL = {
    True: Message("{after:duration} instead of {before:duration} in {after_n:executions}"),
    False: Message(
        "{after:duration} in {after_n:executions} instead of {before:duration} in "
        "{before_n:executions}"
    ),
}
_OTHER_COUNT = Message(
    "{name:name} takes {takes:duration} in {after_n:executions} instead of {took:duration} in "
    "{before_n:executions}, with the wait for other ranks: **{ns:signed_duration}** {per}.",
)
_OTHER_COUNT_PARTED = Message(
    "{name:name} takes {takes:duration} in {after_n:executions} instead of {took:duration} in "
    "{before_n:executions}: **{ns:signed_duration}** {per}. {waits}",
)
_COMMUNICATION = Message(
    "{name:name} takes {takes:duration} instead of {took:duration} in {n:executions}, with the "
    "wait for other ranks: **{ns:signed_duration}** {per}.",
)
_COMMUNICATION_PARTED = Message(
    "{name:name} takes {takes:duration} instead of {took:duration} in {n:executions}: "
    "**{ns:signed_duration}** {per}. {waits}",
)
# How much of both times is no transfer, by what says it.
_WAITS: Mapping[str | int | float | None, Message] = {
    "measured": Message(
        "Of its time the baseline waits {wait_before_ns:duration} for rank "
        "{wait_before_for:count} and the candidate {wait_after_ns:duration} for rank "
        "{wait_after_for:count}, measured where both take part; waits for other ranks are not "
        "among it."
    ),
    "counter": Message(
        "Of its time no data moved for {wait_before_ns:duration} in the baseline and for "
        "{wait_after_ns:duration} in the candidate, as while waiting for other ranks."
    ),
    "modelled": Message(
        "Of its time at least {wait_before_ns:duration} in the baseline and "
        "{wait_after_ns:duration} in the candidate are the wait for other ranks, modelled: the "
        "shortest execution bounds what a transfer takes."
    ),
}
