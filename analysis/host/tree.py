"""The stacks of idle time as a tree to be shown: a chain of calls of which each does nothing but
call the next one is one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.host.idle import HostIdle

PASSED_ON = 0.97  # of a frame's time in one of those that it calls, from which it only calls


@dataclass(frozen=True)
class IdleFrame:
    """Frames of which each only calls the next, outermost first; the idle time in them and all that
    they call, in ns, and those that the last one calls, most idle time first."""

    names: tuple[str, ...]
    idle_ns: int
    inner: tuple[IdleFrame, ...]


def idle_tree(found: HostIdle, least_ns: int) -> tuple[IdleFrame, ...]:
    """The outermost frames, most idle time first; those with less than `least_ns` are left out."""
    whole = np.zeros(len(found.frames), dtype="int64")
    covered = found.nodes >= 0
    np.add.at(whole, found.nodes[covered], (found.ends_ns - found.starts_ns)[covered])
    inner: dict[int, list[int]] = {}
    for node in range(len(whole) - 1, -1, -1):  # what is called before what calls it
        parent = int(found.parents[node])
        if parent >= 0:
            whole[parent] += whole[node]
        if whole[node] >= max(1, least_ns):
            inner.setdefault(parent, []).append(node)
    made: dict[int, IdleFrame] = {}
    for node in sorted(set().union(*inner.values()) if inner else (), reverse=True):
        below = sorted((made[one] for one in inner.get(node, ())), key=lambda one: -one.idle_ns)
        names: tuple[str, ...] = (found.frames[node].name,)
        if below and below[0].idle_ns >= PASSED_ON * whole[node]:
            names, below = names + below[0].names, list(below[0].inner)
        made[node] = IdleFrame(names, int(whole[node]), tuple(below))
    return tuple(sorted((made[one] for one in inner.get(-1, ())), key=lambda one: -one.idle_ns))
