"""Where operators ran: the execution provider or core type of each, and of many together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fusescope.analysis.trace import Trace

SUFFIX = "ExecutionProvider"
_JOINT = ", "
# Engines that name the kernel of each layer (a tactic, an implementation) and no place.
_WITH_KERNELS = ("tensorrt", "openvino")


def names_kernels(trace: Trace) -> bool:
    """Return whether the `provider` of operators is the kernel that the engine chose for each, and
    not where it ran."""
    return trace.meta.tool.casefold() in _WITH_KERNELS


def place(trace: Trace) -> str | None:
    """Return where all operators of an engine that names kernels ran; None where that is not
    known."""
    devices = trace.calls["device"].unique()
    return "CPU" if len(devices) == 1 and devices[0] == "CPU" else None


def of_groups(
    trace: Trace, operator: np.ndarray, group: np.ndarray, groups: int, dur_ns: np.ndarray
) -> np.ndarray:
    """Return where each group of calls ran: every place of its calls, most time first; None where
    none is known, and where one of several calls does not say it."""
    if names_kernels(trace):
        return np.full(groups, place(trace), dtype=object)
    told = trace.operators["provider"].array
    codes = told.codes[operator]
    cells, at = np.unique(group * (len(told.categories) + 1) + codes + 1, return_inverse=True)
    time = np.bincount(at, weights=dur_ns, minlength=len(cells))
    found: list[list[str | None]] = [[] for _ in range(groups)]
    for cell in cells[np.lexsort((cells, -time))]:
        of, code = divmod(int(cell), len(told.categories) + 1)
        found[of].append(None if code == 0 else str(told.categories[code - 1]))
    texts = [None if None in names else _JOINT.join(map(str, names)) for names in found]
    return np.array([text or None for text in texts], dtype=object)


def shown(places: str) -> str:
    """Return 'CPUExecutionProvider' as 'CPU', of several providers each."""
    return _JOINT.join(one.removesuffix(SUFFIX) or one for one in places.split(_JOINT))


def of_operators(trace: Trace, provider: pd.Series) -> tuple[pd.Series, pd.Series | None]:
    """Return where operators ran and, where the engine says it, the kernel that each ran."""
    if not names_kernels(trace):
        return provider.astype("object"), None
    where = pd.Series(place(trace), index=provider.index, dtype="object")
    return where.where(provider.notna()), provider.astype("object")
