"""Waits: calls of AscendCL that return only when the device is done.

In a timeline they lie in a process of their own (CANN), the operators of the framework in another
(Python), on threads of the same number and on the clock of the kernels; in a database likewise in
two tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.readers.ascend.launches import is_framework_op
from fusescope.analysis.readers.building.coded import Bools, Coded
from fusescope.analysis.readers.building.host.wait_calls import is_wait
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.building.timetable import Ints, distinct

Wait = tuple[str, int, int]  # name, start and end in ns
RUNTIME = "aclrt"  # in the names of what AscendCL does with a device


@dataclass(frozen=True)
class HostSpans:
    """Calls of the host, and others: names, threads and times in ns; only some `is_timed`."""

    names: Coded
    threads: Ints
    starts: Ints
    lengths: Ints
    is_timed: Bools


def wait_calls(calls: HostSpans, operators: HostSpans) -> list[Wait] | None:
    """Waits among `calls`, each by the innermost of the framework's `operators` around it, else by
    its own name; None where there is no call of AscendCL to a device.

    Numbers of threads are the same in both.
    """
    if not _named(calls, lambda name: RUNTIME in name).any():
        return None
    waits = np.flatnonzero(_named(calls, is_wait) & calls.is_timed)
    threads, starts = calls.threads[waits], calls.starts[waits]
    is_around = _named(operators, is_framework_op) & operators.is_timed
    around = np.flatnonzero(is_around & np.isin(operators.threads, distinct(threads)))
    nesting = Nesting(
        operators.threads[around], operators.starts[around], operators.lengths[around]
    )
    holders = nesting.holders(threads, starts)
    named = np.where(holders >= 0, np.append(around, -1)[holders], -1)
    ends = starts + calls.lengths[waits]
    times = zip(starts.tolist(), ends.tolist(), strict=True)
    return [
        (str(operators.names[by]) if by >= 0 else str(calls.names[at]).rpartition("@")[2], *span)
        for at, by, span in zip(waits.tolist(), named.tolist(), times, strict=True)
    ]


def _named(spans: HostSpans, known: Callable[[str], bool]) -> Bools:
    """Which have a name that is `known`."""
    values = [known(str(name)) for name in spans.names.values]
    return np.array([*values, False], dtype=bool)[spans.names.codes]
