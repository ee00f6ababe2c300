"""Sentences of findings that depend on more than the kind of finding."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.advice.finding import FindingCode
from fusescope.analysis.messages import Message

# Of memory: where the code at the peak is known, and where it is not.
PEAK_IN = Message(
    "The peak decides how large a batch fits, and it lasts only a part of the time. It is in "
    "{operator:name}."
)
PEAK = Message("The peak decides how large a batch fits, and it lasts only a part of the time.")
OPTIMISATION_OFF = Message(
    "Optimisation is off in this variant, so each of them runs by itself and writes its whole "
    "result to memory."
)
MORE_THAN_THEIRS = Message(
    "Optimisation is off in this variant, so each of them runs by itself and writes its whole "
    "result to memory. More than their time is saved: the convolutions beside them become faster "
    "as well, in the engine's own layout."
)
# By whose libraries run the product.
TUNE: Mapping[str, Message] = {
    "hip": Message(
        "Let the library tune this shape (hipBLASLt, TunableOp of PyTorch), pad its dimensions, or "
        "split it into products of the shapes that run faster."
    ),
    "cuda": Message(
        "Let the library tune this shape (the algorithms of cuBLASLt, CUTLASS), pad its "
        "dimensions, or split it into products of the shapes that run faster."
    ),
}
# Of launching, where one gap is a large part of the idle time.
LAUNCHING_LONGEST = Message(
    "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} gaps in "
    "which the host launches operators, the longest {longest_ns:duration}."
)
IDLE_NOWHERE = Message("Nothing runs for {idle_ns:duration}, {share:percent} of the time.")
IDLE_BESIDE_HOST = Message(
    "Meanwhile the host may start operators, read data or results, or wait. The lane of the host "
    "on the timelines shows what the file recorded of that."
)
IDLE_ALONE = Message(
    "Look at the largest gaps in the timeline and at what the host does there, and prepare data "
    "ahead."
)
IDLE_IN_COMPILED = Message(
    "Of the time between operators in the whole file {compiled_ns:duration} are torch.compile's "
    "own code (guards and wrappers)."
)
IDLE_IN_COMPILED_REMEDY = Message(
    "Call the compiled code less often, with larger parts of the model or larger batches at once, "
    "and look at the largest gaps in the timeline."
)
# Of copies that stay on the device, to which pinned memory of the host is nothing.
COPIES_WITHIN = Message(
    "Most of them stay on the device, and nothing is computed beside them. The largest is "
    "{operator:name}."
)
COPIES_WITHIN_REMEDY = Message(
    "See what starts them (clone, contiguous, cat, gradients that go into buckets), and write "
    "results where they are read."
)
# Of operators that memory limits, and of those far below their roof: with and without depthwise
# convolutions among them.
ROOFS: Mapping[tuple[FindingCode, bool], Message] = {
    ("memory_bound", False): Message(
        "Faster arithmetic would not help, only fewer bytes. The largest is {operator:name}."
    ),
    ("memory_bound", True): Message(
        "Faster arithmetic would not help, only fewer bytes. The largest is {operator:name}. "
        "Depthwise convolutions, which compute little for each byte, take {depthwise_ns:duration} "
        "of this time."
    ),
    ("low_utilisation", False): Message(
        "Neither arithmetic nor memory is the limit; most often the kernel is: its layout, few "
        "channels, padding, or threads. The largest is {operator:name}."
    ),
    ("low_utilisation", True): Message(
        "Neither arithmetic nor memory is the limit; most often the kernel is: its layout, few "
        "channels, padding, or threads. The largest is {operator:name}. Depthwise convolutions "
        "take {depthwise_ns:duration} of this time."
    ),
}
# Of kernels on a device: threads and channels are not what they lack.
LOW_ON_DEVICE = Message(
    "Neither arithmetic nor memory is the limit; most often the kernel is: tiles that do not fit "
    "the sizes, padding, or too few blocks for the whole device. The largest is "
    "{operator:name}."
)
# Of operators on the CPUs of an NPU, and on the host's.
ON_CPU_OF_DEVICE = Message(
    "These are CPUs of the device, beside its AI cores; the file does not say why they compute "
    "this. The largest is {operator:name}."
)
OTHER_ON_DEVICE = Message(
    "Choose another kernel of the library (autotuning), sizes that are multiples of its tiles, a "
    "larger batch, or a kernel of your own."
)
MESSAGE_RATE = Message(
    "Devices exchange data or wait for each other while nothing is computed. The collectives whose "
    "sizes the file has move {rate:bandwidth}: the bytes of their messages / their time, in which "
    "they also wait for the last rank. Beside computing it would cost no time."
)
# Of the time of collectives the part that is no transfer, by what says it.
WAITING: Mapping[object, Message] = {
    "counter": Message(
        "In {wait_share:percent} of the time of its collectives no data moved, as while waiting "
        "for other ranks."
    ),
    "modelled": Message(
        "At least {wait_share:percent} of the time of its collectives is the wait for other ranks, "
        "modelled: the shortest execution bounds what a transfer takes."
    ),
}
BALANCE = Message(
    "Compare this rank with the one that comes last, and give that one less work, or remove what "
    "delays it: most of this time is waiting, not transfer."
)
# Of stages of a pipeline, of which each comes last in turn.
STAGES_IN_TURN = Message(
    "Split the batch into more micro-batches, and give every stage work of the same length: most "
    "of this time is waiting, not transfer, and the stages of a pipeline wait for one another in "
    "turn."
)
UNEVEN_STAGES = Message(
    "Move layers from rank {longer:count} to rank {shorter:count}, which computes for less of a "
    "step, and split the batch into more micro-batches: most of this time is waiting, not "
    "transfer, and the stages of a pipeline wait for one another in turn."
)
# How other engines are kept from what they made, by engine.
_FEWER_THREADS = Message(
    "Use fewer threads and several requests at once, or a larger batch; the threads belong to the "
    "engine, which divides the work of its operators among them by itself."
)
_ENGINE_LAYOUTS = Message(
    "Keep one layout from the model's inputs to its outputs, such as channels last or the device's "
    "own. Which layouts the engine takes in between is its own choice."
)
# What is to be done otherwise where another engine than ONNX Runtime ran it, by (kind, engine).
OF_ENGINES: Mapping[tuple[FindingCode, str], Message] = {
    ("idle_threads", "openvino"): Message(
        "Use a larger batch, or fewer threads and several requests at once, as the variant "
        "throughput of OpenVINO does."
    ),
    **{("idle_threads", engine): _FEWER_THREADS for engine in ("torch", "jax", "mindspore")},
    **{("reorders", engine): _ENGINE_LAYOUTS for engine in ("openvino", "jax", "mindspore")},
    ("reorders", "torch"): Message(
        "Keep one layout from the model's inputs to its outputs, such as channels last, or turn "
        "layout_optimization of inductor off where it does not pay."
    ),
}
LEFT_AS_IT_WAS: Mapping[str, Message] = {
    "torch": Message(
        "Compile this part otherwise, with other settings of inductor (such as max_fusion_size or "
        "epilogue_fusion), or leave it out with torch.compiler.disable."
    ),
    "jax": Message(
        "Write this part in another way, or put what is fused here into several functions with a "
        "jax.jit of their own: XLA fuses inside a program."
    ),
    "mindspore": Message(
        'Keep a type of operators out of graph kernels (graph_kernel_flags="--disable_cluster_ops='
        'Pow" keeps Pow out), or record fused without a pass, such as without:graph_kernel_cluster.'
    ),
    "openvino": Message(
        "OpenVINO has no setting for one fusion: have the model return the tensor in between, "
        "which keeps it from fusing across it and costs a copy."
    ),
}
KEPT_LIMITS = Message(
    "{pattern:name} is as it was, and takes {after_ns:duration} instead of {before_ns:duration}.",
    "{n:count} groups of {pattern:name} are as they were, and take {after_ns:duration} together "
    "instead of {before_ns:duration}.",
)
KEPT_SLOWER = Message(
    "Nothing was fused here: both sides run the same operators. What runs before them left other "
    "data in the caches, or the profiler takes another part of their time."
)
KEPT_REMEDY = Message(
    "Look at what runs right before it on either side; what leaves its input out of the cache is "
    "the place to change."
)
LEFT_OUT_BY_COMPILER = Message(
    "Leave this fusion out: a class of your own for torch._inductor.config.inductor_choices_class, "
    "whose can_fuse refuses these operators, or torch.compiler.disable for this part. They are "
    "{members:name}."
)
REPEATED = Message(
    "The compiler lets several kernels compute one operation of its graph, each for itself.",
    "The compiler lets several kernels compute {n:count} operations of its graph, each for itself.",
)
REPEATED_WHY = Message(
    "Arithmetic is repeated so that a result need not be stored and read again. Kernels that share "
    "an operation are one group, whose gain holds both."
)
REPEATED_REMEDY = Message(
    "Nothing, where the group is faster. Where it is slower, a copy of the shared result (clone) "
    "makes the compiler store it."
)
REPEATED_REMEDY_JAX = Message(
    "Nothing, where the group is faster. Where it is slower, two compiled functions (jax.jit) in "
    "place of one store what lies between them."
)
REPEATED_TIME = Message("What it costs in time is not known.")
MOSTLY_WEIGHTS = Message(
    "Most of these bytes are weights, which no fusion saves: store them in a smaller data type, "
    "such as int8, or raise the batch size, so that they are read once for more samples."
)
MOSTLY_TENSORS = Message(
    "Fuse with neighbours, use a smaller data type, or choose a batch size whose data "
    "stays in the cache."
)
NO_BATCH_NORM = Message(
    "Let a compiler or an inference engine fuse light operators into the operator before them "
    "(torch.compile with freezing, ONNX Runtime, graph kernel fusion)."
)
LAYOUT_OFF = Message(
    "Switch on all optimisation of the engine, with its layout optimisation (NchwcTransformer): in "
    "blocks of channels convolutions run faster."
)
OTHER_KERNEL = Message(
    "Choose another layout, numbers of channels that are multiples of 16, a larger batch, another "
    "number of threads, or a kernel of your own."
)

# Of runs that get faster, that get slower, and of single slow ones.
TAILS: Mapping[str, Message] = {
    "warm_up": Message(
        "Early runs are slower than late ones, as with a warm-up that is too short."
    ),
    "throttling": Message(
        "Late runs are slower than early ones, as on a processor that lowers its clock frequency."
    ),
    "waited": Message(
        "Slow runs took no more CPU time than the others: their threads waited for a processor, as "
        "with another process beside them."
    ),
    "slower": Message(
        "Slow runs took more CPU time as well: the processor worked slower, as with a lower clock "
        "frequency, or another process on the same core, cache or memory."
    ),
    "other": Message("Slow runs are spread over the recording, as with another process beside it."),
}
# Of dynamic dimensions, where fusions are missed as well, or alone.
SIZES_AND_FUSIONS = Message(
    "One operator that computes only with sizes takes {time_ns:duration} ({op_types:name}), and "
    "fusions that need the sizes would absorb {stake_ns:duration} ({patterns:name}): "
    "{share:percent} of the time together.",
    "{n:count} operators that compute only with sizes take {time_ns:duration} ({op_types:name}), "
    "and fusions that need the sizes would absorb {stake_ns:duration} ({patterns:name}): "
    "{share:percent} of the time together.",
)
FUSIONS_BY_SIZES = Message(
    "One place is not fused because the sizes are not known ({patterns:name}): what could be "
    "absorbed takes {stake_ns:duration}, {share:percent} of the time.",
    "{n:count} places are not fused because the sizes are not known ({patterns:name}): what could "
    "be absorbed takes {stake_ns:duration}, {share:percent} of the time.",
)
SIZES_NOT_KNOWN = Message(
    "The engine was not told the sizes of the inputs before it ran, so it computes with them in "
    "every run and leaves out fusions that need them."
)
