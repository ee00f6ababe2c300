"""One execution that became several smaller ones of the same operator, and several that became
one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import Change, Explanation, KernelTime
from fusescope.analysis.wording.explanation import change_sentence, leading_sentence
from tests.step_traces import Kernel, steps_of

NORM = Kernel("batch_norm_kernel", 50, "normalisation")
CONV = Kernel("implicit_gemm_conv", 5200, "convolution", "aten::conv2d")
TILE = replace(CONV, us=310)
COPY = Kernel("Memcpy HtoD (Pageable -> Device)", 900, "copy")


def said(before: list[Kernel], after: list[Kernel], times: int = 1) -> Explanation:
    found = explain(steps_of([before * times] * 3), steps_of([after * times] * 3))
    assert found is not None
    assert sum(c.change_ns for c in found.changes) + found.rest_ns == found.unit.change_ns
    return found


def only(found: Explanation) -> Change:
    assert len(found.changes) == 1, found.changes
    return found.changes[0]


def test_a_convolution_in_tiles_is_told_with_both_times() -> None:
    found = said([NORM, CONV, NORM], [NORM, *[TILE] * 14, NORM])
    change = only(found)
    assert (change.code, change.change_ns, change.repeats) == ("pieces", -860_000, 1)
    assert [(each.count, each.ns) for each in change.before] == [(1, 5_200_000)]
    assert [(each.count, each.ns) for each in change.after] == [(14, 4_340_000)]
    assert change.evidence == "named"
    assert (
        "1 execution of convolution (implicit_gemm_conv) of 5.20 ms became 14 of 310 µs: "
        "−860 µs per step." in leading_sentence(found)
    )


def test_tiles_that_became_one_convolution_are_the_same_read_backwards() -> None:
    change = only(said([NORM, *[TILE] * 14, NORM], [NORM, CONV, NORM]))
    assert (change.code, change.change_ns) == ("pieces", 860_000)
    assert [each.count for each in change.after] == [1]


def test_each_of_several_layers_in_tiles_is_one_change() -> None:
    change = only(said([NORM, CONV, NORM], [NORM, *[TILE] * 14, NORM], times=6))
    assert (change.code, change.change_ns, change.repeats) == ("pieces", -6 * 860_000, 6)


def test_stretches_with_one_and_with_several_executions_are_one_change() -> None:
    quarter = replace(CONV, us=1500)
    before = [NORM, CONV, NORM, CONV, CONV, NORM]
    after = [NORM, *[quarter] * 4, NORM, *[quarter] * 8, NORM]
    change = only(said(before, after))
    assert (change.code, change.change_ns, change.repeats) == ("pieces", 3 * 800_000, 2)


def test_a_copy_in_parts_needs_no_operator_that_says_so() -> None:
    part = replace(COPY, us=240)
    change = only(said([COPY, NORM, CONV], [part, part, part, part, NORM, CONV]))
    assert (change.code, change.change_ns, change.evidence) == ("pieces", 60_000, "ordered")


def test_other_kernels_of_the_same_operator_are_pieces_too() -> None:
    small = Kernel("small_tile_conv", 310, "convolution", "aten::conv2d")
    product = Kernel("gemm", 9000, "matrix_product", "aten::mm")
    found = said([product, CONV, NORM], [product, *[small] * 14, NORM])
    change = only(found)
    assert (change.code, change.change_ns) == ("pieces", -860_000)
    assert "became 14 of convolution (small_tile_conv) of 310 µs" in change_sentence(
        change, found.unit
    )


def test_of_operators_with_other_kernels_both_counts_are_told() -> None:
    small = Kernel("small_tile_conv", 310, "convolution", "aten::conv2d")
    found = said([NORM, CONV, NORM], [NORM, *[small] * 14, NORM])
    assert found.has_other_kernels
    assert (
        "aten::conv2d takes 4.34 ms in 14 kernels instead of 5.20 ms in 1 kernel: −860 µs "
        "per step" in change_sentence(only(found), found.unit)
    )


@pytest.mark.parametrize(("word", "is_more"), [("fewer", False), ("more", True)])
def test_fills_are_no_executions_of_an_operator(word: str, is_more: bool) -> None:
    """Three products of 100 us with a fill of 10 each become three of 150 without."""
    fill = Kernel("Memset (Device)", 10, "copy", "aten::mm")
    product = Kernel("sm90_gemm", 100, "matrix_product", "aten::mm")
    tile = Kernel("Cijk_gemm", 150, "matrix_product", "aten::mm")
    sides = [NORM, *[fill, product] * 3], [NORM, *[tile] * 3]
    found = said(*(reversed(sides) if is_more else sides))
    assert found.has_other_kernels
    times = "330 µs instead of 450 µs" if is_more else "450 µs instead of 330 µs"
    assert (
        f"aten::mm takes {times} in 3 kernels on both sides, with 3 {word} copies or fills: "
        in change_sentence(only(found), found.unit)
    )


def test_kernels_that_alternate_in_pieces_are_told_together() -> None:
    product = Kernel("gemm_vocabulary", 331, "matrix_product", "aten::mm", "float32[4096,512]")
    softmax = Kernel("softmax_forward", 351, "softmax", "aten::softmax", "float32[4096,32000]")
    pieces = [
        replace(product, us=42, inputs="float32[512,512]"),
        replace(softmax, us=45, inputs="float32[512,32000]"),
    ]
    found = said([NORM, product, softmax], [NORM, *pieces * 8])
    change = only(found)
    assert (change.code, change.change_ns) == ("pieces", 8 * 87_000 - 682_000)
    assert "run in 16 executions instead of 2, on less each time" in leading_sentence(found)


@pytest.mark.parametrize(
    ("rows", "is_piece"), [(512, True), (300, True), (64, False), (4096, True)]
)
def test_shapes_say_whether_pieces_are_the_whole(rows: int, is_piece: bool) -> None:
    add = Kernel("add_kernel", 800, "elementwise", "aten::add", "float32[4096,1024]")
    piece = replace(add, us=110, inputs=f"float32[{rows},1024]")
    product = Kernel("gemm", 9000, "matrix_product", "aten::mm")
    found = said([product, add, NORM], [product, *[piece] * 8, NORM])
    assert ("pieces" in {change.code for change in found.changes}) == is_piece


@pytest.mark.parametrize("us", [5200, 5000])
def test_a_kernel_that_runs_more_often_on_the_same_is_no_piece(us: float) -> None:
    found = said([NORM, CONV, NORM], [NORM, CONV, replace(CONV, us=us), NORM])
    assert {change.code for change in found.changes} == {"added"}


def test_what_takes_far_longer_altogether_is_no_piece() -> None:
    found = said([NORM, CONV, NORM], [NORM, *[replace(CONV, us=1300)] * 14, NORM])
    assert "pieces" not in {change.code for change in found.changes}


def test_a_kernel_that_runs_on_both_sides_is_no_piece_of_itself() -> None:
    """One of 5.2 ms, and 9 of 250 us that are new, would be 10 of 745 us."""
    small = replace(CONV, us=250, inputs="float32[1,64,8,8]")
    whole = replace(CONV, inputs="float32[1,64,32,32]")
    found = said([NORM, whole, NORM], [NORM, *[small] * 9, whole, NORM])
    assert {change.code for change in found.changes} == {"added"}


def test_pieces_are_no_outlier_among_others_of_their_name() -> None:
    others = [replace(CONV, us=300, by=None), NORM] * 20
    whole, tile = replace(CONV, by=None), replace(TILE, by=None)
    change = only(said([*others, whole, NORM], [*others, *[tile] * 14, NORM]))
    assert (change.code, change.change_ns) == ("pieces", -860_000)


@settings(deadline=None)
@given(
    st.integers(2, 20),
    st.integers(1, 5),
    st.floats(0.6, 1.3),
    st.booleans(),
)
def test_any_number_of_pieces_adds_up(pieces: int, times: int, share: float, is_back: bool) -> None:
    piece = replace(CONV, us=round(5200 * share / pieces))
    sides = [NORM, CONV, NORM], [NORM, *[piece] * pieces, NORM]
    found = said(*(reversed(sides) if is_back else sides), times=times)
    change_ns = times * (pieces * round(piece.us) - 5200) * (-1 if is_back else 1) * 1000
    assert found.unit.change_ns == change_ns
    whole_ns = sum(change.change_ns for change in found.changes)
    assert whole_ns == change_ns or abs(change_ns) < 0.002 * found.unit.before_ns
    if piece.us <= 0.7 * 5200 and found.changes:
        assert {change.code for change in found.changes} == {"pieces"}


def test_several_names_that_replace_one_agree_with_their_verb() -> None:
    """Each product of 100 us is one of four kernels of 60 us."""
    kernels = tuple(KernelTime(f"gemm_{at}", 1, 60_000, "matrix_product") for at in range(4))
    one = (KernelTime("softmax_old", 4, 400_000, "softmax"),)
    change = Change("replaced", -160_000, 4, (), one, kernels)
    told = change_sentence(change, said([NORM, CONV], [NORM, CONV, NORM]).unit)
    assert told == (
        "In 4 places the candidate runs matrix product (gemm_0, gemm_1 and 2 more) instead of "
        "softmax (softmax_old): 240 µs instead of 400 µs, −160 µs per step."
    )


def test_idle_time_that_was_not_there_before_is_not_instead_of_nothing() -> None:
    values: dict[str, str | int | float] = {"before_ns": 0, "after_ns": 7_000, "kind": "launching"}
    change = Change("idle", 7_000, 1, (), (), (), values=values)
    assert change_sentence(change, said([NORM, CONV], [NORM, CONV, NORM]).unit) == (
        "The device is idle for 7.00 µs while the host launches the next kernel, which it is not "
        "in the baseline: +7.00 µs per step."
    )


def test_an_execution_over_the_tensors_of_the_one_of_the_other_side_did_not_become_it() -> None:
    """Of five copies four are gone and one, of [128,192], takes 12.9 us instead of 2."""
    kept = Kernel("copy_", 2, "copy", "aten::copy_", "float32[128,192]; float32[128,192]")
    others = replace(kept, us=3, inputs="float32[4,64,32]; float32[4,64,32]")
    slow = replace(kept, us=13)
    product = Kernel("gemm", 100, "matrix_product", "aten::mm")
    found = said([product, others, kept, others, others, others, product], [product, slow, product])
    assert "pieces" not in {change.code for change in found.changes}
    [change] = [each for each in found.changes if each.before and each.after]
    assert [(each.count, each.ns) for each in change.before] == [(1, 2_000)]
    assert [(each.count, each.ns) for each in change.after] == [(1, 13_000)]


def test_tiles_that_are_said_to_be_over_the_whole_tensors_are_pieces_all_the_same() -> None:
    """Kernels that one operator launches all have the shapes of its inputs."""
    whole = replace(CONV, inputs="float32[8,64,64,64]")
    change = only(said([NORM, whole, NORM], [NORM, *[replace(whole, us=310)] * 14, NORM]))
    assert (change.code, change.change_ns) == ("pieces", -860_000)
