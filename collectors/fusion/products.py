"""Rewrites around a matrix product: Gemm, FusedGemm, FusedMatMul."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from fusescope.analysis.patterns.conditions import shape_text
from fusescope.analysis.patterns.pattern import Block, Pattern, Site
from fusescope.analysis.patterns.template import template
from fusescope.collectors.fusion.rewrite import CONTRIB, NewNode, Place, shape

# Those that the engine's kernel of FusedGemm knows, with the defaults of their parameters.
ACTIVATIONS: dict[str, tuple[tuple[str, float], ...]] = {
    "Relu": (),
    "Sigmoid": (),
    "Tanh": (),
    "Softplus": (),
    "Softsign": (),
    "LeakyRelu": (("alpha", 0.01),),
    "Elu": (("alpha", 1.0),),
    "Celu": (("alpha", 1.0),),
    "ThresholdedRelu": (("alpha", 1.0),),
    "HardSigmoid": (("alpha", 0.2), ("beta", 0.5)),
    "Selu": (("alpha", 1.6732632423543772), ("gamma", 1.0507009873554805)),
}


def _operand(end: str, form: str) -> tuple[list[str], str]:
    """Steps in front of operand `end` (a or b), and what the product then reads."""
    lines = {
        "": [],
        "transposed": [f"t{end} = Transpose({end})"],
        "scaled": [f"s{end} = Mul|Div({end}, k{end})"],
        "scaled, transposed": [f"s{end} = Mul|Div({end}, k{end})", f"t{end} = Transpose(s{end})"],
        "transposed, scaled": [f"t{end} = Transpose({end})", f"s{end} = Mul|Div(t{end}, k{end})"],
    }[form]
    return lines, lines[-1].split(" = ")[0] if lines else end


def _products() -> tuple[str, ...]:
    """Every arrangement of transpositions and scalings around one MatMul, largest first."""
    forms = ("", "transposed", "scaled", "scaled, transposed", "transposed, scaled")
    texts = []
    for left, right, behind in itertools.product(forms, forms, (False, True)):
        (before, a), (also, b) = _operand("a", left), _operand("b", right)
        lines = [*before, *also, f"m = MatMul({a}, {b})"]
        lines += ["y = Mul|Div(m, k)"] if behind else []
        if len(lines) > 1:
            texts.append("\n".join(lines))
    return tuple(sorted(texts, key=lambda text: -text.count("\n")))


_FACTORS = ("ka", "kb", "k")


def _is_product(site: Site) -> bool:
    """Factors are constants, and every Transpose exchanges the last two axes: others, as those
    that split heads, are not part of a matrix product."""
    factors = [name for name in _FACTORS if name in site.found.tensors]
    turned = [step for step in ("ta", "tb") if site.has(step)]
    return all(site.view.is_constant(site.tensor(name)) for name in factors) and all(
        _swaps_last_two(site, step) for step in turned
    )


def _swaps_last_two(site: Site, step: str) -> bool:
    node = site.node(step)
    axes = site.view.tensor(node.inputs[0]).shape or ()
    order = node.attributes.get("perm", [*range(len(axes))][::-1])
    count = len(order) if isinstance(order, list) else 0
    return count > 1 and order == [*range(count - 2), count - 1, count - 2]


SCALED_PRODUCT = Pattern(
    title="",
    templates=tuple(template(text) for text in _products()),
    ways=(),
    applies=_is_product,
)
TRANSPOSED_GEMM = Pattern(
    title="",
    templates=(
        template("ta = Transpose(a)\ntb = Transpose(b)\ny = Gemm(ta, tb, *)"),
        template("ta = Transpose(a)\ny = Gemm(ta, b, *)"),
        template("tb = Transpose(b)\ny = Gemm(a, tb, *)"),
    ),
    ways=(),
    applies=_is_product,
)


def single_factors(site: Site) -> Iterator[Block]:
    """Every factor is one number, and none that is divided by is 0."""
    for name in _FACTORS:
        if name not in site.found.tensors:
            continue
        found = shape(site, name)
        if found not in ((), (1,)):
            yield Block("constant_shape", site.tensor(name), {"shape": shape_text(found)})
        values = site.view.values(site.tensor(name)) or ()
        divides = site.node({"ka": "sa", "kb": "sb", "k": "y"}[name]).op_type == "Div"
        if divides and 0.0 in values:
            tensor = site.tensor(name)
            yield Block("constant_value", tensor, {"value": 0, "expected": "another divisor"})


def bias_fits(site: Site) -> Iterator[Block]:
    """The addition broadcasts its other operand to the product, and not the product."""
    left, right, bias = (shape(site, name) for name in ("x", "w", "bias"))
    if left is None or right is None or bias is None or len(left) != 2 or len(right) != 2:
        if bias is None:
            yield Block("unknown_shape", site.tensor("bias"), {"shape": "unknown"})
        return
    product = (left[0], right[1])
    try:
        fits = np.broadcast_shapes(bias, product) == product
    except ValueError:
        fits = False
    if not fits:
        facts = {"have": shape_text(bias), "needs": shape_text(product)}
        yield Block("shape_or_broadcast", site.tensor("bias"), facts)


def two_axes(site: Site) -> Iterator[Block]:
    """FusedGemm multiplies matrices: a MatMul of more axes stays."""
    if site.node("g").op_type == "MatMul":
        for name in ("x", "w"):
            found = site.view.tensor(site.tensor(name)).shape
            if found is None or len(found) != 2:
                axes = "unknown" if found is None else str(len(found))
                yield Block("rank", site.tensor(name), {"axes": axes, "needs": 2})


def gemm(index: Place) -> NewNode:
    """MatMul and Add as Gemm."""
    product = index.node("m")
    return NewNode("Gemm", (*product.inputs, index.tensor("bias")), "m")


def transposed_gemm(index: Place) -> NewNode:
    """Gemm that reads its matrices as they are stored."""
    node = index.node("y")
    attributes = {
        f"trans{end.upper()}": int(index.attribute("y", f"trans{end.upper()}", 0)) ^ 1
        for end in ("a", "b")
        if index.has(f"t{end}")
    }
    inputs = (index.tensor("a"), index.tensor("b"), *node.inputs[2:])
    return NewNode("Gemm", inputs, "y", keeps=True, attributes=attributes)


def fused_gemm(index: Place) -> NewNode:
    """FusedGemm: the product and its activation."""
    op_type = index.node("y").op_type
    attributes: dict[str, str | float] = {"activation": op_type}
    for name, value in ACTIVATIONS[op_type]:
        attributes[f"activation_{name}"] = index.attribute("y", name, value)
    keeps = index.node("g").op_type == "Gemm"
    return NewNode(
        "FusedGemm", index.node("g").inputs, "g", CONTRIB, keeps=keeps, attributes=attributes
    )


def fused_product(index: Place) -> NewNode:
    """FusedMatMul: alpha · op(a) · op(b)."""
    alpha = 1.0
    for name, step in (("ka", "sa"), ("kb", "sb"), ("k", "y")):
        if index.has(step) and name in index.match.tensors:
            factor = index.scalar(name)
            alpha = alpha / factor if index.node(step).op_type == "Div" else alpha * factor
    attributes: dict[str, int | float] = {"alpha": alpha}
    attributes |= {f"trans{end.upper()}": 1 for end in ("a", "b") if index.has(f"t{end}")}
    inputs = (index.tensor("a"), index.tensor("b"))
    return NewNode("FusedMatMul", inputs, "m", CONTRIB, attributes=attributes)
