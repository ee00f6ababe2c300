"""Quantity: a figure that knows its unit and what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Basis = Literal["measured", "counter", "modelled", "assumed"]
# Why a value cannot be computed; analysis/wording/texts.py has the words.
Reason = Literal[
    "classes_unknown", "first_step", "flops_unknown", "inside_unknown", "is_baseline",
    "kernels_missing", "memory_over_time",
    "no_bandwidth", "no_counter", "no_flops", "no_graph", "no_heavy_operators", "no_idle",
    "no_int8_peak", "no_kernels",
    "no_large_copies", "no_launch_times", "no_launches", "no_misses", "no_peak", "no_samples",
    "no_sizes", "no_start_times",
    "no_number_type", "no_such_operator", "no_times", "no_type_peak", "not_recorded", "on_device",
    "other_runs",
    "outputs_not_numbers", "outputs_zero", "runs_unknown", "time_between_runs",
]  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """A value with unit and basis.

    `value` is None when it cannot be computed, and `reason` is then a code that analysis/wording
    turns into a sentence. Units: ns, bytes, fraction (0.25 is 25 %), 1/s, flop/s, count.
    """

    value: float | None
    unit: str
    basis: Basis
    reason: Reason | None = None

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"a quantity is finite or None, not {self.value}")

    @property
    def is_estimate(self) -> bool:
        """True for modelled and assumed figures: these are marked wherever they appear."""
        return self.basis in ("modelled", "assumed")


def relative_change(baseline: float | None, candidate: float | None) -> float | None:
    """candidate / baseline - 1 as a fraction; None when either is missing or baseline is 0."""
    if baseline is None or candidate is None or baseline == 0:
        return None
    return candidate / baseline - 1.0


def ratio(part: float | None, whole: float | None) -> float | None:
    """part / whole; None when either is missing or whole is 0."""
    if part is None or whole is None or whole == 0:
        return None
    return part / whole
