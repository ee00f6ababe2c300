"""Operators that work on each element."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fusescope.collectors.translation.backend import Value
from fusescope.collectors.translation.node import Known, Node, as_number

Translate = Callable[[Node], Value]

DTYPES = {1: "float32", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
          10: "float16", 11: "float64"}  # fmt: skip
_UNARY = {
    "Abs": "abs", "Ceil": "ceil", "Cos": "cos", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "Log": "log", "Neg": "negative", "Not": "logical_not", "Reciprocal": "reciprocal",
    "Relu": "relu", "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin",
    "Softplus": "softplus", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
}  # fmt: skip
_BINARY = {
    "Add": "add", "And": "logical_and", "Equal": "equal", "Greater": "greater",
    "GreaterOrEqual": "greater_equal", "Less": "less", "LessOrEqual": "less_equal",
    "Mul": "multiply", "Or": "logical_or", "Pow": "power", "Sub": "subtract", "Xor": "logical_xor",
}  # fmt: skip
_MANY = {"Max": "maximum", "Mean": "add", "Min": "minimum", "Sum": "add"}


def _unary(name: str, node: Node) -> Value:
    return node.backend.apply(name, node.value(0))


def _binary(name: str, node: Node) -> Value:
    return node.backend.apply(name, *_operands(node))


def _operands(node: Node) -> list[Value]:
    """Both, what is one known number as that, where it does not change the shape."""
    found: list[Value] = []
    for place in (0, 1):
        one, other = node.given[place], 1 - place
        number = None
        if isinstance(one, Known) and len(one.array.shape) <= len(node.shape(other)):
            number = as_number(one.array, node.dtype(other))
        found.append(node.value(place) if number is None else number)
    both = all(isinstance(one, bool | int | float) for one in found)
    return [node.value(0), found[1]] if both else found


def _div(node: Node) -> Value:
    """Of integers towards zero."""
    name = "divide" if node.dtype(0).startswith("float") else "divide_int"
    return node.backend.apply(name, *_operands(node))


def _many(name: str, node: Node) -> Value:
    made = node.value(0)
    for place in range(1, len(node.given)):
        made = node.backend.apply(name, made, node.value(place))
    if node.step.op_type == "Mean":
        made = node.backend.apply("divide", made, float(len(node.given)))
    return made


def _clip(node: Node) -> Value:
    limits: list[float | None] = []
    for place, name in ((1, "min"), (2, "max")):
        limit = None
        if name in node.step.attributes:
            limit = node.number(name, 0.0)
        elif node.has(place):
            limit = node.known(place, "limits").reshape(-1)[0].item()
        limits.append(limit)
    return node.backend.apply("clip", node.value(0), *limits)


def _cast(node: Node) -> Value:
    kind = node.integer("to", 0)
    if kind not in DTYPES:
        raise node.unsupported(f"to ONNX's type {kind}")
    return node.backend.cast(node.value(0), DTYPES[kind])


def _gelu(node: Node) -> Value:
    name = "gelu_tanh" if node.text("approximate", "none") == "tanh" else "gelu"
    return node.backend.apply(name, node.value(0))


def _leaky(node: Node) -> Value:
    return node.backend.apply("leaky_relu", node.value(0), node.number("alpha", 0.01))


def _elu(node: Node) -> Value:
    return node.backend.apply("elu", node.value(0), node.number("alpha", 1.0))


def _hard_sigmoid(node: Node) -> Value:
    alpha, beta = node.number("alpha", 0.2), node.number("beta", 0.5)
    return _clipped_line(node, alpha, beta)


def _clipped_line(node: Node, alpha: float, beta: float) -> Value:
    apply = node.backend.apply
    return apply("clip", apply("add", apply("multiply", node.value(0), alpha), beta), 0.0, 1.0)


def _hard_swish(node: Node) -> Value:
    return node.backend.apply("multiply", node.value(0), _clipped_line(node, 1 / 6, 0.5))


def _prelu(node: Node) -> Value:
    x, backend = node.value(0), node.backend
    scaled = backend.apply("multiply", x, node.value(1))
    return backend.where(backend.apply("less", x, 0.0), scaled, x)


def _where(node: Node) -> Value:
    return node.backend.where(node.value(0), node.value(1), node.value(2))


TABLE: dict[str, Translate] = {
    **{name: partial(_unary, own) for name, own in _UNARY.items()},
    **{name: partial(_binary, own) for name, own in _BINARY.items()},
    **{name: partial(_many, own) for name, own in _MANY.items()},
    "Cast": _cast,
    "Clip": _clip,
    "Div": _div,
    "Elu": _elu,
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "LeakyRelu": _leaky,
    "PRelu": _prelu,
    "Where": _where,
}
