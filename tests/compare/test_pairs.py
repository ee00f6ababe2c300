"""Pairs of operators: only of one kind, whole, and the same from either side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.joining.agreement import factor, lasting_name, shapes_contradict
from fusescope.analysis.compare.joining.matching import match_operators
from fusescope.analysis.compare.joining.pairs import paired_operators
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

Row = tuple[str, str | None, str, str | None, str | None, str, bool, int, int]
_COLUMNS = (
    "name", "op_type", "op_class", "inputs", "launched_by", "level", "is_communication"
)  # fmt: skip

GEMM, MEMSET = "gemm_128x128_kernel", "Memset (Device)"
KERNEL, HOST = "device_kernel", "framework_op"

_ROW = st.tuples(
    st.sampled_from(
        [GEMM, "winograd_kernel", MEMSET, "Memcpy HtoD", "triton_poi_fused_add_3", "c"]
    ),
    st.sampled_from(["Conv", "Add", None]),
    st.sampled_from(["convolution", "elementwise", "unknown"]),
    st.sampled_from(["float32[1,8]", "float32[2,8]", "float16[1,8]", None]),
    st.sampled_from(["aten::add", "aten::mul", None]),
    st.sampled_from([KERNEL, HOST]),
    st.booleans(),
    st.integers(min_value=1, max_value=100),
    st.integers(min_value=1, max_value=3),
)


def _trace(rows: Sequence[Row]) -> Trace:
    """One run of these operators in order; the last two values are the time and the number of
    executions."""
    *columns, times, executions = zip(*rows, strict=True)
    ran = [at for at, times_ran in enumerate(executions) for _ in range(times_ran)]
    return Trace(
        Meta("test", "test"),
        runs_frame(run=[0], dur_ns=[10_000], profiled=[True]),
        operators_frame(
            operator=list(range(len(rows))),
            **{name: list(cells) for name, cells in zip(_COLUMNS, columns, strict=True)},
        ),
        calls_frame(
            operator=ran,
            run=[0] * len(ran),
            start_ns=[*range(len(ran))],
            dur_ns=[times[at] for at in ran],
        ),
    )


def _kernel(name: str, op_class: str, ns: int, **more: object) -> Row:
    told = {"inputs": None, "launched_by": None, "executions": 1} | more
    row = (name, name, op_class, told["inputs"], told["launched_by"], KERNEL, False, ns)
    return (*row, told["executions"])  # type: ignore[return-value]


def _joined(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[int, int, str]]:
    """Rows of both sides that are a pair, and what joined them."""
    first, second, pairs = paired_operators(_trace(before), _trace(after))
    rows = [side["operator"].to_numpy() for side in (first, second)]
    return sorted(
        (int(rows[0][b]), int(rows[1][c]), str(by)) for b, c, by in zip(*pairs, strict=True) if by
    )


_ROWS = st.lists(_ROW, min_size=1, max_size=12)


@given(_ROWS, _ROWS)
def test_pairs_are_of_one_kind(before: list[Row], after: list[Row]) -> None:
    def kind(row: Row) -> str:
        if row[6]:
            return "communication"
        return row[0][:6] if row[0].startswith("Mem") else "computes"

    for b, c, _ in _joined(before, after):
        assert kind(before[b]) == kind(after[c])
        classes = {before[b][2], after[c][2]} - {"unknown"}
        assert len(classes) <= 1


@given(_ROWS, _ROWS)
def test_rows_are_whole(before: list[Row], after: list[Row]) -> None:
    joined = match_operators(_trace(before), _trace(after))
    for rows, column in ((before, "operator_baseline"), (after, "operator_candidate")):
        assert Counter(joined[column].dropna()) == Counter(range(len(rows)))
    change = sum(row[7] * row[8] for row in after) - sum(row[7] * row[8] for row in before)
    assert joined["delta_ns"].sum() == pytest.approx(change)


@given(_ROWS, _ROWS)
def test_pairs_do_not_depend_on_which_side_is_first(before: list[Row], after: list[Row]) -> None:
    there = {(b, c, by) for b, c, by in _joined(before, after)}
    back = {(b, c, by) for c, b, by in _joined(after, before)}
    assert there == back


@given(_ROWS, _ROWS)
def test_far_apart_only_with_evidence(before: list[Row], after: list[Row]) -> None:
    for b, c, _ in _joined(before, after):
        times = [row[7] * row[8] for row in (before[b], after[c])]
        # Collectives join by their order: most of their time may be waiting for another rank.
        if max(times) <= 3 * min(times) or before[b][6]:
            continue
        has_shapes = before[b][3] is not None and after[c][3] is not None
        alone = all(
            sum((row[0], row[6]) == (one[0], one[6]) for row in rows) == 1
            for rows, one in ((before, before[b]), (after, after[c]))
        )
        by_launcher = before[b][4] is not None and before[b][4] == after[c][4]
        assert has_shapes or alone or by_launcher


def test_a_fill_of_memory_is_no_matrix_product() -> None:
    product = "bfloat16[8,16]; bfloat16[16,4]"
    told = {"inputs": product, "launched_by": "aten::mm", "executions": 2}
    before = [
        _kernel(MEMSET, "data_movement", 20, **told),
        _kernel("sm90_xmma_gemm_kernel", "matrix_product", 4000, **told),
    ]
    after = [_kernel("Cijk_Alik_Bljk_MT256x128x64", "matrix_product", 5300, **told)]
    assert _joined(before, after) == [(1, 0, "launcher")]
    joined = match_operators(_trace(before), _trace(after))
    assert sorted(joined["delta_ns"]) == [-40, 2600]


def test_copies_of_two_directions_are_two() -> None:
    told = {"inputs": "bool[]", "launched_by": "aten::copy_"}
    before = [_kernel("Memcpy DtoH (Device -> Pinned)", "data_movement", 24, **told)]
    after = [_kernel("Memcpy DtoD (Device -> Device)", "data_movement", 8, **told)]
    assert _joined(before, after) == []


def test_the_same_kernel_of_another_layer_is_another_operator() -> None:
    """The second of one name is no longer the partner of the second: the shapes say which is."""
    layers = ["float32[32,1024,14,14]; float32[32,256,14,14]",
              "float32[32,256,28,28]; float32[32,512,28,28]"]  # fmt: skip
    before = [_kernel("wgrad", "convolution", 2106, inputs=layers[0], executions=6)]
    after = [_kernel("wgrad", "convolution", 675, inputs=layers[1])]
    assert _joined(before, after) == []
    swapped = [_kernel("wgrad", "convolution", 700, inputs=layer) for layer in layers]
    assert _joined(swapped, swapped[::-1]) == [(0, 1, "name"), (1, 0, "name")]


def test_another_algorithm_of_a_launcher_is_not_joined_when_it_is_not_alone() -> None:
    told = {"inputs": "float32[8,8]; float32[8,8]", "launched_by": "aten::cudnn_convolution"}
    before = [
        _kernel("im2col4d_kernel", "convolution", 102, **told),
        _kernel("sgemm_kernel", "convolution", 700, **told),
    ]
    after = [_kernel("scudnn_128x32_relu", "convolution", 616, **told)]
    assert _joined(before, after) == []


def test_the_only_kernel_of_a_launcher_stays_however_much_slower() -> None:
    told = {"inputs": "bfloat16[1,141,8,64]", "launched_by": "aten::_flash_attention_forward"}
    before = [_kernel("flash_fwd_kernel", "attention", 37, **told)]
    after = [_kernel("attn_fwd", "attention", 114, **told)]
    assert _joined(before, after) == [(0, 0, "launcher")]


def test_collectives_of_one_kind_are_the_same_ones_however_long_they_wait() -> None:
    """Their names number the group and the call; 10 times as long is another wait."""
    before, after = (
        [
            (f"hcom_allReduce__{group}_{at}_1", "hcom_allReduce_", "communication", None, None,
             KERNEL, True, us, 1)
            for at, us in enumerate(times)
        ]
        for group, times in ((538, (53, 6, 9, 2)), (586, (79, 2, 2, 22)))
    )  # fmt: skip
    assert _joined(before, after) == [(at, at, "order") for at in range(4)]
    assert _joined(before, after[:3]) == [], "another number of them says no order"


def test_generated_kernels_are_counted_anew_by_each_compilation() -> None:
    """One more kernel before them moves all numbers: '_21' is not '_21' of the other side."""
    name = "triton_red_fused_add_native_layer_norm_{}"
    before = [_kernel(name.format(n), "normalisation", ns, executions=2)
              for n, ns in ((20, 144), (21, 436))]  # fmt: skip
    after = [_kernel(name.format(n), "normalisation", ns, executions=2)
             for n, ns in ((21, 135), (22, 439))]  # fmt: skip
    assert lasting_name(name.format(20)) == lasting_name(name.format(22))
    assert _joined(before, after) == [(0, 0, "order"), (1, 1, "order")]
    assert _joined(before, after[::-1]) == []  # their times say that the order is another one


def test_a_time_far_apart_needs_more_than_a_name() -> None:
    """Attention over 128 and over 8 tokens, and the file tells no shapes."""
    before = [_kernel("flash_fwd", "attention", ns, launched_by=by)
              for ns, by in ((7867, "block 1"), (155, "block 2"))]  # fmt: skip
    after = [_kernel("flash_fwd", "attention", ns, launched_by=by)
             for ns, by in ((155, "block 3"), (7868, "block 4"))]  # fmt: skip
    assert _joined(before, after) == []
    named = [_kernel("flash_fwd", "attention", ns, launched_by=by)
             for ns, by in ((150, "block 2"), (7900, "block 1"))]  # fmt: skip
    assert _joined(before, named) == [(0, 1, "name"), (1, 0, "name")]


def test_another_batch_is_the_same_model() -> None:
    """All sizes that differ, differ by the factor 8."""

    def model(batch: int) -> list[Row]:
        return [
            ("aten::conv2d", "aten::conv2d", "convolution",
             f"float32[{batch},3,32,32]; float32[{out},3,3,3]", None, HOST, False, 5 * batch, 1)
            for out in (16, 32)
        ]  # fmt: skip

    assert _joined(model(1), model(8)) == [(0, 0, "name"), (1, 1, "name")]
    assert factor("f[1,3]; f[3,4]", "f[8,3]; f[3,4]") == 8
    assert factor("f[1,3]; f[3,4]", "f[8,3]; f[3,8]") is None


@pytest.mark.parametrize(
    ("before", "after", "contradict"),
    [
        ("float32[1,3,8,8]; float32[4,3,3,3]", "float16[1,3,8,8]; float16[4,3,3,3]", False),
        ("float32[1,3,8,8]; float32[4,3,3,3]", "float32[1,3,8,8]; float32[9,3,1,1]", True),
        ("float32[1,3,8,8]; float32[4,3,3,3]", "float32[8,3,8,8]; float32[4,3,3,3]", False),
        ("float32[1,3,8,8]:NCHW; float32[4,3,3,3]", "float32[1,1,8,8,4]:NC4HW", False),
        ("float32[1,3,8,8]; float32[4,3,3,3]", "", False),
    ],
)
def test_shapes_of_one_name(before: str, after: str, contradict: bool) -> None:
    assert shapes_contradict(before, after, "convolution") is contradict
    assert shapes_contradict(after, before, "convolution") is contradict


def test_renamed_operators_join_by_the_group_that_proves_it() -> None:
    before = [_kernel("Conv_1", "convolution", 100, inputs="float32[1,3,8,8]")]
    after = [_kernel("Conv_nchwc", "convolution", 10, inputs="float32[1,8,8,8]")]
    origins = MappingProxyType({"Conv_nchwc": "Conv_1"})
    pairs = paired_operators(_trace(before), _trace(after), origins)[2]
    assert (pairs.before.tolist(), pairs.after.tolist(), pairs.by.tolist()) == ([0], [0], ["graph"])
    none = paired_operators(_trace(before), _trace(after), MappingProxyType({"Conv_nchwc": ""}))[2]
    assert np.array_equal(none.by, ["", ""])


def test_a_rest_of_a_name_without_shapes_or_launcher_is_no_pair_of_times_far_apart() -> None:
    """One kernel of the name has shapes. Of the other nothing is known, but that it runs as often:
    2 · 40 against 2 · 10 us is four times apart."""
    shaped = _kernel(GEMM, "matrix_product", 10, inputs="float32[1,8]", launched_by="aten::mm")
    bare = [_kernel(GEMM, "matrix_product", ns, executions=2) for ns in (40, 10)]
    assert _joined([shaped, bare[0]], [shaped, bare[1]]) == [(0, 0, "name")]
    launched = [
        _kernel(GEMM, "matrix_product", ns, executions=2, launched_by="aten::bmm")
        for ns in (40, 10)
    ]
    pairs = _joined([shaped, launched[0]], [shaped, launched[1]])
    assert pairs == [(0, 0, "name"), (1, 1, "name")]


def test_an_operator_that_one_side_runs_more_often_is_on_both() -> None:
    """8 x 3 766 ns against 1 x 3 385 ns, without shapes: as long each time, and the only one of its
    name. Of 8 x 40 against 1 x 10 nothing says that it is the same."""
    before, after = (
        [_kernel("aten::empty", "data_movement", ns, executions=executions)]
        for ns, executions in ((3766, 8), (3385, 1))
    )
    assert _joined(before, after) == [(0, 0, "name")]
    assert _joined(after, before) == [(0, 0, "name")]
    others = [
        [_kernel("aten::empty", "data_movement", ns, executions=executions)]
        for ns, executions in ((40, 8), (10, 1))
    ]
    assert _joined(*others) == []


def test_operators_that_write_into_a_given_tensor_join_those_that_make_it() -> None:
    """Two products of two sizes each, of which the candidate's have one tensor more."""
    sizes = ["float32[4]; float32[8,4]", "float32[2]; float32[8,2]"]
    before = [_kernel("aten::addmm", "matrix_product", 9, inputs=text) for text in sizes]
    after = [
        _kernel("aten::addmm", "matrix_product", 40 + at, inputs=f"{text}; float32[8,8]")
        for at, text in enumerate(reversed(sizes))
    ]
    assert sorted(_joined(before, after)) == [(0, 1, "name"), (1, 0, "name")]
    again = [*after, _kernel("aten::addmm", "matrix_product", 9, inputs=sizes[0])]
    assert (0, 1, "name") not in _joined(before, again)
