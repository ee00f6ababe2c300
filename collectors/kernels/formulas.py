"""Elementwise operators as source text: the only operators that get into generated kernels.

A formula takes the names of float32 variables of the generated function and returns an expression.
Nothing of a model gets into it but numbers, written by `number`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from fusescope.analysis.graph import Graph, Node
from fusescope.collectors.kernels.group import size

Formula = Callable[[Sequence[str]], str]
LARGEST_POWER = 8

# Functions that formulas may call. float32 throughout: a float64 would halve the vector width.
# exp: 2^n · e^r with |r| <= ln(2)/2 and a polynomial of degree 7 (Cephes), about 1e-7 relative.
# tanh, erf: a series near 0, where the other form cancels; 1 - 2/(e^2x + 1) and Abramowitz and
# Stegun 7.1.26 (1.5e-7 absolute) elsewhere.
HELPERS = """
F = np.float32


@njit(inline="always")
def exp(x):
    x = F(88.8) if x > F(88.8) else x
    x = F(-104.0) if x < F(-104.0) else x
    n = np.floor(x * F(1.44269504) + F(0.5))
    r = x - n * F(0.693359375) + n * F(2.12194440e-4)
    p = F(1.9875691500e-4)
    p = p * r + F(1.3981999507e-3)
    p = p * r + F(8.3334519073e-3)
    p = p * r + F(4.1665795894e-2)
    p = p * r + F(1.6666665459e-1)
    p = p * r + F(5.0000001201e-1)
    p = p * r * r + r + F(1.0)
    k = np.int32(n if n == n else F(0.0))
    half = np.int32(k >> np.int32(1))
    first = np.int32((half + np.int32(127)) << np.int32(23)).view(np.float32)
    second = np.int32((k - half + np.int32(127)) << np.int32(23)).view(np.float32)
    return p * first * second


@njit(inline="always")
def sigmoid(x):
    return F(1.0) / (F(1.0) + exp(-x))


@njit(inline="always")
def tanh(x):
    z = x * x
    near = F(-5.70498872745e-3) * z + F(2.06390887954e-2)
    near = near * z + F(-5.37397155531e-2)
    near = near * z + F(1.33314422036e-1)
    near = near * z + F(-3.33332819422e-1)
    near = near * z * x + x
    far = F(1.0) - F(2.0) / (exp(F(2.0) * abs(x)) + F(1.0))
    far = -far if x < F(0.0) else far
    return near if abs(x) < F(0.625) else far


@njit(inline="always")
def erf(x):
    z = x * x
    near = F(-8.5483270e-4) * z + F(5.2239776e-3)
    near = near * z + F(-2.6866171e-2)
    near = near * z + F(1.1283792e-1)
    near = near * z + F(-3.7612639e-1)
    near = near * z * x + F(1.1283792) * x
    t = F(1.0) / (F(1.0) + F(0.3275911) * abs(x))
    far = F(1.061405429) * t + F(-1.453152027)
    far = far * t + F(1.421413741)
    far = far * t + F(-0.284496736)
    far = far * t + F(0.254829592)
    far = F(1.0) - far * t * exp(-z)
    far = -far if x < F(0.0) else far
    return near if abs(x) < F(0.5) else far


@njit(inline="always")
def minimum(a, b):
    least = a if a < b else b
    return a if a != a else least


@njit(inline="always")
def maximum(a, b):
    most = a if a > b else b
    return a if a != a else most
"""


def number(value: float) -> str:
    """A float32 literal of the generated code."""
    return f"F({float(value)!r})"


def _join(operator: str) -> Formula:
    return lambda names: f" {operator} ".join(names)


def _nested(function: str) -> Formula:
    def formula(names: Sequence[str]) -> str:
        text = names[0]
        for name in names[1:]:
            text = f"{function}({text}, {name})"
        return text

    return formula


# op type -> (fewest inputs, most inputs, formula) of operators that no attribute changes
_PLAIN: Mapping[str, tuple[int, int, Formula]] = {
    "Add": (2, 2, _join("+")),
    "Sub": (2, 2, _join("-")),
    "Mul": (2, 2, _join("*")),
    "Div": (2, 2, _join("/")),
    "Sum": (1, 8, _join("+")),
    "Min": (1, 8, _nested("minimum")),
    "Max": (1, 8, _nested("maximum")),
    "Relu": (1, 1, lambda n: f"F(0.0) if {n[0]} < F(0.0) else {n[0]}"),
    "PRelu": (2, 2, lambda n: f"{n[1]} * {n[0]} if {n[0]} < F(0.0) else {n[0]}"),
    "Sigmoid": (1, 1, lambda n: f"sigmoid({n[0]})"),
    "Tanh": (1, 1, lambda n: f"tanh({n[0]})"),
    "Erf": (1, 1, lambda n: f"erf({n[0]})"),
    "Exp": (1, 1, lambda n: f"exp({n[0]})"),
    "Neg": (1, 1, lambda n: f"-{n[0]}"),
    "Abs": (1, 1, lambda n: f"abs({n[0]})"),
    "Sqrt": (1, 1, lambda n: f"np.sqrt({n[0]})"),
    "Reciprocal": (1, 1, lambda n: f"F(1.0) / {n[0]}"),
    "HardSwish": (
        1,
        1,
        lambda n: (
            f"{n[0]} * minimum(maximum({n[0]} * {number(1 / 6)} + F(0.5), F(0.0)), F(1.0))"
        ),
    ),
}  # fmt: skip


def formula_of(node: Node, graph: Graph) -> tuple[tuple[str, ...], Formula] | None:
    """The tensors that a node's formula reads, in its order, and the formula.

    None for an operator that is not known, or not in this form: another number of inputs, or
    an attribute or an exponent that is not a plain number.
    """
    inputs = node.inputs
    plain = _PLAIN.get(node.op_type)
    if plain is not None:
        minimum, maximum, formula = plain
        return (inputs, formula) if minimum <= len(inputs) <= maximum and all(inputs) else None
    match node.op_type:
        case "Pow":
            return _power(node, graph)
        case "Clip":
            return _clip(node)
        case "Gelu":
            return _gelu(node)
        case "LeakyRelu":
            alpha = _attribute(node, "alpha", 0.01)
            return _of_one(
                node, alpha, lambda n: f"{number(alpha)} * {n[0]} if {n[0]} < F(0.0) else {n[0]}"
            )
        case "Elu":
            alpha = _attribute(node, "alpha", 1.0)
            return _of_one(
                node,
                alpha,
                lambda n: (
                    f"{number(alpha)} * (exp({n[0]}) - F(1.0)) if {n[0]} < F(0.0) else {n[0]}"
                ),
            )
        case "HardSigmoid":
            alpha, beta = _attribute(node, "alpha", 0.2), _attribute(node, "beta", 0.5)
            return _of_one(
                node,
                alpha + beta,
                lambda n: (
                    f"minimum(maximum({n[0]} * {number(alpha)} + {number(beta)}, F(0.0)), F(1.0))"
                ),
            )
    return None


OP_TYPES = frozenset((*_PLAIN, "Pow", "Clip", "LeakyRelu", "Elu", "HardSigmoid", "Gelu"))


def _of_one(
    node: Node, attributes: float, formula: Formula
) -> tuple[tuple[str, ...], Formula] | None:
    if len(node.inputs) != 1 or not math.isfinite(attributes):
        return None
    return node.inputs, formula


def _attribute(node: Node, name: str, default: float) -> float:
    value = node.attributes.get(name, default)
    return float(value) if isinstance(value, int | float) else math.nan


def _gelu(node: Node) -> tuple[tuple[str, ...], Formula] | None:
    """x · Φ(x), or what `approximate` says of it by tanh."""
    match node.attributes.get("approximate", "none"):
        case "none":
            inner = "erf({0} * F(0.7071067811865476))"
        case "tanh":
            cube = "{0} * {0} * {0} * F(0.044715)"
            inner = f"tanh(F(0.7978845608028654) * ({{0}} + {cube}))"
        case _:
            return None
    return _of_one(node, 0.0, lambda n: f"F(0.5) * {n[0]} * (F(1.0) + {inner.format(n[0])})")


def _power(node: Node, graph: Graph) -> tuple[tuple[str, ...], Formula] | None:
    """A product, for a constant whole exponent from 1 to LARGEST_POWER; a root for 0.5."""
    if len(node.inputs) != 2:
        return None
    exponent = graph.tensor.get(node.inputs[1])
    if exponent is None or not exponent.constant or exponent.overridable:
        return None
    if exponent.shape is None or size(exponent.shape) != 1 or not exponent.values:
        return None
    [power] = exponent.values
    if power == 0.5:
        return node.inputs[:1], lambda n: f"np.sqrt({n[0]})"
    if power != int(power) or not 1 <= power <= LARGEST_POWER:
        return None
    return node.inputs[:1], lambda n: " * ".join([n[0]] * int(power))


def _clip(node: Node) -> tuple[tuple[str, ...], Formula] | None:
    """Bounds are inputs that may be absent; before opset 11 attributes."""
    bounds = [name for name in node.inputs[1:3] if name]
    low = len(node.inputs) > 1 and bool(node.inputs[1])
    if bounds:
        if low and len(bounds) == 2:
            return (node.inputs[0], *bounds), lambda n: f"minimum(maximum({n[0]}, {n[1]}), {n[2]})"
        name = "maximum" if low else "minimum"
        return (node.inputs[0], *bounds), lambda n: f"{name}({n[0]}, {n[1]})"
    told = [
        (function, _attribute(node, key, math.nan))
        for function, key in (("maximum", "min"), ("minimum", "max"))
        if key in node.attributes
    ]
    if not told or not all(math.isfinite(value) for _, value in told):
        return None

    def formula(names: Sequence[str]) -> str:
        text = names[0]
        for function, value in told:
            text = f"{function}({text}, {number(value)})"
        return text

    return node.inputs[:1], formula
