"""What a figure rests on, why one is not shown, and from where to where times lie."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message, Said
from fusescope.analysis.quantity import Basis
from fusescope.analysis.units import duration

BASES: Mapping[Basis, Message] = {
    "measured": Message("measured"),
    "counter": Message("counter"),
    "modelled": Message("modelled"),
    "assumed": Message("assumed"),
}
# `figures` are labels.
MISSING = Message("Not known: {figures}. Reason: {reason}.")
ONE_SIDED = Message("Not compared: {figures}. Reason: {reason}.")
_RANGE = Message("{low:duration} to {high:duration}")
_ONE_TIME = Message("{low:duration}")


def range_said(low_ns: float, high_ns: float) -> Said:
    """Return both ends of a range of times in ns, one where they read as one."""
    is_same = duration(low_ns) == duration(high_ns)
    return (_ONE_TIME if is_same else _RANGE).of(low=low_ns, high=high_ns)
