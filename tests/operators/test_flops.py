"""FLOPs by hand, by brute force, and for the blocked convolutions of ONNX Runtime."""

from __future__ import annotations

import csv
import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.operators import flops
from tests.conftest import SHARED_TRACES

TRACES = SHARED_TRACES / "third_party"
KERNELS = TRACES / "ascend_torch_npu" / "2023-11-arithmetic" / "kernel_details.csv"


def conv_graph(size: int, kernel: int, stride: int, pad: int, dilation: int) -> Graph | None:
    out = (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    if out < 1:
        return None
    attributes = {
        "strides": [stride] * 2,
        "pads": [pad] * 4,
        "dilations": [dilation] * 2,
        "group": 2,
    }
    return Graph(
        (Node("c", "Conv", ("x", "w"), ("y",), attributes=attributes),),
        (
            Tensor("x", "float32", (1, 6, size, size)),
            Tensor("w", "float32", (4, 3, kernel, kernel), constant=True),
            Tensor("y", "float32", (1, 4, out, out)),
        ),
        ("x",),
        ("y",),
    )


@given(
    st.integers(1, 12), st.integers(1, 5), st.integers(1, 3), st.integers(0, 4), st.integers(1, 3)
)
def test_valid_taps_equal_brute_force(
    size: int, kernel: int, stride: int, pad: int, dilation: int
) -> None:
    graph = conv_graph(size, kernel, stride, pad, dilation)
    if graph is None:
        return
    out = graph.tensor["y"].shape[2]  # type: ignore[index]
    taps = sum(
        0 <= p * stride - pad + tap * dilation < size
        for p, tap in itertools.product(range(out), range(kernel))
    )
    assert flops.from_graph(graph.nodes[0], graph) == 2 * 4 * 3 * taps * taps


def test_matrix_products() -> None:
    assert flops.from_shapes("MatMul", [(2, 3, 4), (4, 5)], [(2, 3, 5)]) == 2 * 30 * 4
    assert flops.from_shapes("Gemm", [(8, 3), (3, 5)], [(8, 5)]) == 2 * 40 * 3
    assert flops.from_shapes("Gemm", [(3, 8), (3, 5)], [(8, 5)]) == 2 * 40 * 3  # transA
    assert flops.from_shapes("Relu", [(3, 8)], [(3, 8)]) is None
    assert flops.from_shapes("MatMul", [(-1, 4), (4, 5)], [(-1, 5)]) is None
    assert flops.from_shapes("MatMul", [], []) is None


def test_same_padding_and_quantised_convolutions() -> None:
    graph = Graph(
        (
            Node("s", "Conv", ("x", "w"), ("y",), attributes={"auto_pad": "SAME_UPPER"}),
            Node("q", "QLinearConv", ("x", "s", "z", "w", "s", "z", "s", "z"), ("y",)),
        ),
        (
            Tensor("x", "float32", (1, 1, 4, 4)),
            Tensor("w", "float32", (1, 1, 3, 3), constant=True),
            Tensor("y", "float32", (1, 1, 4, 4)),
        ),
        ("x",),
        ("y",),
    )
    assert flops.from_graph(graph.nodes[0], graph) == 2 * 10 * 10  # 3·4 - 2 taps an axis
    assert flops.from_graph(graph.nodes[1], graph) == 2 * 9 * 9  # without pads as written


def residual() -> tuple[Graph, Graph]:
    """A residual sum of two convolutions, and its blocked form with padded channels."""
    before = Graph(
        (
            Node("main", "Conv", ("x", "wm"), ("m",), attributes={"pads": [1, 1, 1, 1]}),
            Node("bn", "BatchNormalization", ("m",), ("b",)),
            Node("skip", "Conv", ("x", "ws"), ("s",)),
            Node("add", "Add", ("b", "s"), ("a",)),
            Node("relu", "Relu", ("a",), ("out",)),
        ),
        (
            Tensor("x", "float32", (1, 24, 8, 8)),
            Tensor("wm", "float32", (24, 24, 3, 3), constant=True),
            Tensor("ws", "float32", (24, 24, 1, 1), constant=True),
            *(Tensor(name, "float32", (1, 24, 8, 8)) for name in ("m", "b", "s", "a", "out")),
        ),
        ("x",),
        ("out",),
    )

    def blocked(kernel: int) -> Graph:
        return Graph(
            (
                Node(
                    "out_nchwc",
                    "Conv",
                    ("reorder", "w", "bias", "sum"),
                    ("token",),
                    domain=flops.NCHWC_DOMAIN,
                ),
            ),
            (Tensor("w", "float32", (32, 32, kernel, kernel), constant=True),),
            ("x",),
            ("out",),
        )

    return before, blocked(3)


def test_blocked_convolutions_count_the_original_channels() -> None:
    before, after = residual()
    original = flops.logical_conv(after.nodes[0], after, before)
    assert original is not None and original.name == "main"
    assert flops.from_graph(original, before) == 2 * 24 * 24 * 22 * 22


def test_a_blocked_convolution_that_fits_none_is_not_guessed() -> None:
    before, _ = residual()
    node = Node("out_nchwc", "Conv", ("r", "w5"), ("t",), domain=flops.NCHWC_DOMAIN)
    wide = Graph((node,), (Tensor("w5", "float32", (32, 32, 5, 5)),), (), ())
    assert flops.logical_conv(node, wide, before) is None
    assert flops.logical_conv(before.nodes[0], before, before) is None


def test_convolutions_of_impossible_shapes_have_no_flops() -> None:
    known = conv_graph(9, 3, 1, 1, 1)
    assert known is not None
    for name, shape in (("x", (6,)), ("y", (4,)), ("w", (4,)), ("y", ())):
        tensors = tuple(
            Tensor(t.name, t.dtype, shape) if t.name == name else t for t in known.tensors
        )
        odd = Graph(known.nodes, tensors, known.inputs, known.outputs)
        assert flops.from_graph(odd.nodes[0], odd) is None
    flat = Graph(known.nodes, tuple(Tensor(n, "float32", (4,)) for n in "xwy"), ("x",), ("y",))
    assert flops.from_graph(flat.nodes[0], flat) is None
    blocked = Node("y_nchwc", "Conv", ("x", "w"), ("z",), domain=flops.NCHWC_DOMAIN)
    assert flops.logical_conv(blocked, flat, flat) is None


def blocked(*tensors: tuple[str, str]) -> str:
    return "; ".join(
        f"float16[{shape}]" + (f":{layout}" if layout else "") for shape, layout in tensors
    )


def test_products_of_cann_either_side_transposed() -> None:
    """M = 32, K = 9216, N = 4096, plain and in blocks of 16."""
    expected = (2 * 32 * 9216 * 4096, flops.FROM_SHAPES)
    out = blocked(("32,4096", ""))
    assert (
        flops.from_tensors("MatMulV2", blocked(("32,9216", ""), ("4096,9216", "")), out) == expected
    )
    assert (
        flops.from_tensors("MatMulV3", blocked(("9216,32", ""), ("9216,4096", "")), out) == expected
    )
    in_blocks = flops.from_tensors(
        "MatMul",
        blocked(("576,2,16,16", "FRACTAL_NZ"), ("576,256,16,16", "FRACTAL_NZ")),
        blocked(("256,2,16,16", "FRACTAL_NZ")),
    )
    assert in_blocks == (expected[0], flops.FROM_BLOCKED_SHAPES)
    batch = flops.from_tensors(
        "BatchMatMulV2", blocked(("12,64,32", ""), ("12,32,16", "")), blocked(("12,64,16", ""))
    )
    assert batch == (2 * 12 * 64 * 32 * 16, flops.FROM_SHAPES)


def test_products_whose_sizes_contradict_each_other_are_not_guessed() -> None:
    for first, second, out in (
        ("32,100", "101,64", "32,64"),
        ("32,100", "100,64", "33,64"),
        ("5,32,100", "7,100,64", "5,32,64"),
        ("100", "100,64", "64"),
    ):
        inputs = blocked((first, ""), (second, ""))
        assert flops.from_tensors("BatchMatMulV2", inputs, blocked((out, ""))) is None


def test_convolutions_of_cann_and_their_gradients() -> None:
    """192 filters of 64 x 5 x 5 over 32 x 27 x 27, in blocks of 16 channels."""
    x, w, y = (
        ("32,4,27,27,16", "NC1HWC0"),
        ("100,12,16,16", "FRACTAL_Z"),
        ("32,12,27,27,16", "NC1HWC0"),
    )
    expected = (2 * 32 * 27 * 27 * 192 * 64 * 25, flops.FROM_BLOCKED_SHAPES)
    bias = ("192", "NCHW")
    assert flops.from_tensors("Conv2D", blocked(x, w, bias), blocked(y)) == expected
    assert flops.from_tensors("Conv2DBackpropInputD", blocked(w, y), blocked(x)) == expected
    size = ("4", "NCHW")
    assert flops.from_tensors("Conv2DBackpropInput", blocked(size, w, y), blocked(x)) == expected
    assert flops.from_tensors("Conv2DBackpropFilter", blocked(x, size, y), blocked(w)) == expected
    narrow = ("32,2,27,27,16", "NC1HWC0")
    assert flops.from_tensors("Conv2D", blocked(x, w), blocked(narrow)) is None


def test_convolutions_in_plain_layouts() -> None:
    expected = (2 * 8 * 16 * 10 * 10 * 3 * 9, flops.FROM_SHAPES)
    nchw = blocked(("8,3,12,12", "NCHW"), ("16,3,3,3", "NCHW"))
    assert flops.from_tensors("Conv2D", nchw, blocked(("8,16,10,10", "NCHW"))) == expected
    nhwc = blocked(("8,12,12,3", "NHWC"), ("3,3,3,16", "HWCN"))
    assert flops.from_tensors("Conv2D", nhwc, blocked(("8,10,10,16", "NHWC"))) == expected
    grouped = blocked(("8,4,12,12", ""), ("4,1,1,3,3", ""))
    assert flops.from_tensors("GroupConvolution", grouped, blocked(("8,4,10,10", ""))) == (
        2 * 8 * 4 * 10 * 10 * 9,
        flops.FROM_SHAPES,
    )
    assert flops.from_tensors("Convolution", nchw, blocked(("8,17,10,10", ""))) is None


def test_aten_products_from_inputs_alone() -> None:
    def count(op_type: str, *shapes: str) -> int | None:
        found = flops.from_tensors(op_type, blocked(*((shape, "") for shape in shapes)), "")
        return found[0] if found else None

    assert count("aten::mm", "4,5", "5,6") == 2 * 4 * 5 * 6
    assert count("aten::addmm", "6", "4,5", "5,6") == 2 * 4 * 5 * 6
    assert count("aten::bmm", "3,4,5", "3,5,6") == 2 * 3 * 4 * 5 * 6
    assert count("aten::baddbmm", "3,4,6", "3,4,5", "3,5,6") == 2 * 3 * 4 * 5 * 6
    assert count("aten::mm", "4,5", "7,6") is None
    # These call the others, and convolutions do not show their strides.
    for wrapper in ("aten::linear", "aten::matmul"):
        assert count(wrapper, "4,5", "5,6") is None
    assert count("aten::convolution", "1,3,8,8", "4,3,3,3") is None


def test_operators_of_onnx_count_as_before() -> None:
    inputs, outputs = "float32[1,3,8,8]; float32[4,3,3,3]", "float32[1,4,8,8]"
    shapes = (flops.parse_shapes(inputs), flops.parse_shapes(outputs))
    expected = flops.from_shapes("Conv", *shapes)
    assert expected is not None
    assert flops.from_tensors("Conv", inputs, outputs) == (expected, flops.FROM_SHAPES)
    assert flops.from_tensors("Relu", outputs, outputs) is None
    assert flops.from_tensors("MatMul", "float32[-1,4]; float32[4,5]", "float32[-1,5]") is None


NAMES = st.sampled_from(
    ["MatMul", "MatMulV2", "BatchMatMulV2", "Conv2D", "Conv2DBackpropInput", "Convolution",
     "Conv2DBackpropFilter", "aten::mm", "aten::baddbmm", "Gemm", "Conv", "", "::", "D"]
)  # fmt: skip
LAYOUTS = st.sampled_from(["", ":NCHW", ":NC1HWC0", ":FRACTAL_Z", ":FRACTAL_NZ", ":HWCN", ":x"])
SHAPES = st.lists(st.integers(-1, 40), max_size=6).map(lambda dims: ",".join(map(str, dims)))
TENSORS = st.lists(
    st.builds("float16[{}]{}".format, SHAPES, LAYOUTS) | st.text(max_size=8), max_size=4
).map("; ".join)


FIT = st.sampled_from(
    ["float16[2,2]", "float16[2,2]; float16[2,2]", "int8[1,2,4,4]; int8[2,2,1,1]"]
)


@given(NAMES, FIT | TENSORS, FIT | TENSORS)
@example("Conv2DBackpropFilter", "float16[0,0,0]", "float16[]")  # a weight without axes
def test_any_shapes_give_a_count_or_none(name: str, inputs: str, outputs: str) -> None:
    found = flops.from_tensors(name, inputs, outputs)
    assert found is None or found[0] >= 0


@pytest.mark.usefixtures("shared_traces")
def test_real_products_agree_with_the_devices_counters() -> None:
    """The device counts up to a tenth more: it works in whole blocks."""
    checked = 0
    with KERNELS.open() as file:
        for row in csv.DictReader(file):
            if row["Type"] not in ("MatMul", "BatchMatMul"):
                continue
            sides = [
                blocked(*((shape, "") for shape in row[head].strip('"').split(";")))
                for head in ("Input Shapes", "Output Shapes")
            ]
            found = flops.from_tensors(row["Type"], *sides)
            assert found is not None
            assert 1.0 <= float(row["aic_cube_fops"]) / found[0] < 1.1
            checked += 1
    assert checked == 13
