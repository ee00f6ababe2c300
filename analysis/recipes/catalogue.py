"""Every recipe. To add one, add an entry."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.analysis.recipes.recipe import LIGHT_FLOPS_PER_S, Published, Recipe, Step, Work
from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import shown

_TIME = ("latency", "speedup_first", "latency_change", "throughput_change", "speedup_previous")
_SMALL_OPS = ("small_op_time", "small_op_count", "light_time", "light_count")
_TRAFFIC = ("operators", "intermediate_bytes", "intermediate_removed", "output_difference")
_MEMORY = ("memory", "allocator")
_MB = 1e6
_MS = 1e6  # ns

_UNFUSED = Step(
    "unfused", Message("unfused"), Message("the whole graph, with every optimisation off")
)
_FUSED = Step(
    "fused",
    Message("fused"),
    Message("every optimisation of the engine, including its blocked layout"),
)
# What is said of a machine is what the table measures on it, never what we expect of it.
_CPU = Message(
    "The published figures are from an accelerator, ours from a CPU. The shares "
    "of time for arithmetic, for starting operators and for moving tensors may "
    "differ between them."
)
_LAYOUT = Message(
    "All optimisations of the engine include channels in blocks "
    "(NchwcTransformer), where the engine has kernels for them on this processor. "
    "This is a layout, not a fusion. The recipe conv3x3 measures it as a separate "
    "step."
)
_CUT = Message(
    "Compare the custom kernel with the cut without a kernel, which has the same boundary costs."
)
_COMPOSITE = Message(
    "The published two operators are Sub and Mul of the composite. The graph here has Mul and Pow "
    "in front of them, which the kernel computes as well."
)
_NO_TIMES = Message("Only the number of operators was published, not the times.")


def _kernel(name: str, adds: Message) -> tuple[Step, Step]:
    """The cut and the kernel in it: their difference is what the kernel is worth."""
    return (
        Step(
            f"segments:{name}",
            Message("cut, no kernel"),
            Message("the cost of the cut where the kernel will run"),
        ),
        Step(f"custom:{name}", Message("custom kernel"), adds),
    )


_CONV_BN_PUBLISHED = (
    Published("small_op_time", (("unfused", 0.30), ("rules:O3", 0.08)), "fraction"),
    Published("throughput_change", (("rules:O3", 0.80),), "fraction"),
    Published(
        "latency_change",
        (("rules:O3", -0.55),),
        "fraction",
        note_message=Message(
            "A throughput change of +80 % is a latency change of −44.4 %, not of −55.0 % "
            "(to 45 %): the two published figures cannot come from the same measurement."
        ),
    ),
)

_CONV_BN_RELU = Recipe(
    name="conv_bn_relu",
    title_message=Message("Conv + BatchNormalization + ReLU, by rules"),
    question_message=Message(
        "How much of ResNet-50's time is in small operators, and how much of this "
        "time do fusion rules remove, with and without the classifier?"
    ),
    model="resnet50",
    steps=(
        _UNFUSED,
        Step(
            "rules:no-head.toml",
            Message("rules, no head"),
            Message("our fusion pass, without the classifier"),
        ),
        Step("rules:O3", Message("rules"), Message("our fusion pass, including the classifier")),
        _FUSED,
    ),
    columns=("throughput", "latency_per_sample", *_TIME, *_SMALL_OPS, "output_difference"),
    compare=("unfused", "rules:O3"),
    published=_CONV_BN_PUBLISHED,
    source_message=Message(
        "graph-kernel fusion rules on ResNet-50 with batch size 16, on an accelerator"
    ),
    why_messages=(
        _CPU,
        (
            Message(
                "On this machine, fusion can remove at most the small-op ratio of the first "
                "step. The recipe conv_bn_clip has relatively more to remove: for each value "
                "that a small operator writes, ResNet-50 does about 300 operations, "
                "MobileNetV2 about 46."
            )
        ),
        _LAYOUT,
    ),
    work=Work(flops=7.9e9),
    batch=16,
    rounds=8,
)

_GRAPH_KERNELS = Recipe(
    name="graph_kernels",
    title_message=Message("MindSpore's graph kernels, switched on"),
    question_message=Message(
        "Mul and Add become one operator in MindSpore itself. What does its switch bring, and how "
        "much of it is fusion?"
    ),
    model="mindspore:mynet",
    steps=(
        Step(
            "unfused",
            Message("graph kernels off"),
            Message("one compiled graph of MindSpore's own kernels"),
        ),
        Step(
            "generated",
            Message("generated, not fused"),
            Message("a kernel that AKG generates for each operator"),
        ),
        Step("fused", Message("graph kernels on"), Message("one kernel for operators in a row")),
    ),
    columns=(*_TIME, *_TRAFFIC, "memory"),
    compare=("unfused", "fused"),
    published=(Published("operators", (("unfused", 2.0), ("fused", 1.0)), "count"),),
    source_message=Message("graph kernels of MindSpore"),
    why_messages=(
        _NO_TIMES,
        Message(
            "The switch turns on generated kernels and fusion at once. The step between them has "
            "the generated kernels alone, so the last step is what fusion brings."
        ),
    ),
    work=Work(bytes=17 * _MB),
    rounds=24,
    graph=True,
    runtime="mindspore",
)

RECIPES: tuple[Recipe, ...] = (
    _CONV_BN_RELU,
    replace(
        _CONV_BN_RELU,
        name="conv_bn_clip",
        title_message=Message("Conv + BatchNormalization + Clip, by rules"),
        question_message=Message(
            "How much of MobileNetV2's time is in small operators, and how much of this "
            "time do fusion rules remove? It does less arithmetic than ResNet-50 for each "
            "value that a small operator writes."
        ),
        model="mobilenetv2",
        columns=("throughput", *_TIME, *_SMALL_OPS, "output_difference"),
        why_messages=(
            (
                Message(
                    "This is not the published model. Compare the small-op ratio of the first "
                    "step with the published share."
                )
            ),
            _LAYOUT,
        ),
        work=Work(flops=0.6e9, flops_per_s=LIGHT_FLOPS_PER_S),
        batch=None,
        threads=2,
        rounds=24,
    ),
    Recipe(
        name="depthwise",
        title_message=Message("Custom kernel for a depthwise convolution"),
        question_message=Message(
            "What share of the machine's peak does a depthwise convolution use, and does "
            "a kernel that is designed for the cache use more?"
        ),
        model="depthwise_conv",
        steps=(
            _UNFUSED,
            *_kernel("depthwise_conv", Message("one custom kernel instead of the convolution")),
            _FUSED,
        ),
        columns=(
            *_TIME,
            "compute_utilisation",
            "depthwise_time",
            "depthwise_utilisation",
            "roofline_share",
            "output_difference",
        ),
        compare=("unfused", "custom:depthwise_conv"),
        published=(Published("depthwise_utilisation", (("unfused", 0.40),), "fraction"),),
        source_message=Message(
            "a depthwise convolution on an accelerator, with the default kernel"
        ),
        why_messages=(
            (
                Message(
                    "Utilisation is relative to a matrix product of the engine on this machine, "
                    "not to a data sheet. For the whole run it is based on un-profiled latency; "
                    "for the convolution it is based on profiled time, which the profiler "
                    "inflates."
                )
            ),
            (
                Message(
                    "A 3 x 3 depthwise convolution does 18 operations for each value that it "
                    "reads and writes, or 2.25 per byte. The share of the roofline shows how "
                    "close it comes to what peak and bandwidth of this machine allow."
                )
            ),
            _CUT,
        ),
        work=Work(flops=7.9e6, bytes=4 * _MB),
        rounds=24,
    ),
    Recipe(
        name="depthwise_mobilenetv2",
        title_message=Message("Custom kernel for every depthwise convolution of MobileNetV2"),
        question_message=Message(
            "What does the depthwise kernel bring in a whole network, including its boundary costs?"
        ),
        model="mobilenetv2",
        steps=(
            _UNFUSED,
            *_kernel(
                "depthwise_conv", Message("one custom kernel instead of each depthwise convolution")
            ),
            _FUSED,
        ),
        columns=(*_TIME, "depthwise_time", "depthwise_utilisation", "output_difference"),
        compare=("unfused", "custom:depthwise_conv"),
        published=(Published("depthwise_utilisation", (("unfused", 0.40),), "fraction"),),
        source_message=Message(
            "a depthwise convolution on an accelerator, with the default kernel"
        ),
        why_messages=(
            (
                Message(
                    "The published figure is for one convolution, ours for 17 together, with 32 "
                    "to 960 channels of 112 x 112 to 7 x 7 values."
                )
            ),
            _CUT,
        ),
        work=Work(flops=0.6e9, flops_per_s=LIGHT_FLOPS_PER_S),
        threads=2,
        rounds=16,
    ),
    Recipe(
        name="three_modes",
        title_message=Message("DeepLabV3+ in three modes"),
        question_message=Message(
            "What do a whole graph and its fused nodes bring in time and memory, compared "
            "with running node by node?"
        ),
        model="deeplabv3plus",
        steps=(
            Step("eager", Message("eager"), Message("each node in its own session")),
            Step(
                "unfused",
                Message("graph"),
                Message("the whole graph in one session, with every optimisation off"),
            ),
            Step("fused", Message("graph, fused"), _FUSED.adds_message),
        ),
        columns=(
            *_TIME,
            "latency_mean",
            "latency_median",
            "memory",
            "allocator",
            "operators",
            "fused_nodes",
            "output_difference",
        ),
        compare=("eager", "fused"),
        published=(
            Published(
                "latency_mean",
                (("eager", 520 * _MS), ("unfused", 180 * _MS), ("fused", 125 * _MS)),
                "ns",
            ),
            Published(
                "memory",
                (("eager", 250 * _MB), ("unfused", 210 * _MB), ("fused", 190 * _MB)),
                "bytes",
            ),
        ),
        source_message=Message("DeepLabV3+ on an accelerator, mean of 100 runs"),
        why_messages=(
            (
                Message(
                    "Here, eager means each node in its own session, not the operators of a "
                    "framework started from Python. The ratio of graph to eager shows what it "
                    "costs."
                )
            ),
            (
                Message(
                    "Peak memory is the resident memory of a separate process and depends on the "
                    "allocator. Eager returns each tensor after its last use to an allocator that "
                    "all its sessions share; a graph has its own allocator."
                )
            ),
            _LAYOUT,
        ),
        work=Work(flops=11.6e9, flops_per_s=LIGHT_FLOPS_PER_S),
        blocks=8,
        rounds=13,
        profiled_rounds=2,
        mean_runs=100,
    ),
    Recipe(
        name="mul_add",
        title_message=Message("Mul + Add as one operator"),
        question_message=Message(
            "ONNX Runtime has no kernel that runs these two as one. What does a custom "
            "kernel bring?"
        ),
        model="mynet",
        steps=(
            _UNFUSED,
            *_kernel("mul_add", Message("one custom kernel instead of Mul and Add")),
            _FUSED,
        ),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:mul_add"),
        published=(Published("operators", (("unfused", 2.0), ("custom:mul_add", 1.0)), "count"),),
        source_message=Message("graph kernels of MindSpore"),
        why_messages=(_NO_TIMES, _CUT),
        work=Work(bytes=17 * _MB),
        rounds=24,
        graph=True,
    ),
    Recipe(
        name="composite",
        title_message=Message("(x · 2)³, then a composite Sub · Mul"),
        question_message=Message(
            "A chain of four elementwise operators runs as one kernel. How much of its "
            "memory traffic is left?"
        ),
        model="mynet_composite",
        steps=(
            _UNFUSED,
            *_kernel(
                "sub_mul_pow",
                Message("one custom kernel instead of the chain of Mul, Pow, Sub and Mul"),
            ),
            _FUSED,
        ),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:sub_mul_pow"),
        published=(
            Published(
                "operators",
                (("unfused", 2.0), ("custom:sub_mul_pow", 1.0)),
                "count",
                note_message=_COMPOSITE,
            ),
        ),
        source_message=Message("graph kernels of MindSpore, a composite operator"),
        why_messages=(_NO_TIMES,),
        work=Work(bytes=42 * _MB),
        rounds=24,
        graph=True,
    ),
    _GRAPH_KERNELS,
    replace(
        _GRAPH_KERNELS,
        name="graph_kernels_composite",
        title_message=Message("MindSpore's graph kernels on a composite operator"),
        question_message=Message(
            "(x · 2)³, then a composite Sub · Mul, become one operator in MindSpore itself. What "
            "does its switch bring, and how much of it is fusion?"
        ),
        model="mindspore:mynet_composite",
        published=(
            Published(
                "operators",
                (("unfused", 2.0), ("fused", 1.0)),
                "count",
                note_message=_COMPOSITE,
            ),
        ),
        source_message=Message("graph kernels of MindSpore, a composite operator"),
        work=Work(bytes=42 * _MB),
    ),
    Recipe(
        name="conv3x3",
        title_message=Message("3 x 3 convolutions of ResNet-50, step by step"),
        question_message=Message(
            "What do layout, fusion and precision each bring, one after the other, and "
            "how much do the outputs change?"
        ),
        model="resnet50",
        steps=(
            _UNFUSED,
            Step(
                "only:NchwcTransformer",
                Message("layout"),
                Message("channels in blocks (NchwcTransformer)"),
            ),
            Step(
                "fused", Message("fusion"), Message("every other optimisation, including fusions")
            ),
            Step(
                "int8", Message("precision"), Message("8-bit weights and activations, calibrated")
            ),
        ),
        columns=(
            *_TIME,
            "conv3x3_time",
            "conv3x3_utilisation",
            "compute_utilisation",
            "cache_utilisation",
            "cache_missed_bytes",
            "agreement_top1",
            "agreement_top5",
            "output_difference",
        ),
        compare=("unfused", "int8"),
        published=(
            Published(
                "latency",
                (("unfused", 18.2 * _MS), ("int8", 7.5 * _MS)),
                "ns",
                note_message=Message(
                    "The source calls the change from 18.2 ms to 7.5 ms both −42.7 % and +142.7 "
                    "%. The second is the gain in throughput; the first does not match these two "
                    "times."
                ),
            ),
            Published("conv3x3_time", (("unfused", 13.1 * _MS), ("int8", 3.2 * _MS)), "ns"),
            Published("compute_utilisation", (("unfused", 0.42), ("int8", 0.88)), "fraction"),
            Published(
                "cache_utilisation",
                (("unfused", 0.28), ("int8", 0.76)),
                "fraction",
                basis="counter",
                note_message=Message(
                    "The published cache figure is from a hardware counter, ours is modelled from "
                    "shapes. They are different quantities and cannot be compared."
                ),
            ),
            Published(
                "top5_accuracy_change",
                (("int8", -0.003),),
                "fraction",
                note_message=Message(
                    "The published accuracy is for labelled images. Our models are not trained, "
                    "so the table shows agreement with the baseline instead."
                ),
            ),
        ),
        source_message=Message("ResNet-50 tuned step by step on an accelerator"),
        why_messages=(
            _CPU,
            (
                Message(
                    "The published step to fewer bits uses a format of the accelerator. On a CPU "
                    "the engine runs fp16 as fp32, so int8 is used instead."
                )
            ),
            (
                Message(
                    "The model's weights are random, not trained. Agreement shows what 8 bits "
                    "change in this model, not what a trained model would lose."
                )
            ),
        ),
        work=Work(flops=7.9e9),
        rounds=16,
    ),
    Recipe(
        name="add_relu",
        title_message=Message("Add + ReLU"),
        question_message=Message(
            "This is the end of a residual block. What is gained when the sum is not "
            "written to memory?"
        ),
        model="add_relu",
        steps=(
            _UNFUSED,
            *_kernel("add_relu", Message("one custom kernel instead of Add and Relu")),
            _FUSED,
        ),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:add_relu"),
        why_messages=(),
        work=Work(bytes=21 * _MB),
        rounds=24,
        graph=True,
    ),
    Recipe(
        name="mul_sigmoid",
        title_message=Message("Mul · Sigmoid (SiLU)"),
        question_message=Message(
            "ONNX Runtime has an operator for x · sigmoid(x). How does our kernel compare?"
        ),
        model="mul_sigmoid",
        steps=(
            _UNFUSED,
            *_kernel("mul_sigmoid", Message("one custom kernel instead of Sigmoid and Mul")),
            _FUSED,
        ),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:mul_sigmoid"),
        why_messages=(),
        work=Work(bytes=21 * _MB),
        rounds=24,
        graph=True,
    ),
    Recipe(
        name="conv_bn",
        title_message=Message("Conv + BatchNormalization, folded"),
        question_message=Message(
            "BatchNormalization after Conv can become part of its weights. What does the "
            "second pass over the tensor cost?"
        ),
        model="conv_bn",
        steps=(
            _UNFUSED,
            Step(
                "rules:O1",
                Message("folded by rules"),
                Message("BatchNormalization folded into the weights"),
            ),
            _FUSED,
        ),
        columns=(*_TIME, *_TRAFFIC),
        compare=("unfused", "rules:O1"),
        why_messages=(),
        work=Work(flops=0.23e9),
        rounds=24,
        graph=True,
    ),
)


def find(name: str) -> Recipe:
    """The recipe of that name. Raises FuseScopeError that suggests the nearest."""
    for recipe in RECIPES:
        if recipe.name == name:
            return recipe
    known = [recipe.name for recipe in RECIPES]
    raise FuseScopeError(
        "no_such_recipe", recipe=shown(name), known=", ".join(known), nearest=nearest(name, known)
    )
