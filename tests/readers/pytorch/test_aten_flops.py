"""FLOPs of PyTorch operators: argument orders by hand, sizes by brute force, hostile shapes."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fusescope.analysis.operators.attention_flops import FROM_CAUSAL, FROM_SCORES
from fusescope.analysis.operators.flops import FROM_SHAPES
from fusescope.analysis.readers.pytorch.flops.aten_flops import COUNTED, count

Shape = tuple[int, ...]
X, W, B = (2, 6, 10, 10), (8, 3, 3, 3), (8,)
WANT = 2 * (2 * 8 * 5 * 5) * 3 * 9  # stride 2, padding 1: 5 x 5
STRIDE, PADDING, DILATION = "[2, 2]", "[1, 1]", "[1, 1]"


@pytest.mark.parametrize(
    ("op", "shapes", "want"),
    [
        ("aten::mm", [(4, 5), (5, 6)], 2 * 4 * 5 * 6),
        ("aten::bmm", [(3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
        ("aten::addmm", [(6,), (4, 5), (5, 6)], 2 * 4 * 5 * 6),
        ("aten::baddbmm", [(3, 4, 6), (3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
        ("aten::mv", [(4, 5), (5,)], 2 * 4 * 5),
        ("aten::dot", [(5,), (5,)], 2 * 5),
        ("aten::addmv", [(4,), (4, 5), (5,)], 2 * 4 * 5),
        ("aten::linear", [(2, 3, 4, 5), (6, 5), (6,)], 2 * 24 * 5 * 6),
        ("aten::linear", [(5,), (6, 5)], 2 * 5 * 6),
        ("aten::matmul", [(7, 1, 4, 5), (3, 5, 6)], 2 * 7 * 3 * 4 * 5 * 6),
        ("aten::matmul", [(5,), (3, 5, 6)], 2 * 3 * 5 * 6),
        ("aten::matmul", [(3, 4, 5), (5,)], 2 * 3 * 4 * 5),
        ("mkldnn::_linear_pointwise", [(4, 5), (6, 5), (6,)], 2 * 4 * 5 * 6),
        ("mkl::_mkl_linear", [(4, 5), (900, 1), (6, 5), (6,)], 2 * 4 * 5 * 6),
        ("aten::_weight_int8pack_mm", [(4, 5), (6, 5), (6,)], 2 * 4 * 5 * 6),
        ("_C::cutlass_scaled_mm", [(4, 6), (4, 5), (5, 6)], 2 * 4 * 5 * 6),
        ("aten::_grouped_mm", [(90, 5), (3, 5, 6), (3,)], 2 * 90 * 5 * 6),
        ("aten::_grouped_mm", [(3, 4, 5), (3, 5, 6)], 2 * 3 * 4 * 5 * 6),
        ("aten::mm", [(4, 5), (6, 5)], None),
        ("aten::bmm", [(3, 4, 5), (2, 5, 6)], None),
        ("aten::matmul", [(3, 4, 5), (2, 5, 6)], None),
        ("aten::mm", [(4, 5)], None),
        ("aten::mm", [None, (5, 6)], None),
        ("aten::mm", [(0, 5), (5, 6)], None),
        ("aten::relu", [(4, 5)], None),
    ],
)
def test_products(op: str, shapes: list[Shape | None], want: int | None) -> None:
    found = count(op, shapes, [])
    told = None if found is None else (found.flops, found.source, found.total)
    assert told == (None if want is None else (want, FROM_SHAPES, want))


@pytest.mark.parametrize(
    ("op", "concrete"),
    [
        ("aten::conv2d", ["", "", "", STRIDE, PADDING, DILATION, "2"]),
        ("aten::convolution", ["", "", "", STRIDE, PADDING, DILATION, "False", "[0, 0]", "2"]),
        ("aten::_convolution", ["", "", "", "[2]", "[1]", "[1]", "False", "[0, 0]", "2"]),
        ("aten::cudnn_convolution", ["", "", PADDING, STRIDE, DILATION, "2", "False"]),
        ("aten::miopen_convolution", ["", "", "", PADDING, STRIDE, DILATION, "2", "False"]),
        ("aten::mkldnn_convolution", ["", "", "", PADDING, STRIDE, DILATION, "2"]),
        ("aten::cudnn_convolution_relu", ["", "", "", STRIDE, PADDING, DILATION, "2"]),
        ("aten::cudnn_convolution_add_relu",
         ["", "", "", "1", "", STRIDE, PADDING, DILATION, "2"]),
        ("aten::_conv_depthwise2d", ["", "", "[3, 3]", "", STRIDE, PADDING, DILATION]),
        ("aten::_slow_conv2d_forward", ["", "", "[3, 3]", "", STRIDE, PADDING]),
    ],
)  # fmt: skip
def test_convolutions_read_their_own_order_of_arguments(op: str, concrete: list[object]) -> None:
    found = count(op, [X, W, B], concrete)
    assert found is not None and (found.flops, found.source) == (WANT, FROM_SHAPES)
    assert count(op, [X, W, B], []) is None  # no stride, no size of the output


@given(
    st.integers(1, 9), st.integers(1, 4), st.integers(1, 3), st.integers(0, 3), st.integers(1, 3)
)
def test_sizes_of_convolutions_by_brute_force(
    size: int, kernel: int, stride: int, pad: int, dilation: int
) -> None:
    """Windows that begin at multiples of the stride and end inside the padded input."""
    reach = dilation * (kernel - 1)
    out = sum(start + reach < size + 2 * pad for start in range(0, size + 2 * pad, stride))
    settings = [f"[{each}]" for each in (stride, pad, dilation)]
    found = count("aten::conv1d", [(3, 4, size), (5, 2, kernel)], ["", "", "", *settings, "2"])
    assert (found.flops if found else 0) == 2 * 3 * 5 * out * 2 * kernel


def test_transposed_convolutions_spread_every_input() -> None:
    x, weight = (2, 6, 5, 5), (6, 4, 3, 3)
    want = 2 * math.prod(x) * 4 * 9
    told = ["", "", "", "[2]", "[1]", "[1]", "True", "[1]", "1"]
    for op, concrete in (("aten::convolution", told), ("aten::conv_transpose2d", [])):
        found = count(op, [x, weight], concrete)
        assert found is not None and found.flops == want
    assert count("aten::convolution", [(2, 5, 5, 5), weight], told) is None
    assert count("aten::convolution", [x, weight], []) is None  # nobody says which way


def test_a_single_image_needs_no_batch() -> None:
    concrete = ["", "", "", STRIDE, PADDING, DILATION, "2"]
    found = count("aten::conv2d", [X[1:], W], concrete)
    assert found is not None and 2 * found.flops == WANT


OUT = (2, 8, 5, 5)


@pytest.mark.parametrize(
    ("op", "shapes", "concrete", "parts"),
    [
        ("aten::convolution_backward", [OUT, X, W],
         [""] * 3 + ["[0]", STRIDE, PADDING, DILATION, "False", "[0]", "2",
                     "[True, True, False]"], 2),
        ("aten::convolution_backward", [OUT, X, W],
         [""] * 3 + ["[8]", STRIDE, PADDING, DILATION, "False", "[0]", "2",
                     "[False, True, True]"], 1),
        ("aten::convolution_backward", [OUT, X, W], [], None),
        ("aten::cudnn_convolution_backward", [X, OUT, W], [], None),
        ("aten::cudnn_convolution_backward_input", [(), OUT, W], [], 1),
        ("aten::cudnn_convolution_backward_weight", [(), OUT, X], ["[8, 3, 3, 3]"], 1),
    ],
)  # fmt: skip
def test_each_gradient_of_a_convolution_costs_as_much_as_it(
    op: str, shapes: list[Shape | None], concrete: list[object], parts: int | None
) -> None:
    found = count(op, shapes, concrete)
    if op == "aten::convolution_backward" and not concrete:
        assert found is None  # transposed or not
        return
    assert found is not None and (found.flops, found.parts) == (WANT, parts)
    assert found.total == (None if parts is None else parts * WANT)


def test_gradients_that_nobody_wants_or_that_contradict_are_not_counted() -> None:
    concrete: list[object] = [""] * 7 + ["False", "[0]", "2", "[False, False, True]"]
    assert count("aten::convolution_backward", [OUT, X, W], concrete) is None
    concrete[-1] = "[True, True, False]"
    assert count("aten::convolution_backward", [X, OUT, W], concrete) is None
    assert count("aten::cudnn_convolution_backward_weight", [(), OUT, X], []) is None


def heads(shape: Shape, *, first: bool) -> Shape:
    b, s, h, d = shape
    return (b, h, s, d) if first else shape


@pytest.mark.parametrize(
    ("op", "first", "query_at", "causal_at", "mark", "backward"),
    [
        ("aten::scaled_dot_product_attention", True, 0, 5, "True", False),
        ("aten::_scaled_dot_product_flash_attention", True, 0, 4, "True", False),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", True, 0, 4, "True", False),
        ("aten::_scaled_dot_product_efficient_attention", True, 0, 6, "True", False),
        ("aten::_scaled_dot_product_cudnn_attention", True, 0, 6, "True", False),
        ("aten::_flash_attention_forward", False, 0, 8, "True", False),
        ("aten::_efficient_attention_forward", False, 0, 9, "1", False),
        ("flash_attn::_flash_attn_forward", False, 0, 5, "True", False),
        ("aiter::fmha_v3_fwd", False, 0, 5, "True", False),
        ("aten::_scaled_dot_product_flash_attention_backward", True, 1, 11, "True", True),
        ("aten::_scaled_dot_product_efficient_attention_backward", True, 1, 11, "True", True),
        ("aten::_scaled_dot_product_cudnn_attention_backward", True, 1, 14, "True", True),
        ("aten::_flash_attention_backward", False, 1, 11, "True", True),
        ("aten::_efficient_attention_backward", False, 1, 14, "2", True),
        ("flash_attn::_flash_attn_backward", False, 1, 11, "True", True),
    ],
)
def test_attention_reads_its_own_order_of_arguments(
    op: str, first: bool, query_at: int, causal_at: int, mark: str, backward: bool
) -> None:
    """b, s, h, d = 2, 141, 8, 64."""
    each = heads((2, 141, 8, 64), first=first)
    shapes: list[Shape | None] = [each] * (3 + query_at) + [()] * 4
    work = (10 if backward else 4) * 2 * 8 * 64
    found = count(op, shapes, [])
    assert found is not None
    assert (found.flops, found.source) == (work * 141 * 141, FROM_SCORES)
    concrete: list[object] = [""] * causal_at + [mark]
    found = count(op, shapes, concrete)
    assert found is not None
    assert (found.flops, found.source) == (work * sum(range(1, 142)), FROM_CAUSAL)


def test_packed_sequences_of_unknown_lengths_are_not_counted() -> None:
    packed = (282, 8, 64)
    for op in ("aten::_flash_attention_forward", "aten::_efficient_attention_forward"):
        assert count(op, [packed] * 3, []) is None
    lengths = [*[(1, 282, 8, 64)] * 3, (), (3,), (3,)]
    assert count("aten::_efficient_attention_forward", lengths, []) is None


SIZES = st.integers(0, 2**48) | st.integers(0, 9)
ANY_SHAPE = st.none() | st.lists(SIZES, max_size=6).map(tuple)
TEXTS = ("", "True", "False", "[1, 1]", "[0]", "[2, 2]", "1", "[-3, 99999999999]", "[[", "∞",
         "[True, True, False]")  # fmt: skip
SETTING = st.sampled_from(TEXTS) | st.integers() | st.none()


@given(
    st.sampled_from(sorted(COUNTED)) | st.text(max_size=9),
    st.lists(ANY_SHAPE, max_size=8) | st.sampled_from([[(4, 5), (5, 6)], [X, W, B], [B, X, W]]),
    st.lists(SETTING, max_size=18),
)
@example("aten::mm", [(4, 5), (5, 6)], [])
def test_any_inputs_give_a_positive_count_or_none(
    op: str, shapes: list[Shape | None], concrete: list[object]
) -> None:
    found = count(op, shapes, concrete)
    assert found is None or (0 < found.flops < 2**62 and found.parts in (None, 1, 2))


@given(st.sampled_from(sorted(COUNTED)), st.permutations([X, W, OUT, B, (4, 5), (5, 6)]))
def test_permuted_inputs_raise_nothing(op: str, shapes: list[Shape | None]) -> None:
    for concrete in itertools.chain([[]], [["True"] * 18], [["[1, 1]"] * 18]):
        found = count(op, shapes, concrete)
        assert found is None or found.flops > 0


@pytest.mark.parametrize(
    ("op", "shapes", "concrete", "written"),
    [
        ("aten::mm", [(4, 5), (5, 6)], [], 4 * 6),
        ("aten::bmm", [(3, 4, 5), (3, 5, 6)], [], 3 * 4 * 6),
        ("aten::addmm", [(6,), (4, 5), (5, 6)], [], 4 * 6),
        ("aten::mv", [(4, 5), (5,)], [], 4),
        ("aten::dot", [(5,), (5,)], [], 1),
        ("aten::linear", [(2, 3, 4, 5), (6, 5), (6,)], [], 2 * 3 * 4 * 6),
        ("aten::_grouped_mm", [(90, 5), (3, 5, 6), (3,)], [], 90 * 6),
        ("aten::_grouped_mm", [(4, 90), (90, 6), (3,)], [], None),  # one product for each group
        ("aten::convolution", [X, W, B],
         ["", "", "", STRIDE, PADDING, DILATION, "False", "[0, 0]", "2"], 2 * 8 * 5 * 5),
        ("aten::conv_transpose1d", [(2, 4, 7), (4, 3, 5)],
         ["", "", "", "[2]", "[1]", "[0]", "1", "[1]"], None),
        ("aten::scaled_dot_product_attention", [(2, 3, 4, 8), (2, 3, 9, 8), (2, 3, 9, 16)],
         [], 2 * 3 * 4 * 16),
    ],
)  # fmt: skip
def test_what_an_operator_writes(
    op: str, shapes: list[Shape | None], concrete: list[object], written: int | None
) -> None:
    found = count(op, shapes, concrete)
    assert (found.written if found else None) == written
