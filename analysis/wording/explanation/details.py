"""What stands behind a sentence of an explanation: its kernels, its place, what says it."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.advice.explanation.explanation import SavingCode
from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode, Evidence
from fusescope.analysis.messages import Message
from fusescope.analysis.operators.classes import LABELS

TITLE = Message("What changed")
TITLE_OF_TRACE = Message("What need not be")
BEFORE = Message("Baseline")
AFTER = Message("Candidate")
CHANGE = Message("Change")
TIME = Message("Time")
EXECUTIONS = Message("{count:number} × {each:duration}")
ON_AVERAGE = Message("{count:number} × {each:duration} on average")
LONGEST = Message("one takes {longest:duration}, the others {usual:duration}")
_KERNEL = Message("Kernel")
_OPERATOR = Message("Operator")
_COLLECTIVE = Message("Collective")
_CALL = Message("Idle time by call of the host")
_STARTING = Message("from the launch to the start")
WHERE = Message("Where")
_NO_OPERATOR = Message("{op_class}, operator not in the file")
_SIZE = Message("tensors with a dimension of {size:count}")
HOST = Message("What the host did")
LONG_ONES = Message("Single long executions, not counted here")
KNOWN_BY = Message("Known by")
_EVIDENCE: Mapping[Evidence, Message] = {
    "named": Message("names that both files have"),
    "ordered": Message("the order of the kernels"),
    "guessed": Message("the class of the kernels alone"),
}
_LAUNCHER = Message("the name of the operator that launched the kernels, which both files have")
_OF_OPERATORS: Mapping[Evidence, Message] = {  # of what ran on no device
    "named": _EVIDENCE["named"],
    "ordered": Message("the order of the operators"),
    "guessed": Message("the class of the operators alone"),
}
_OF_ONE_SIDE: tuple[ChangeCode, ...] = ("added", "removed", "outlier")
_CLOCKS = Message(
    "a ratio near which most of their time lies; another limit of power would do the same"
)
_IDLE = {
    True: Message("what the host did while the device was idle"),
    False: Message("the time in which nothing ran"),
}
SHOW = Message("Show it in the timelines")
SHOW_MEDIAN = Message("Show the median place in the timelines")
SHOW_ALONE = Message("Show it in the timeline")
SHOW_MEDIAN_ALONE = Message("Show the median place in the timeline")
SHOW_FIRST = Message("Show the first place")
IN_TABLE = Message("Show {operator:name} in the table of operators")
MORE = Message(
    "{n:count} smaller change, {ns:signed_duration}",
    "{n:count} smaller changes, {ns:signed_duration} together",
)
DETAILS = Message("What both sides take, in full")
MORE_KERNELS = Message("{n:count} more")
REST = Message("In no listed change")


def head(change: Change, *, on_device: bool) -> str:
    """Return what the rows behind a change are."""
    if change.code == "idle":
        return _CALL.text()
    if change.code == "communication":
        return _COLLECTIVE.text()
    return (_KERNEL if on_device else _OPERATOR).text()


def name_of(change: Change, name: str) -> str:
    """Return what a row behind a change is called, of idle time also where no call is behind it."""
    if change.code == "idle" and not name:
        return _STARTING.text()
    return name


def head_of_trace(code: SavingCode, *, on_device: bool) -> str:
    """Return what the rows behind a finding of one trace are."""
    if code == "communication":
        return _COLLECTIVE.text()
    return (_KERNEL if on_device else _OPERATOR).text()


def where_names(change: Change) -> tuple[str, ...]:
    """Return where a change is, the widest first: for kernels without a known operator their class
    by its name, for tensors of one size what the number is. What kernels stand before is not where
    they are."""
    op_class, size = change.values.get("op_class"), change.values.get("size")
    if isinstance(op_class, str) and "by_class" in change.values:
        return (LABELS[op_class].text(), *change.where[1:])
    if isinstance(op_class, str):
        return (_NO_OPERATOR.text(op_class=LABELS[op_class]), *change.where[1:])
    if isinstance(size, int):
        return (_SIZE.text(size=size),)
    return change.where[:-1] if "next_class" in change.values else change.where


def known_by(change: Change, *, on_device: bool) -> str:
    """Return what says that a change is this one; '' where that would be names of both files, and
    only one has these kernels."""
    if change.code in _OF_ONE_SIDE and change.evidence == "named":
        return ""
    if change.code == "idle":
        return _IDLE[bool(change.host)].text()
    if change.code == "clocks":
        return _CLOCKS.text()
    has_others = {each.name for each in change.before} != {each.name for each in change.after}
    if change.evidence == "named" and on_device and has_others and change.before:
        return _LAUNCHER.text()
    return (_EVIDENCE if on_device else _OF_OPERATORS)[change.evidence].text()
