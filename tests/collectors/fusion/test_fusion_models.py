"""Models of unusual make through the pass: it rewrites less, never wrongly, and says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.collectors.fusion.fused_models import difference, passed
from tests.pattern_models import Builder

Build = Callable[[Builder], onnx.ModelProto]


def conv(b: Builder, *bias: str, x: str = "", **attributes: object) -> str:
    """A convolution of 4 channels to 8, as it stands first in a model: its weight is w0."""
    return b.node("Conv", x or b.input(2, 4, 7, 7), b.weight(8, 4, 3, 3), *bias, **attributes)


def normalised(b: Builder, x: str, size: tuple[int, ...] = (8,), **attributes: object) -> str:
    return b.node("BatchNormalization", x, *(b.weight(*size) for _ in range(4)), **attributes)


def conv_bn(b: Builder) -> onnx.ModelProto:
    """Weights: w0 of the convolution, w1 to w4 of the normalisation."""
    return b.model(normalised(b, conv(b)))


def body(kind: str, node: onnx.NodeProto) -> onnx.GraphProto:
    """A graph of this node, which reads tensors from outside."""
    result = helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)
    return helper.make_graph([node], kind, [], [result])


def branches(tensor: str) -> dict[str, onnx.GraphProto]:
    """Those of an If that computes -tensor or |tensor|."""
    return {
        key: body(key, helper.make_node(kind, [tensor], [f"{kind}_of_{tensor}"]))
        for key, kind in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }


def chosen(b: Builder, tensor: str) -> str:
    """The result of such an If."""
    return b.node("If", b.node("Cast", b.number(1), to=TensorProto.BOOL), **branches(tensor))


def nested(b: Builder, tensor: str) -> str:
    """The same, two graphs deep."""
    condition = b.node("Cast", b.number(1), to=TensorProto.BOOL)
    inner = helper.make_node("If", [condition], ["inner"], **branches(tensor))
    other = helper.make_node("Neg", [tensor], ["other"])
    return b.node("If", condition, then_branch=body("then", inner), else_branch=body("else", other))


def looped(b: Builder, tensor: str) -> str:
    """0 + tensor + tensor + tensor, in the body of a Loop."""

    def value(name: str, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, None if kind == TensorProto.FLOAT else [])

    turn = helper.make_graph(
        [
            helper.make_node("Add", ["total", tensor], ["sum"]),
            helper.make_node("Identity", ["on"], ["still"]),
        ],
        "turn",
        [value("at", TensorProto.INT64), value("on", TensorProto.BOOL), value("total")],
        [value("still", TensorProto.BOOL), value("sum")],
    )
    times = b.node("Cast", b.number(3), to=TensorProto.INT64)
    return b.node("Loop", times, "", b.number(0), body=turn)


def called(b: Builder) -> onnx.ModelProto:
    """Conv + Relu inside a function, BatchNormalization behind it."""
    y = normalised(b, b.node("Own", b.input(2, 4, 7, 7), b.weight(8, 4, 3, 3), domain="own"))
    model = b.model(y)
    nodes = [helper.make_node("Conv", ["a", "k"], ["c"]), helper.make_node("Relu", ["c"], ["r"])]
    opsets = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("own", "Own", ["a", "k"], ["r"], nodes, opsets))
    model.opset_import.append(helper.make_opsetid("own", 1))
    return model


def named(b: Builder, *names: str) -> onnx.ModelProto:
    """Conv, BatchNormalization and Relu with these node names."""
    model = b.model(b.node("Relu", normalised(b, conv(b))))
    for node, name in zip(model.graph.node, names, strict=True):
        node.name = name
    return model


def taken(b: Builder) -> onnx.ModelProto:
    """An input has the name that a folded weight would have."""
    model = conv_bn(b)
    model.graph.input[0].name = model.graph.node[0].input[0] = "Conv_0/folded_weight"
    return model


def shared(b: Builder) -> onnx.ModelProto:
    """Two convolutions of one weight, each with a normalisation of its own."""
    one = conv(b)
    other = b.node("Conv", b.input(2, 4, 7, 7), "w0")
    return b.model(normalised(b, one), normalised(b, other))


def offered(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The model with a weight that whoever runs it may replace."""
    [tensor] = [tensor for tensor in model.graph.initializer if tensor.name == name]
    value = helper.make_tensor_value_info(name, tensor.data_type, tensor.dims)
    model.graph.input.append(value)
    return model


def sparse(model: onnx.ModelProto, name: str, *, axes: bool = False) -> onnx.ModelProto:
    """The model with every third value of a weight, stored as a sparse tensor."""
    [tensor] = [tensor for tensor in model.graph.initializer if tensor.name == name]
    array = numpy_helper.to_array(tensor)
    places = np.arange(0, array.size, 3)
    indices = np.stack(np.unravel_index(places, array.shape), axis=1) if axes else places
    model.graph.sparse_initializer.append(
        helper.make_sparse_tensor(
            numpy_helper.from_array(array.reshape(-1)[places], name),
            numpy_helper.from_array(indices.astype(np.int64), f"{name}_places"),
            array.shape,
        )
    )
    model.graph.initializer.remove(tensor)
    return model


def in_nodes(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its weights as Constant nodes."""
    made = [helper.make_node("Constant", [], [t.name], value=t) for t in model.graph.initializer]
    del model.graph.initializer[:]
    nodes = [*made, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def of_ir_3(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model as files were before weights could be left out of the inputs."""
    model.ir_version = 3
    for tensor in list(model.graph.initializer):
        offered(model, tensor.name)
    return model


def clipped(b: Builder, low: str, high: str) -> onnx.ModelProto:
    return b.model(b.node("Clip", conv(b), low, high))


def skipped(b: Builder, axis: int, *weights: int) -> onnx.ModelProto:
    total = b.node("Add", b.input(2, 3, 8), b.input(2, 3, 8))
    return b.model(
        b.node("LayerNormalization", total, b.weight(*weights), b.weight(*weights), axis=axis)
    )


def halved(b: Builder) -> onnx.ModelProto:
    """A Gelu whose ½ is computed from a weight."""
    x = b.input(2, 3, 8)
    a = b.node("Add", b.node("Erf", b.node("Div", x, b.number(2**0.5))), b.number(1))
    half = b.node("Cast", b.number(0.5), to=TensorProto.FLOAT)
    return b.model(b.node("Mul", b.node("Mul", x, a), half))


CONV_BN = ["Conv", "BatchNormalization"]
# label, the model, what becomes of it, why not more
CASES: list[tuple[str, Build, list[str], list[str]]] = [
    *((f"sparse weight {name} {axes}",
       lambda b, name=name, axes=axes: sparse(conv_bn(b), name, axes=axes), ["Conv"], [])
      for name, axes in (("w0", False), ("w0", True), ("w1", False))),
    ("sparse weight that is not folded", lambda b: sparse(b.model(b.node("Relu", conv(b))), "w0"),
     ["FusedConv"], []),
    *((f"weight {name} may be replaced", lambda b, name=name: offered(conv_bn(b), name), CONV_BN,
       ["overridable_weight"]) for name in ("w0", "w3")),
    ("bias may be replaced", lambda b: offered(b.model(normalised(b, conv(b, b.weight(8)))), "w0"),
     CONV_BN, ["overridable_weight"]),
    ("bias may be replaced, and is not folded",
     lambda b: offered(b.model(b.node("Relu", conv(b, b.weight(8)))), "w0"), ["FusedConv"], []),
    ("bound may be replaced", lambda b: offered(clipped(b, b.number(0.1), ""), "w0"),
     ["Conv", "Clip"], ["overridable_weight"]),
    ("weights of IR 3", lambda b: of_ir_3(conv_bn(b)), ["Conv"], []),
    ("weights in Constant nodes", lambda b: in_nodes(conv_bn(b)), ["Conv"], []),
    ("bias is computed", lambda b: b.model(normalised(b, conv(b, b.node("Neg", b.weight(8))))),
     ["Neg", *CONV_BN], ["non_constant_weight"]),
    ("bias is computed, and not folded",
     lambda b: b.model(b.node("Relu", conv(b, b.node("Neg", b.weight(8))))),
     ["Neg", "FusedConv"], []),
    ("number is computed", halved, ["Div", "Erf", "Add", "Cast", "Mul", "Mul"],
     ["non_constant_weight"]),
    ("an If returns what the pass writes", lambda b: b.model(chosen(b, normalised(b, conv(b)))),
     ["Conv", "Cast", "If"], []),
    ("an If reads a weight that is folded",
     lambda b: b.model(normalised(b, conv(b)), chosen(b, "w0")), ["Conv", "Cast", "If"], []),
    ("an If in an If reads between", lambda b: b.model(
        normalised(b, c := conv(b)), nested(b, c)), [*CONV_BN, "Cast", "If"], ["extra_consumer"]),
    ("a Loop reads between", lambda b: b.model(normalised(b, c := conv(b)), looped(b, c)),
     [*CONV_BN, "Cast", "Loop"], ["extra_consumer"]),
    ("a function", called, ["Own", "BatchNormalization"], []),
    ("names twice", lambda b: named(b, "n", "n", "n"), ["FusedConv"], []),
    ("no names", lambda b: named(b, "", "", ""), ["FusedConv"], []),
    ("name of a new weight taken", taken, ["Conv"], []),
    ("bias left empty", lambda b: b.model(normalised(b, conv(b, ""))), ["Conv"], []),
    ("an output left empty", lambda b: b.model(b.node("Dropout", b.node("Relu", conv(b)))),
     ["FusedConv", "Dropout"], []),
    ("one statistic a place", lambda b: b.model(
        normalised(b, conv(b), (8, 5, 5), spatial=0), opset=8), CONV_BN, ["constant_shape"]),
    ("one statistic a place, factor behind", lambda b: b.model(b.node("Mul", normalised(
        b, b.input(2, 8, 5, 5), (8, 5, 5), spatial=0), b.number(2)), opset=7),
     ["BatchNormalization", "Mul"], ["constant_shape"]),
    ("one statistic a channel, opset 7",
     lambda b: b.model(normalised(b, conv(b), spatial=1), opset=7), ["Conv"], []),
    ("training mode", lambda b: b.model(normalised(b, conv(b), outputs=3, training_mode=1)),
     CONV_BN, ["training_mode"]),
    ("statistics come out, opset 9",
     lambda b: b.model(normalised(b, conv(b), outputs=5), opset=9), CONV_BN, ["training_mode"]),
    *((f"auto_pad {kind}", lambda b, kind=kind: b.model(b.node("Relu", normalised(
        b, conv(b, auto_pad=kind, strides=[2, 2])))), ["FusedConv"], [])
      for kind in ("SAME_UPPER", "SAME_LOWER", "VALID")),
    ("low above high", lambda b: clipped(b, b.number(2), b.number(1)), ["FusedConv"], []),
    ("bounds of one axis", lambda b: clipped(b, b.number(0.1, (1,)), b.number(1, (1,))),
     ["FusedConv"], []),
    ("no bound", lambda b: b.model(b.node("Clip", conv(b))), ["FusedConv"], []),
    ("bounds as attributes, opset 6",
     lambda b: b.model(b.node("Clip", conv(b), min=0.1, max=9.0), opset=6), ["FusedConv"], []),
    ("one bound as attribute, opset 6",
     lambda b: b.model(b.node("Clip", conv(b), max=9.0), opset=6), ["FusedConv"], []),
    ("last axis by its number", lambda b: skipped(b, 2, 8), ["SkipLayerNormalization"], []),
    ("last two axes", lambda b: skipped(b, -2, 3, 8), ["Add", "LayerNormalization"], ["axis"]),
    ("one weight, two normalisations", shared, ["Conv", "Conv"], []),
    ("one weight, one normalisation", lambda b: b.model(
        normalised(b, conv(b)), b.node("Conv", b.input(2, 4, 7, 7), "w0")), ["Conv", "Conv"], []),
    ("the weight is returned", lambda b: b.model(normalised(b, conv(b)), "w0"), ["Conv"], []),
    ("what lies between is returned", lambda b: b.model(normalised(b, c := conv(b)), c), CONV_BN,
     ["graph_output_between"]),
    ("what lies between is returned by another name",
     lambda b: b.model(normalised(b, c := conv(b)), b.node("Identity", c)),
     [*CONV_BN, "Identity"], ["graph_output_between"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "build", "expected", "reasons"), CASES, ids=[case[0] for case in CASES]
)
def test_what_becomes_of_it(
    label: str, build: Build, expected: list[str], reasons: list[str], tmp_path: Path
) -> None:
    result = passed(build(Builder()), tmp_path)
    assert result.op_types == expected
    assert result.reasons() == reasons
    assert not result.report.taken_back
    assert difference(result.before, result.after) < 1e-5


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_precisions_stay(dtype: str, tmp_path: Path) -> None:
    b = Builder(dtype)
    x = b.input(2, 3, 8)
    y = b.node("Mul", x, b.node("Sigmoid", x))
    y = b.node("Add", b.node("Mul", y, b.number(2)), b.number(1))
    result = passed(b.model(y), tmp_path)
    assert result.op_types == ["Sigmoid", "Mul", "Mul", "Add"]
    assert set(result.reasons()) == {"dtype"}


def test_weights_in_another_file(tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    onnx.save(
        conv_bn(Builder()), source, save_as_external_data=True, location="w.bin", size_threshold=0
    )
    result = passed(onnx.load(source, load_external_data=False), tmp_path)
    assert result.op_types == ["Conv"]
    assert difference(onnx.load(source), result.after) < 1e-5
