"""Every recipe. To add one, add an entry."""

from __future__ import annotations

from dataclasses import replace

from analysis.errors import FuseScopeError
from analysis.recipes.recipe import LIGHT_FLOPS_PER_S, Published, Recipe, Step, Work
from analysis.spelling import nearest
from analysis.text import shown

_TIME = ("latency", "speedup_first", "latency_change", "throughput_change", "speedup_previous")
_SMALL_OPS = ("small_op_time", "small_op_count", "light_time", "light_count")
_TRAFFIC = ("operators", "intermediate_bytes", "intermediate_removed", "output_difference")
_MEMORY = ("memory", "allocator")
_MB = 1e6
_MS = 1e6  # ns

_UNFUSED = Step("unfused", "unfused", "the whole graph, every optimisation off")
_FUSED = Step("fused", "fused", "every optimisation of the engine, its blocked layout too")
# What is said of a machine is what the table measures on it, never what we expect of it.
_CPU = (
    "The published figures are of an accelerator, ours of a CPU: how much of the time is "
    "arithmetic, and how much starting operators and moving tensors, need not be the same."
)
_LAYOUT = (
    "Every optimisation of the engine includes channels in blocks (NchwcTransformer), where it has "
    "kernels for them on the processor: a layout and no fusion. The recipe conv3x3 measures it as "
    "a step of its own."
)
_CUT = "Compare the own kernel with the cut, which pays the same for its boundaries."
_NO_TIMES = "No times were published, only the number of operators."


def _kernel(name: str, replaced: str) -> tuple[Step, Step]:
    """The cut and the kernel in it: their difference is what the kernel is worth."""
    return (
        Step(f"segments:{name}", "cut, no kernel", "the cost of the cut, where a kernel will run"),
        Step(f"custom:{name}", "own kernel", f"one kernel of our own in place of {replaced}"),
    )


_CONV_BN_PUBLISHED = (
    Published("small_op_time", (("unfused", 0.30), ("rules:O3", 0.08)), "fraction"),
    Published("throughput_change", (("rules:O3", 0.80),), "fraction"),
    Published(
        "latency_change",
        (("rules:O3", -0.55),),
        "fraction",
        note="A throughput of +80 % is a latency of -44.4 %, not of -55.0 % (to 45 %): the two "
        "published figures cannot both be of one measurement.",
    ),
)

_CONV_BN_RELU = Recipe(
    name="conv_bn_relu",
    title="Conv + BatchNormalization + ReLU, by rules",
    question="How much of ResNet-50's time is in small operators, and how much of it do fusion "
    "rules remove, with and without the classifier?",
    model="resnet50",
    steps=(
        _UNFUSED,
        Step("rules:no-head.toml", "rules, no head", "our fusion pass, classifier left out"),
        Step("rules:O3", "rules", "our fusion pass on the classifier too"),
        _FUSED,
    ),
    columns=("throughput", "latency_per_sample", *_TIME, *_SMALL_OPS, "output_difference"),
    compare=("unfused", "rules:O3"),
    published=_CONV_BN_PUBLISHED,
    source="graph-kernel rules on ResNet-50, batch 16, on an accelerator",
    why_differ=(
        _CPU,
        (
            "What fusion can remove is the small-op ratio of the first step, on this machine. The "
            "twin conv_bn_clip has more to remove beside its arithmetic: for each value that a "
            "small operator writes, ResNet-50 does about 300 operations, MobileNetV2 about 46."
        ),
        _LAYOUT,
    ),
    work=Work(flops=7.9e9),
    batch=16,
    rounds=8,
)

RECIPES: tuple[Recipe, ...] = (
    _CONV_BN_RELU,
    replace(
        _CONV_BN_RELU,
        name="conv_bn_clip",
        title="Conv + BatchNormalization + Clip, by rules",
        question="How much of MobileNetV2's time is in small operators, and how much of it do "
        "fusion rules remove? It does less arithmetic than ResNet-50 for each value that a small "
        "operator touches.",
        model="mobilenetv2",
        columns=("throughput", *_TIME, *_SMALL_OPS, "output_difference"),
        why_differ=(
            ("Another model than the published one: how near its small operators come to the "
            "published share is the small-op ratio of the first step."),
            _LAYOUT,
        ),
        work=Work(flops=0.6e9, flops_per_s=LIGHT_FLOPS_PER_S),
        batch=None,
        threads=2,
        rounds=24,
    ),
    Recipe(
        name="depthwise",
        title="Own kernel for a depthwise convolution",
        question="Which part of the machine's arithmetic does a depthwise convolution use, and "
        "does a kernel laid out for the cache use more?",
        model="depthwise_conv",
        steps=(_UNFUSED, *_kernel("depthwise_conv", "the convolution"), _FUSED),
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
        source="a depthwise convolution on an accelerator, default kernel",
        why_differ=(
            ("Utilisation is measured against a matrix product of the engine on this machine, "
            "not against a data sheet. Of the whole run it rests on un-profiled latency, of the "
            "convolution on its profiled time, which the profiler inflates."),
            ("A 3 x 3 depthwise convolution does 18 operations for each value that it reads and "
            "writes, 2.25 a byte: share of the roofline says how near it comes to what peak and "
            "bandwidth of this machine allow."),
            _CUT,
        ),
        work=Work(flops=7.9e6, bytes=4 * _MB),
        rounds=24,
    ),
    Recipe(
        name="depthwise_mobilenetv2",
        title="Own kernel for every depthwise convolution of MobileNetV2",
        question="What does the depthwise kernel bring in a network, with its boundaries paid?",
        model="mobilenetv2",
        steps=(_UNFUSED, *_kernel("depthwise_conv", "each of the depthwise convolutions"), _FUSED),
        columns=(*_TIME, "depthwise_time", "depthwise_utilisation", "output_difference"),
        compare=("unfused", "custom:depthwise_conv"),
        published=(Published("depthwise_utilisation", (("unfused", 0.40),), "fraction"),),
        source="a depthwise convolution on an accelerator, default kernel",
        why_differ=(
            ("The published figure is of one convolution, ours of 17 together: 32 to 960 channels "
            "of 112 x 112 to 7 x 7 values."),
            _CUT,
        ),
        work=Work(flops=0.6e9, flops_per_s=LIGHT_FLOPS_PER_S),
        threads=2,
        rounds=16,
    ),
    Recipe(
        name="three_modes",
        title="DeepLabV3+ in three modes",
        question="What do a whole graph and its fused nodes bring over running node by node, in "
        "time and in memory?",
        model="deeplabv3plus",
        steps=(
            Step("eager", "eager", "each node in a session of its own"),
            Step("unfused", "graph", "the whole graph in one session, every optimisation off"),
            Step("fused", "graph, fused", _FUSED.adds),
        ),
        columns=(
            *_TIME, "latency_mean", "latency_median", "memory", "allocator", "operators",
            "fused_nodes", "output_difference",
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
        source="DeepLabV3+ on an accelerator, mean of 100 runs",
        why_differ=(
            ("Eager is here each node in a session of its own, not the operators of a framework "
            "started from Python: what it costs is the ratio of graph to eager."),
            ("Peak memory is resident memory of a process of its own and depends on the allocator: "
            "eager gives each tensor back after its last use to an allocator that all of its "
            "sessions share, a graph has an allocator of its own."),
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
        title="Mul + Add as one operator",
        question="ONNX Runtime has no kernel for these two as one: what does one of our own bring?",
        model="mynet",
        steps=(_UNFUSED, *_kernel("mul_add", "Mul and Add"), _FUSED),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:mul_add"),
        published=(
            Published("operators", (("unfused", 2.0), ("custom:mul_add", 1.0)), "count"),
        ),
        source="graph kernels of MindSpore",
        why_differ=(_NO_TIMES, _CUT),
        work=Work(bytes=17 * _MB),
        rounds=24,
        graph=True,
    ),
    Recipe(
        name="composite",
        title="(x · 2)³, then a composite Sub · Mul",
        question="A chain of four elementwise operators as one kernel: what is left of its "
        "traffic?",
        model="mynet_composite",
        steps=(
            _UNFUSED, *_kernel("sub_mul_pow", "the chain of Mul, Pow, Sub and Mul"), _FUSED,
        ),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:sub_mul_pow"),
        published=(
            Published(
                "operators",
                (("unfused", 2.0), ("custom:sub_mul_pow", 1.0)),
                "count",
                note="The published two are Sub and Mul of the composite; the graph here has Mul "
                "and Pow in front of them, which the kernel does too.",
            ),
        ),
        source="graph kernels of MindSpore, a composite operator",
        why_differ=(_NO_TIMES,),
        work=Work(bytes=42 * _MB),
        rounds=24,
        graph=True,
    ),
    Recipe(
        name="conv3x3",
        title="3 x 3 convolutions of ResNet-50, step by step",
        question="What do layout, fusion and precision bring one after the other, and what do the "
        "outputs lose?",
        model="resnet50",
        steps=(
            _UNFUSED,
            Step("only:NchwcTransformer", "layout", "channels in blocks (NchwcTransformer)"),
            Step("fused", "fusion", "every other optimisation, fusions among them"),
            Step("int8", "precision", "8-bit weights and activations, calibrated"),
        ),
        columns=(
            *_TIME, "conv3x3_time", "conv3x3_utilisation", "compute_utilisation",
            "cache_utilisation", "cache_missed_bytes", "agreement_top1", "agreement_top5",
            "output_difference",
        ),
        compare=("unfused", "int8"),
        published=(
            Published(
                "latency",
                (("unfused", 18.2 * _MS), ("int8", 7.5 * _MS)),
                "ns",
                note="The source calls 18.2 ms to 7.5 ms both -42.7 % and +142.7 %; the second is "
                "the gain in throughput, the first is no change of these two times.",
            ),
            Published("conv3x3_time", (("unfused", 13.1 * _MS), ("int8", 3.2 * _MS)), "ns"),
            Published("compute_utilisation", (("unfused", 0.42), ("int8", 0.88)), "fraction"),
            Published(
                "cache_utilisation",
                (("unfused", 0.28), ("int8", 0.76)),
                "fraction",
                basis="counter",
                note="The published cache figure is of a hardware counter, ours is modelled from "
                "shapes: two different quantities that do not compare.",
            ),
            Published(
                "top5_accuracy_change",
                (("int8", -0.003),),
                "fraction",
                note="The published accuracy is of labelled images. Our models have no training, "
                "so the table shows agreement with the baseline instead.",
            ),
        ),
        source="ResNet-50 tuned step by step on an accelerator",
        why_differ=(
            _CPU,
            ("The published step to fewer bits is the accelerator's own; on a CPU the engine runs "
            "fp16 as fp32, so int8 stands in its place."),
            ("The model's weights are random, not trained: agreement is what 8 bits change in this "
            "model, not what a trained one would lose."),
        ),
        work=Work(flops=7.9e9),
        rounds=16,
    ),
    Recipe(
        name="add_relu",
        title="Add + ReLU",
        question="The end of a residual block: what does writing the sum only once bring?",
        model="add_relu",
        steps=(_UNFUSED, *_kernel("add_relu", "Add and Relu"), _FUSED),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:add_relu"),
        why_differ=(),
        work=Work(bytes=21 * _MB),
        rounds=24,
        graph=True,
    ),
    Recipe(
        name="mul_sigmoid",
        title="Mul · Sigmoid (SiLU)",
        question="x · sigmoid(x): ONNX Runtime has an operator for it; how does our kernel "
        "compare?",
        model="mul_sigmoid",
        steps=(_UNFUSED, *_kernel("mul_sigmoid", "Sigmoid and Mul"), _FUSED),
        columns=(*_TIME, *_TRAFFIC, *_MEMORY),
        compare=("unfused", "custom:mul_sigmoid"),
        why_differ=(),
        work=Work(bytes=21 * _MB),
        rounds=24,
        graph=True,
    ),
    Recipe(
        name="conv_bn",
        title="Conv + BatchNormalization, folded",
        question="BatchNormalization after Conv can be part of its weights: what does the second "
        "pass over the tensor cost?",
        model="conv_bn",
        steps=(
            _UNFUSED,
            Step("rules:O1", "folded by rules", "BatchNormalization in the weights, closed form"),
            _FUSED,
        ),
        columns=(*_TIME, *_TRAFFIC),
        compare=("unfused", "rules:O1"),
        why_differ=(),
        work=Work(flops=0.23e9),
        rounds=24,
        graph=True,
    ),
)  # fmt: skip


def find(name: str) -> Recipe:
    """The recipe of that name. Raises FuseScopeError that suggests the nearest."""
    for recipe in RECIPES:
        if recipe.name == name:
            return recipe
    known = [recipe.name for recipe in RECIPES]
    raise FuseScopeError(
        "no_such_recipe", recipe=shown(name), known=", ".join(known), nearest=nearest(name, known)
    )
