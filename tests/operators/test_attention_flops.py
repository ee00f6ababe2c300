"""FLOPs of attention: by counting scores one at a time, in every layout, and of a real table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.operators import attention_flops, flops
from fusescope.analysis.operators.attention_flops import FROM_CAUSAL, FROM_SCORES
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace

SMALL = st.integers(1, 5)
SHAPE = st.lists(st.integers(-1, 40), max_size=6).map(tuple)
SHAPES = st.lists(SHAPE, max_size=8)


@given(SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, st.booleans())
def test_scores_counted_one_at_a_time(
    batch: int, groups: int, rows: int, columns: int, width: int, value: int, causal: bool
) -> None:
    """Each score is a dot product of d, and adds one value of d_v to a row of the result."""
    heads = 2 * groups
    seen = [
        i >= j for i, j in product(range(rows), range(columns)) if causal and rows == columns
    ] or [True] * (rows * columns)
    scores = batch * heads * sum(seen)
    first = (batch, heads, rows, width), (batch, groups, columns, width)
    then = (batch, rows, heads, width), (batch, columns, groups, width)
    source = FROM_CAUSAL if causal and rows == columns else FROM_SCORES
    for heads_first, (query, key), values in (
        (True, first, (batch, groups, columns, value)),
        (False, then, (batch, columns, groups, value)),
    ):
        found = attention_flops.of_heads(query, key, values, heads_first=heads_first, causal=causal)
        assert found == (scores * (2 * width + 2 * value), source)
        # Scores again; gradients of scores, values, queries and keys.
        again = attention_flops.of_heads(
            query, key, values, heads_first=heads_first, causal=causal, backward=True
        )
        products = (width, value, value, width, width)
        assert again == (scores * sum(2 * size for size in products), source)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ((2, 8, 9, 65), (2, 8, 9, 64)),  # other widths
        ((2, 8, 9, 64), (2, 8, 10, 64)),  # more values than keys
        ((1, 8, 9, 64), (1, 8, 9, 64)),  # another batch
        ((2, 3, 9, 64), (2, 3, 9, 64)),  # heads that do not divide
        ((2, 0, 9, 64), (2, 0, 9, 64)),
        ((8, 9, 64), (8, 9, 64)),
    ],
)
def test_shapes_that_contradict_each_other_are_not_counted(
    key: tuple[int, ...], value: tuple[int, ...]
) -> None:
    assert attention_flops.of_heads((2, 8, 9, 64), key, value, heads_first=True) is None


def tensors(*shapes: Sequence[int]) -> str:
    return "; ".join(f"bfloat16[{','.join(map(str, shape))}]" for shape in shapes)


# b, h, s, d = 2, 10, 4096, 64: forward 4·b·h·s²·d, backward 10·b·h·s²·d.
LAYOUTS = [(2, 4096, 640), (4096, 2, 640), (2, 10, 4096, 64), (2, 4096, 10, 64)]
STATISTICS = (2, 10, 4096, 8)


@pytest.mark.parametrize("shape", LAYOUTS)
def test_attention_of_cann_in_every_layout(shape: tuple[int, ...]) -> None:
    work = 2 * 10 * 4096 * 4096 * 64
    outs = tensors(STATISTICS, STATISTICS, (), shape)
    forward = flops.from_tensors("FlashAttentionScore", tensors(shape, shape, shape), outs)
    assert forward == (4 * work, FROM_SCORES)
    ins = tensors(shape, shape, shape, shape, (), (), (), (2048, 2048), STATISTICS, STATISTICS)
    gradient = flops.from_tensors("FlashAttentionScoreGrad", ins, tensors(shape, shape, shape))
    assert gradient == (10 * work, FROM_SCORES)
    masked = tensors(shape, shape, shape, (), (1, 1, 4096, 4096))
    assert flops.from_tensors("PromptFlashAttention", masked, tensors(shape)) == forward


def test_grouped_heads_of_cann_are_those_of_the_query() -> None:
    for query, key in (((2, 4096, 640), (2, 4096, 128)), ((2, 10, 4096, 64), (2, 2, 4096, 64))):
        found = flops.from_tensors(
            "FlashAttentionScore", tensors(query, key, key), tensors(STATISTICS, STATISTICS, ())
        )
        assert found == (4 * 2 * 10 * 4096 * 4096 * 64, FROM_SCORES)


def test_attention_of_cann_without_its_layout_is_not_guessed() -> None:
    for shape in LAYOUTS:
        assert flops.from_tensors("FusedInferAttentionScore", tensors(*[shape] * 3), "") is None
    packed = (8192, 10, 64)  # sequences of unknown lengths
    outs = tensors((8192, 10, 8), (8192, 10, 8), (), packed)
    assert flops.from_tensors("FlashAttentionScore", tensors(*[packed] * 3), outs) is None
    assert flops.from_tensors("FlashAttentionScore", tensors((2, 8)), tensors((2, 8))) is None


def test_attention_of_onnx() -> None:
    def count(op_type: str, ins: list[tuple[int, ...]], outs: list[tuple[int, ...]]) -> int | None:
        return flops.from_shapes(op_type, ins, outs)

    query, key, value = (2, 7, 64), (2, 9, 64), (2, 9, 32)
    want = 2 * 2 * 7 * 9 * (64 + 32)
    assert count("MultiHeadAttention", [query, key, value], [(2, 7, 32)]) == want
    assert count("Attention", [query, key, value], [(2, 7, 32)]) == want
    heads = [(2, 4, 7, 16), (2, 2, 9, 16), (2, 2, 9, 8)]
    assert count("Attention", heads, [(2, 4, 7, 8)]) == 2 * 2 * 4 * 7 * 9 * (16 + 8)
    # Of com.microsoft: the projection to query, key and value, then attention.
    want = 2 * 2 * 7 * 64 * 192 + 2 * 2 * 7 * 7 * (64 + 64)
    assert count("Attention", [(2, 7, 64), (64, 192), (192,)], [(2, 7, 64)]) == want
    assert count("QAttention", [(2, 7, 64), (64, 192), (192,), ()], [(2, 7, 64)]) == want
    assert count("Attention", [(2, 7, 64), (64, 191), (191,)], [(2, 7, 64)]) is None
    assert count("Attention", [query, (2, 9, 63, 1), value], [(2, 7, 32)]) is None


def test_earlier_keys_count_where_the_output_tells_them() -> None:
    """Four tokens after ten: they meet 11, 12, 13 and 14 keys."""
    new = [(1, 4, 64), (1, 4, 16), (1, 4, 16)]
    past, present = (1, 1, 10, 16), (1, 1, 14, 16)
    count = flops.from_shapes("GroupQueryAttention", [*new, past, past], [new[0], present])
    assert count == 2 * (11 + 12 + 13 + 14) * (64 + 64)
    assert flops.shapes_source("GroupQueryAttention") == FROM_CAUSAL
    assert flops.shapes_source("Attention") == FROM_SCORES
    # One buffer for both does not tell how much of it is filled.
    shared = [*new, present, present], [new[0], present]
    assert flops.from_shapes("GroupQueryAttention", *shared) is None
    assert flops.from_shapes("GroupQueryAttention", [*new, past, past], [new[0]]) is None


@given(st.sampled_from(["FlashAttentionScore", "FlashAttentionScoreGrad", "Attention",
                        "MultiHeadAttention", "GroupQueryAttention", "QAttention",
                        "GroupedMatmul", "QLinearMatMul", "QGemm"]), SHAPES, SHAPES)  # fmt: skip
def test_any_shapes_give_a_count_or_none(
    name: str, inputs: list[tuple[int, ...]], outputs: list[tuple[int, ...]]
) -> None:
    for found in (
        flops.from_tensors(name, tensors(*inputs), tensors(*outputs)),
        (flops.from_shapes(name, inputs, outputs) or 0, ""),
        attention_flops.cann(inputs, outputs),
    ):
        assert found is None or found[0] >= 0


def test_products_by_group_meet_one_matrix_a_row() -> None:
    def count(weight: tuple[int, ...]) -> int | None:
        found = flops.from_tensors("GroupedMatmul", tensors((90, 8), weight), tensors((90, 12)))
        return found[0] if found else None

    assert count((5, 8, 12)) == count((5, 12, 8)) == 2 * 90 * 8 * 12
    assert count((5, 8, 13)) is None
    assert count((8, 12)) is None  # which of several lists of rows this is, no table tells


def test_quantised_products() -> None:
    a, b, scale = (2, 3, 4), (4, 5), ()
    assert flops.from_shapes(
        "QLinearMatMul", [a, scale, scale, b, scale, scale, scale, scale], [(2, 3, 5)]
    ) == 2 * 30 * 4  # fmt: skip
    assert flops.from_shapes("DynamicQuantizeMatMul", [a, b, scale], [(2, 3, 5)]) == 2 * 30 * 4
    assert flops.from_shapes("QGemm", [(3, 4), scale, scale, (4, 5)], [(3, 5)]) == 2 * 15 * 4
    assert flops.from_shapes("QLinearMatMul", [a, scale, scale], [(2, 3, 5)]) is None


def test_attention_of_a_real_table(shared_traces: Path) -> None:
    """[s, b, h] = [8192, 2, 640], told by a mask of 8192 by 8192."""
    trace = read_path(shared_traces / "third_party/ascend_op_summary/op_summary_1.csv")
    assert isinstance(trace, Trace)
    operators = trace.operators
    attention = operators[operators["op_type"] == "FlashAttentionScore"]
    known = attention[attention["flops"].notna()]
    assert set(known["flops"]) == {2 * 2 * 2 * 8192 * 8192 * 640}
    assert set(known["flops_source"]) == {FROM_SCORES}
