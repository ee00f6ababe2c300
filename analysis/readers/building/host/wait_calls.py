"""Wait calls: those of the host that return only when the device is done."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from fusescope.analysis.host_waits import MAX_WAITS, HostWaits
from fusescope.analysis.limits import Limits
from fusescope.analysis.text import clean_text

# cudaStreamSynchronize_v3020, hipDeviceSynchronize, cuCtxSynchronize, cudaMemcpy,
# hipMemcpyWithStream, aclrtSynchronizeStreamWithTimeout; no cudaMemcpyAsync.
_WAIT = re.compile(
    r"(?:(?:cuda|cu|hip)(?:Device|Stream|Event|Ctx|Thread)Synchronize"
    r"|(?:cuda|cu|hip)Memcpy(?!\w{0,30}(?:Async|Peer))\w{0,30}"
    r"|(?:(?:AscendCL|ACL)@)?aclrt(?:Synchronize[A-Za-z]{0,40}|Memcpy(?!\w{0,20}Async)\w{0,20}))"
    r"(?:_\w{1,20})?"
)


def is_wait(name: str | None) -> bool:
    """True for the name of a call of CUDA, HIP or AscendCL that waits for the device: it
    synchronises, or copies and returns when that is done."""
    return name is not None and _WAIT.fullmatch(name) is not None


def host_waits(calls: Iterable[tuple[str, int, int]], limits: Limits) -> HostWaits:
    """What is known of waits (name, start, end in ns); of more than MAX_WAITS the longest."""
    found = [(start, end, name) for name, start, end in calls if end >= start]
    if len(found) > MAX_WAITS:
        found = sorted(found, key=lambda wait: wait[0] - wait[1])[:MAX_WAITS]
    found.sort()
    places: dict[str, int] = {}
    name_of = [
        places.setdefault(clean_text(name, limits.name_chars), len(places)) for *_, name in found
    ]
    starts, ends = ([wait[at] for wait in found] for at in (0, 1))
    columns = (np.array(values, dtype="int64") for values in (name_of, starts, ends))
    return HostWaits(tuple(places), *columns)
