"""Fixed texts: labels and definitions of figures, reasons, helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FigureText:
    """Label and definition of a figure; `better` says which direction is good, if either."""

    label: str
    definition: str
    better: str | None = None  # lower, higher


FIGURES: Mapping[str, FigureText] = {
    "latency": FigureText(
        "latency",
        "Time of one whole run. Un-profiled wall time where it was recorded: lower quartile of "
        "the runs of a block, trimmed mean over blocks. The change is paired inside blocks: "
        "t_candidate / t_baseline - 1.",
        "lower",
    ),
    "throughput": FigureText(
        "throughput",
        "Batch size / latency. The change is speedup - 1.",
        "higher",
    ),
    "cpu_time": FigureText(
        "CPU time",
        "Process CPU time of one un-profiled run over all threads: lower quartile of the runs of "
        "a block, trimmed mean over blocks. Less affected by other load than wall time.",
        "lower",
    ),
    "small_op_time": FigureText(
        "small-op ratio (time)",
        "Time in light operators (all but convolution, matrix product, attention, recurrent) / "
        "time in all operators, from the profile. Making convolutions faster raises it: read it "
        "with light time.",
        "lower",
    ),
    "small_op_count": FigureText(
        "small-op ratio (count)",
        "Executions of light operators / executions of all operators.",
        "lower",
    ),
    "light_time": FigureText(
        "light time", "Time in light operators per run, from the profile.", "lower"
    ),
    "light_count": FigureText("light operators", "Light operators executed per run.", "lower"),
    "short_op_time": FigureText(
        "short-op ratio (time)",
        "Time in operators shorter than τ / time in all operators. τ is the same for both sides: "
        "10 × the measured dispatch cost, but at least 10 µs, assumed: the profiler itself costs 2 "
        "to 6 µs an operator.",
        "lower",
    ),
    "short_op_count": FigureText(
        "short-op ratio (count)",
        "Executions shorter than τ / all executions.",
        "lower",
    ),
    "compute_utilisation": FigureText(
        "compute utilisation",
        "FLOPs of convolutions and matrix products / (latency × measured peak of a matrix "
        "product). FLOPs are modelled from shapes and leave out padded taps. Over 100 % is shown, "
        "not clipped.",
        "higher",
    ),
    "bytes_moved": FigureText(
        "bytes moved",
        "Inputs, parameters and outputs of every operator per run, once per operator, whatever a "
        "cache may keep: from the graph, else from the sizes in the profile.",
        "lower",
    ),
    "cache_missed_bytes": FigureText(
        "bytes that miss the cache",
        "Modelled per run: least-recently-used cache of whole tensors over the graph in execution "
        "order, second pass; reads and write-allocated writes; a tensor larger than the cache "
        "never hits.",
        "lower",
    ),
    "cache_utilisation": FigureText(
        "cache utilisation",
        "Bytes that must move once (weights, model inputs and outputs) / bytes that miss the "
        "modelled cache. 100 %: every byte enters once.",
        "higher",
    ),
    "cache_hit_ratio": FigureText(
        "cache hit ratio",
        "Bytes that hit the modelled cache / bytes touched. It has no better or worse: fusion "
        "removes exactly the re-reads that hit.",
    ),
    "intermediate_bytes": FigureText(
        "intermediate traffic",
        "Bytes of tensors between operators per run, written once and read once per consumer, "
        "from the graph.",
        "lower",
    ),
    "memory": FigureText(
        "peak memory",
        "Highest resident memory of a process of its own, above the level before the model was "
        "loaded.",
        "lower",
    ),
    "output_difference": FigureText(
        "output difference",
        "max|a - b| / max|a| against the baseline's outputs on the same input.",
        "lower",
    ),
    "dispatch_gap": FigureText(
        "dispatch gap",
        "Profiled run span - union of operator time: mean per run of the time between operators.",
        "lower",
    ),
    "profiler_inflation": FigureText(
        "profiler inflation",
        "Profiled / un-profiled run time of the same blocks. The profiler charges every operator, "
        "so its times are never the headline.",
    ),
}

REASONS: Mapping[str, str] = {
    "no_times": "the file has no times for it",
    "no_heavy_operators": "no convolution, matrix product or attention ran",
    "flops_unknown": "the FLOPs of heavy operators are not known from this file",
    "runs_unknown": "the file does not mark its runs",
    "no_sizes": "the file has no sizes of tensors",
    "no_peak": "the machine's peak is not in the file (the dashboard lets you set one)",
    "no_graph": "it needs the model's graph, which only an experiment file has",
    "no_misses": "no byte misses the modelled cache",
    "not_recorded": "the file does not have it",
    "no_start_times": "the file has no runs with start times",
    "no_samples": "the file has no un-profiled runs",
}

CANNOT_TELL: Mapping[str, str] = {
    "single_run": "a side has a single run, which says nothing about noise",
    "few_runs": "fewer than 5 blocks or runs on a side",
    "no_times": "a side has no time",
    "control_differs": "the two copies of the baseline differ, so this machine was not steady",
    "within_noise": "the change is within the noise at the level that the planned looks require",
    "runs_unknown": "a file does not mark its runs, so its time is not that of one run",
    "within_process_spread": (
        "two recordings of the same graph can differ by 12 %, and these are separate recordings"
    ),
}

TIMELINES_HELP = (
    "The median profiled run of each side on one time scale. Profiled times are longer than "
    "un-profiled ones: the profiler charges every operator."
)
OPERATORS_HELP = (
    "Operators of both sides joined by name and occurrence (a convolution that the engine renamed "
    "by the graphs), else by type and shapes; an operator that only one side ran counts as 0 on "
    "the other. A fused operator also does the work of those it replaced, which stand in rows of "
    "their own. Times are profiled, per run. Largest absolute change first."
)
OP_TYPES_HELP = (
    "Columns as in op_statistic, per run, from the profile. Largest absolute change first."
)
RUN_TIMES_HELP = (
    "Every run as a dot in the order of the runs, by block; the line is the lower quartile. "
    "Un-profiled runs where they were recorded, else the runs of the profile."
)

TIME_SOURCES: Mapping[str, str] = {
    "unprofiled_wall": "un-profiled wall time",
    "run_span": "profiled run time",
    "busy_union": "union of operator times",
    "kernel_sum": "sum of operator times",
}
