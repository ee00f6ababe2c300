"""Patterns that start with a convolution."""

from __future__ import annotations

from collections.abc import Iterator

from fusescope.analysis.patterns.conditions import (
    constant,
    constant_clip_bounds,
    dtype,
    dtype_of,
    inner_output,
    op_types,
    rank,
    shape_text,
    single_use,
)
from fusescope.analysis.patterns.layout import blocked_tensors, can_block
from fusescope.analysis.patterns.pattern import Block, Pattern, Site, Way
from fusescope.analysis.patterns.template import template

_CONV_ACTIVATIONS = ("Relu", "Clip", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid")
_BLOCKED_ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "HardSigmoid")
ACTIVATIONS = (
    "Relu|Clip|Sigmoid|Tanh|LeakyRelu|HardSigmoid|HardSwish|Elu|Selu|Celu|PRelu|Softplus|Softsign|"
    "ThresholdedRelu|Gelu|Mish|Swish"
)


def _no_training(site: Site) -> Iterator[Block]:
    """BatchNormalization uses stored statistics, and hands out nothing but its result."""
    node = site.node("y")
    if node.attributes.get("training_mode") == 1 or any(node.outputs[1:]):
        yield Block("training_mode")


def _clip_bounds(site: Site) -> Iterator[Block]:
    yield from constant_clip_bounds(site, "y")


def _half_clip(site: Site) -> Iterator[Block]:
    """Clip has a float16 kernel and convolutions have not, so a cast stands between them."""
    x = site.tensor("x")
    # LeakyRelu has no float16 kernel either, but is taken apart before fusion looks at it.
    apart = site.has("y") and site.node("y").op_type in ("Clip", "LeakyRelu")
    if apart and dtype_of(site, x) == "float16":
        yield Block("dtype", x, {"dtype": "float16", "allowed": "float32"})


def _per_channel(site: Site) -> Iterator[Block]:
    """The constant has one value a channel: [C, 1, …] or [1, C, 1, …]; a scalar for Mul only."""
    tensor, weight = site.tensor("k"), site.view.tensor(site.tensor("w"))
    shape = site.view.tensor(tensor).shape
    if shape is None or not weight.shape:
        return
    if not shape and site.node("y").op_type == "Mul":
        return
    axes = len(weight.shape)
    spread = (weight.shape[0], *[1] * (axes - 2))
    if shape not in (spread, (1, *spread)):
        yield Block(
            "constant_shape", tensor, {"shape": shape_text(shape), "needs": shape_text(spread)}
        )


def _result_first(site: Site) -> Iterator[Block]:
    """The convolution's result is the first operand; the rewrite rule tries no other order."""
    node = site.node("y")
    if site.view.source(node.inputs[0]) != site.tensor("c"):
        yield Block("operand_order", site.tensor("k"), {"operator": node.op_type})


def _is_constant_operand(site: Site) -> bool:
    return site.view.is_constant(site.tensor("k"))


def _is_residual(site: Site) -> bool:
    other = site.tensor("r")
    return not site.view.is_constant(other) and site.view.source(other) != site.tensor("c")


def _same_shape(site: Site) -> Iterator[Block]:
    """Neither operand of the addition is broadcast."""
    total = site.view.tensor(site.tensor("a")).shape
    for name in ("b" if site.has("b") else "c", "r"):
        shape = site.view.tensor(site.tensor(name)).shape
        if None not in (shape, total) and shape != total:
            facts = {"have": shape_text(shape), "needs": shape_text(total)}
            yield Block("shape_or_broadcast", site.tensor(name), facts)


def _known_4d(site: Site) -> Iterator[Block]:
    """Two spatial axes and shapes that are known before the model runs."""
    for name in ("a", "r"):
        shape = site.view.tensor(site.tensor(name)).shape
        if shape is None or any(size < 0 for size in shape):
            yield Block("unknown_shape", site.tensor(name), {"shape": shape_text(shape)})
            return
    axes = rank(site, site.tensor("a"))
    if axes != 4:
        yield Block("rank", site.tensor("a"), {"axes": axes, "needs": 4})


def _both_blocked(site: Site) -> Iterator[Block]:
    """The other operand of the addition comes in channel blocks, as the convolution's result."""
    other = site.view.source(site.tensor("r"))
    if other not in blocked_tensors(site.view):
        producer = site.view.producer(other)
        yield Block("layout", other, {"source": producer.op_type if producer else "model input"})


def _can_block(site: Site) -> Iterator[Block]:
    if not site.conditions.blocked_layout or not can_block(site.node("c"), site.view):
        axes = rank(site, site.tensor("w"))
        if axes is not None and axes != 4:
            yield Block("rank", site.tensor("c"), {"axes": axes, "needs": 4})
        else:
            yield Block("cannot_block", site.tensor("c"))


def _stays_plain(site: Site) -> Iterator[Block]:
    """The convolution is not moved to channel blocks first, where this optimizer has no rule."""
    told = site.conditions
    moves = told.blocked_layout and told.is_on("NchwcTransformer")
    if moves and can_block(site.node("c"), site.view):
        elsewhere = list(_both_blocked(site))
        yield from elsewhere or op_types("c")(site)


def _hard_swish_stays_inside(site: Site) -> Iterator[Block]:
    """HardSwish is fused as a whole unless the model returns it."""
    if site.node("y").op_type == "HardSwish":
        yield from inner_output("y")(site)


def _plain_conv(site: Site) -> Iterator[Block]:
    """Nothing but a normalisation or a constant is folded into a transposed convolution."""
    head = site.node("c").op_type
    if head != "Conv":
        after = next(site.node(step).op_type for step in ("a", "y") if site.has(step))
        yield Block("no_kernel", values={"operators": f"{head} + {after}", "known": ""})


def _adds_two(site: Site) -> Iterator[Block]:
    """The addition is an Add, not a Sum."""
    if site.node("a").op_type != "Add":
        yield Block("form", values={"expected": "Add instead of Sum"})


def _has_bias(site: Site) -> Iterator[Block]:
    """The rewrite needs the place of the bias to be taken; folding a normalisation makes one."""
    inputs = site.node("c").inputs
    if not site.has("b") and (len(inputs) < 3 or not inputs[2]):
        yield Block("no_bias", site.tensor("c"))


CONV_BN = Pattern(
    title="",
    templates=(
        template(
            """
            c = Conv|ConvTranspose(x, w, *)
            y = BatchNormalization(c, scale, shift, mean, var)
            """
        ),
    ),
    ways=(
        Way(
            "ConvBNFusion",
            "basic",
            (
                single_use,
                _no_training,
                constant("w", "scale", "shift", "mean", "var"),
                dtype("x", "float32", "float16"),
            ),
        ),
    ),
    absorbed=("y",),
)
CONV_CONSTANT = Pattern(
    title="",
    templates=(
        template(
            """
            c = Conv|ConvTranspose(x, w, *)
            y = Add|Mul|Sub|Div(c, k)
            """
        ),
    ),
    ways=tuple(
        Way(
            optimizer,
            "basic",
            (
                _plain_conv,
                op_types("y", op_type),
                single_use,
                constant("w"),
                _per_channel,
                _result_first,
                dtype("x", "float32", "float16"),
            ),
        )
        for optimizer, op_type in (("ConvAddFusion", "Add"), ("ConvMulFusion", "Mul"))
    ),
    absorbed=("y",),
    applies=_is_constant_operand,
)
CONV_ACTIVATION = Pattern(
    title="",
    templates=(
        template(
            f"""
            c = Conv|ConvTranspose(x, w, *)
            y = {ACTIVATIONS}(c, *)
            """
        ),
        template(
            f"""
            c = Conv|ConvTranspose(x, w, *)
            b = BatchNormalization(c, *)
            y = {ACTIVATIONS}(b, *)
            """
        ),
    ),
    ways=(
        Way(
            "ConvActivationFusion",
            "extended",
            (
                _plain_conv,
                op_types("y", *_CONV_ACTIVATIONS),
                single_use,
                _clip_bounds,
                dtype("x", "float32", half_from_all=True),
                _half_clip,
            ),
        ),
        Way(
            "NchwcTransformer",
            "all",
            (
                _plain_conv,
                op_types("y", *_BLOCKED_ACTIVATIONS, "HardSwish"),
                single_use,
                _can_block,
                _hard_swish_stays_inside,
                dtype("x", "float32", "float16"),
            ),
        ),
    ),
    absorbed=("y",),
    folded=("b",),
)
_RESIDUAL = (
    template(
        """
        c = Conv|ConvTranspose(x, w, *)
        a = Add|Sum(c, r)
        """
    ),
    template(
        """
        c = Conv|ConvTranspose(x, w, *)
        b = BatchNormalization(c, *)
        a = Add|Sum(b, r)
        """
    ),
)
_RESIDUAL_ACTIVATION = (
    template(
        f"""
        c = Conv|ConvTranspose(x, w, *)
        a = Add|Sum(c, r)
        y = {ACTIVATIONS}(a, *)
        """
    ),
    template(
        f"""
        c = Conv|ConvTranspose(x, w, *)
        b = BatchNormalization(c, *)
        a = Add|Sum(b, r)
        y = {ACTIVATIONS}(a, *)
        """
    ),
)
_RESIDUAL_WAYS = (
    Way(
        "ConvAddActivationFusion",
        "all",
        (
            _plain_conv,
            _adds_two,
            single_use,
            _same_shape,
            _stays_plain,
            _known_4d,
            _has_bias,
            op_types("y", *_CONV_ACTIVATIONS),
            _clip_bounds,
            dtype("x", "float32", "float16"),
            _half_clip,
        ),
    ),
    Way(
        "NchwcTransformer",
        "all",
        (
            _plain_conv,
            single_use,
            _can_block,
            _same_shape,
            _both_blocked,
            op_types("y", *_BLOCKED_ACTIVATIONS),
            dtype("x", "float32", "float16"),
        ),
    ),
)
CONV_ADD = Pattern(
    title="",
    templates=_RESIDUAL,
    ways=_RESIDUAL_WAYS,
    absorbed=("a",),
    folded=("b",),
    applies=_is_residual,
)
CONV_ADD_ACTIVATION = Pattern(
    title="",
    templates=_RESIDUAL_ACTIVATION,
    ways=_RESIDUAL_WAYS,
    absorbed=("a", "y"),
    folded=("b",),
    applies=_is_residual,
)
