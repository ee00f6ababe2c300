"""Memory of the device that the host allocates and frees again in every unit of work, as a
framework does whose allocator keeps none."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.host_activity import RUNTIME, HostActivity

_API = r"(?:(?:AscendCL|ACL)@)?(?:cuda|cu|hip|aclrt|musa|mu)"
# Those that allocate in order of a stream keep memory themselves; memory of the host is no matter.
_ALLOCATES = re.compile(_API + r"(?:Malloc|MemAlloc|ExtMallocWithFlags)(?:_v2)?\Z")
_FREES = re.compile(_API + r"(?:Free|MemFree)(?:_v2)?\Z")
_FEWEST = 10  # calls of each kind in a unit
_ALIKE = 0.5  # of as many allocations as frees, and of the mean of all units


@dataclass(frozen=True)
class Uncached:
    """Calls of all units that allocate and that free memory of the device, with how long the
    latter take in ns; `name` is the one that frees most often. `each_ns` is how long a call that
    frees takes on average, in the unit in which it takes least and in the one in which most."""

    name: str
    allocations: int
    frees: int
    freeing_ns: int
    each_ns: tuple[int, int]


def uncached_memory(
    host: HostActivity, starts_ns: np.ndarray, ends_ns: np.ndarray
) -> Uncached | None:
    """Return the calls that allocate and free memory in these units; None unless every unit frees
    often, about as often as the others, and nearly as much as it allocates."""
    count = len(starts_ns)
    allocating, freeing = (_calls(host, pattern) for pattern in (_ALLOCATES, _FREES))
    if not count or not len(allocating) or not len(freeing):
        return None
    of = [_unit_of(host, calls, starts_ns, ends_ns) for calls in (allocating, freeing)]
    allocations, frees = (np.bincount(each[each >= 0], minlength=count) for each in of)
    if min(int(allocations.min()), int(frees.min())) < _FEWEST:
        return None
    if frees.min() < _ALIKE * frees.mean() or frees.sum() < _ALIKE * allocations.sum():
        return None
    chosen = freeing[of[1] >= 0]
    took = (host.ends_ns - host.starts_ns)[chosen]
    each = np.bincount(of[1][of[1] >= 0], took, minlength=count) / frees
    ends = round(float(each.min())), round(float(each.max()))
    name = host.names[int(np.bincount(host.name_of[chosen]).argmax())]
    return Uncached(name, int(allocations.sum()), int(frees.sum()), int(took.sum()), ends)


def _calls(host: HostActivity, pattern: re.Pattern[str]) -> np.ndarray:
    numbers = [at for at, name in enumerate(host.names) if pattern.match(name)]
    return np.flatnonzero((host.kind_of == RUNTIME) & np.isin(host.name_of, numbers))


def _unit_of(
    host: HostActivity, calls: np.ndarray, starts_ns: np.ndarray, ends_ns: np.ndarray
) -> np.ndarray:
    """Return the unit in which each call begins, -1 for none."""
    begins = host.starts_ns[calls]
    at = np.searchsorted(starts_ns, begins, side="right") - 1
    is_inside = (at >= 0) & (begins < ends_ns[np.maximum(at, 0)])
    return np.where(is_inside, at, -1)
