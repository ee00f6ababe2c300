"""Fixed texts: labels and definitions of figures, reasons, helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.compare.timing.verdict import VerdictReason
from analysis.quantity import Reason


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
        "the runs of a block, trimmed mean over blocks. Of two variants recorded together the "
        "candidate's is the baseline's × their ratio, which is paired inside blocks: so values "
        "and change agree.",
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
    "kernels": FigureText(
        "kernels",
        "Kernels that the device ran per run, without copies, fills and communication.",
        "lower",
    ),
    "device_busy": FigureText(
        "device busy",
        "Union of all that the device ran, copies and communication included, mean per run; of "
        "several devices of a file, the time in which any of them was at work.",
        "lower",
    ),
    "device_idle": FigureText(
        "device idle",
        "1 - device busy / profiled run span: the part of the run in which the device waited, "
        "for the host to launch or for data. Not computable where kernels outlive their run.",
        "lower",
    ),
    "launches": FigureText(
        "launches",
        "Calls of the host that launch kernels or whole graphs (cudaLaunchKernel, hipLaunchKernel, "
        "cudaGraphLaunch, …), per run. Fusion and graphs lower it.",
        "lower",
    ),
    "launch_time": FigureText(
        "launch time",
        "Time of the host in calls that launch kernels or graphs, per run; of several threads the "
        "sum.",
        "lower",
    ),
    "copies": FigureText("copies", "Copies and fills of memory per run on the device.", "lower"),
    "copy_time": FigureText(
        "copy time", "Time in copies and fills of memory per run on the device.", "lower"
    ),
    "compute_utilisation": FigureText(
        "compute utilisation",
        "FLOPs of convolutions and matrix products / (latency × measured peak of a matrix "
        "product). FLOPs are the device's own count where it counted them; else they are modelled "
        "from shapes, leave out padded taps where the graph is known, and count padded channels "
        "of blocked layouts. Products of 8-bit numbers have a peak of their own: then it is "
        "sum(FLOPs / peak) / latency. Over 100 % is shown, not clipped.",
        "higher",
    ),
    "operator_utilisation": FigureText(
        "operators' utilisation",
        "sum(FLOPs) / sum(time × peak) over the operators whose FLOPs are counted, by the profile: "
        "the mean of their utilisation, weighted with their time. Unlike compute utilisation it "
        "leaves out the time between and beside them. Products of 8-bit numbers are held against "
        "the peak of such products.",
        "higher",
    ),
    "roofline_share": FigureText(
        "share of the roofline",
        "sum(FLOPs / bound) / sum(time) over the operators whose FLOPs are counted, by the "
        "profile: the mean of attained / bound, weighted with time. Bound = min(peak, intensity × "
        "bandwidth of main memory), intensity = FLOPs / bytes of inputs, parameters and outputs. "
        "Over 100 %, shown and not clipped, where data came from a cache.",
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
        "never hits and pushes out all others. Held against a simulated cache (cache-model.md) the "
        "median error is below 3 %; where tensors fit one by one, but not together, it can "
        "exceed a half.",
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
    "agreement_top1": FigureText(
        "top-1 agreement",
        "Part of the samples (of a map: of its positions) where the class with the highest score "
        "is the baseline's, on further inputs drawn like the recorded one. Agreement with the "
        "baseline, not accuracy.",
        "higher",
    ),
    "agreement_top5": FigureText(
        "top-5 agreement",
        "Part of the samples (of a map: of its positions) where the class with the baseline's "
        "highest score is among the five highest, on further inputs drawn like the recorded one. "
        "Agreement with the baseline, not accuracy.",
        "higher",
    ),
    "dispatch_gap": FigureText(
        "dispatch gap",
        "Profiled run span - time in it in which an operator ran: mean per run. Kernels that "
        "outlive the run that started them count where they ran.",
        "lower",
    ),
    "profiler_inflation": FigureText(
        "profiler inflation",
        "Profiled / un-profiled run time of the same blocks. The profiler charges every operator, "
        "so its times are never the headline.",
    ),
    "cube_ratio": FigureText(
        "cube ratio",
        "Counter (mac_ratio): part of the time in which the core multiplied matrices, weighed with "
        "the time of the cube core, or of the AI core where cube and vector are one; the two do "
        "not compare, so there is no change between them.",
        "higher",
    ),
    "vector_ratio": FigureText(
        "vector ratio",
        "Counter (vec_ratio): part of the time in which the core computed on vectors, weighed with "
        "the time of the vector core, or of the AI core where cube and vector are one.",
    ),
    "scalar_ratio": FigureText(
        "scalar ratio",
        "Counter (scalar_ratio): part of the cores' time with scalar instructions at work.",
        "lower",
    ),
    "mte1_ratio": FigureText(
        "MTE1 ratio", "Counter (mte1_ratio): part of the core's time with moves from L1 to L0."
    ),
    "mte2_ratio": FigureText(
        "MTE2 ratio",
        "Counter (mte2_ratio): part of the cores' time with reads from main memory at work. Pipes "
        "overlap, so ratios do not add to 100 %.",
    ),
    "mte3_ratio": FigureText(
        "MTE3 ratio",
        "Counter (mte3_ratio): part of the core's time with writes to main memory at work.",
    ),
    "fixpipe_ratio": FigureText(
        "fixpipe ratio",
        "Counter (fixpipe_ratio): part of the core's time with moves out of L0C at work.",
    ),
    "memory_bound": FigureText(
        "memory bound",
        "Counters: mte2_ratio / max(mac_ratio, vec_ratio), in total sum(mte2_ratio × core time) / "
        "sum(max(mac_ratio, vec_ratio) × core time). Above 1, reads took longer than computing.",
        "lower",
    ),
    "cube_utilisation": FigureText(
        "cube utilisation",
        "Counter (cube_utilization): cycles / (frequency × cores × duration), weighed with the "
        "duration. It says how busy the cores were, not how many FLOPs they did.",
        "higher",
    ),
    "l2_hit_rate": FigureText(
        "L2 hit rate",
        "Counter: hits / (hits + misses) of the device's L2; where the file only has rates, their "
        "mean weighed with the duration, without the first operator, whose rate is not for "
        "reference. Another quantity than the modelled cache.",
    ),
    "l2_victim_rate": FigureText(
        "L2 victim rate",
        "Counter: lines thrown out of the device's L2, weighed with the duration, without the "
        "first operator.",
    ),
    "icache_miss_rate": FigureText(
        "instruction cache miss rate",
        "Counter (icache_miss_rate), weighed with the cores' time.",
        "lower",
    ),
    "cube_fp16_ratio": FigureText(
        "cube fp16 ratio",
        "Counter (mac_fp16_ratio): part of the core's cycles with fp16 matrix instructions.",
    ),
    "cube_int8_ratio": FigureText(
        "cube int8 ratio",
        "Counter (mac_int8_ratio): part of the core's cycles with int8 matrix instructions.",
    ),
    "vector_fp32_ratio": FigureText(
        "vector fp32 ratio", "Counter (vec_fp32_ratio): part of the core's cycles."
    ),
    "vector_fp16_ratio": FigureText(
        "vector fp16 ratio", "Counter (vec_fp16_ratio): part of the core's cycles."
    ),
    "vector_int32_ratio": FigureText(
        "vector int32 ratio", "Counter (vec_int32_ratio): part of the core's cycles."
    ),
    "vector_misc_ratio": FigureText(
        "vector misc ratio", "Counter (vec_misc_ratio): part of the core's cycles."
    ),
    "bank_group_conflict": FigureText(
        "bank group conflicts",
        "Counter (vec_bankgroup_cflt_ratio): part of the core's cycles blocked by them.",
        "lower",
    ),
    "bank_conflict": FigureText(
        "bank conflicts",
        "Counter (vec_bank_cflt_ratio): part of the core's cycles blocked by them.",
        "lower",
    ),
    "resource_conflict": FigureText(
        "resource conflicts",
        "Counter (vec_resc_cflt_ratio): part of the core's cycles blocked by them.",
        "lower",
    ),
    "cube_flops": FigureText(
        "cube FLOPs", "Counter (cube_fops): operations of the cube unit per run."
    ),
    "vector_flops": FigureText(
        "vector FLOPs", "Counter (vector_fops): operations of the vector unit per run.", "lower"
    ),
    **{
        f"{place}_{way}_bandwidth": FigureText(
            f"{label} {way}",
            f"Counter: bandwidth of {way}s, {where}, weighed with the core's time.",
        )
        for place, label, where in (
            ("ub", "UB", "unified buffer"),
            ("ub_vector", "UB vector", "unified buffer, by the vector unit"),
            ("ub_scalar", "UB scalar", "unified buffer, by the scalar unit"),
            ("l0a", "L0A", "left matrix of the cube unit"),
            ("l0b", "L0B", "right matrix of the cube unit"),
            ("l0c", "L0C", "result of the cube unit"),
            ("l1", "L1", "buffer of the cube core"),
            ("l2", "L2", "cache of the device"),
            ("main_memory", "main memory", "memory of the device"),
        )
        for way in ("read", "write")
    },
    "gm_to_ub_bandwidth": FigureText(
        "main memory to UB", "Counter: bandwidth into the unified buffer."
    ),
    "ub_to_gm_bandwidth": FigureText(
        "UB to main memory", "Counter: bandwidth out of the unified buffer."
    ),
    "main_memory_read": FigureText(
        "read from main memory",
        "Counter (read_main_memory_datas) per run, in the profiler's KB.",
        "lower",
    ),
    "main_memory_write": FigureText(
        "written to main memory",
        "Counter (write_main_memory_datas) per run, in the profiler's KB.",
        "lower",
    ),
    "occupancy": FigureText(
        "achieved occupancy",
        "Counter or estimate of the profiler: active warps / most that fit, weighed with the "
        "duration.",
    ),
    "copy_bandwidth": FigureText(
        "copy bandwidth",
        "Bytes / time of copies and fills of memory as the profiler gives it, weighed with their "
        "duration.",
        "higher",
    ),
}

REASONS: Mapping[Reason, str] = {
    "no_times": "the file has no times for it",
    "no_heavy_operators": "no convolution, matrix product or attention ran",
    "classes_unknown": "most of the operators' time is of unknown class",
    "flops_unknown": "the FLOPs of heavy operators are not known from this file",
    "runs_unknown": "the file does not mark its runs",
    "no_sizes": "the file does not give the sizes of inputs and outputs",
    "no_peak": "the machine's peak is not in the file (Settings on the page Compare take one)",
    "no_int8_peak": "the machine's peak for 8-bit numbers is not in the file",
    "no_bandwidth": (
        "the machine's memory bandwidth is not in the file (Settings on the page Compare take one)"
    ),
    "no_flops": "the FLOPs of its operators are not counted, or their shapes are not known",
    "no_graph": "it needs the model's graph, which only an experiment file has",
    "no_misses": "no byte misses the modelled cache",
    "not_recorded": "the file does not have it",
    "no_start_times": "the file has no runs with start times",
    "no_kernels": "the file has no kernels of a device",
    "no_launches": "the file does not hold the calls of the host that launch kernels",
    "no_idle": "kernels outlive their run, or the file has no start times",
    "no_samples": "the file has no un-profiled runs",
    "no_counter": "the file does not have this counter",
    "no_such_operator": "no such operator ran",
    "first_step": "nothing comes before it",
    "is_baseline": "the other steps are compared with it",
}

CANNOT_TELL: Mapping[VerdictReason, str] = {
    "no_times": "a side has no time",
    "control_differs": "the two copies of the baseline differ, so this machine was not steady",
    "within_noise": "the change is within the noise",
    "runs_unknown": "a file does not mark its runs, so its time is not that of one run",
    "different_models": (
        "less than a fifth of one side's operator time joins, so no change is shown"
    ),
    "within_process_spread": (
        "two recordings of the same graph can differ by 12 %, and these are separate recordings"
    ),
}

# Why there is no interval, as the sentence that follows the number.
NOISE_UNKNOWN: Mapping[VerdictReason, str] = {
    "single_run": "A side has one run, so the noise is unknown.",
    "one_process": "A side has one process, so the noise is unknown.",
    "few_runs": "A side has fewer than 5 blocks or runs, so the noise is unknown.",
}

OPERATORS_HELP = (
    "Operators of both sides joined by name and occurrence (a convolution that the engine renamed "
    "by the graphs), else by type and shapes; an operator that only one side ran counts as 0 on "
    "the other. A fused operator also does the work of those it replaced, which stand in rows of "
    "their own. Times are profiled, mean per run."
)
OP_TYPES_HELP = (
    "Columns as in op_statistic, per run, from the profile, with the counters that a file has."
)
ASCEND_HELP = (
    "Columns as in kernel_details and op_statistic, with the counters before and after. Means "
    "weigh with the time of the core that a counter is of, where the file has it, else with the "
    "duration."
)
COUNTERS_HELP = (
    "Counters per run, without communication. Covers: the part of the operators' time that "
    "the counter is known for."
)
RUN_TIMES_HELP = (
    "Every run as a dot, in the order in which they ran: un-profiled runs by block where both "
    "sides have them, else the profiled runs of each file. A line is the time that the verdict "
    "rests on: the lower quartile of a block, the trimmed mean of a file. Crosses are runs set "
    "aside as warm-up."
)


def run_role(name: str, role: str, *, warmup: bool = False) -> str:
    """Whose runs dots are: of a side, or of the second copy of the baseline."""
    if warmup:
        return f"{name}, set aside as warm-up"
    return f"{name} (A/A control)" if role == "baseline_copy" else name


def run_line(name: str, in_blocks: bool) -> str:
    """What a line through runs is."""
    return f"{name}, lower quartile" if in_blocks else f"{name}, trimmed mean"


TIME_SOURCES: Mapping[str, str] = {
    "unprofiled_wall": "un-profiled wall time",
    "run_span": "profiled run time",
    "busy_union": "union of operator times",
    "kernel_sum": "sum of operator times",
}
