"""Every rewrite: what it writes loads with every optimisation off, and computes the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from fusescope.collectors.fusion import convolutions, products, registry
from tests.collectors.fusion.fused_models import difference, passed
from tests.pattern_models import Builder

Case = tuple[str, Callable[[Builder], str], list[str]]


def statistics(b: Builder, channels: int) -> list[str]:
    return [b.weight(channels) for _ in range(4)]


def conv(b: Builder, *, bias: bool = False, group: int = 1, axes: int = 2, x: str = "") -> str:
    inputs = [x or b.input(2, 4, *[7] * axes), b.weight(8, 4 // group, *[3] * axes)]
    return b.node(
        "Conv", *inputs, *([b.weight(8)] if bias else []), group=group, pads=[1] * 2 * axes
    )


def transposed(b: Builder, group: int, bias: bool) -> str:
    inputs = [b.input(2, 4, 5, 5), b.weight(4, 6 // group, 3, 3)]
    return b.node("ConvTranspose", *inputs, *([b.weight(6)] if bias else []), group=group)


def normalised(b: Builder, x: str, channels: int = 8) -> str:
    return b.node("BatchNormalization", x, *statistics(b, channels), epsilon=0.01)


def activated(b: Builder, op_type: str, x: str) -> str:
    if op_type == "Clip":
        return b.node("Clip", x, b.number(0.1), b.number(2))
    given = {"LeakyRelu": {"alpha": 0.3}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
             "Elu": {"alpha": 1.3}, "ThresholdedRelu": {"alpha": 0.7}, "Celu": {"alpha": 0.8},
             "Selu": {"alpha": 1.5, "gamma": 1.1}}  # fmt: skip
    return b.node(op_type, x, **given.get(op_type, {}))


def clip_without_low(b: Builder) -> str:
    return b.node("Clip", conv(b), "", b.number(1))


def residual(b: Builder, op_type: str | None, *, swapped: bool = False) -> str:
    x = b.input(2, 8, 7, 7)
    c = normalised(b, b.node("Conv", x, b.weight(8, 8, 3, 3), pads=[1] * 4))
    a = b.node("Add", *((x, c) if swapped else (c, x)))
    return activated(b, op_type, a) if op_type else a


def gelu(b: Builder, x: str, form: int) -> str:
    if form < 2:
        d = b.node("Div", x, b.number(math.sqrt(2)))
    else:
        d = b.node("Mul", x, b.number(math.sqrt(0.5)))
    a = b.node("Add", b.node("Erf", d), b.number(1))
    if form % 2:
        return b.node("Mul", b.node("Mul", x, b.number(0.5)), a)
    return b.node("Mul", b.node("Mul", x, a), b.number(0.5))


def fast_gelu(b: Builder) -> str:
    x = b.input(2, 3, 8)
    q = b.node("Mul", b.node("Pow", x, b.number(3)), b.number(0.044715))
    u = b.node("Mul", b.node("Add", x, q), b.number(math.sqrt(2 / math.pi)))
    t = b.node("Add", b.node("Tanh", u), b.number(1))
    return b.node("Mul", b.node("Mul", x, b.number(0.5)), t)


def layer_norm(b: Builder, x: str, size: int = 8) -> str:
    s = b.node("Sub", x, b.node("ReduceMean", x, axes=[-1]))
    v = b.node("ReduceMean", b.node("Pow", s, b.number(2)), axes=[-1])
    d = b.node("Div", s, b.node("Sqrt", b.node("Add", v, b.number(1e-5))))
    return b.node("Add", b.node("Mul", d, b.weight(size)), b.weight(size))


def skipped(b: Builder, *, bias: bool, axes: int = 3, operator: bool = True) -> str:
    shape = (2, 3, 8)[3 - axes :]
    one, other = b.input(*shape), b.input(*shape)
    a = b.node("Add", other, b.node("Add", b.weight(8), one) if bias else one)
    if operator:
        return b.node("LayerNormalization", a, b.weight(8), b.weight(8), epsilon=1e-3)
    return layer_norm(b, a)


def swap(b: Builder, x: str) -> str:
    return b.node("Transpose", x, perm=[0, 1, 3, 2])


def scores(b: Builder, kind: str) -> str:
    left = b.input(2, 3, 5, 4) if "A" not in kind else b.input(2, 3, 4, 5)
    right = b.input(2, 3, 4, 6) if "B" not in kind else b.input(2, 3, 6, 4)
    if "A" in kind:
        left = swap(b, left)
    if "m" in kind:
        left = b.node("Mul", b.number(0.3), left)
    if "d" in kind:
        right = b.node("Div", right, b.number(0.7, (1,)))
    if "B" in kind:
        right = swap(b, right)
    product = b.node("MatMul", left, right)
    return b.node("Div", product, b.number(2.5)) if "s" in kind else product


def matmul_add(b: Builder, bias: tuple[int, ...]) -> str:
    product = b.node("MatMul", b.input(5, 4), b.weight(4, 6))
    return b.node("Add", b.weight(*bias), product)


def affine(b: Builder, first: str, second: str, *, channels: bool = False) -> str:
    x = b.input(2, 4, 5, 6)
    if channels:
        return b.node(second, b.node(first, x, b.weight(1, 4, 1, 1)), b.weight(4, 1, 1))
    return b.node(second, b.node(first, x, b.number(1.7)), b.number(0.3))


def attention(
    b: Builder, scale: str = "", mask: tuple[int, ...] = (), *, turned: bool = False
) -> str:
    """Two heads of width 4 (values 3); queries of length 5, keys of 6, two samples."""

    def heads(width: int, length: int, perm: list[int]) -> str:
        split = b.node("Reshape", b.input(2, length, 2 * width), b.integers(2, length, 2, width))
        return b.node("Transpose", split, perm=perm)

    q, v = heads(4, 5, [0, 2, 1, 3]), heads(3, 6, [0, 2, 1, 3])
    k = heads(4, 6, [0, 2, 1, 3] if turned else [0, 2, 3, 1])
    y = b.node("MatMul", q, swap(b, k) if turned else k)
    y = b.node(scale, y, b.number(1.7)) if scale else y
    y = b.node("Add", b.input(*mask), y) if mask else y
    y = b.node("MatMul", b.node("Softmax", y, axis=-1), v)
    return b.node("Reshape", b.node("Transpose", y, perm=[0, 2, 1, 3]), b.integers(0, 0, 6))


def silu(b: Builder, alpha: float | None = None) -> str:
    x = b.input(2, 8)
    return b.node("Mul", x, b.node("Sigmoid", b.node("Mul", x, b.number(alpha)) if alpha else x))


def through_identity(b: Builder) -> str:
    return b.node("Relu", b.node("Identity", normalised(b, b.node("Identity", conv(b)))))


CASES: list[Case] = [
    *(
        (f"conv-bn bias={bias} group={group} axes={axes}",
         lambda b, bias=bias, group=group, axes=axes:
         normalised(b, conv(b, bias=bias, group=group, axes=axes)), ["Conv"])
        for bias, group, axes in ((False, 1, 2), (True, 1, 2), (True, 2, 2), (False, 4, 1),
                                  (True, 1, 3))
    ),
    *(
        (f"transposed bn bias={bias} group={group}",
         lambda b, bias=bias, group=group: normalised(b, transposed(b, group, bias), 6),
         ["ConvTranspose"])
        for bias, group in ((False, 1), (True, 2))
    ),
    *(
        (f"conv {op_type} constant", lambda b, op_type=op_type:
         b.node(op_type, conv(b, bias=True), b.weight(8, 1, 1)), ["Conv"])
        for op_type in ("Mul", "Div", "Add", "Sub")
    ),
    ("transposed conv by a number", lambda b: b.node("Mul", transposed(b, 2, True), b.number(3)),
     ["ConvTranspose"]),
    *(
        (f"conv {op_type}", lambda b, op_type=op_type:
         activated(b, op_type, normalised(b, conv(b))), ["FusedConv"])
        for op_type in convolutions.ACTIVATIONS
    ),
    ("clip without a low end", clip_without_low, ["FusedConv"]),
    ("1D conv", lambda b: b.node("Relu", conv(b, axes=1)), ["FusedConv"]),
    ("through Identity", through_identity, ["FusedConv"]),
    *(
        (f"residual {op_type} {swapped}", lambda b, op_type=op_type, swapped=swapped:
         residual(b, op_type, swapped=swapped), ["FusedConv"])
        for op_type in (None, *convolutions.ACTIVATIONS) for swapped in (False, True)
    ),
    *(
        (f"matmul add {bias}", lambda b, bias=bias: matmul_add(b, bias), ["Gemm"])
        for bias in ((6,), (1, 6), (5, 6), (5, 1), ())
    ),
    *(
        (f"gemm {op_type}", lambda b, op_type=op_type: activated(b, op_type, matmul_add(b, (6,))),
         ["FusedGemm"])
        for op_type in products.ACTIVATIONS
    ),
    ("matmul relu", lambda b: b.node("Relu", b.node("MatMul", b.input(5, 4), b.weight(4, 6))),
     ["FusedGemm"]),
    ("linear", lambda b: b.node("Add", b.node("MatMul", b.input(5, 4), b.node(
        "Transpose", b.weight(6, 4), perm=[1, 0])), b.weight(6)), ["Gemm"]),
    *((f"scores {kind}", lambda b, kind=kind: scores(b, kind), ["FusedMatMul"])
      for kind in ("A", "B", "AB", "s", "Bs", "m", "md", "ABmds")),
    *((f"gelu {form}", lambda b, form=form: gelu(b, b.input(2, 3, 8), form), ["Gelu"])
      for form in range(4)),
    ("gelu with bias", lambda b: gelu(b, b.node("Add", b.weight(8), b.input(2, 3, 8)), 0),
     ["BiasGelu"]),
    ("fast gelu", fast_gelu, ["FastGelu"]),
    ("attention", attention, ["MultiHeadAttention"]),
    ("attention turned", lambda b: attention(b, "Mul", turned=True), ["MultiHeadAttention"]),
    ("attention masked", lambda b: attention(b, "Div", (2, 2, 5, 6)), ["MultiHeadAttention"]),
    *((f"attention {mask}", lambda b, mask=mask: attention(b, "Div", mask),
       ["Expand", "MultiHeadAttention"])
      for mask in ((2, 1, 1, 6), (1, 2, 5, 1))),
    ("silu", silu, ["QuickGelu"]),
    ("quick gelu", lambda b: silu(b, 1.702), ["QuickGelu"]),
    ("layer norm", lambda b: layer_norm(b, b.input(2, 3, 8)), ["LayerNormalization"]),
    *((f"skip bias={bias} axes={axes} operator={operator}",
       lambda b, bias=bias, axes=axes, operator=operator:
       skipped(b, bias=bias, axes=axes, operator=operator), ["SkipLayerNormalization"])
      for bias in (False, True) for axes in (2, 3) for operator in (False, True)),
    *((f"affine {first} {second} {channels}",
       lambda b, first=first, second=second, channels=channels:
       affine(b, first, second, channels=channels), ["BatchNormalization"])
      for first, second, channels in (("Mul", "Add", False), ("Sub", "Div", True),
                                      ("Add", "Mul", True), ("Div", "Sub", False))),
    ("normalisation and factor", lambda b: b.node("Mul", b.number(2), normalised(
        b, b.input(2, 8, 4, 4))), ["BatchNormalization"]),
    ("chain of four", lambda b: b.node("Add", b.node("Mul", affine(b, "Mul", "Add"), b.number(3)),
                                       b.number(1)), ["BatchNormalization"]),
]  # fmt: skip


@pytest.mark.parametrize(("label", "build", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_rewrite_computes_the_same(
    label: str, build: Callable[[Builder], str], expected: list[str], tmp_path: Path
) -> None:
    b = Builder()
    model = b.model(build(b))
    result = passed(model, tmp_path)
    assert result.op_types == expected, result.report.opportunities
    assert difference(result.before, result.after) < 1e-5
    assert [row.outcome for row in result.report.opportunities] == ["applied"]
    assert [value.name for value in result.after.graph.output] == [
        value.name for value in model.graph.output
    ]


def test_every_rewrite_is_tried_above(tmp_path: Path) -> None:
    tried: set[str] = set()
    for number, (_, build, _) in enumerate(CASES):
        b = Builder()
        report = passed(b.model(build(b)), tmp_path / str(number)).report
        tried |= {name for row in report.applied for name in row.rewrites}
    assert tried == set(registry.NAMES)


def test_a_sum_that_others_read_comes_out_of_the_fused_operator(tmp_path: Path) -> None:
    b = Builder()
    total = b.node("Add", b.input(2, 3, 8), b.input(2, 3, 8))
    early = b.node("Neg", total)  # stands before the normalisation in the file
    model = b.model(b.node("LayerNormalization", total, b.weight(8), b.weight(8)), early, total)
    result = passed(model, tmp_path)
    assert result.op_types == ["SkipLayerNormalization", "Neg"]
    assert difference(result.before, result.after) < 1e-5


def test_a_normalisation_by_what_is_made_of_the_sum_stays(tmp_path: Path) -> None:
    b = Builder()
    total = b.node("Add", b.input(2, 8), b.input(2, 8))
    scale = b.node("ReduceMean", total, axes=[0], keepdims=0)
    model = b.model(b.node("LayerNormalization", total, scale, b.weight(8)), total)
    result = passed(model, tmp_path)
    assert result.op_types == ["Add", "ReduceMean", "LayerNormalization"]
    assert result.reasons() == ["non_constant_weight"]


def test_a_sum_that_is_returned_under_another_name_too(tmp_path: Path) -> None:
    b = Builder()
    again = b.node("Identity", b.node("Add", b.input(2, 3, 8), b.input(2, 3, 8)))
    model = b.model(b.node("LayerNormalization", again, b.weight(8), b.weight(8)), again)
    result = passed(model, tmp_path)
    assert sorted(result.op_types) == ["Identity", "SkipLayerNormalization"]
    assert difference(result.before, result.after) < 1e-5


def test_an_epsilon_of_several_values_stays(tmp_path: Path) -> None:
    b = Builder()
    x = b.input(2, 3, 8)
    s = b.node("Sub", x, b.node("ReduceMean", x, axes=[-1]))
    v = b.node("ReduceMean", b.node("Pow", s, b.number(2)), axes=[-1])
    d = b.node("Div", s, b.node("Sqrt", b.node("Add", v, b.weight(8))))
    result = passed(b.model(b.node("Add", b.node("Mul", d, b.weight(8)), b.weight(8))), tmp_path)
    assert result.op_types == [node.op_type for node in result.before.graph.node]
    assert result.reasons() == ["constant_shape"]


@pytest.mark.parametrize(
    "build",
    [
        lambda b, t: b.node("MatMul", t, t),
        lambda b, t: b.node("Add", *[b.node("MatMul", t, b.weight(4, 4))] * 2),
    ],
)
def test_nothing_is_tried_where_an_operator_reads_one_tensor_twice(
    build: Callable[[Builder, str], str], tmp_path: Path
) -> None:
    b = Builder()
    result = passed(b.model(build(b, b.node("Transpose", b.input(4, 4), perm=[1, 0]))), tmp_path)
    assert not result.report.taken_back
    assert difference(result.before, result.after) < 1e-5


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda b: b.node("Elu", conv(b)), "no_kernel"),
        (lambda b: b.node("Relu", transposed(b, 1, False)), "no_kernel"),
        (lambda b: b.node("Add", b.input(2, 8, 1, 1), conv(b)), "shape_or_broadcast"),
        (lambda b: b.node("Mul", conv(b), b.weight(7, 7)), "constant_shape"),
        (lambda b: b.node("Clip", conv(b), b.number(0), b.input()), "non_constant_weight"),
        (lambda b: b.node("Add", b.node("MatMul", b.input(2, 3, 4), b.weight(4, 6)), b.weight(6)),
         "rank"),
        (lambda b: b.node("Relu", b.node("MatMul", b.input(2, 3, 4), b.weight(4, 6))), "rank"),
        (lambda b: b.node("Add", b.node("Mul", b.input(2, 4), b.number(2)), b.number(1)), "rank"),
        (lambda b: b.node("Div", b.node("MatMul", b.input(3, 4), b.input(4, 3)), b.number(0)),
         "constant_value"),
        (lambda b: b.node("Relu", b.node("Add", b.input(2, 8), b.input(2, 8))), "no_kernel"),
    ],
)  # fmt: skip
def test_what_cannot_be_rewritten_says_why(
    build: Callable[[Builder], str], code: str, tmp_path: Path
) -> None:
    b = Builder()
    result = passed(b.model(build(b)), tmp_path)
    assert result.op_types == [node.op_type for node in result.before.graph.node]
    assert result.reasons() == [code]


def test_double_precision_stays(tmp_path: Path) -> None:
    b = Builder("float64")
    result = passed(b.model(matmul_add(b, (6,))), tmp_path)
    assert result.reasons() == ["dtype"]


def test_subgraphs_count_as_readers(tmp_path: Path) -> None:
    b = Builder()
    c = conv(b)
    y = b.node("Relu", c)
    helper = onnx.helper
    branch = [
        helper.make_graph(
            [helper.make_node(op, [c], [f"{op}_out"])], op, [],
            [helper.make_tensor_value_info(f"{op}_out", onnx.TensorProto.FLOAT, None)],
        )
        for op in ("Neg", "Abs")
    ]  # fmt: skip
    condition = b.node("Cast", b.number(1), to=onnx.TensorProto.BOOL)
    chosen = b.node("If", condition, then_branch=branch[0], else_branch=branch[1])
    result = passed(b.model(y, chosen), tmp_path)
    assert result.reasons() == ["extra_consumer"]
    assert result.op_types == ["Conv", "Relu", "Cast", "If"]
