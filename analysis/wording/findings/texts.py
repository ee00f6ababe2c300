"""What each kind of finding says: what limits, why that costs time, and what to try."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from fusescope.analysis.advice.finding import FindingCode
from fusescope.analysis.messages import Message


class FindingText(msgspec.Struct, frozen=True):
    """`label` names the kind; `limits` is one sentence with the evidence, `why` what it means,
    `remedy` what to try, `source` what the finding rests on. Placeholders are its values. None
    where the sentence depends on more than the kind."""

    label: Message
    limits: Message
    why: Message | None
    remedy: Message | None
    source: Message


_PROFILE = Message("Measured: times of operators as profiled.")
_STEP = Message("Measured: when each operator ran, as profiled.")
_ROOFS = Message(
    "Modelled: operations and bytes from shapes, against the peaks of the machine: measured, "
    "entered, or public figures of the device."
)
_GRAPH_OR_TYPES = Message(
    "Measured times of operators, and the graph that the engine ran; without one, the types and "
    "outputs of operators."
)
_GRAPH = Message("The graph that the engine ran, and measured times of operators.")

TEXTS: Mapping[FindingCode, FindingText] = {
    "not_optimised": FindingText(
        Message("Optimisation is off"),
        Message(
            "One operator that the engine can fuse away takes {light_ns:duration}, "
            "{share:percent} of the time: {op_types:name}.",
            "{n:count} operators that the engine can fuse away take {light_ns:duration}, "
            "{share:percent} of the time: {op_types:name}.",
        ),
        None,
        Message("Compare with the variant fused; record it where it is missing."),
        Message(
            "The model's graph, the known conditions of the engine, and measured times of "
            "operators."
        ),
    ),
    "missed_fusion": FindingText(
        Message("Missed fusion"),
        Message(
            "{pattern:name} is not fused at one place: what could be fused takes "
            "{stake_ns:duration}, {share:percent} of the time.",
            "{pattern:name} is not fused at {n:count} places: what could be fused takes "
            "{stake_ns:duration}, {share:percent} of the time.",
        ),
        None,
        None,
        Message(
            "The model's graph, the known conditions of the engine, and measured times of "
            "operators, without slow executions."
        ),
    ),
    "dynamic_dimensions": FindingText(
        Message("Dynamic dimensions"),
        Message(
            "One operator that computes only with sizes takes {time_ns:duration}, {share:percent} "
            "of the time: {op_types:name}.",
            "{n:count} operators that compute only with sizes take {time_ns:duration}, "
            "{share:percent} of the time: {op_types:name}.",
        ),
        Message(
            "An engine that does not know the sizes of the inputs before it runs computes them in "
            "every run."
        ),
        Message(
            "Give the inputs fixed sizes where they are known, in the export or in the engine's "
            "settings (in ONNX Runtime add_free_dimension_override_by_name), one model for each "
            "size that occurs; then an engine computes all of this once. The variants dynamic and "
            "fused of a recording say what that brings."
        ),
        _GRAPH_OR_TYPES,
    ),
    "fused_slower": FindingText(
        Message("Slower than in the baseline"),
        Message(
            "{pattern:name} runs as {becomes:name}, which takes {after_ns:duration} instead of "
            "{before_ns:duration}.",
            "{n:count} groups of {pattern:name} run as {becomes:name}, which take "
            "{after_ns:duration} together instead of {before_ns:duration}.",
        ),
        Message(
            "An optimisation pays only where what it makes is faster than what it replaces. Here "
            "it is slower, beyond noise."
        ),
        Message(
            "Leave this optimisation out: without:OPTIMIZER in a recording, or another rule file "
            "or kernel."
        ),
        Message("Measured: the group's times on both sides, with their interval."),
    ),
    "costly_fusion": FindingText(
        Message("Faster without"),
        Message(
            "Without {name:name} a run takes {without_ns:duration} instead of {with_ns:duration}: "
            "{ratio:factor} ({low:factor} to {high:factor})."
        ),
        Message(
            "What is fused runs in one loop of one kernel, which may use the processor worse than "
            "the kernels that it replaces, by more than the stored bytes save. Here the whole "
            "interval is below 1, corrected for the number of variants."
        ),
        Message(
            "Leave this optimizer out: disabled_optimizers=['{name:name}'] where the session is "
            "made."
        ),
        Message("Measured: un-profiled runs with and without it, paired by block."),
    ),
    "host_waits": FindingText(
        Message("The host waits for the device"),
        Message(
            "Calls that wait for the device in a run: {waits:count}. After one of them, "
            "{call:name}, the device has nothing to do for {idle_ns:duration}, {share:percent} of "
            "the time.",
            "Calls that wait for the device in a run: {waits:count}. After {n:count} of them the "
            "device has nothing to do, for {idle_ns:duration} together, {share:percent} of the "
            "time; the longest time after {call:name}.",
        ),
        Message(
            "While the host waits it starts nothing, so the device runs dry and stands still until "
            "the next operator is started."
        ),
        Message(
            "Read values of the device less often (item, nonzero, printing, .cpu()), or once at "
            "the end; copy from pinned memory without waiting; leave out synchronize."
        ),
        Message("Measured: calls of the host and one run as profiled, on one clock."),
    ),
    "slow_kernel": FindingText(
        Message("Slow kernel"),
        Message(
            "One operator ({op_type:name}) moves its data at {rate:bandwidth} where the run's "
            "elementwise operators reach {others:bandwidth}, and takes {time_ns:duration}, "
            "{share:percent} of the time.",
            "{n:count} operators ({op_type:name}) move their data at {rate:bandwidth} where the "
            "run's elementwise operators reach {others:bandwidth}, and take {time_ns:duration}, "
            "{share:percent} of the time.",
        ),
        Message(
            "The optimizer {optimizer:name} puts {op_type:name} in place of several operators. "
            "This saves bytes, but its kernel takes longer than those operators would at the rate "
            "of the others."
        ),
        Message("Leave the optimizer out: without:{optimizer:name} in a recording."),
        Message("Measured times of operators; bytes and the saving are modelled from shapes."),
    ),
    "light_chains": FindingText(
        Message("Chains of light operators"),
        Message(
            "{executions:executions} of elementwise operators stand in chains and take "
            "{time_ns:duration}, {share:percent} of the time, for example {example:name}."
        ),
        Message(
            "Each reads what the one before it wrote, so the same data goes through memory again "
            "and again. The chains follow from order and shapes, as the file has no graph."
        ),
        Message(
            "Let a compiler fuse them (torch.compile, XLA, graph kernel fusion), or write one "
            "kernel for the chain."
        ),
        Message("Measured times of operators; order and shapes from the file."),
    ),
    "light_after_heavy": FindingText(
        Message("Light operators after heavy ones"),
        Message(
            "One execution of a light operator follows a convolution or matrix product and takes "
            "{time_ns:duration}, {share:percent} of the time, for example {example:name}.",
            "{n:count} executions of light operators follow a convolution or matrix product and "
            "take {time_ns:duration}, {share:percent} of the time, for example {example:name}.",
        ),
        Message(
            "Each reads what the heavy operator wrote and writes it again; as a part of that "
            "operator it would cost next to nothing. What belongs together follows from order, "
            "channels and shapes, as the file has no graph."
        ),
        Message(
            "Fold BatchNormalization into the weights, and let a compiler or an inference engine "
            "fuse the rest (torch.compile with freezing, ONNX Runtime, graph kernel fusion)."
        ),
        Message(
            "Measured times of operators; order and shapes from the file; the saving is modelled."
        ),
    ),
    "dispatch_bound": FindingText(
        Message("Bound by dispatch"),
        Message(
            "Between operators nothing runs for {idle_ns:duration}, {share:percent} of the time: "
            "about {each_ns:duration} for each of {executions:executions}."
        ),
        Message(
            "Starting the operators takes longer than running them, so faster operators would "
            "change little."
        ),
        Message(
            "Start fewer operators: fuse them, raise the batch size, or start the whole run at "
            "once (CUDA graphs, HIP graphs, graph mode of CANN)."
        ),
        _STEP,
    ),
    "communication": FindingText(
        Message("Communication not hidden"),
        Message(
            "Communication that nothing hides takes {exposed_ns:duration}, {share:percent} of the "
            "time."
        ),
        Message(
            "Devices exchange data or wait for each other while nothing is computed. Beside "
            "computing it would cost no time."
        ),
        Message(
            "See whether it waits for a rank that comes late: Fleet has all ranks of a job side by "
            "side. Start it earlier, so that it runs beside computing. Send fewer bytes, for "
            "example in a smaller data type."
        ),
        _STEP,
    ),
    "copies": FindingText(
        Message("Copies not hidden"),
        Message(
            "Copies and fills of memory that nothing hides take {exposed_ns:duration}, "
            "{share:percent} of the time."
        ),
        Message(
            "A copy from memory that is not pinned, or one that the host waits for, stops the "
            "device. The largest is {operator:name}."
        ),
        Message(
            "Keep the data on the device, or pin the host's memory and copy on a stream of its own."
        ),
        _STEP,
    ),
    "idle_before": FindingText(
        Message("Idle before an operator"),
        Message(
            "Nothing runs for {gap_ns:duration}, {share:percent} of the time, before "
            "{operator:name}."
        ),
        Message(
            "One gap explains most of the idle time: something is waited for there, such as data, "
            "a result that the host reads, or a compilation."
        ),
        Message(
            "Look at what the host does before this operator, and load data, read results or "
            "compile outside the run."
        ),
        Message("Measured: start times of operators as profiled."),
    ),
    "idle_after": FindingText(
        Message("Idle after the last operator"),
        Message(
            "Nothing runs for {gap_ns:duration}, {share:percent} of the time, after the last "
            "operator."
        ),
        Message(
            "The run ends later than its operators: results are read or waited for, or the run "
            "holds more than the model."
        ),
        Message(
            "Look at what the host does after the last operator, read results outside the run, or "
            "mark the model alone as a run."
        ),
        Message("Measured: start times of operators as profiled."),
    ),
    "idle_by_host": FindingText(
        Message("Idle while the host does something else"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host launches operators.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host launches operators.",
        ),
        None,
        None,
        Message(
            "Measured: what ran on the device, and what the thread did that launches next, on one "
            "clock. That the device waited for it follows from their order."
        ),
    ),
    "idle_time": FindingText(
        Message("Idle time"),
        Message(
            "Nothing runs for {idle_ns:duration}, {share:percent} of the time; {gap_ns:duration} "
            "of it before {operator:name}."
        ),
        Message(
            "Meanwhile the host may start operators, read data or results, or wait; which of these "
            "is not in the file."
        ),
        Message(
            "Look at the largest gaps in the timeline, and at what the host does there, which the "
            "profiler may have to record; start fewer operators, and prepare data ahead."
        ),
        Message("Measured: start times of operators as profiled."),
    ),
    "pieces": FindingText(
        Message("Cut into pieces"),
        Message(
            "Between the pieces that this variant runs one by one nothing runs for "
            "{idle_ns:duration}, {share:percent} of the time."
        ),
        Message(
            "Each piece is a session of its own, and tensors are handed from one to the next. The "
            "model as one graph does not pay for that."
        ),
        Message(
            "Judge a kernel against the same cut without it, and run the model as one graph, as "
            "the variants unfused and fused do."
        ),
        _STEP,
    ),
    "idle_threads": FindingText(
        Message("Threads without work"),
        Message("On average {used:tenths} of {threads:threads} work."),
        Message(
            "The others wait: operators that are too small to be divided, operators that run on "
            "one thread, or work between operators."
        ),
        Message(
            "Use fewer threads and several requests at once, or a larger batch; a kernel of your "
            "own can divide its work among the engine's threads."
        ),
        Message("Measured: CPU time and wall time of un-profiled runs."),
    ),
    "wide_types": FindingText(
        Message("Wider data type than the rest"),
        Message(
            "One heavy operator computes in {wide:name}, others in {narrow:name}; it takes "
            "{time_ns:duration}, {share:percent} of the time.",
            "{n:count} heavy operators compute in {wide:name}, others in {narrow:name}; they take "
            "{time_ns:duration}, {share:percent} of the time.",
        ),
        Message(
            "They were left out where the model was quantised or cast. The largest is "
            "{operator:name}. What the narrow type would save is taken from its number of bits."
        ),
        Message(
            "Quantise or cast these, too, and compare the outputs; they may have been left out for "
            "their accuracy."
        ),
        Message("Measured times of operators; data types from the file."),
    ),
    "stream_imbalance": FindingText(
        Message("Unbalanced streams"),
        Message(
            "Stream {first:name} computes for {first_ns:duration}, stream {second:name} only "
            "{second_ns:duration}."
        ),
        Message(
            "Work that does not depend on the first stream could run on the second one at the same "
            "time. The file does not say what depends on what."
        ),
        Message("Move independent branches of the model to the stream with less work."),
        _PROFILE,
    ),
    "reorders": FindingText(
        Message("Layout changes"),
        Message(
            "One execution that only changes the layout takes {time_ns:duration}, "
            "{share:percent} of the time.",
            "{n:count} executions that only change the layout take {time_ns:duration}, "
            "{share:percent} of the time.",
        ),
        Message(
            "They compute nothing: neighbours want the same data in different layouts. The largest "
            "is {operator:name}."
        ),
        Message(
            "Keep one layout from the model's inputs to its outputs, such as channels last or the "
            "device's own, or leave the engine's layout optimisation out where it does not pay."
        ),
        _PROFILE,
    ),
    "type_conversions": FindingText(
        Message("Type conversions"),
        Message(
            "One execution that only changes the data type takes {time_ns:duration}, "
            "{share:percent} of the time.",
            "{n:count} executions that only change the data type take {time_ns:duration}, "
            "{share:percent} of the time.",
        ),
        Message(
            "The data type changes, and nothing else. The largest conversion is {operator:name}."
        ),
        Message("Let neighbours compute in one type; leave a lone operator in the type around it."),
        _PROFILE,
    ),
    "fallback": FindingText(
        Message("Operators on a CPU"),
        Message(
            "One operator on {provider:name} takes {time_ns:duration}, {share:percent} of the "
            "time, while others run on the faster units of an accelerator.",
            "{n:count} operators on {provider:name} take {time_ns:duration}, {share:percent} of "
            "the time, while others run on the faster units of an accelerator.",
        ),
        Message(
            "The file does not say why the CPU of the host computes this. Data may travel there "
            "and back. The largest is {operator:name}."
        ),
        Message(
            "See whether another operator, data type or shape has a kernel of the accelerator, or "
            "move these to the start or end of the model."
        ),
        _PROFILE,
    ),
    "recomputed": FindingText(
        Message("Duplicate operators"),
        Message(
            "One operator computes again what another one has computed, and takes "
            "{time_ns:duration}, {share:percent} of the time.",
            "{n:count} operators compute again what others have computed, and take "
            "{time_ns:duration}, {share:percent} of the time.",
        ),
        Message("The same values come from the same inputs. The largest is {operator:name}."),
        Message(
            "Compute the value once in the model and use it twice, or switch on the elimination "
            "of common subexpressions."
        ),
        _GRAPH,
    ),
    "checkpointing": FindingText(
        Message("Forward pass done twice"),
        Message(
            "One kernel of the forward pass runs again for the backward pass and takes "
            "{time_ns:duration}, {share:percent} of the time.",
            "{n:count} kernels of the forward pass run again for the backward pass and take "
            "{time_ns:duration}, {share:percent} of the time.",
        ),
        Message(
            "Checkpointing of activations does not keep their results, which saves memory and "
            "costs this time."
        ),
        Message(
            "Checkpoint fewer layers, as far as memory allows, or keep the results that take long "
            "to compute and little memory."
        ),
        Message(
            "Measured: times of kernels as profiled, and the calls of the host that launched them."
        ),
    ),
    "memory_bound": FindingText(
        Message("Bound by memory"),
        Message(
            "One operator ({op_types:name}) moves data at {rate:bandwidth}, {of_roof:percent} of "
            "what main memory allows it, and takes {time_ns:duration}, {share:percent} of the "
            "time.",
            "{n:count} operators ({op_types:name}) move data at {rate:bandwidth}, "
            "{of_roof:percent} of what main memory allows them, and take {time_ns:duration}, "
            "{share:percent} of the time.",
        ),
        None,
        None,
        _ROOFS,
    ),
    "slow_product": FindingText(
        Message("A matrix product slower than the others"),
        Message(
            "The product {inputs:name} runs at {rate:flop_rate}, the other large products of its "
            "data type at {others:flop_rate} together. At their rate it would take "
            "{saved_ns:duration} less of {time_ns:duration} ({share:percent} of the time)."
        ),
        Message(
            "Arithmetic limits all of them alike, so it is the kernel that was chosen for this "
            "shape: {operator:name}."
        ),
        Message(
            "Let the library tune this shape, pad its dimensions, or split it into products of the "
            "shapes that run faster."
        ),
        Message("Modelled: operations from shapes, and measured times of operators."),
    ),
    "low_utilisation": FindingText(
        Message("Low utilisation"),
        Message(
            "One operator ({op_types:name}) reaches {of_roof:percent} of what the machine allows "
            "it, and takes {time_ns:duration}, {share:percent} of the time.",
            "{n:count} operators ({op_types:name}) reach {of_roof:percent} of what the machine "
            "allows them, and take {time_ns:duration}, {share:percent} of the time.",
        ),
        None,
        None,
        _ROOFS,
    ),
    "graph_growth": FindingText(
        Message("Larger graph"),
        Message(
            "The engine runs {after:operators} in place of the {before:count} of the model. What "
            "was added takes {time_ns:duration}, {share:percent} of the time: {op_types:name}."
        ),
        Message(
            "More operators mean more dispatch, and each result goes through memory. An engine "
            "that has no kernel for an operator expands it, and an optimizer can add others."
        ),
        Message(
            "Write what the engine expands in operators that it has kernels for. Leave out the "
            "optimizer that adds them: fusescope collect MODEL --ablate shows which one it is."
        ),
        _GRAPH,
    ),
    "large_tensors": FindingText(
        Message("Large tensors"),
        Message(
            "At its peak, at {operator:name} ({op_type:name}), the run keeps {peak:bytes} of "
            "tensors; all weights together have {weights:bytes}."
        ),
        Message(
            "Memory is used for tensors between operators, not for the model; they seldom fit into "
            "a cache."
        ),
        Message(
            "Reduce the batch size or the resolution there, or fuse the operators around it so "
            "that the tensor is not written."
        ),
        Message("Modelled: sizes of tensors from the graph, from first to last use."),
    ),
    "peak_memory": FindingText(
        Message("Peak memory"),
        Message(
            "At its peak {device:name} has {peak:bytes} allocated; half of the time it has "
            "{usual:bytes} or less."
        ),
        None,
        Message(
            "Compute there in parts, in a smaller data type or in place, and free what is not read "
            "again before."
        ),
        Message("Measured: allocations that the profiler recorded."),
    ),
    "run_tail": FindingText(
        Message("Slow un-profiled runs"),
        Message(
            "One run in twenty takes {p95_ns:duration} or more, {ratio:factor} the median of all "
            "runs, {median_ns:duration}."
        ),
        None,
        Message(
            "Record on a quiet machine with a fixed clock frequency; where this is how the model "
            "is used, look at what runs beside it."
        ),
        Message("Measured: un-profiled runs."),
    ),
}
