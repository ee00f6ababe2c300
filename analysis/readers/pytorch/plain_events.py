"""Events with the types that Kineto writes today, which decode more quickly, and times of events.

Where a file counts from its own start, a double tells every ns. From 2023 to 2024 it counted from
1970: such starts stay texts until all of a window are read at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from fusescope.analysis.readers.building.coded import Bools
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.input.event_windows import Inexact
from fusescope.analysis.readers.input.times import LATEST_NS, exact_column
from fusescope.analysis.readers.pytorch.arguments import PlainArgs

_EXACT_BELOW = 2.0**43  # µs: a double tells whole ns apart


class PlainEvent(msgspec.Struct, gc=False):
    """An event with the types that Kineto writes today; others are read as `Event`."""

    cat: str | None = None
    name: str | None = None
    ph: str | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    ts: float = math.nan
    dur: float = math.nan
    id: int | str | None = None
    args: PlainArgs = PlainArgs()


class EpochEvent(msgspec.Struct, gc=False):
    """The same with a start that a double would round."""

    cat: str | None = None
    name: str | None = None
    ph: str | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    ts: msgspec.Raw = msgspec.Raw()
    dur: float = math.nan
    id: int | str | None = None
    args: PlainArgs = PlainArgs()


PLAIN: tuple[type[PlainEvent | EpochEvent], ...] = (PlainEvent, EpochEvent)


def times_of(events: Sequence[Any]) -> tuple[Ints, Ints, tuple[Bools, Bools]]:
    """Starts and durations in ns; which have a start, and which a valid start and duration.

    Inexact where a double may not be the number of the file.
    """
    if isinstance(events[0], PlainEvent):
        starts, has_start = _whole_ns(np.array([event.ts for event in events], dtype="float64"))
    else:
        starts, has_start = exact_column([event.ts for event in events])
    if isinstance(events[0], PlainEvent | EpochEvent):
        lengths, has_length = _whole_ns(np.array([event.dur for event in events], dtype="float64"))
    else:
        lengths, has_length = exact_column([event.dur for event in events])
    in_range = (np.abs(starts) < LATEST_NS) & (lengths >= 0) & (lengths < LATEST_NS)
    return starts, lengths, (has_start, has_start & has_length & in_range)


def _whole_ns(us: np.ndarray) -> tuple[Ints, Bools]:
    known = ~np.isnan(us)
    told = np.where(known, us, 0.0)
    if not (np.abs(told) < _EXACT_BELOW).all():
        raise Inexact
    ns = np.rint(told * 1000.0)
    # The quotient is the double nearest to that decimal: equal only for what the file can mean.
    if not (ns / 1000.0 == told).all():
        raise Inexact
    return ns.astype("int64"), known
