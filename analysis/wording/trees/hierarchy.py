"""What the nodes of the tree of times are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fusescope.analysis.messages import Message, Said, say
from fusescope.analysis.operators.classes import LABELS

HIERARCHY_TITLE = Message("Where the time goes")
HIERARCHY_HELP = Message(
    "The time of all operators of a run as profiled, communication included: what they have in "
    "common on the left, each operator on the right. A box is as high as its part of the time, and "
    "darker the larger that is. Click on one to enlarge it, on the bar above to go back."
)
BY: Mapping[str, Message] = {
    "op_class": Message("Op types"),
    "scope": Message("Modules"),
    "launcher": Message("Launched by"),
    "stack": Message("Call stack"),
}
_WHOLE = Message("all operators")
_BESIDE = Message(
    "Operators take {all:duration} together in {run:duration}: a sum over streams or "
    "threads, on which some run beside others."
)
_EQUAL = 0.005  # of a run, by which the sum of its operators may differ from it
_UNKNOWN = Message("unknown")


class Node(Protocol):
    """What the text needs of a node."""

    @property
    def level(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def count(self) -> int: ...


def beside_sentence(all_ns: float, run_ns: float | None) -> Said | None:
    """Return why all operators together take longer than a run; None where they do not."""
    if run_ns is None or all_ns <= (1 + _EQUAL) * run_ns:
        return None
    return _BESIDE.of(all=all_ns, run=run_ns)


def node_text(node: Node) -> str:
    """The name of a node; from the file unless it is a class, the whole, or many together."""
    if node.level == "run":
        return _WHOLE.text()
    if node.level == "more":
        return say("{n:count} more operator", "{n:count} more operators", n=node.count)
    if node.level == "op_class" and node.label in LABELS:
        return LABELS[node.label].text()
    return node.label or _UNKNOWN.text()
