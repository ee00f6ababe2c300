"""FLOPs of products and convolutions whose axes stand in any order, against loops over them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.operators import flops
from fusescope.analysis.operators.xla_flops import count

NHWC = {"lhs_axes": [0, 3, 1, 2], "rhs_axes": [3, 2, 0, 1], "out_axes": [0, 3, 1, 2]}
PLAIN: dict[str, Any] = {"strides": [1, 1], "dilations": [1, 1], "holes": [1, 1]}


def test_a_product_by_the_axes_that_are_summed_over() -> None:
    # [2, 64, 128] · [128, 512]: 2 · (2 · 64 · 512) · 128
    assert count("dot_general", {"contracting": [2]}, [(2, 64, 128), (128, 512), (2, 64, 512)]) == (
        2 * 65536 * 128
    )
    batched = [(4, 32, 64, 8), (4, 8, 64, 16), (4, 32, 16)]  # over the axes of 64 and of 8
    assert count("dot_general", {"contracting": [2, 3]}, batched) == 2 * 2048 * 512


def test_a_convolution_without_the_taps_on_padding() -> None:
    same = {**NHWC, **PLAIN, "pads": [1, 1, 1, 1]}
    shapes = [(1, 32, 32, 16), (3, 3, 16, 16), (1, 32, 32, 16)]
    assert count("conv_general_dilated", same, shapes) == 2 * 16 * 16 * 94 * 94  # 94 = 3 · 32 - 2
    grouped = [(1, 32, 32, 16), (3, 3, 4, 16), (1, 32, 32, 16)]  # in 4 groups
    assert count("conv_general_dilated", same, grouped) == 2 * 16 * 4 * 94 * 94


@given(
    st.tuples(st.integers(1, 9), st.integers(1, 4)),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_taps_are_those_of_a_loop(
    sizes: tuple[int, int], steps: tuple[int, int, int], pads: tuple[int, int]
) -> None:
    (size, kernel), (stride, dilation, hole) = sizes, steps
    whole = (size - 1) * hole + 1
    out = (whole + sum(pads) - ((kernel - 1) * dilation + 1)) // stride + 1
    if out < 1:
        return
    met = [
        (position, tap)
        for position, tap in itertools.product(range(out), range(kernel))
        if (place := position * stride + tap * dilation - pads[0]) >= 0
        and place < whole
        and place % hole == 0
    ]
    axes = {name: [0, 1, 2] for name in ("lhs_axes", "rhs_axes", "out_axes")}
    told: dict[str, Any] = {
        **axes, "strides": [stride], "dilations": [dilation], "holes": [hole], "pads": [*pads],
    }  # fmt: skip
    shapes = [(2, 3, size), (5, 3, kernel), (2, 5, out)]
    assert count("conv_general_dilated", told, shapes) == 2 * 2 * 5 * 3 * len(met)


@pytest.mark.parametrize(
    "changed",
    [
        {"lhs_axes": [0, 3, 1, 1]}, {"rhs_axes": [0]}, {"out_axes": "b01f"}, {"strides": [1]},
        {"pads": [1, 1]}, {"holes": [0, 1]}, {"strides": [0, 1]}, {"dilations": [-1, 1]},
    ],
)  # fmt: skip
def test_what_does_not_fit_has_no_count(changed: dict[str, Any]) -> None:
    told = {**NHWC, **PLAIN, "pads": [1, 1, 1, 1], **changed}
    shapes = [(1, 32, 32, 16), (3, 3, 16, 16), (1, 32, 32, 16)]
    assert count("conv_general_dilated", told, shapes) is None


def test_axes_that_are_not_there_have_no_count() -> None:
    shapes = [(4, 8), (8, 2), (4, 2)]
    assert count("dot_general", {"contracting": [2]}, shapes) is None
    assert count("dot_general", {"contracting": [-1]}, shapes) is None
    assert count("dot_general", {}, shapes) is None
    assert count("dot_general", {"contracting": [1]}, shapes[:2]) is None


def test_a_hostile_kernel_does_not_take_long() -> None:
    told = {**NHWC, **PLAIN, "pads": [0, 0, 0, 0], "holes": [2, 1]}
    shapes = [(1, 2**40, 4, 1), (2**40, 1, 1, 1), (1, 2**40, 4, 1)]
    assert count("conv_general_dilated", told, shapes) is None


def test_a_fusion_tells_the_sum_of_its_parts() -> None:
    node = Node("ynn_fusion.1", "ynn_fusion", ("x",), ("y",), attributes={"flops": 4096})
    graph = Graph((node,), (Tensor("x"), Tensor("y")), ("x",), ("y",))
    assert flops.from_graph(node, graph) == 4096
    wrong = Node("ynn_fusion.1", "ynn_fusion", ("x",), ("y",), attributes={"flops": -1})
    assert flops.from_graph(wrong, graph) is None
