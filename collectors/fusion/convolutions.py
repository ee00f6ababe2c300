"""Rewrites that start with a convolution: folding in closed form, and FusedConv."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fusescope.analysis.patterns.conditions import constant_clip_bounds, shape_text
from fusescope.analysis.patterns.pattern import Block, Site
from fusescope.collectors.fusion.rewrite import (
    CONTRIB,
    Attribute,
    NewNode,
    Numbers,
    Place,
    not_stored,
    shape,
)

# Those that the engine's kernel of FusedConv knows, with the defaults of their parameters.
ACTIVATIONS: dict[str, tuple[tuple[str, float], ...]] = {
    "Relu": (),
    "Sigmoid": (),
    "Tanh": (),
    "LeakyRelu": (("alpha", 0.01),),
    "HardSigmoid": (("alpha", 0.2), ("beta", 0.5)),
    "HardSwish": (),
    "Clip": (),
}
_LOWEST, _HIGHEST = (float(bound) for bound in (np.finfo("f").min, np.finfo("f").max))


def no_training(site: Site) -> Iterator[Block]:
    """BatchNormalization uses stored statistics, and hands out nothing but its result."""
    for node in site.nodes.values():
        trains = node.attributes.get("training_mode") == 1 or any(node.outputs[1:])
        if node.op_type == "BatchNormalization" and trains:
            yield Block("training_mode")


def one_statistic_a_channel(site: Site) -> Iterator[Block]:
    """BatchNormalization has one value a channel; before opset 9 it could have one a place."""
    for node in site.nodes.values():
        if node.op_type == "BatchNormalization":
            for name in node.inputs[1:5]:
                found = site.view.tensor(name).shape
                if found is not None and len(found) != 1:
                    yield Block("constant_shape", name, {"shape": shape_text(found)})


def stored_bias(site: Site) -> Iterator[Block]:
    """The convolution has no bias, or one that the model file holds."""
    inputs = site.node("c").inputs
    if len(inputs) > 2 and inputs[2]:
        yield from not_stored(site, inputs[2])


def plain(site: Site) -> Iterator[Block]:
    """There is a fused kernel for Conv, and none for ConvTranspose."""
    if site.node("c").op_type != "Conv":
        joined = " + ".join(node.op_type for node in site.nodes.values())
        yield Block("no_kernel", values={"operators": joined, "known": ""})


def clip_bounds(site: Site) -> Iterator[Block]:
    """A Clip's bounds are stored, or absent."""
    yield from constant_clip_bounds(site, "y")
    node = site.nodes.get("y")
    if node is not None and node.op_type == "Clip":
        for bound in node.inputs[1:3]:
            if bound and site.view.is_constant(bound):
                yield from not_stored(site, bound)


def same_shape(site: Site) -> Iterator[Block]:
    """Both operands of the addition have its shape: the kernel broadcasts nothing."""
    total = shape(site, "a")
    if total is None:
        yield Block("unknown_shape", site.tensor("a"), {"shape": "unknown"})
        return
    for name in ("c", "r"):
        found = shape(site, name)
        if found != total:
            facts = {"have": shape_text(found), "needs": shape_text(total)}
            yield Block("shape_or_broadcast", site.tensor(name), facts)


def one_a_channel(site: Site) -> Iterator[Block]:
    """The constant has one value, or one a channel: [C, 1, …] or [1, C, 1, …]."""
    found, weight = shape(site, "k"), shape(site, "w")
    if found is None or weight is None or len(weight) < 3:
        yield Block("unknown_shape", site.tensor("k"), {"shape": shape_text(found)})
        return
    spread = (_channels_out(site, weight), *[1] * (len(weight) - 2))
    single = len(found) <= len(weight) and all(size == 1 for size in found)
    if not single and found not in (spread, (1, *spread)):
        facts = {"shape": shape_text(found), "needs": shape_text(spread)}
        yield Block("constant_shape", site.tensor("k"), facts)


def fold_normalisation(index: Place) -> NewNode:
    """y = s·(W∗x + b - mean) + shift with s = scale / √(var + ε), so W' = s·W and
    b' = s·(b - mean) + shift."""
    scale, shift, mean, var = (index.array(name) for name in ("scale", "shift", "mean", "var"))
    factor = scale / np.sqrt(var + index.attribute("y", "epsilon", 1e-5))
    return _folded(index, factor, shift - factor * mean)


def fold_constant(index: Place) -> NewNode:
    """One Mul, Div, Add or Sub of a constant behind the convolution, into its weights."""
    channels = _outputs(index)
    constant = np.broadcast_to(index.array("k").reshape(-1), channels)
    one, zero = np.ones(channels), np.zeros(channels)
    factor, shift = {
        "Mul": (constant, zero),
        "Div": (1 / constant, zero),
        "Add": (one, constant),
        "Sub": (one, -constant),
    }[index.node("y").op_type]
    return _folded(index, factor, shift)


def fused_conv(index: Place) -> NewNode:
    """FusedConv: convolution, then the addition of `r` where there is one, then the activation."""
    convolution = index.node("c")
    inputs = list(convolution.inputs)
    if index.has("a"):
        inputs += [""] * (3 - len(inputs))
        inputs.append(index.tensor("r"))
    attributes: dict[str, Attribute] = {}
    if index.has("y"):
        attributes["activation"] = index.node("y").op_type
        if parameters := _parameters(index):
            attributes["activation_params"] = parameters
    return NewNode("FusedConv", tuple(inputs), "c", CONTRIB, keeps=True, attributes=attributes)


def _parameters(index: Place) -> list[float]:
    node = index.node("y")
    if node.op_type != "Clip":
        return [index.attribute("y", name, value) for name, value in ACTIVATIONS[node.op_type]]
    if len(node.inputs) == 1:  # attributes, before opset 11
        return [index.attribute("y", "min", _LOWEST), index.attribute("y", "max", _HIGHEST)]
    bounds = [_LOWEST, _HIGHEST]
    for position, name in enumerate(node.inputs[1:3]):
        if name:
            bounds[position] = float(index.source.array(name).reshape(-1)[0])
    return bounds


def _folded(index: Place, factor: Numbers, shift: Numbers) -> NewNode:
    """The convolution with factor·W as weight and factor·b + shift as bias."""
    node, weight = index.node("c"), index.array("w")
    has_bias = len(node.inputs) > 2 and bool(node.inputs[2])
    bias = index.source.array(node.inputs[2]) if has_bias else np.zeros(len(factor))
    if node.op_type == "Conv":
        folded = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
    else:  # [C in, C out / group, …]: the outputs of a group lie side by side
        groups = int(index.attribute("c", "group", 1))
        split = weight.reshape(groups, -1, *weight.shape[1:])
        folded = split * factor.reshape(groups, 1, -1, *[1] * (weight.ndim - 2))
        folded = folded.reshape(weight.shape)
    names = [index.source.new_name(f"{node.name}/{of}") for of in ("folded_weight", "folded_bias")]
    return NewNode(
        node.op_type,
        (node.inputs[0], *names),
        "c",
        keeps=True,
        weights={names[0]: folded, names[1]: factor * bias + shift},
    )


def _outputs(index: Place) -> int:
    weight = index.array("w")
    if index.node("c").op_type == "Conv":
        return int(weight.shape[0])
    return int(weight.shape[1] * index.attribute("c", "group", 1))


def _channels_out(site: Site, weight: tuple[int, ...]) -> int:
    node = site.node("c")
    group = node.attributes.get("group", 1)
    transposed = weight[1] * (group if isinstance(group, int) else 1)
    return weight[0] if node.op_type == "Conv" else transposed
