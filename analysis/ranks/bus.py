"""The bus bandwidth of a collective: what the link that carries most of its data carries.

Source: nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

from collections.abc import Mapping

# Data that the slowest link carries / data of the collective, of n ranks: as nccl-tests count it.
_BUS: Mapping[str, tuple[float, float]] = {  # a · (n - b) / n
    "all_reduce": (2.0, 1.0),
    "all_gather": (1.0, 1.0),
    "reduce_scatter": (1.0, 1.0),
    "all_to_all": (1.0, 1.0),
}


def bus_bandwidth(kind: str, size: int, data: int | None, ns: float) -> float | None:
    """B/s of the link that carries most: data · a (n - 1) / n / time, a = 2 for all-reduce, 1 for
    all-gather, reduce-scatter and all-to-all; data / time for others. None without data or time.
    """
    if not data or not ns > 0 or size < 1:
        return None
    scale, less = _BUS.get(kind, (1.0, 0.0))
    return data * scale * (size - less) / size / ns * 1e9
