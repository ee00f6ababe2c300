"""Rewrites of elementwise operators, activations and normalisations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fusescope.analysis import patterns
from fusescope.analysis.patterns.conditions import not_constant, shape_text, single_use
from fusescope.analysis.patterns.pattern import Block, Fact, Pattern, Site
from fusescope.analysis.patterns.template import Step, Template, template
from fusescope.collectors.fusion.rewrite import CONTRIB, NewNode, Numbers, Place, not_stored, shape

_AFFINE = "Mul|Div|Add|Sub"
_NORMAL = "BatchNormalization"


def _constant_operands(site: Site) -> bool:
    constants = [name for name in ("k", "k2") if name in site.found.tensors]
    return all(site.view.is_constant(site.tensor(name)) for name in constants)


# One operator that computes scale · x + shift, each one value a channel.
AFFINE = Pattern(
    title="",
    templates=(
        template(f"m = {_AFFINE}(x, k)\ny = {_AFFINE}(m, k2)"),
        template(f"m = {_NORMAL}(x, *)\ny = {_AFFINE}(m, k2)"),
        template(f"m = {_AFFINE}(x, k)\ny = {_NORMAL}(m, *)"),
        template(f"m = {_NORMAL}(x, *)\ny = {_NORMAL}(m, *)"),
    ),
    ways=(),
    applies=_constant_operands,
)


GELU = replace(
    patterns.GELU, templates=(*patterns.GELU.templates, *patterns.GELU_OTHER_FORM.templates)
)
_BIAS = Step("x", ("Add",), ("i", "bias"), open_end=False)
BIAS_GELU = replace(
    GELU,
    title="Gelu with bias",
    templates=tuple(Template((_BIAS, *form.steps)) for form in GELU.templates),
    applies=lambda site: GELU.applies(site) and _adds_bias(site),
)


def _adds_bias(site: Site) -> bool:
    """Where there is a bias, it is a weight of one axis."""
    if "bias" not in site.found.tensors:
        return True
    found = shape(site, "bias")
    return found is not None and len(found) == 1 and site.view.is_constant(site.tensor("bias"))


# Decomposed ones have become LayerNormalization by then.
SKIP_LAYER_NORM = replace(
    patterns.SKIP_LAYER_NORM,
    templates=(
        template("b = Add(p, bias)\na = Add(b, o)\ny = LayerNormalization(a, *)"),
        patterns.SKIP_LAYER_NORM.templates[0],
    ),
    absorbed=(),
    applies=_adds_bias,
)


def stored_statistics(site: Site) -> Iterator[Block]:
    """Every BatchNormalization has weights that the model file holds."""
    for node in site.nodes.values():
        if node.op_type == _NORMAL:
            for name in node.inputs[1:5]:
                yield from not_stored(site, name)


def value_a_channel(site: Site) -> Iterator[Block]:
    """The constants have one value, or one for each of the second axis."""
    found = shape(site, "x")
    if found is None:
        yield Block("unknown_shape", site.tensor("x"), {"shape": "unknown"})
        return
    if len(found) < 3:  # without axes behind the channel the kernel gains nothing
        yield Block("rank", site.tensor("x"), {"axes": len(found), "needs": "3 or more"})
        return
    spread = (found[1], *[1] * (len(found) - 2))
    for name in ("k", "k2"):
        if name in site.found.tensors:
            have = shape(site, name)
            single = have is not None and all(size == 1 for size in have)
            if not (single and len(have or ()) <= len(found)) and have not in (
                spread,
                (1, *spread),
            ):
                facts: dict[str, Fact] = {
                    "shape": shape_text(have), "needs": shape_text(spread), "or_one": True,
                }  # fmt: skip
                yield Block("constant_shape", site.tensor(name), facts)


def affine(index: Place) -> NewNode:
    """BatchNormalization with mean 0 and variance 1, which computes scale · x + shift."""
    known = index.view.tensor(index.tensor("x")).shape
    assert known is not None
    scale, shift = np.ones(known[1]), np.zeros(known[1])
    for step, constant in (("m", "k"), ("y", "k2")):
        factor, offset = _line(index, step, constant, known[1])
        scale, shift = factor * scale, factor * shift + offset
    node = index.node("y")
    values = {
        "scale": scale,
        "shift": shift,
        "mean": np.zeros(known[1]),
        "variance": np.ones(known[1]),
    }
    names = {of: index.source.new_name(f"{node.name}/{of}") for of in values}
    return NewNode(
        _NORMAL,
        (index.tensor("x"), *names.values()),
        "y",
        attributes={"epsilon": 0.0},
        weights={names[of]: numbers for of, numbers in values.items()},
    )


def _line(index: Place, step: str, constant: str, channels: int) -> tuple[Numbers, Numbers]:
    """Factor and offset of one step."""
    node = index.node(step)
    if node.op_type == _NORMAL:
        scale, shift, mean, var = (index.source.array(name) for name in node.inputs[1:5])
        factor = scale / np.sqrt(var + index.attribute(step, "epsilon", 1e-5))
        return factor, shift - factor * mean
    value = np.broadcast_to(index.array(constant).reshape(-1), channels)
    one, zero = np.ones(channels), np.zeros(channels)
    lines = {
        "Mul": (value, zero),
        "Div": (1 / value if value.all() else np.full(channels, np.inf), zero),
        "Add": (one, value),
        "Sub": (one, -value),
    }
    return lines[node.op_type]


def gelu_root(site: Site) -> Iterator[Block]:
    """x / √2, or x · √½."""
    if "root" in site.found.tensors:
        wanted = math.sqrt(2) if site.node("d").op_type == "Div" else math.sqrt(0.5)
        for value in site.view.values(site.tensor("root")) or ():
            if abs(value - wanted) > 1e-5 * wanted:
                facts = {"value": value, "expected": round(wanted, 7)}
                yield Block("constant_value", site.tensor("root"), facts)


def bias_of_last_axis(site: Site) -> Iterator[Block]:
    """The bias has one value for each of the last axis, and the other operand all axes."""
    whole, bias, other = (shape(site, name) for name in ("x", "bias", "i"))
    if whole is None:
        yield Block("unknown_shape", site.tensor("x"), {"shape": "unknown"})
    elif bias != whole[-1:] or other != whole:
        facts = {"have": shape_text(bias), "needs": shape_text(whole[-1:])}
        yield Block("shape_or_broadcast", site.tensor("bias"), facts)


def bias_used_once(site: Site) -> Iterator[Block]:
    """Nothing but the addition behind reads what the bias was added to."""
    if site.has("b"):
        yield from (block for block in single_use(site) if block.tensor == site.tensor("b"))


def bias_gelu(index: Place) -> NewNode:
    """The operator BiasGelu."""
    return NewNode("BiasGelu", (index.tensor("i"), index.tensor("bias")), "y", CONTRIB)


def gelu(index: Place) -> NewNode:
    """The operator Gelu."""
    return NewNode("Gelu", (index.tensor("x"),), "y", CONTRIB)


def fast_gelu(index: Place) -> NewNode:
    """The operator FastGelu."""
    return NewNode("FastGelu", (index.tensor("x"),), "y", CONTRIB)


def quick_gelu(index: Place) -> NewNode:
    """x · sigmoid(alpha · x)."""
    alpha = index.scalar("alpha") if index.has("m") else 1.0
    return NewNode("QuickGelu", (index.tensor("x"),), "y", CONTRIB, attributes={"alpha": alpha})


def layer_norm(index: Place) -> NewNode:
    """The operator LayerNormalization over the last axis."""
    return NewNode(
        "LayerNormalization",
        (index.tensor("x"), index.tensor("scale"), index.tensor("shift")),
        "y",
        attributes={"axis": -1, "epsilon": index.scalar("epsilon")},
    )


def last_axis(site: Site) -> Iterator[Block]:
    """The operands have two or three axes of the same sizes, and the last one is normalised by
    weights of one axis; nobody reads the statistics."""
    one, other = shape(site, "p"), shape(site, "o")
    if site.has("b") and one is not None and shape(site, "bias") != one[-1:]:
        facts = {"have": shape_text(shape(site, "bias")), "needs": shape_text(one[-1:])}
        yield Block("shape_or_broadcast", site.tensor("bias"), facts)
    if one is None or other is None:
        yield Block("unknown_shape", site.tensor("o" if one else "p"), {"shape": "unknown"})
        return
    if one != other:
        facts = {"have": shape_text(other), "needs": shape_text(one)}
        yield Block("shape_or_broadcast", site.tensor("o"), facts)
        return
    node = site.node("y")
    if len(one) not in (2, 3):
        yield Block("rank", site.tensor("p"), {"axes": len(one), "needs": "2 or 3"})
    elif node.attributes.get("axis", -1) not in (-1, len(one) - 1):
        yield Block("axis", site.tensor("y"), {"axes": str(node.attributes.get("axis"))})
    for name in node.inputs[1:3]:
        if name and site.view.producer(name) is not None:  # it may be made of the sum itself
            yield from not_constant(site, name)
        weight = site.view.tensor(name).shape if name else (one[-1],)
        if weight != one[-1:]:
            facts = {"shape": shape_text(weight), "needs": shape_text(one[-1:])}
            yield Block("constant_shape", name, facts)
    if any(node.outputs[1:]):
        yield Block("form", site.tensor("y"), {"expected": "LayerNormalization of one output"})


def skip_layer_norm(index: Place) -> NewNode:
    """SkipLayerNormalization; the sum comes out too where somebody else needs it."""
    node, total = index.node("y"), index.tensor("a")
    others = [reader for reader in index.view.consumers(total) if reader.name != node.name]
    wanted = bool(others) or total in index.view.outputs
    outputs = (node.outputs[0], "", "", total) if wanted else (node.outputs[0],)
    inputs = [index.tensor("p"), index.tensor("o"), *node.inputs[1:3]]
    if index.has("b"):
        inputs += [""] * (4 - len(inputs))
        inputs.append(index.tensor("bias"))
    return NewNode(
        "SkipLayerNormalization",
        tuple(inputs),
        "y",
        CONTRIB,
        outputs=outputs,
        attributes={"epsilon": index.attribute("y", "epsilon", 1e-5)},
    )
