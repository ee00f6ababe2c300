"""Kinds of work as a reader chooses one of them."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message
from fusescope.analysis.work_units.kinds import WorkKind
from fusescope.analysis.work_units.work import Phase, Work

LABEL = Message("Kind of work")
HELP = Message(
    "The file has steps of several kinds. Figures, tables, timelines and what is explained are of "
    "one kind, which takes most time unless another one is chosen; kinds are never averaged "
    "together."
)
_NAMES: Mapping[Phase | None, Message] = {
    "prefill": Message("Prefill of {tokens:count} tokens in {batch:count} sequences"),
    "decode": Message("Decoding of {batch:count} sequences"),
    "mixed": Message("Prefill and decoding of {batch:count} sequences"),
    None: Message("Other steps"),
}
_ONE = Message("{work}: {n:steps} of {each:duration}")
_BOTH = Message(
    "{work}: {n:steps} of {took:duration}, in the candidate {m:count} of {takes:duration}"
)


def name(work: Work) -> str:
    """Return what a kind of work is called."""
    return _NAMES[work.phase].text(tokens=work.tokens, batch=work.batch)


def kind_text(kind: WorkKind) -> str:
    """Return a kind of work of one trace, with its number of steps and their mean time."""
    return _ONE.text(work=name(kind.work), n=kind.count, each=kind.mean_ns)


def kinds_text(kind: WorkKind, other: WorkKind) -> str:
    """Return a kind of work of both sides, with their steps."""
    return _BOTH.text(
        work=name(kind.work), n=kind.count, took=kind.mean_ns, m=other.count, takes=other.mean_ns
    )
