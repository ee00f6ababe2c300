"""Cases for each pattern: a tiny model, and what is expected to block the fusion at level all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import onnx

from fusescope.analysis import patterns
from fusescope.analysis.patterns import Pattern
from tests.pattern_models import Builder

Model = Callable[[], onnx.ModelProto]


@dataclass(frozen=True)
class Case:
    """`blocked` is the code expected at level all, None where the engine fuses."""

    label: str
    pattern: Pattern
    model: Model
    blocked: str | None
    opset: int = 17
    disabled: tuple[str, ...] = ()
    only_where_blocked_layout: bool = False


def finish(
    b: Builder, result: str, tensors: dict[str, str], two: str, out: str, opset: int
) -> onnx.ModelProto:
    """The model with a second consumer of, or a model output at, a named inner tensor."""
    outputs = [result]
    if two:
        outputs.append(b.node("Neg", tensors[two]))
    if out:
        outputs.append(tensors[out])
    return b.model(*outputs, opset=opset)


def activation(b: Builder, op_type: str, x: str, *, bounds: str = "constant") -> str:
    if op_type == "Clip":
        return {
            "constant": lambda: b.node("Clip", x, b.number(0), b.number(6)),
            "no minimum": lambda: b.node("Clip", x, "", b.number(6)),
            "none": lambda: b.node("Clip", x),
            "input": lambda: b.node("Clip", x, b.number(0), b.input()),
        }[bounds]()
    if op_type == "PRelu":
        return b.node("PRelu", x, b.weight(1))
    return b.node(op_type, x)


def conv_bn(
    op_type: str = "Conv",
    dtype: str = "float32",
    axes: int = 2,
    group: int = 1,
    bias: bool = False,
    weight: str = "constant",
    statistics: bool = True,
    train: bool = False,
    between: str = "",
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    x = b.input(1, 4, *[8] * axes)
    shape = (16, 4 // group) if op_type == "Conv" else (4, 16 // group)
    w = b.weight_or_input(weight != "input", *shape, *[3] * axes)
    if weight == "overridable":
        b.inputs.append(
            onnx.helper.make_tensor_value_info(w, onnx.TensorProto.FLOAT, (*shape, *[3] * axes))
        )
    if weight == "computed":
        w = b.node("Mul", w, b.number(2.0))
    if weight == "quantised":
        w = b.node("DequantizeLinear", b.node("QuantizeLinear", w, b.number(0.1)), b.number(0.1))
    c = b.node(op_type, x, w, *([b.weight(16)] if bias else []), pads=[1] * axes * 2, group=group)
    if between:
        c = b.node(between, c)
    scale = b.weight_or_input(statistics, 16)
    rest = [b.weight(16) for _ in range(3)]
    if train:
        y = b.node("BatchNormalization", c, scale, *rest, outputs=3, training_mode=1)
    else:
        y = b.node("BatchNormalization", c, scale, *rest)
    return finish(b, y, {"c": c}, two, out, opset)


def conv_constant(
    op_type: str = "Add",
    shape: tuple[int, ...] = (16, 1, 1),
    head: str = "Conv",
    axes: int = 2,
    bias: bool = False,
    constant: bool = True,
    swap: bool = False,
    two: str = "",
    out: str = "",
) -> onnx.ModelProto:
    b = Builder()
    x = b.input(1, 16, *[8] * axes)
    w = b.weight_or_input(constant, 16, 16, *[3] * axes)
    c = b.node(head, x, w, *([b.weight(16)] if bias else []), pads=[1] * axes * 2)
    k = b.weight(*shape) if shape else b.number(2.0)
    y = b.node(op_type, *((k, c) if swap else (c, k)))
    return finish(b, y, {"c": c}, two, out, 17)


def conv_activation(
    op_type: str = "Relu",
    head: str = "Conv",
    dtype: str = "float32",
    channels: int = 16,
    axes: int = 2,
    group: int = 1,
    bn: bool = False,
    constant: bool = True,
    bounds: str = "constant",
    dynamic: bool = False,
    after: str = "",
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    sizes: list[int | str] = ["h", "w"] if dynamic else [8] * axes
    x = b.input(1, channels, *sizes)
    w = b.weight_or_input(constant, channels, channels // group, *[3] * axes)
    c = b.node(head, x, w, pads=[1] * axes * 2, group=group)
    last = c
    if bn:
        last = b.node("BatchNormalization", c, *[b.weight(channels) for _ in range(4)])
    y = activation(b, op_type, last, bounds=bounds)
    if after:
        y = b.node(after, y)
    return finish(b, y, {"c": c, "b": last, "y": y}, two, out, opset)


def residual(
    op_type: str = "Relu",
    other: str = "conv",
    add: str = "Add",
    dtype: str = "float32",
    axes: int = 2,
    group: int = 1,
    channels: int = 16,
    bias: bool = False,
    bn: bool = False,
    constant: bool = True,
    dynamic: bool = False,
    swap: bool = False,
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    sizes: list[int | str] = ["h", "w"] if dynamic else [8] * axes
    x = b.input(1, channels, *sizes)

    def conv(weight: str) -> str:
        inputs = [x, weight, *([b.weight(channels)] if bias else [])]
        return b.node("Conv", *inputs, pads=[1] * axes * 2, group=group)

    def weight(known: bool = True) -> str:
        return b.weight_or_input(known, channels, channels // group, *[3] * axes)

    c = conv(weight(constant))
    last = c
    if bn:
        last = b.node("BatchNormalization", c, *[b.weight(channels) for _ in range(4)])
    r = {
        "x": lambda: x,
        "input": lambda: b.input(1, channels, *sizes),
        "broadcast": lambda: b.input(1, channels, *[1] * axes),
        "conv": lambda: conv(weight()),
        "pool": lambda: b.node("MaxPool", x, kernel_shape=[3] * axes, pads=[1] * axes * 2),
        "sigmoid": lambda: b.node("Sigmoid", x),
    }[other]()
    a = b.node(add, *((r, last) if swap else (last, r)))
    y = activation(b, op_type, a) if op_type else a
    return finish(b, y, {"c": c, "a": a}, two, out, opset)


def matmul_add(
    left: Sequence[int | str] = (4, 8),
    right: tuple[int, ...] = (8, 6),
    bias: Sequence[int | str] = (6,),
    dtype: str = "float32",
    constant: bool = True,
    add: str = "Add",
    swap: bool = False,
    then: str = "",
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    x = b.input(*left)
    m = b.node("MatMul", x, b.weight_or_input(constant, *right))
    k = b.weight(*bias) if constant else b.input(*bias)  # type: ignore[arg-type]
    a = b.node(add, *((k, m) if swap else (m, k)))
    y = activation(b, then, a) if then else a
    return finish(b, y, {"m": m, "a": a}, two, out, opset)


def gemm_activation(
    op_type: str = "Relu",
    head: str = "Gemm",
    dtype: str = "float32",
    bias: bool = True,
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    inputs = [b.input(4, 8), b.weight(8, 6), *([b.weight(6)] if bias and head == "Gemm" else [])]
    g = b.node(head, *inputs)
    return finish(b, activation(b, op_type, g), {"g": g}, two, out, opset)


def gelu(
    form: int = 1,
    root: float = math.sqrt(2),
    one: float = 1.0,
    half: float = 0.5,
    shape: tuple[int, ...] = (),
    dtype: str = "float32",
    constant: bool = True,
    swap: bool = False,
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    x = b.node("Abs", b.input(2, 4, 8))

    def known(value: float) -> str:
        return b.number(value, shape)

    def either(op_type: str, first: str, second: str) -> str:
        return b.node(op_type, *((second, first) if swap else (first, second)))

    if form == 3:
        d = b.node("Mul", x, known(1 / root))
    else:
        d = b.node("Div", x, known(root) if constant else b.input(1))
    e = b.node("Erf", d)
    a = either("Add", e, known(one))
    if form in (1, 3):
        m = either("Mul", x, a)
        y = either("Mul", m, known(half))
    elif form == 2:
        m = either("Mul", x, known(half))
        y = either("Mul", m, a)
    else:
        m = either("Mul", a, known(half))
        y = either("Mul", x, m)
    return finish(b, y, {"d": d, "e": e, "a": a, "m": m}, two, out, opset)


def fast_gelu(
    form: int = 2,
    power: float = 3.0,
    k1: float = 0.044715,
    k2: float = math.sqrt(2 / math.pi),
    dtype: str = "float32",
    swap: bool = False,
    returned: bool = False,
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    x = b.node("Abs", b.input(2, 4, 8))

    def either(op_type: str, first: str, second: str) -> str:
        return b.node(op_type, *((second, first) if swap else (first, second)))

    if form == 2:
        q = either("Mul", b.node("Pow", x, b.number(power)), b.number(k1))
        u = either("Mul", either("Add", x, q), b.number(k2))
    else:
        q = either("Mul", either("Mul", x, b.number(k1)), x)
        u = either("Mul", either("Add", q, b.number(1.0)), either("Mul", x, b.number(k2)))
    t = b.node("Tanh", u)
    s = either("Add", t, b.number(1.0))
    h = either("Mul", x, b.number(0.5))
    y = either("Mul", h, s)
    result = y if returned else b.node("Abs", y)
    return finish(b, result, {"u": u, "h": h, "y": y}, two, out, opset)


def quick_gelu(
    alpha: float | None = None,
    shape: tuple[int, ...] = (),
    dtype: str = "float32",
    constant: bool = True,
    swap: bool = False,
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    x = b.node("Abs", b.input(2, 4, 8))

    def either(op_type: str, first: str, second: str) -> str:
        return b.node(op_type, *((second, first) if swap else (first, second)))

    m = x
    if alpha is not None:
        m = either("Mul", x, b.number(alpha, shape) if constant else b.input())
    s = b.node("Sigmoid", m)
    return finish(b, either("Mul", x, s), {"m": m, "s": s}, two, out, opset)


def hard_swish(form: int = 1) -> onnx.ModelProto:
    b = Builder()
    x = b.node("Abs", b.input(2, 4, 8))
    k = b.node("Clip", b.node("Add", x, b.number(3.0)), b.number(0.0), b.number(6.0))
    if form == 1:
        y = b.node("Div", b.node("Mul", x, k), b.number(6.0))
    else:
        y = b.node("Mul", x, b.node("Mul", k, b.number(1 / 6)))
    return b.model(y)


def layer_norm(
    axis: Sequence[int] = (-1,),
    second_axis: Sequence[int] | None = None,
    power: float = 2.0,
    scale: tuple[int, ...] = (8,),
    shift: tuple[int, ...] = (8,),
    shape: Sequence[int | str] = (2, 4, 8),
    dtype: str = "float32",
    constant: bool = True,
    twice: bool = False,
    square: str = "Pow",
    divide: str = "Div",
    affine: bool = True,
    swap: bool = False,
    skip: bool = False,
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    x = b.node("Abs", b.input(*shape))
    if skip:
        x = b.node("Add", x, b.node("Neg", b.input(*shape)))
    total = x

    def mean(of: str, axes: Sequence[int]) -> str:
        if opset < 18:
            return b.node("ReduceMean", of, axes=list(axes))
        return b.node("ReduceMean", of, b.integers(*axes))

    def either(op_type: str, first: str, second: str) -> str:
        return b.node(op_type, *((second, first) if swap else (first, second)))

    m = mean(x, axis)
    s = b.node("Sub", x, m)
    s2 = b.node("Sub", x, m) if twice else s
    q = b.node("Pow", s, b.number(power)) if square == "Pow" else b.node("Mul", s, s)
    v = mean(q, second_axis or axis)
    r = b.node("Sqrt", either("Add", v, b.number(1e-5)))
    d = b.node("Div", s2, r) if divide == "Div" else b.node("Mul", s2, b.node("Reciprocal", r))
    y = z = d
    if affine:
        z = either("Mul", d, b.weight_or_input(constant, *scale))
        y = either("Add", z, b.weight_or_input(constant, *shift))
    tensors = {"m": m, "s": s, "q": q, "d": d, "z": z, "sum": total}
    return finish(b, y, tensors, two, out, opset)


def rms_norm(
    axis: int = -1,
    power: float = 2.0,
    scale: tuple[int, ...] = (8,),
    dtype: str = "float32",
    square: str = "Pow",
    divide: str = "Div",
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    x = b.node("Abs", b.input(2, 4, 8))
    q = b.node("Pow", x, b.number(power)) if square == "Pow" else b.node("Mul", x, x)
    v = (
        b.node("ReduceMean", q, axes=[axis])
        if opset < 18
        else b.node("ReduceMean", q, b.integers(axis))
    )
    r = b.node("Sqrt", b.node("Add", v, b.number(1e-5)))
    d = {
        "Div": lambda: b.node("Div", x, r),
        "Reciprocal": lambda: b.node("Mul", x, b.node("Reciprocal", r)),
        "one over": lambda: b.node("Mul", x, b.node("Div", b.number(1.0), r)),
    }[divide]()
    return finish(b, b.node("Mul", d, b.weight(*scale)), {"q": q, "v": v, "d": d}, two, out, opset)


def skip_layer_norm(
    left: Sequence[int | str] = (2, 4, 8),
    right: Sequence[int | str] = (2, 4, 8),
    dtype: str = "float32",
    shift: bool = True,
    two: str = "",
    out: str = "",
    opset: int = 17,
) -> onnx.ModelProto:
    b = Builder(dtype)
    a = b.node("Add", b.node("Abs", b.input(*left)), b.node("Neg", b.input(*right)))
    y = b.node("LayerNormalization", a, b.weight(8), *([b.weight(8)] if shift else []))
    return finish(b, y, {"a": a}, two, out, opset)


def elementwise(*op_types: str) -> onnx.ModelProto:
    b = Builder()
    x, other = b.input(2, 4, 8), b.input(2, 4, 8)
    for op_type in op_types:
        binary = op_type in ("Add", "Mul", "Sub", "Div")
        x = b.node(op_type, x, *([other] if binary else []))
    return b.model(x)


def _cases() -> Iterator[Case]:
    def case(
        pattern: Pattern,
        make: Callable[..., onnx.ModelProto],
        blocked: str | None,
        disabled: tuple[str, ...] = (),
        only_where_blocked_layout: bool = False,
        **options: Any,
    ) -> Case:
        shown = ", ".join(f"{key}={value}" for key, value in options.items())
        label = f"{make.__name__}({shown})" + (f" without {','.join(disabled)}" if disabled else "")
        return Case(
            label,
            pattern,
            lambda: make(**options),
            blocked,
            options.get("opset", 17),
            disabled,
            only_where_blocked_layout,
        )

    p = patterns.CONV_BN
    for options in (
        {}, {"bias": True}, {"axes": 1}, {"axes": 3}, {"group": 2}, {"dtype": "float16"},
        {"op_type": "ConvTranspose"}, {"op_type": "ConvTranspose", "group": 2},
        {"weight": "computed"}, {"between": "Identity"}, {"between": "Dropout"},
        *({"opset": opset} for opset in (9, 13, 15, 18, 20, 22, 24)),
    ):  # fmt: skip
        yield case(p, conv_bn, None, **options)
    yield case(p, conv_bn, "extra_consumer", two="c")
    yield case(p, conv_bn, "extra_consumer", two="c", op_type="ConvTranspose")
    yield case(p, conv_bn, "graph_output_between", out="c")
    yield case(p, conv_bn, "non_constant_weight", weight="input")
    yield case(p, conv_bn, "non_constant_weight", weight="quantised")
    yield case(p, conv_bn, "overridable_weight", weight="overridable")
    yield case(p, conv_bn, "non_constant_weight", statistics=False)
    yield case(p, conv_bn, "training_mode", train=True)
    yield case(p, conv_bn, "disabled", disabled=("ConvBNFusion",))

    p = patterns.CONV_CONSTANT
    for op_type in ("Add", "Mul"):
        yield case(p, conv_constant, None, op_type=op_type)
        yield case(p, conv_constant, None, op_type=op_type, shape=(1, 16, 1, 1))
        yield case(p, conv_constant, None, op_type=op_type, axes=1, shape=(16, 1))
        yield case(p, conv_constant, None, op_type=op_type, bias=True)
        yield case(p, conv_constant, "operand_order", op_type=op_type, swap=True)
        yield case(p, conv_constant, "extra_consumer", op_type=op_type, two="c")
        yield case(p, conv_constant, "graph_output_between", op_type=op_type, out="c")
        yield case(p, conv_constant, "non_constant_weight", op_type=op_type, constant=False)
        yield case(p, conv_constant, "no_kernel", op_type=op_type, head="ConvTranspose")
        for shape in ((1,), (1, 1, 1), (16, 8, 8), (1, 1, 8, 8)):
            yield case(p, conv_constant, "constant_shape", op_type=op_type, shape=shape)
    yield case(p, conv_constant, None, op_type="Mul", shape=())
    yield case(p, conv_constant, "constant_shape", op_type="Add", shape=())
    yield case(p, conv_constant, "no_kernel", op_type="Sub")
    yield case(p, conv_constant, "no_kernel", op_type="Div")

    p = patterns.CONV_ACTIVATION
    for op_type in ("Relu", "Clip", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid"):
        for opset in (11, 17, 22, 24):
            yield case(p, conv_activation, None, op_type=op_type, opset=opset)
        yield case(p, conv_activation, "extra_consumer", op_type=op_type, two="c")
        yield case(p, conv_activation, "graph_output_between", op_type=op_type, out="c")
        yield case(p, conv_activation, "no_kernel", op_type=op_type, head="ConvTranspose")
    for op_type in ("Elu", "Selu", "Celu", "PRelu", "Softplus", "Softsign", "ThresholdedRelu"):
        yield case(p, conv_activation, "no_kernel", op_type=op_type)
    yield case(p, conv_activation, "no_kernel", op_type="Gelu", opset=20)
    yield case(p, conv_activation, "no_kernel", op_type="Mish", opset=18)
    for options in (
        {"channels": 15}, {"axes": 1}, {"axes": 3}, {"constant": False}, {"dynamic": True},
        {"bn": True}, {"bn": True, "op_type": "Clip"}, {"group": 16},
        {"dtype": "float16"}, {"dtype": "float16", "op_type": "Sigmoid"},
        {"op_type": "Clip", "bounds": "no minimum"}, {"op_type": "Clip", "bounds": "none"},
    ):  # fmt: skip
        yield case(p, conv_activation, None, **options)
    yield case(p, conv_activation, "non_constant_weight", op_type="Clip", bounds="input")
    yield case(p, conv_activation, "dtype", op_type="Clip", dtype="float16")
    yield case(p, conv_activation, "dtype", op_type="LeakyRelu", dtype="float16")
    yield case(p, conv_activation, "extra_consumer", bn=True, two="b")
    swish = {"op_type": "HardSwish", "only_where_blocked_layout": True}
    yield case(p, conv_activation, None, after="Neg", **swish)
    yield case(p, conv_activation, "graph_output", **swish)
    yield case(p, conv_activation, "extra_consumer", after="Neg", two="c", **swish)
    yield case(p, conv_activation, "rank", op_type="HardSwish", after="Neg", axes=1)
    off = ("ConvActivationFusion",)
    for op_type in ("Clip", "LeakyRelu"):
        yield case(p, conv_activation, "disabled", disabled=off, op_type=op_type)
    for op_type in ("Relu", "Sigmoid", "Tanh", "HardSigmoid"):
        yield case(
            p,
            conv_activation,
            None,
            disabled=off,
            only_where_blocked_layout=True,
            op_type=op_type,
        )

    blocked = {"only_where_blocked_layout": True}
    for p, acts in ((patterns.CONV_ADD, ("",)), (patterns.CONV_ADD_ACTIVATION, ("Relu", "Tanh"))):
        for act in acts:
            for options in (
                {"other": "conv"}, {"other": "pool"}, {"swap": True}, {"add": "Sum"}, {"bn": True},
                {"group": 16}, {"dtype": "float16"}, {"opset": 13}, {"opset": 22},
            ):  # fmt: skip
                yield case(p, residual, None, op_type=act, **blocked, **options)
            for other in ("x", "input", "sigmoid"):
                yield case(p, residual, "layout", op_type=act, other=other, **blocked)
            # Not "layout": in channel blocks it would not be fused either.
            yield case(p, residual, "shape_or_broadcast", op_type=act, other="broadcast", **blocked)
            yield case(p, residual, None, op_type=act, group=4, channels=60, bias=True, other="x")
            yield case(
                p, residual, None, op_type=act, group=4, channels=60, bn=True, other="sigmoid"
            )
            yield case(p, residual, None, op_type=act, constant=False, bias=True, other="input")
            yield case(p, residual, "no_bias", op_type=act, group=4, channels=60, other="x")
            yield case(
                p,
                residual,
                "shape_or_broadcast",
                op_type=act,
                group=4,
                channels=60,
                bias=True,
                other="broadcast",
            )
            yield case(p, residual, "rank", op_type=act, axes=1, bias=True, other="x")
            yield case(
                p,
                residual,
                "unknown_shape",
                op_type=act,
                constant=False,
                bias=True,
                dynamic=True,
                other="x",
            )
            yield case(
                p,
                residual,
                "extra_consumer",
                op_type=act,
                group=4,
                channels=60,
                bias=True,
                other="x",
                two="c",
            )
            yield case(p, residual, "disabled", disabled=("ConvAddActivationFusion",), op_type=act,
                       group=4, channels=60, bias=True, other="x")  # fmt: skip
    p = patterns.CONV_ADD_ACTIVATION
    for act in ("Clip", "LeakyRelu", "Elu"):
        yield case(p, residual, "no_kernel", op_type=act, **blocked)
    for act in ("Clip", "LeakyRelu", "HardSigmoid"):
        yield case(p, residual, None, op_type=act, group=4, channels=60, bias=True, other="x")
    yield case(p, residual, "no_kernel", op_type="Elu", group=4, channels=60, bias=True, other="x")
    yield case(p, residual, "extra_consumer", two="a", **blocked)
    yield case(p, residual, "graph_output_between", out="a", **blocked)

    p = patterns.MATMUL_ADD
    for options in (
        {}, {"left": (2, 4, 8)}, {"left": (2, 3, 4, 8)}, {"left": (8,)}, {"left": ("n", 8)},
        {"bias": (1, 6)}, {"bias": (4, 6)}, {"bias": (4, 1)}, {"constant": False}, {"swap": True},
        {"dtype": "float16"}, {"left": (2, 4, 8), "constant": False},
        *({"opset": opset} for opset in (9, 13, 20, 24)),
    ):  # fmt: skip
        yield case(p, matmul_add, None, **options)
    for bias in ((1,), (), (1, 1), (2, 4, 6), (1, 1, 6)):
        yield case(p, matmul_add, "shape_or_broadcast", bias=bias)
    for bias in ((1, 6), (4, 6), (1, 1, 6), (2, 4, 6)):
        yield case(p, matmul_add, "shape_or_broadcast", left=(2, 4, 8), bias=bias)
    yield case(p, matmul_add, "rank", left=(2, 4, 8), right=(2, 8, 6))
    yield case(p, matmul_add, "unknown_shape", left=("n", 4, 8))
    yield case(p, matmul_add, "dtype", dtype="float64")
    yield case(p, matmul_add, "extra_consumer", two="m")
    yield case(p, matmul_add, "graph_output_between", out="m")
    yield case(p, matmul_add, "disabled", disabled=("MatMulAddFusion",))

    p = patterns.GEMM_ACTIVATION
    for op_type in (
        "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Selu", "Softplus",
        "Softsign", "ThresholdedRelu",
    ):  # fmt: skip
        yield case(p, gemm_activation, None, op_type=op_type)
        yield case(p, gemm_activation, None, op_type=op_type, opset=24)
        yield case(p, gemm_activation, "needs_gemm", op_type=op_type, head="MatMul")
        half = "dtype" if op_type == "LeakyRelu" else None
        if op_type not in ("Softsign", "ThresholdedRelu"):
            yield case(p, gemm_activation, half, op_type=op_type, dtype="float16")
    for op_type in ("Clip", "Celu", "HardSwish"):
        yield case(p, gemm_activation, "no_kernel", op_type=op_type)
    yield case(p, gemm_activation, "no_kernel", op_type="Gelu", opset=20)
    yield case(p, gemm_activation, None, bias=False)
    yield case(p, gemm_activation, "dtype", dtype="float64")
    yield case(p, gemm_activation, "extra_consumer", two="g")
    yield case(p, gemm_activation, "graph_output_between", out="g")
    yield case(p, matmul_add, None, then="Relu")
    yield case(p, matmul_add, "reshape_between", then="Relu", left=(2, 4, 8))
    yield case(p, matmul_add, "extra_consumer", then="Relu", two="a")

    p = patterns.GELU
    for form in (1, 2):
        for opset in (11, 17, 20, 24):
            yield case(p, gelu, None, form=form, opset=opset)
        yield case(p, gelu, None, form=form, swap=True)
        yield case(p, gelu, "extra_consumer", form=form, two="m")
        yield case(p, gelu, "graph_output_between", form=form, out="m")
    yield case(p, gelu, None, root=1.4142)
    yield case(p, gelu, None, shape=(1,))
    for options in ({"root": 1.414}, {"one": 1.01}, {"half": 0.51}):
        yield case(p, gelu, "constant_value", **options)
    for shape in ((1, 1), (8,)):
        yield case(p, gelu, "constant_shape", shape=shape)
    yield case(p, gelu, "non_constant_weight", constant=False)
    yield case(p, gelu, "dtype", dtype="float16")
    for tensor in ("d", "e", "a"):
        yield case(p, gelu, "extra_consumer", two=tensor)
    for form in (3, 4):
        yield case(patterns.GELU_OTHER_FORM, gelu, "form", form=form)

    p = patterns.FAST_GELU
    for options in (
        {"form": 1}, {"form": 2}, {"swap": True}, {"k2": 0.79788}, {"two": "y"}, {"opset": 9},
        {"opset": 13}, {"opset": 24},
    ):  # fmt: skip
        yield case(p, fast_gelu, None, **options)
    for options in ({"power": 2.0}, {"k1": 0.0447}, {"k2": 0.8}):
        yield case(p, fast_gelu, "constant_value", **options)
    yield case(p, fast_gelu, "graph_output", returned=True)
    yield case(p, fast_gelu, "dtype", dtype="float64")
    yield case(p, fast_gelu, "dtype", dtype="float16")
    yield case(p, fast_gelu, "extra_consumer", two="u")
    yield case(p, fast_gelu, "graph_output_between", out="h")

    p = patterns.QUICK_GELU
    for options in (
        {}, {"swap": True}, {"alpha": 1.702}, {"alpha": 1.702, "swap": True}, {"alpha": 3.3},
        {"alpha": 1.7, "shape": (1,)}, {"opset": 8}, {"opset": 24},
    ):  # fmt: skip
        yield case(p, quick_gelu, None, **options)
    yield case(p, quick_gelu, "extra_consumer", two="s")
    yield case(p, quick_gelu, "extra_consumer", alpha=1.702, two="m")
    yield case(p, quick_gelu, "graph_output_between", out="s")
    yield case(p, quick_gelu, "constant_shape", alpha=1.7, shape=(1, 1))
    yield case(p, quick_gelu, "constant_shape", alpha=1.7, shape=(8,))
    yield case(p, quick_gelu, "dtype", dtype="float16")
    yield case(p, quick_gelu, "dtype", dtype="float64")

    for form in (1, 2):
        yield case(patterns.HARD_SWISH, hard_swish, "form", form=form)

    p = patterns.LAYER_NORM
    for options in (
        {}, {"swap": True}, {"twice": True}, {"axis": (2,)}, {"constant": False},
        {"dtype": "float16"}, {"dtype": "float64"}, {"shape": ("n", "s", 8)}, {"shape": (4, 8)},
        {"opset": 16, "dtype": "float16"},
        *({"opset": opset} for opset in (11, 13, 16, 18, 20, 22, 24)),
    ):  # fmt: skip
        yield case(p, layer_norm, None, **options)
    for axis in ((1,), (1, 2), (-2,)):
        yield case(p, layer_norm, "axis", axis=axis)
    yield case(p, layer_norm, "axis", second_axis=(1,))
    yield case(p, layer_norm, "axis", axis=(1,), opset=18)
    for options in ({"scale": (1,)}, {"scale": (1, 8)}, {"shift": (1, 8)}, {"scale": (4, 8)}):
        yield case(p, layer_norm, "constant_shape", **options)
    for tensor in ("m", "s", "q", "d", "z"):
        yield case(p, layer_norm, "extra_consumer", two=tensor)
    for tensor in ("m", "d", "z"):
        yield case(p, layer_norm, "graph_output_between", out=tensor)
    for options in ({"affine": False}, {"square": "Mul"}, {"divide": "Reciprocal"}):
        yield case(patterns.LAYER_NORM_OTHER_FORM, layer_norm, "form", **options)

    p = patterns.RMS_NORM
    for options in (
        {}, {"opset": 13}, {"opset": 18}, {"opset": 22}, {"dtype": "float16"},
        {"dtype": "float64"}, {"divide": "one over"}, {"scale": (1,)},
    ):  # fmt: skip
        yield case(p, rms_norm, None, **options)
    yield case(p, rms_norm, "axis", axis=1)
    yield case(p, rms_norm, "constant_value", power=3.0)
    yield case(p, rms_norm, "constant_shape", scale=(1, 8))
    yield case(p, rms_norm, "extra_consumer", two="q")
    yield case(p, rms_norm, "graph_output_between", out="d")
    for options in ({"square": "Mul"}, {"divide": "Reciprocal"}):
        yield case(patterns.RMS_NORM_OTHER_FORM, rms_norm, "form", **options)

    p = patterns.SKIP_LAYER_NORM
    for options in ({}, {"shift": False}, {"opset": 20}, {"opset": 24}):
        yield case(p, skip_layer_norm, None, **options)
    yield case(p, skip_layer_norm, None, left=("n", "s", 8), right=("n", "s", 8))
    yield case(p, skip_layer_norm, "extra_consumer", two="a")
    yield case(p, skip_layer_norm, "graph_output_between", out="a")
    for right in ((1, 4, 8), (8,), (2, 1, 8)):
        yield case(p, skip_layer_norm, "shape_or_broadcast", right=right)
    yield case(p, skip_layer_norm, "rank", left=(4, 8), right=(4, 8))
    yield case(p, skip_layer_norm, "rank", left=(2, 3, 4, 8), right=(2, 3, 4, 8))
    yield case(p, skip_layer_norm, "dtype", dtype="float16")
    yield case(p, skip_layer_norm, "dtype", dtype="float64")
    yield case(p, layer_norm, None, skip=True)
    yield case(p, layer_norm, "extra_consumer", skip=True, two="sum")


CASES = tuple(_cases())
