"""Why a compiler left two operators apart, as it said it or as it follows from what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import msgspec

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import DerivedReason, NotFused
from fusescope.analysis.messages import Message, say

APART_HELP = Message(
    "Pairs of kernels of the candidate of which the second reads what the first writes, and why "
    "they are not one kernel: what the compiler said when it was asked, else what follows from the "
    "two kernels."
)
# What inductor says most often (torch/_inductor), in words that say what it means.
_SAID: Mapping[str, Message] = {
    "intermediate nodes between node1 & node2": Message(
        "Other operators lie between the two: they need the first and feed the second."
    ),
    "memory deps did not match": Message(
        "The second reads other elements than the first writes in the same step of its loop."
    ),
    "node1 is extern but not a triton kernel": Message(
        "The first is a call of a library, which generated code is not fused into."
    ),
    "node2 is extern or nop": Message(
        "The second is a call of a library, which generated code is not fused into."
    ),
    "will create cycle": Message("As one kernel they would wait for a result of their own."),
    "no shared data": Message("They share no data that would be read once."),
    "no shared data due to indexing mismatch": Message(
        "They share a tensor, but not in the same order of elements."
    ),
    "exceeds max fusion": Message(
        "Together they hold more operators than the setting max_fusion_size allows."
    ),
    "Fusion will increase peak memory": Message("As one kernel they would need more memory."),
    "score_fusion_memory_threshold": Message(
        "They share too little memory for the setting score_fusion_memory_threshold."
    ),
    "Nodes are too far away. Fusing them may increase peak memory.": Message(
        "They are far apart, so that values would be kept longer."
    ),
    "template epilogue not satisfied": Message(
        "The template of the first does not take up what follows it here."
    ),
}
_DERIVED: Mapping[DerivedReason, Message] = {
    "library": Message("One of the two is a call of a library, whose code cannot be fused."),
    "between": Message("A kernel between the two needs the first and feeds the second."),
    "reduction": Message("The first reduces, and has to end before the second can begin."),
    "ranges": Message("The loops of the two run over different ranges."),
    "order": Message("A call of a library runs between the two."),
    "silent": Message("The compiler names no reason, and none follows from the two kernels."),
}
_ENGINE, _CONCLUDED = Message("the compiler"), Message("derived")


class Apart(msgspec.Struct, frozen=True):
    """A pair of kernels: why they are apart, and who says so."""

    first: str
    second: str
    why: str
    said_by: str


def apart(comparison: Comparison) -> tuple[Apart, ...]:
    """Those of the candidate, in the order they run; empty where no engine was asked."""
    return tuple(
        Apart(row.first, row.second, reason_text(row), said_by(row))
        for row in not_fused(comparison)
    )


def not_fused(comparison: Comparison) -> tuple[NotFused, ...]:
    """As the experiment has it."""
    side = comparison.candidate
    if side.experiment is None or side.variant is None:
        return ()
    return side.experiment.not_fused.get(side.variant.name, ())


def reason_text(row: NotFused) -> str:
    """A sentence; words of the engine that are not known are shown as they are."""
    if row.by == "engine":
        known = _SAID.get(row.reason)
        return say("“{words:name}”", words=row.reason) if known is None else known.text()
    for reason in get_args(DerivedReason):
        if reason == row.reason:
            return _DERIVED[reason].text()
    return _DERIVED["silent"].text()


def said_by(row: NotFused) -> str:
    """Whose words they are."""
    return (_ENGINE if row.by == "engine" else _CONCLUDED).text()
