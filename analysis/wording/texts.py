"""Fixed texts: labels and definitions of figures, reasons, helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fusescope.analysis.compare.timing.statistics import Statistic
from fusescope.analysis.compare.timing.verdict import TimeSource, VerdictReason
from fusescope.analysis.messages import Message, Said, say
from fusescope.analysis.quantity import Reason
from fusescope.analysis.trace import RunWord

# What times and counts are of, for texts with {per} and {mean}.
PER_RUN: Mapping[str, Message | Said] = {"per": Message("per run"), "mean": Message("mean per run")}
PER_WORD: Mapping[RunWord, Mapping[str, Message | Said]] = {
    "runs": PER_RUN,
    "steps": {"per": Message("per step"), "mean": Message("mean per step")},
    "repetitions": {"per": Message("per repetition"), "mean": Message("mean per repetition")},
}


@dataclass(frozen=True)
class FigureText:
    """What a figure is called and how it is defined; `better` says which direction is good."""

    name: Message | Said
    meaning: Message | Said
    better: Literal["lower", "higher"] | None = None
    per: Mapping[str, Message | Said] = field(default_factory=lambda: PER_RUN)

    @property
    def label(self) -> str:
        """Its name in the language that is spoken."""
        return str(self.name)

    @property
    def definition(self) -> str:
        """Its definition in the language that is spoken."""
        if isinstance(self.meaning, Message):
            return self.meaning.text(**self.per)
        return str(self.meaning)


FIGURES: Mapping[str, FigureText] = {
    "latency": FigureText(
        Message("latency"),
        Message(
            "Time of one whole run. Un-profiled wall time where it was recorded: lower quartile of "
            "the runs of a block, trimmed mean over blocks. Of two variants recorded together the "
            "candidate's is the baseline's × their ratio, which is paired inside blocks: so values "
            "and change agree. Of a trace by itself the mean of its runs, to which what explains a "
            "change adds up."
        ),
        "lower",
    ),
    "throughput": FigureText(
        Message("throughput"),
        Message(
            "Samples per second: batch size / latency. Where the file does not give the batch size "
            "it is called runs, steps or repetitions per second, 1 / latency. The change is "
            "speedup - 1."
        ),
        "higher",
    ),
    "cpu_time": FigureText(
        Message("CPU time"),
        Message(
            "Process CPU time of one un-profiled run over all threads: lower quartile of the runs "
            "of a block, trimmed mean over blocks. Less affected by other load than wall time."
        ),
        "lower",
    ),
    "small_op_time": FigureText(
        Message("small-op ratio (time)"),
        Message(
            "Time in light operators (all but convolution, matrix and grouped product, attention, "
            "recurrent) / time in all operators, from the profile. Making convolutions faster "
            "raises it: read it with light time."
        ),
        "lower",
    ),
    "small_op_count": FigureText(
        Message("small-op ratio (count)"),
        Message("Executions of light operators / executions of all operators."),
        "lower",
    ),
    "light_time": FigureText(
        Message("light time"),
        Message("Time in light operators {per}, from the profile."),
        "lower",
    ),
    "light_count": FigureText(
        Message("light executions"),
        Message("Executions of light operators {per}."),
        "lower",
    ),
    "short_op_time": FigureText(
        Message("short-op ratio (time)"),
        Message(
            "Time in operators shorter than τ / time in all operators. τ is the same for both "
            "sides: 10 × the measured dispatch cost, but at least 10 µs, assumed: the profiler "
            "itself adds 2 to 6 µs per operator."
        ),
        "lower",
    ),
    "short_op_count": FigureText(
        Message("short-op ratio (count)"),
        Message("Executions shorter than τ / all executions."),
        "lower",
    ),
    "kernels": FigureText(
        Message("kernels"),
        Message("Kernels that the device ran {per}, without copies, fills and communication."),
        "lower",
    ),
    "device_busy": FigureText(
        Message("device busy"),
        Message(
            "Union of all that the device ran, copies and communication included, {mean}; of "
            "several devices of a file, the time in which any of them was at work."
        ),
        "lower",
    ),
    "device_idle": FigureText(
        Message("idle share"),
        Message(
            "Idle time / profiled run span: the part of the run in which the device ran nothing, "
            "waiting for the host to launch or for data. Kernels that outlive the run that started "
            "them count where they ran; of a run whose start is not in the file those that it "
            "started count, and where they take longer than it, nothing is said."
        ),
        "lower",
    ),
    "launches": FigureText(
        Message("launches"),
        Message(
            "Calls of the host that launch kernels or whole graphs (cudaLaunchKernel, "
            "hipLaunchKernel, cudaGraphLaunch, …), {per}. Fusion and graphs lower it."
        ),
        "lower",
    ),
    "launch_time": FigureText(
        Message("time in launch calls"),
        Message(
            "Time of the host in calls that launch kernels or graphs, {per}; of several threads "
            "the sum."
        ),
        "lower",
    ),
    "copies": FigureText(
        Message("copies and fills"),
        Message("Copies and fills of memory {per} on the device."),
        "lower",
    ),
    "copy_time": FigureText(
        Message("time of copies and fills"),
        Message("Time in copies and fills of memory {per} on the device."),
        "lower",
    ),
    "compute_utilisation": FigureText(
        Message("compute utilisation"),
        Message(
            "FLOPs of convolutions and matrix products / (latency × peak): that of the machine, as "
            "measured of a matrix product, or that of a device that the file names, as its vendor "
            "publishes it for the data type of each operator. FLOPs are the device's own count "
            "where it counted them; else they are modelled from shapes, leave out padded taps "
            "where the graph is known, and count "
            "padded channels of blocked layouts. Products of 8-bit numbers have a peak of their "
            "own: then it is sum(FLOPs / peak) / latency. Over 100 % is shown, not clipped."
        ),
        "higher",
    ),
    "operator_utilisation": FigureText(
        Message("operators' utilisation"),
        Message(
            "sum(FLOPs) / sum(time × peak) over the operators whose FLOPs are counted, by the "
            "profile: the mean of their utilisation, weighted with their time. Unlike compute "
            "utilisation it leaves out the time between and beside them; where latency is of "
            "un-profiled runs, it can be the lower one of the two, since a profiler slows "
            "operators down. Products of 8-bit numbers are compared with the peak of such products."
        ),
        "higher",
    ),
    "roofline_share": FigureText(
        Message("share of the roofline"),
        Message(
            "sum(FLOPs / bound) / sum(time) over the operators whose FLOPs are counted, by the "
            "profile: the mean of attained / bound, weighted with time. Bound = min(peak, "
            "intensity × bandwidth of main memory), intensity = FLOPs / bytes of inputs, "
            "parameters and outputs. Over 100 %, shown and not clipped, where data came from a "
            "cache."
        ),
        "higher",
    ),
    "bytes_moved": FigureText(
        Message("bytes moved"),
        Message(
            "Inputs, parameters and outputs of every operator {per}, once per operator, whatever a "
            "cache may keep: from the graph, else from the sizes in the profile."
        ),
        "lower",
    ),
    "cache_missed_bytes": FigureText(
        Message("cache-miss bytes"),
        Message(
            "Modelled {per}: least-recently-used cache of whole tensors over the graph in "
            "execution order, second pass; reads and write-allocated writes; a tensor larger than "
            "the cache never hits and pushes out all others. Compared with a simulated cache "
            "(cache-model.md), the median error is below 3 %; where tensors fit one by one, but "
            "not together, it can exceed a half."
        ),
        "lower",
    ),
    "cache_utilisation": FigureText(
        Message("cache utilisation"),
        Message(
            "Bytes that must move once (weights, model inputs and outputs) / bytes that miss the "
            "modelled cache. 100 %: every byte enters once."
        ),
        "higher",
    ),
    "cache_hit_ratio": FigureText(
        Message("cache hit ratio"),
        Message(
            "Bytes that hit the modelled cache / bytes touched. Neither direction is better: "
            "fusion removes exactly the re-reads that hit."
        ),
    ),
    "intermediate_bytes": FigureText(
        Message("intermediate traffic"),
        Message(
            "Bytes of tensors between operators {per}, written once and read once per consumer, "
            "from the graph."
        ),
        "lower",
    ),
    "memory": FigureText(
        Message("peak memory"),
        Message(
            "Highest resident memory of a process of its own, above the level with its engine "
            "imported, before the model was loaded."
        ),
        "lower",
    ),
    "output_difference": FigureText(
        Message("output difference"),
        Message("max|a - b| / max|a| against the baseline's outputs on the same input."),
        "lower",
    ),
    "agreement_top1": FigureText(
        Message("top-1 agreement"),
        Message(
            "Part of the samples (of a map: of its positions) where the class with the highest "
            "score is the baseline's, on further inputs drawn like the recorded one. Agreement "
            "with the baseline, not accuracy."
        ),
        "higher",
    ),
    "agreement_top5": FigureText(
        Message("top-5 agreement"),
        Message(
            "Part of the samples (of a map: of its positions) where the class with the baseline's "
            "highest score is among the five highest, on further inputs drawn like the recorded "
            "one. Agreement with the baseline, not accuracy."
        ),
        "higher",
    ),
    "dispatch_gap": FigureText(
        Message("idle time"),
        Message(
            "Profiled run span - time in it in which an operator ran: {mean}. Kernels that "
            "outlive the run that started them count where they ran; of a run whose start is not "
            "in the file those that it started count, and where they take longer than it, nothing "
            "is said."
        ),
        "lower",
    ),
    "profiler_inflation": FigureText(
        Message("profiler inflation"),
        Message(
            "Profiled / un-profiled run time: of runs in blocks that of the typical run of either "
            "(lower quartile of each block), else that of the mean run. The profiler adds time to "
            "every operator, so its times are never the headline."
        ),
    ),
    "cube_ratio": FigureText(
        Message("cube ratio"),
        Message(
            "Counter (mac_ratio): part of the time in which the core multiplied matrices, "
            "weighted by the time of the cube core, or of the AI core where cube and vector are "
            "one. Where cube and vector are one core on one side and two on the other, no "
            "change is shown."
        ),
        "higher",
    ),
    "vector_ratio": FigureText(
        Message("vector ratio"),
        Message(
            "Counter (vec_ratio): part of the time in which the core computed on vectors, "
            "weighted by the time of the vector core, or of the AI core where cube and vector "
            "are one. Where cube and vector are one core on one side and two on the other, no "
            "change is shown."
        ),
    ),
    "scalar_ratio": FigureText(
        Message("scalar ratio"),
        Message(
            "Counter (scalar_ratio): part of the cores' time with scalar instructions at work. "
            "Where cube and vector are one core on one side and two on the other, no change is "
            "shown."
        ),
        "lower",
    ),
    "mte1_ratio": FigureText(
        Message("MTE1 ratio"),
        Message("Counter (mte1_ratio): part of the core's time with moves from L1 to L0."),
    ),
    "mte2_ratio": FigureText(
        Message("MTE2 ratio"),
        Message(
            "Counter (mte2_ratio): part of the cores' time with reads from main memory at work. "
            "Pipes overlap, so ratios do not add to 100 %. Where cube and vector are one core "
            "on one side and two on the other, no change is shown."
        ),
    ),
    "mte3_ratio": FigureText(
        Message("MTE3 ratio"),
        Message(
            "Counter (mte3_ratio): part of the core's time with writes to main memory at work."
        ),
    ),
    "fixpipe_ratio": FigureText(
        Message("fixpipe ratio"),
        Message("Counter (fixpipe_ratio): part of the core's time with moves out of L0C at work."),
    ),
    "memory_bound": FigureText(
        Message("memory bound"),
        Message(
            "Counters: mte2_ratio / max(mac_ratio, vec_ratio), in total sum(mte2_ratio × core "
            "time) / sum(max(mac_ratio, vec_ratio) × core time). Above 1, reads took longer "
            "than computing. Where cube and vector are one core on one side and two on the "
            "other, no change is shown."
        ),
        "lower",
    ),
    "cube_utilisation": FigureText(
        Message("cube utilisation"),
        Message(
            "Counter (cube_utilization): cycles / (frequency × cores × duration), weighted by the "
            "duration. It says how busy the cores were, not how many FLOPs they did."
        ),
        "higher",
    ),
    "l2_hit_rate": FigureText(
        Message("L2 hit rate"),
        Message(
            "Counter: hits / (hits + misses) of the device's L2; where the file only has rates, "
            "their mean weighted by the duration, without the first operator, whose rate is not "
            "for reference. Another quantity than the modelled cache."
        ),
    ),
    "l2_victim_rate": FigureText(
        Message("L2 victim rate"),
        Message(
            "Counter: lines evicted from the device's L2, weighted by the duration, without the "
            "first operator."
        ),
    ),
    "icache_miss_rate": FigureText(
        Message("instruction cache miss rate"),
        Message("Counter (icache_miss_rate), weighted by the cores' time."),
        "lower",
    ),
    "cube_fp16_ratio": FigureText(
        Message("cube fp16 ratio"),
        Message(
            "Counter (mac_fp16_ratio): part of the core's cycles with fp16 matrix instructions."
        ),
    ),
    "cube_int8_ratio": FigureText(
        Message("cube int8 ratio"),
        Message(
            "Counter (mac_int8_ratio): part of the core's cycles with int8 matrix instructions."
        ),
    ),
    "vector_fp32_ratio": FigureText(
        Message("vector fp32 ratio"),
        Message("Counter (vec_fp32_ratio): part of the core's cycles."),
    ),
    "vector_fp16_ratio": FigureText(
        Message("vector fp16 ratio"),
        Message("Counter (vec_fp16_ratio): part of the core's cycles."),
    ),
    "vector_int32_ratio": FigureText(
        Message("vector int32 ratio"),
        Message("Counter (vec_int32_ratio): part of the core's cycles."),
    ),
    "vector_misc_ratio": FigureText(
        Message("vector misc ratio"),
        Message("Counter (vec_misc_ratio): part of the core's cycles."),
    ),
    "bank_group_conflict": FigureText(
        Message("bank group conflicts"),
        Message("Counter (vec_bankgroup_cflt_ratio): part of the core's cycles blocked by them."),
        "lower",
    ),
    "bank_conflict": FigureText(
        Message("bank conflicts"),
        Message("Counter (vec_bank_cflt_ratio): part of the core's cycles blocked by them."),
        "lower",
    ),
    "resource_conflict": FigureText(
        Message("resource conflicts"),
        Message("Counter (vec_resc_cflt_ratio): part of the core's cycles blocked by them."),
        "lower",
    ),
    "cube_flops": FigureText(
        Message("cube FLOPs"), Message("Counter (cube_fops): operations of the cube unit {per}.")
    ),
    "vector_flops": FigureText(
        Message("vector FLOPs"),
        Message("Counter (vector_fops): operations of the vector unit {per}."),
        "lower",
    ),
    **{
        f"{place}_{way}_bandwidth": FigureText(
            label.of(buffer=buffer), meaning.of(where=where), None
        )
        for place, buffer, where in (
            ("ub", "UB", Message("unified buffer")),
            ("ub_vector", Message("UB vector"), Message("unified buffer, by the vector unit")),
            ("ub_scalar", Message("UB scalar"), Message("unified buffer, by the scalar unit")),
            ("l0a", "L0A", Message("left matrix of the cube unit")),
            ("l0b", "L0B", Message("right matrix of the cube unit")),
            ("l0c", "L0C", Message("result of the cube unit")),
            ("l1", "L1", Message("buffer of the cube core")),
            ("l2", "L2", Message("cache of the device")),
        )
        for way, label, meaning in (
            (
                "read",
                Message("{buffer} read"),
                Message("Counter: bandwidth of reads, {where}, weighted by the core's time."),
            ),
            (
                "write",
                Message("{buffer} write"),
                Message("Counter: bandwidth of writes, {where}, weighted by the core's time."),
            ),
        )
    },
    "main_memory_read_bandwidth": FigureText(
        Message("main memory read"),
        Message("Counter: bandwidth of reads, memory of the device, weighted by the core's time."),
    ),
    "main_memory_write_bandwidth": FigureText(
        Message("main memory write"),
        Message("Counter: bandwidth of writes, memory of the device, weighted by the core's time."),
    ),
    "gm_to_ub_bandwidth": FigureText(
        Message("main memory to UB"), Message("Counter: bandwidth into the unified buffer.")
    ),
    "ub_to_gm_bandwidth": FigureText(
        Message("UB to main memory"), Message("Counter: bandwidth out of the unified buffer.")
    ),
    "main_memory_read": FigureText(
        Message("read from main memory"),
        Message("Counter (read_main_memory_datas) {per}, in the profiler's KB."),
        "lower",
    ),
    "main_memory_write": FigureText(
        Message("written to main memory"),
        Message("Counter (write_main_memory_datas) {per}, in the profiler's KB."),
        "lower",
    ),
    "occupancy": FigureText(
        Message("achieved occupancy"),
        Message(
            "Counter or estimate of the profiler: active warps / most that fit, weighted by the "
            "duration, without operators of which the profiler says 0."
        ),
    ),
    "copy_bandwidth": FigureText(
        Message("copy bandwidth"),
        Message(
            "Bytes / time of copies of 1 MiB or more between host and device, as the profiler "
            "gives it, weighted by their duration. Smaller ones say nothing about the bandwidth. "
            "Tables by operator or type also show it of copies and fills inside the device."
        ),
        "higher",
    ),
}

REASONS: Mapping[Reason, Message] = {
    "no_times": Message("the file has no times for it"),
    "no_heavy_operators": Message("no convolution, matrix product or attention ran"),
    "classes_unknown": Message("most of the operators' time is of unknown class"),
    "inside_unknown": Message("what moves inside the provider's subgraphs is not known"),
    "flops_unknown": Message(
        "the file does not give the FLOPs of heavy operators with more than 5 % of their time"
    ),
    "runs_unknown": Message("the file does not mark its runs"),
    "time_between_runs": Message("the file shows time between its runs, which is in none of them"),
    "no_sizes": Message("the file does not give the sizes of all inputs and outputs"),
    "no_peak": Message(
        "the machine's peak is not in the file (Settings on the page Compare take one)"
    ),
    "no_int8_peak": Message("the machine's peak for 8-bit numbers is not in the file"),
    "no_type_peak": Message(
        "the public figures of the device have no peak for the data type of these operators"
    ),
    "no_number_type": Message("the file does not say the data type of these operators"),
    "no_bandwidth": (
        Message(
            "the machine's memory bandwidth is not in the file (Settings on the page Compare take "
            "one)"
        )
    ),
    "on_device": Message("it ran on a device, where this is not known"),
    "outputs_not_numbers": Message(
        "outputs hold NaN or infinity, or their sizes, shapes or types cannot be compared"
    ),
    "outputs_zero": Message("an output of the recording's baseline is all zeros"),
    "no_flops": Message("FLOPs are not counted for these operators, or their shapes are not known"),
    "no_graph": Message("it needs the graph of what ran, which only recordings of FuseScope have"),
    "no_misses": Message("no byte misses the modelled cache"),
    "not_recorded": Message("the file does not have it"),
    "memory_over_time": Message(
        "only an experiment that FuseScope recorded contains it; this file has memory over time "
        "instead, which the page Trace shows"
    ),
    "no_start_times": Message("the file has no runs with start times"),
    "no_kernels": Message("the file has no kernels of a device"),
    "no_launches": Message("the file does not hold the calls of the host that launch kernels"),
    "no_large_copies": Message(
        "the file has no copy of 1 MiB or more between host and device with its rate, and smaller "
        "ones say nothing about the bandwidth"
    ),
    "no_launch_times": Message(
        "the file says when the host launched kernels, but not how long these calls took"
    ),
    "no_idle": Message(
        "kernels are not in the file, or it lacks starts: of kernels, or of a run that is shorter "
        "than they are"
    ),
    "kernels_missing": Message("the file lacks kernels of launched graphs"),
    "no_samples": Message("the file has no un-profiled runs"),
    "other_runs": Message("a command's trace and its times need not be of the same runs"),
    "no_counter": Message("the file does not have this counter"),
    "no_such_operator": Message("no such operator ran"),
    "first_step": Message("nothing comes before it"),
    "is_baseline": Message("the other steps are compared with it"),
}

CANNOT_TELL: Mapping[VerdictReason, Message] = {
    "no_times": Message("A side has no time."),
    "control_differs": Message(
        "The two copies of the baseline differ, so this machine was not steady."
    ),
    "within_noise": Message("The change is within the noise."),
    "runs_unknown": Message("A file does not mark its runs, so its time is not that of one run."),
    "marked": Message(
        "One side also copies the result of every operator out of the model, which is what keeps "
        "the engine from fusing them. Its run is longer by these copies, so it is not the time of "
        "the model without fusion. The times of its operators are what they took."
    ),
    "different_models": Message(
        "Less than a fifth of one side's operator time matches, so no change is shown."
    ),
    "different_sizes": Message(
        "The weights of their matrix products have different sizes, so no change is shown."
    ),
    "models_unknown": Message(
        "They have hardly a kernel or a shape of a tensor in common, so no change is shown."
    ),
    "different_phases": Message("The phases of serving do different work, so no change is shown."),
    "capture_and_replay": Message("A capture runs nothing, so no change is shown."),
    "different_ranks": Message("The ranks run different work, so no change is shown."),
    "different_jobs": Message(
        "Less than a fifth of one side's operator time matches, so no change is shown."
    ),
    "two_ranks": Message(
        "Ranks of one job wait for one another, so how long they take does not say which is faster."
    ),
    "like_two_ranks": Message(
        "Ranks of one job wait for one another, so how long they take does not say which is faster."
    ),
    "no_change": Message("The two times differ by no more than the runs of one file do."),
    "within_process_spread": Message(
        "Recordings of several processes each, of the same graph and made one after the other, "
        "can differ by 12 %, since the machine drifts."
    ),
}

NEARLY_EQUAL = Message("The two times differ by less than 2 %.")  # of no_change

# Why there is no interval, as the sentence that follows the number.
NOISE_UNKNOWN: Mapping[VerdictReason, Message] = {
    "single_run": Message("A side has one run, so the noise is unknown."),
    "one_process": Message("A side has one process, so the noise between processes is unknown."),
    "few_runs": Message("A side has fewer than 5 runs, so the noise is unknown."),
}

OPERATORS_HELP = Message(
    "Operators of both sides joined by name and occurrence (a convolution that the engine renamed "
    "by the graphs), else by type and shapes; one whose shapes differ, as by one more input, has a "
    "row for each side. An operator that only one side ran counts as 0 on the other. A fused "
    "operator also does the work of those it replaced, which have rows of their own. Times are "
    "profiled, {mean}."
)
OP_TYPES_HELP = Message(
    "Columns as in op_statistic, {per}, from the profile, with the counters that a file has."
)
ASCEND_HELP = Message(
    "Columns as in kernel_details and op_statistic, with the counters of both sides. Means "
    "weigh with the time of the core that a counter is of, where the file has it, else with the "
    "duration."
)
COUNTERS_HELP = Message(
    "Counters {per}, without communication. Covers: the part of the operators' time that "
    "the counter is known for."
)
RUN_TIMES: Mapping[RunWord, Message] = {
    "runs": Message("Run times"),
    "steps": Message("Step times"),
    "repetitions": Message("Times of repetitions"),
}
RUN_TIMES_HELP = Message(
    "Every run or step as a dot, in the order in which they ran: un-profiled runs by block where "
    "both sides have them, else those of each file. A line is the time that the verdict rests on: "
    "the lower quartile of a block, the mean of a trace, the trimmed mean of one beside a "
    "recording. Crosses are runs that it does not count: warm-up, and those of which the file has "
    "no operators."
)


def run_role(name: str, role: str, *, warmup: bool = False) -> str:
    """Whose runs dots are: of a side, or of the second copy of the baseline."""
    if warmup:
        return say("{side:name}, not counted", side=name)
    return say("{side:name} (A/A control)", side=name) if role == "baseline_copy" else name


def run_line(name: str, line: Statistic) -> str:
    """What a line through runs is."""
    return _LINES[line].text(side=name)


_LINES: Mapping[Statistic, Message] = {
    "lower_quartile": Message("{side:name}, lower quartile"),
    "trimmed_mean": Message("{side:name}, trimmed mean"),
    "mean": Message("{side:name}, mean"),
}


TIME_SOURCES: Mapping[TimeSource, Message] = {
    "unprofiled_wall": Message("un-profiled wall time"),
    "run_span": Message("profiled wall time"),
    "run_sum": Message("sum of operator times"),
    "busy_union": Message("union of operator times"),
    "kernel_sum": Message("sum of operator times"),
    "command_wall": Message("wall time of the command"),
    "command_printed": Message("time that the command prints"),
}
# The same at the beginning of a sentence.
TIMES_FIRST: Mapping[TimeSource, Message] = {
    "unprofiled_wall": Message("Un-profiled wall time"),
    "run_span": Message("Profiled wall time"),
    "run_sum": Message("Sum of operator times"),
    "busy_union": Message("Union of operator times"),
    "kernel_sum": Message("Sum of operator times"),
    "command_wall": Message("Wall time of the command"),
    "command_printed": Message("Time that the command prints"),
}
