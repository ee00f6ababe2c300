"""Sentences for what an engine and its profiler recorded, and what they did not."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Diagnostic, DiagnosticCode
from fusescope.analysis.wording.diagnostics import depending
from fusescope.analysis.wording.diagnostics.text import NoteText, NoteTexts, told

_TOO_LOW = Message("Counts and sums are too low.")


def _event_cap(note: Diagnostic) -> NoteText:
    return _STOPPED_EARLY if note.count == 1 else _STOPPED_AT_LIMIT


_STOPPED_EARLY = told(Message("The profiler stopped before the end of the recording."), _TOO_LOW)
_STOPPED_AT_LIMIT = told(
    Message("The file contains exactly {n:events}, the profiler's limit."), _TOO_LOW
)

RECORDED: Mapping[DiagnosticCode, NoteTexts] = {
    "event_cap": _event_cap,
    "runs_without_operators": told(
        Message(
            "{n:count} step without operators in the file was left out.",
            "{n:count} steps without operators in the file were left out.",
        )
    ),
    "runs_untold": told(
        Message(
            "The file contains no operators for {n:count} step, only its time.",
            "The file contains no operators for {n:count} steps, only their times.",
        ),
        Message("Figures per step are based on the other steps."),
    ),
    "kernels_of_nodes": told(
        Message(
            "{n:count} execution of a node was replaced by the kernels that it launched on the "
            "device.",
            "{n:count} executions of nodes were replaced by the kernels that they launched on the "
            "device.",
        )
    ),
    "not_operators": told(
        Message(
            "{n:count} task that is not an operator was left out.",
            "{n:count} tasks that are not operators were left out.",
        )
    ),
    "communication_tasks": told(
        Message(
            "{n:count} device task that is part of a collective was left out.",
            "{n:count} device tasks that are parts of collectives were left out.",
        ),
        Message("The collectives themselves are shown."),
    ),
    "no_kernels": told(Message("The file contains no kernels, only copies and fills of memory.")),
    "layer_means": told(
        Message(
            "The engine counts the time of each layer in whole µs and gives no start times: times "
            "of layers are means over the profiled runs of a block, known to about 1 µs. A layer "
            "of 0 ns took less than 1 µs."
        )
    ),
    "averaged_all": told(
        Message(
            "Times are means over all inferences since the model was compiled (on a GPU: the times "
            "of the last inference)."
        ),
        Message("The file does not contain the number of inferences."),
    ),
    "samples_summed": told(
        Message("The un-profiled time is the median of a summary in the companion file."),
        Message("Record with --exportTimes to have each run, which says how much they differ."),
    ),
    "samples_profiled": told(
        Message(
            "The run times in the companion file were measured with the profiler on, which slows "
            "down every layer."
        ),
        Message("Record with --separateProfileRun."),
    ),
    "graphs_whole": told(
        Message(
            "{n:count} launch of a CUDA graph does not show the kernels in it.",
            "{n:count} launches of CUDA graphs do not show the kernels in them.",
        ),
        Message("Record with --cuda-graph-trace=node."),
    ),
    "counters_of_launches": told(
        Message(
            "The file has counters of {n:count} kernel, but no kernel with its time.",
            "The file has counters of {n:count} kernels, but no kernels with their times.",
        ),
        Message(
            "Such counters stand with the operator of the host that launched the kernel, by the "
            "order of launches."
        ),
    ),
    "counters_of_ranges": told(
        Message(
            "{n:count} range of hardware counters ({names:name}) belongs to no kernel of the file.",
            "{n:count} ranges of hardware counters ({names:name}) belong to no kernels of the "
            "file.",
        ),
        Message("Record with profiler_measure_per_kernel=True to have them by kernel."),
    ),
    "graphs_unrecorded": told(
        Message(
            "{n:count} of {of:count} launches of graphs has no kernels in the file.",
            "{n:count} of {of:count} launches of graphs have no kernels in the file.",
        ),
        Message(
            "Sums, kernels per run and comparisons are of what was recorded. Idle time is not "
            "known, because the device may have run what is missing."
        ),
        Message("Record without graphs (of CUDA or HIP) to see every kernel."),
    ),
    "graphs_launched": depending.graphs_launched,
    "kernels_without_call": told(
        Message(
            "The file lacks the call of the host that launched {n:count} execution of a kernel; "
            "copies and fills are not among them.",
            "The file lacks the calls of the host that launched {n:count} executions of kernels; "
            "copies and fills are not among them.",
        ),
        Message(
            "Launches are counted by such calls, so those of these executions are not counted."
        ),
    ),
    "launchers_by_place": told(
        Message(
            "{n:count} execution (of a kernel, copy or fill) without a launch in the file counts "
            "as the operator that stands at its place in another run of the same kernels.",
            "{n:count} executions (of kernels, copies and fills) without a launch in the file "
            "count as the operators that stand at their places in other runs of the same kernels.",
        )
    ),
    "no_device_rows": told(
        Message(
            "The file contains {n:count} call to the device's runtime but no kernel.",
            "The file contains {n:count} calls to the device's runtime but no kernel.",
        ),
        Message("Times are those of the host, which does not wait for the device."),
    ),
    "compiled_dispatch": told(
        Message(
            "{n:count} event of torch.compile's own code (guards and wrappers, "
            "{own_ns:duration}) is not an operator and was left out.",
            "{n:count} events of torch.compile's own code (guards and wrappers, "
            "{own_ns:duration} together) are not operators and were left out.",
        ),
        Message("Their time is part of the idle time between operators."),
    ),
    "compiler_map": told(
        Message(
            "The files of torch.compile beside the trace say which operators of the model are in "
            "each kernel, for {n:count} of {of:count} calls of compiled graphs."
        ),
        Message("Kernels are joined to them by name and order."),
    ),
    "compiler_map_foreign": told(
        Message(
            "{n:count} log of torch.compile beside the trace is of another run: its kernels have "
            "other names or another order. It was not used.",
            "{n:count} logs of torch.compile beside the trace are of another run: their kernels "
            "have other names or another order. They were not used.",
        )
    ),
    "compiler_map_lacks": told(
        Message(
            "The files of torch.compile beside the trace do not say which operators are in a "
            "kernel, for {n:count} compiled graph.",
            "The files of torch.compile beside the trace do not say which operators are in a "
            "kernel, for {n:count} compiled graphs.",
        ),
        Message("Set INDUCTOR_PROVENANCE=1 together with TORCH_TRACE."),
    ),
    "compiler_map_missing": told(
        Message(
            "The name of {n:count} generated kernel lists op types, but not which operators of the "
            "model are in it.",
            "The names of {n:count} generated kernels list op types, but not which operators of "
            "the model are in them.",
        ),
        Message(
            "Record with TORCH_TRACE=FOLDER and INDUCTOR_PROVENANCE=1 set, and give the log in "
            "that folder with the trace."
        ),
    ),
    "kernels_hidden": told(
        Message(
            "{n:count} compiled region does not show the kernels in it.",
            "{n:count} compiled regions do not show the kernels in them.",
        ),
        Message("The time of the kernels is shown as the time of their region."),
        Message("Set torch._inductor.config.cpp.enable_kernel_profile before you compile."),
    ),
    "members_unknown": told(
        Message(
            "Fused operators name {n:count} operator that the other side does not have.",
            "Fused operators name {n:count} operators that the other side does not have.",
        ),
        Message(
            "Where possible, nearby operators that are not named anywhere else were used instead."
        ),
    ),
    "no_runs": told(
        Message("The file does not mark its runs."), Message("The whole file counts as one run.")
    ),
    "nested_operators": told(
        Message(
            "{n:count} execution is inside another operator (Loop, If or Scan).",
            "{n:count} executions are inside other operators (Loop, If or Scan).",
        ),
        Message("The time of the outer operator is shown without the time inside it."),
    ),
    "calls_not_of_graph": told(
        Message(
            "The calls of {n:count} profiled run are not those of the compiled graph, so they are "
            "in no group.",
            "The calls of {n:count} profiled runs are not those of the compiled graph, so they are "
            "in no group.",
        )
    ),
    "outside_runs": told(
        Message(
            "{n:count} execution is in no run or step.",
            "{n:count} executions are in no run or step.",
        )
    ),
    "launched_before": told(
        Message(
            "{n:count} execution, which takes {ns:duration}, was launched before the file begins "
            "and is of none of its runs.",
            "{n:count} executions, whose times add up to {ns:duration}, were launched before the "
            "file begins and are of none of its runs.",
        ),
        Message("While they run, the device is not idle."),
    ),
    "launches_unknown": told(
        Message(
            "The file does not say which call of the host launched {n:count} execution.",
            "The file does not say which calls of the host launched {n:count} executions.",
        ),
        Message(
            "Idle time before such an execution is explained by the thread that launches the next "
            "one."
        ),
    ),
    "launch_times": told(
        Message("The host does not wait for this execution provider."),
        Message("Its times are those of launches, not of kernels."),
    ),
    "kernels_waited_for": told(
        Message("The host waited for each kernel of this execution provider."),
        Message(
            "Times of operators contain the launch and the wait, which for a short kernel are most "
            "of it."
        ),
        Message("Install nvidia-cuda-cupti, which times the kernels themselves, and record again."),
    ),
    "kernels_not_recorded": told(
        Message("A profile of this execution provider has no kernels, although CUPTI was there."),
        Message("Its times are those of launches, or contain waiting for each kernel."),
    ),
    "nodes_by_kernels": told(
        Message(
            "{n:count} execution of an operator has the time of the kernels that it launched on "
            "the device.",
            "{n:count} executions of operators have the time of the kernels that they launched on "
            "the device.",
        ),
    ),
    "nodes_without_kernels": told(
        Message(
            "{n:count} execution of an operator on the device launched nothing there, so it took "
            "no time.",
            "{n:count} executions of operators on the device launched nothing there, so they took "
            "no time.",
        ),
    ),
    "recorded_with": told(Message("Recorded with these settings: {settings:name}.")),
    "dtype_converted": told(
        Message(
            "Weights and inputs were converted to {dtype:name}. The outputs differ by "
            "{relative:number} of their largest value from those that eager execution computes "
            "without it."
        )
    ),
    "training_step": told(
        Message("A run is a training step: {parts:name}."),
        Message(
            "Before each run gradients are taken away, and weights, running means and what the "
            "optimizer keeps are put back, so every run does the same."
        ),
    ),
    "device_events": told(
        Message(
            "Between two events of the device around it, a run typically takes "
            "{device_ns:duration}; by the clock of the host, which waits for the device, "
            "{wall_ns:duration}."
        )
    ),
    "device_state_unknown": told(
        Message("Nothing tells clocks and temperature of {device:name}."),
        Message("Whether it ran at the same clocks in all blocks is not known."),
    ),
    "device_memory": told(
        Message(
            "Peak device memory during the recording: {allocated_mb:megabytes} allocated, "
            "{reserved_mb:megabytes} reserved."
        )
    ),
    "unknown_events": told(
        Message(
            "The kind of {n:count} event is not known.",
            "The kind of {n:count} events is not known.",
        ),
        Message("Each one counts as an operator, without the time of the events inside it."),
    ),
    "host_spans_left": told(
        Message(
            "{n:count} span of the host was left out: only the longest are kept.",
            "{n:count} spans of the host were left out: only the longest are kept.",
        ),
    ),
    "other_events": told(
        Message(
            "{n:count} event of another kind was left out.",
            "{n:count} events of other kinds were left out.",
        )
    ),
}
