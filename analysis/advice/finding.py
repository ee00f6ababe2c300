"""Finding: what limits a model, what it costs, and what removing it would bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.quantity import Basis
from fusescope.analysis.trace import Value

# What can limit a run; analysis/wording/findings/ has the sentences, kinds/ a file for each.
FindingCode = Literal[
    "checkpointing", "communication", "copies", "costly_fusion", "dispatch_bound",
    "dynamic_dimensions", "fallback", "fused_slower",
    "graph_growth", "host_waits", "idle_after", "idle_before", "idle_by_host", "idle_threads",
    "idle_time",
    "large_tensors", "light_after_heavy", "light_chains", "low_utilisation", "memory_bound",
    "missed_fusion", "not_optimised", "peak_memory", "pieces", "recomputed", "reorders", "run_tail",
    "slow_kernel", "slow_product", "stream_imbalance", "type_conversions", "wide_types",
]  # fmt: skip
# Why a kind cannot be answered for this file.
Unknown = Literal[
    "capture_and_replay",
    "different_jobs", "different_models", "different_phases", "different_ranks", "different_sizes",
    "ends_early",
    "engines_differ", "kernels_missing", "longer_than_run",
    "machine_busy", "marked", "mixed_levels", "models_unknown",
    "no_ablation", "no_ablation_of_jax", "no_ablation_of_mindspore", "no_ablation_of_openvino",
    "no_ablation_of_several", "no_comparison",
    "no_counted_flops", "no_dtypes", "no_graph", "no_groups", "no_host_calls", "no_host_waits",
    "no_members", "no_whole_members", "no_memory", "no_operators",
    "no_peak", "no_providers", "no_samples", "no_shapes", "no_sizes", "no_start_times",
    "no_threads", "no_times", "no_types", "on_device", "other_engine", "other_model",
    "other_provider",
    "runs_unknown", "threads_spin",
    "too_few_samples",
]  # fmt: skip
Confidence = Literal["high", "medium", "low"]
Place = Literal["operators", "op_types", "group", "run"]


@dataclass(frozen=True)
class Gain:
    """Predicted saving of one run in ns; `low` <= `value` <= `high`, at 90 %."""

    value: float
    low: float
    high: float
    basis: Basis

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"the gain {self.value} is outside {self.low} to {self.high}")

    def at_most(self, most_ns: float) -> Gain:
        """Return the same gain, of which nothing is above `most_ns`, the time of what is
        removed."""
        value, low, high = (min(ns, most_ns) for ns in (self.value, self.low, self.high))
        return Gain(value, low, high, self.basis)

    def scaled(self, part: float) -> Gain:
        """That of a run that takes `part` of the time."""
        return Gain(part * self.value, part * self.low, part * self.high, self.basis)


@dataclass(frozen=True)
class Finding:
    """One thing that limits the run, with the evidence for it.

    `values` are the figures and names of its sentences, names fit to be shown; `share` is the part
    of the run as profiled that it concerns; `at_most_ns` is the most that a run can save by
    removing it, None where it costs no time, on the stated `basis`. `gain` is what a remedy is
    predicted to save, None where nothing measured allows a prediction. `where` says what `names`
    are; `confidence` is high where measurement alone shows it, medium where the remedy's effect is
    modelled, low where the cause is not certain. `of_ns` is the run that the saving is of where it
    is not the mean run as profiled. `stretch` is where in the run that timelines show it can be
    seen best, on the trace's clock; None where the finding is not about a period of time, or where
    the file has no start times.
    """

    code: FindingCode
    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    at_most_ns: float | None = None
    share: float | None = None
    basis: Basis = "measured"
    gain: Gain | None = None
    where: Place = "run"
    names: tuple[str, ...] = ()
    confidence: Confidence = "medium"
    of_ns: float | None = None
    stretch: Stretch | None = None


@dataclass(frozen=True)
class Unanswered:
    """A kind of finding that the file cannot answer, and why."""

    code: FindingCode
    reason: Unknown


@dataclass(frozen=True)
class Findings:
    """What was found, in order of worth, and what the file cannot answer. `run_ns` is what
    shares are of: the mean run as profiled, without `has_runs` the time that the file spans, of one
    without starts all its operators, None without any. `slow_ns` is what slow executions add to the
    mean run, which is in no time of a finding. `median_unprofiled_ns` is None without such runs."""

    found: tuple[Finding, ...]
    unanswered: tuple[Unanswered, ...]
    run_ns: float | None
    has_runs: bool = True
    slow_ns: float = 0.0
    median_unprofiled_ns: float | None = None
