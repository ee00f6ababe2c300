"""Launches of whole graphs of a device: kernels that the file lacks, and kernels that no operator
of the host launched."""

from __future__ import annotations

import re

import numpy as np

from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.trace import Diagnostic

_GRAPH = re.compile(r"(?:cuda|cu|hip)GraphLaunch(?:_\w{1,20})?")
_MUCH = 0.1  # of the time of kernels


def is_graph_launch(name: str | None) -> bool:
    """True for the name of a call of CUDA or HIP that launches a graph."""
    return name is not None and _GRAPH.fullmatch(name) is not None


def graph_notes(launches: Ints, launched: Ints, dur_ns: Ints) -> list[Diagnostic]:
    """Notes on launches of graphs without anything that they launched, and on the share of the
    device's time that graphs launched.

    `launches` are the correlations of such calls, `launched` and `dur_ns` those of everything that
    ran on devices, with its time.
    """
    launches = distinct(launches)
    if not len(launches):
        return []
    of_graph = np.isin(launched, launches)
    missing = int((~np.isin(launches, launched)).sum())
    notes = []
    if missing:
        values = {"of": len(launches)}
        notes.append(Diagnostic("warning", "graphs_unrecorded", missing, "", values))
    total = int(dur_ns.sum())
    share = int(dur_ns[of_graph].sum()) / total if total else 0.0
    if share >= _MUCH:
        notes.append(
            Diagnostic("info", "graphs_launched", int(of_graph.sum()), "", {"share": share})
        )
    return notes
