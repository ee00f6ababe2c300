"""FLOPs by hand, by brute force, and for the blocked convolutions of ONNX Runtime."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from analysis import flops
from analysis.graph import Graph, Node, Tensor


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
