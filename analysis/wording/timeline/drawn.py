"""Sentences of the timelines: what is drawn, what is not, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from fusescope.analysis.messages import Message, Said
from fusescope.analysis.trace import RunWord
from fusescope.analysis.units import duration

PICKED_IS_HIDDEN = Message(
    "What is selected in the timelines has no row here: it does not match what is chosen above."
)
_AND = Message("{facts}, {fact}")
_THEN = Message("{facts}; {sentence}")
OPERATORS = Message("{n:count} distinct operator", "{n:count} distinct operators")
EXECUTIONS = Message(
    "{operators:distinct} in {n:count} execution", "{operators:distinct} in {n:count} executions"
)
_PLACE: Mapping[RunWord, Message] = {
    "runs": Message("run {number:count} of {n:count}"),
    "steps": Message("step {number:count} of {n:count}"),
    "repetitions": Message("repetition {number:count} of {n:count}"),
}
_NEAREST = Message("{place}, the one nearest to the mean")
_NEAR = 0.01  # of the mean run, by which the time of the run that is drawn may differ
_NONE_NEAR = Message("{place}, the one nearest to the mean of {mean:duration}")
_NEAREST_BUT_IDLE = Message(
    "{place}, the one nearest to the mean ({idle:duration} idle on average)"
)
_NONE_NEAR_NOR_IDLE = Message(
    "{place}, the one nearest to the mean of {mean:duration} ({idle:duration} of it idle)"
)
# By whether the run that is drawn is longer than the mean.
_FAR: Mapping[bool, Message] = {
    False: Message(
        "{place} (far shorter than the mean of {mean:duration}, on which the other figures rest)"
    ),
    True: Message(
        "{place} (far longer than the mean of {mean:duration}, on which the other figures rest)"
    ),
}
_APART = 0.25  # of the mean run, from which on what is drawn is another picture than the means
_MEDIAN = Message("the median of {n:runs}")
PROFILED = Message("{time:duration} as profiled")
BOTH_TIMES = Message("{time:duration} as profiled ({unprofiled:duration} un-profiled)")
_OF_FILE = Message("running for {busy:duration} of the {time:duration} from the first to the last")
ON_LANE = Message("on {lane:name}")
_OTHERS = Message(
    "with {n:count} execution of other work in that time",
    "with {n:count} executions of other work in that time",
)
_OTHERS_EARLIER = Message(
    "with {n:count} execution of other work in that time, which began earlier",
    "with {n:count} executions of other work in that time, {earlier:count} of which began earlier",
)
OUTLIVED: Mapping[RunWord, Message] = {
    "runs": Message("its last operator ends {late:duration} after the run"),
    "steps": Message("its last operator ends {late:duration} after the step"),
    "repetitions": Message("its last operator ends {late:duration} after the repetition"),
}
_CUT = Message(
    "only the first {drawn:count} of {total:count} executions are here: the time after them is not "
    "idle"
)
_UNPLACED = Message(
    "{n:count} execution without a start time is not drawn",
    "{n:count} executions without a start time are not drawn",
)
_TOO_DEEP = Message(
    "{n:count} execution that more than {depth:count} others run beside in its lane is not drawn",
    "{n:count} executions that more than {depth:count} others run beside in their lane are not "
    "drawn",
)
_EXACT = Message(
    "In this report the timelines are exact down to {width:duration}: longer executions are there "
    "one by one, and shorter ones as the part of each {width:duration} in which they ran."
)
_IN_ORDER = Message(
    "the file has no start times, so operators are drawn one after the other in the order of the "
    "file"
)
_TOTALS_IN_ORDER = Message(
    "the file has no start times, so operators are drawn one after the other in the order of the "
    "file; each box is the sum of all executions of an operator"
)
_FOLDED = Message(
    "{lanes:lanes} with almost no time are folded: {executions:executions}, {busy:duration} "
    "({share} of the operator time)."
)
_LITTLE = Message("under 0.1 %")
_SHARE = Message("{share:percent}")


def caption(facts: Sequence[Said], sentences: Sequence[Said]) -> Said:
    """What is drawn of a side: facts, then what its drawing lacks."""
    whole = reduce(lambda told, fact: _AND.of(facts=told, fact=fact), facts)
    return reduce(lambda told, text: _THEN.of(facts=told, sentence=text), sentences, whole)


def median_said(count: int) -> Said:
    """Return that the median of so many runs is drawn."""
    return _MEDIAN.of(n=count)


def nearest_said(
    word: RunWord,
    number: int,
    count: int,
    time_ns: float,
    mean_ns: float,
    idle_ns: tuple[float, float] | None = None,
) -> Said:
    """Return which of several runs, steps or repetitions is drawn, the one nearest to their mean;
    the mean where this one takes another time or is idle for another time, so that its times are
    not taken for those of the mean. `idle_ns` are its own and the mean, None where unknown."""
    is_near = abs(time_ns - mean_ns) <= _NEAR * mean_ns
    place = _PLACE[word].of(number=number, n=count)
    if abs(time_ns - mean_ns) > _APART * mean_ns:
        return _FAR[time_ns > mean_ns].of(place=place, mean=mean_ns)
    if idle_ns is None or abs(idle_ns[0] - idle_ns[1]) <= _NEAR * mean_ns:
        if is_near:
            return _NEAREST.of(place=place)
        return _NONE_NEAR.of(place=place, mean=mean_ns)
    but = _NEAREST_BUT_IDLE if is_near else _NONE_NEAR_NOR_IDLE
    return but.of(place=place, mean=mean_ns, idle=idle_ns[1])


def time_of_file(busy_ns: float, time_ns: float) -> Said:
    """Return how long the operators of a file without marked runs ran, the time that the
    comparison shows, and how much time lies between the first and the last of them."""
    if duration(busy_ns) == duration(time_ns):
        return PROFILED.of(time=busy_ns)
    return _OF_FILE.of(busy=busy_ns, time=time_ns)


def others_text(others: int, earlier: int) -> Said:
    """That executions of other work are drawn, of which some began before the drawing does."""
    if earlier:
        return _OTHERS_EARLIER.of(n=others, earlier=earlier)
    return _OTHERS.of(n=others)


def cut_text(drawn: int, total: int) -> Said:
    """That a run is too long to draw completely."""
    return _CUT.of(drawn=drawn, total=total)


def unplaced_text(unplaced: int) -> Said:
    """That executions have no start while others have one."""
    return _UNPLACED.of(n=unplaced)


def too_deep_text(executions: int, depth: int) -> Said:
    """That lanes are too deep to draw all that ran at once."""
    return _TOO_DEEP.of(n=executions, depth=depth - 1)


def exact_text(width_ns: int) -> str:
    """Down to which time a report has executions one by one."""
    return _EXACT.text(width=width_ns)


def in_order_text(has_totals: bool) -> Said:
    """That nothing is known of when the operators ran."""
    return (_TOTALS_IN_ORDER if has_totals else _IN_ORDER).of()


def folded_text(lanes: int, executions: int, busy_ns: int, share: float) -> Said:
    """That lanes with almost no time are folded."""
    part = _SHARE.of(share=share) if share >= 0.0005 else _LITTLE.of()
    return _FOLDED.of(lanes=lanes, executions=executions, busy=busy_ns, share=part)
