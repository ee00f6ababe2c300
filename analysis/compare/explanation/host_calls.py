"""Calls of the host behind idle time: how many in a unit, and how long they take."""

from __future__ import annotations

import re

import numpy as np

from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.host.causes import CauseKind, Frame, cause_of
from fusescope.analysis.host.idle import IdleCause
from fusescope.analysis.host_activity import FRAME, RUNTIME, HostActivity
from fusescope.analysis.metrics.device import device_use

# Kinds of causes that explain all that happens inside them, so that the outermost frame is named.
_SCOPES: tuple[CauseKind, ...] = ("data_loading", "compilation", "garbage_collection")
_LAUNCH = re.compile(r"(?:cuda|cu|hip|aclrt|musa|mu)\w{0,20}Launch")


def calls_behind(side: ExplainedSide, cause: IdleCause) -> KernelTime | None:
    """Return the calls of the host that a cause of idle time names, a unit, with all their time,
    also while the device runs; None where the file names no call. Launches are those that the
    figures of a run count."""
    host = side.trace.host
    if host is None or not side.units.count:
        return None
    names = _launches(host) if cause.kind == "launching" else _named(cause)
    numbers = [number for number, name in enumerate(host.names) if name in names]
    chosen = np.flatnonzero(np.isin(host.name_of, numbers))
    use = device_use(side.trace) if cause.kind == "launching" and len(chosen) else None
    if use is not None and use.launches and use.launch_ns is not None:
        usual = host.names[np.bincount(host.name_of[chosen]).argmax()]
        return KernelTime(usual, use.launches, round(use.launch_ns))
    starts = side.units.starts_ns
    at = np.searchsorted(starts, host.starts_ns[chosen], side="right") - 1
    ends = (starts + side.units.walls_ns)[np.maximum(at, 0)]
    chosen = chosen[(at >= 0) & (host.starts_ns[chosen] < ends)]
    if not len(chosen):
        return None
    ns = int((host.ends_ns - host.starts_ns)[chosen].sum())
    name = host.names[np.bincount(host.name_of[chosen]).argmax()]
    count = side.units.count
    return KernelTime(name, len(chosen) / count, round(ns / count))


def _launches(host: HostActivity) -> set[str]:
    """Return the names of calls to the runtime that launch kernels."""
    runtime = np.unique(host.name_of[host.kind_of == RUNTIME])
    names = (host.names[number] for number in runtime.tolist())
    return {name for name in names if _LAUNCH.match(name)}


def _named(cause: IdleCause) -> set[str]:
    """Return the name of the call that a cause is about: of a scope the outermost frame that says
    it, else the innermost one."""
    if cause.kind in _SCOPES:
        for name in cause.path:
            if cause_of((Frame(name, FRAME),)).kind == cause.kind:
                return {name}
    return set(cause.path[-1:])
