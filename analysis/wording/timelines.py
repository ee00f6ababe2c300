"""Sentences of the timelines: what is drawn, what is not, and how to read it."""

from __future__ import annotations

from analysis import units

PICKED_IS_HIDDEN = (
    "What is picked in the timelines has no line here: it does not match what is chosen above."
)


def cut_text(drawn: int, total: int) -> str:
    """That a run is too long to draw whole."""
    return (
        f"only the first {units.count(drawn)} of {units.count(total)} executions are drawn: "
        "the hatched time after them is not drawn, not idle"
    )


def unplaced_text(unplaced: int) -> str:
    """That executions have no start while others have one."""
    return f"{_executions(unplaced)} without a start time {_is(unplaced)} not drawn"


def in_order_text(has_totals: bool) -> str:
    """That nothing is known of when the operators ran."""
    boxes = "; each box is the sum of all executions of an operator" if has_totals else ""
    return f"no start times in the file, so drawn one after the other in the file's order{boxes}"


def folded_text(lanes: int, executions: int, busy_ns: int, share: float) -> str:
    """That lanes of nearly nothing are folded away."""
    return (
        f"{lanes} lanes of nearly nothing are folded: {_executions(executions)}, "
        f"{units.duration(busy_ns)} ({_share(share)} of the operator time)"
    )


def _executions(number: int) -> str:
    return f"{units.count(number)} execution{'' if number == 1 else 's'}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _share(share: float) -> str:
    return units.percent(share) if share >= 0.0005 else "under 0.1 %"
