"""How a step's time compares with the first step's and with that of the step before."""

from __future__ import annotations

from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.quantity import Quantity, Reason
from fusescope.analysis.recipes.cell import Cell

RATIOS = ("speedup_first", "latency_change", "throughput_change", "speedup_previous")


def ratio_cells(first: Verdict | None, previous: Verdict | None) -> dict[str, Cell]:
    """RATIOS of one step by code, all of the verdicts: t_other / t_step with its interval, and
    the change to the first step both ways. The first row has none."""
    change = first.latency_change if first else None
    gain = first.throughput_change if first else None
    return {
        "speedup_first": _speedup(first),
        "latency_change": Cell(_quantity(change, "fraction", first)),
        "throughput_change": Cell(_quantity(gain, "fraction", first)),
        "speedup_previous": _speedup(previous),
    }


def _speedup(verdict: Verdict | None) -> Cell:
    if verdict is None:
        return Cell(_quantity(None, "factor", None))
    quantity = _quantity(verdict.speedup, "factor", verdict)
    if verdict.interval is None:
        return Cell(quantity)
    return Cell(quantity, verdict.interval.low, verdict.interval.high)


def _quantity(value: float | None, unit: str, verdict: Verdict | None) -> Quantity:
    missing: Reason = "first_step" if verdict is None else "no_times"
    return Quantity(value, unit, "measured", None if value is not None else missing)
