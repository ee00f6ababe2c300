"""Two sequences side by side: by hand, against an exhaustive search, and for whatever is given."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.align.alignment import Alignment, align
from fusescope.analysis.align.anchors import _by_pair, _by_position, anchors, by_occurrence
from fusescope.analysis.align.gotoh import aligned
from fusescope.analysis.align.sequence import Kernel, Sequence, numbered
from fusescope.analysis.align.similarity import EVIDENCE, FORBIDDEN, Similarity, kind
from tests.align.kernels import sequence


def shown(alignment: Alignment) -> list[str]:
    """Return a line for each column: 'before after', '.' where a side has none."""
    return [
        " ".join(
            side.kernel(place).name if place >= 0 else "."
            for side, place in zip((alignment.before, alignment.after), column, strict=True)
        )
        for column in alignment.columns.tolist()
    ]


def test_new_kernels_stand_before_the_one_that_follows() -> None:
    found = align(sequence("N G A G x N G A G x"), sequence("N G q r A G x N G q r A G x"))
    new = [". q", ". r"]
    half = ["N N", "G G", *new, "A A", "G G", "x x"]
    assert shown(found) == half * 2
    assert {EVIDENCE[number] for number in found.evidence} == {"same_name", "one_side"}
    assert found.is_ordered


def test_of_equal_places_new_kernels_stand_before_the_heavy_kernel() -> None:
    """'x [y x] A' and '[x y] x A' are as good; what is new prepares the attention."""
    times = {"A": 900_000, "y": 2000}
    found = align(sequence("N x A G", times), sequence("N x y x A G", times))
    assert shown(found) == ["N N", "x x", ". y", ". x", "A A", "G G"]


def test_one_more_layer_is_in_one_piece() -> None:
    found = align(sequence("z N G A x N G A x w"), sequence("z N G A x N G A x N G A x w"))
    assert shown(found)[9:13] == [". N", ". G", ". A", ". x"]


def test_a_replaced_kernel_stands_beside_what_it_replaces() -> None:
    found = align(sequence("N G A-flash x G1 w"), sequence("N G A-sage x G2 w"))
    assert shown(found) == ["N N", "G G", "A-flash A-sage", "x x", "G1 G2", "w w"]
    assert EVIDENCE[found.evidence[2]] == "same_family"


def test_kinds_of_operators_never_stand_for_each_other() -> None:
    copy = Kernel("Memcpy DtoD", "Memcpy", "data_movement", "aten::mm f32[2,2]")
    fill = Kernel("Memset", "Memset", "data_movement", "aten::mm f32[2,2]")
    product = Kernel("gemm", "gemm", "matrix_product", "aten::mm f32[2,2]")
    reduce = Kernel("all_reduce", "all_reduce", "communication", "aten::mm f32[2,2]")
    assert [kind(each) for each in (product, copy, fill, reduce)] == [0, 1, 2, 3]
    one = np.zeros(1, np.int64)
    for first in (copy, fill, product, reduce):
        for second in (copy, fill, product, reduce):
            found = align(Sequence((first,), one, one), Sequence((second,), one, one))
            assert len(found.columns) == (1 if first is second else 2)


def test_unknown_kernels_stand_for_each_other_only_by_name_or_operator() -> None:
    found = align(sequence("N ?a G"), sequence("N x G"))
    assert shown(found)[1:3] == ["?a .", ". x"]
    one = np.zeros(1, np.int64)
    first, second = Kernel("u", "u"), Kernel("v", "v")
    assert len(align(Sequence((first,), one, one), Sequence((second,), one, one)).columns) == 2
    first, second = (Kernel(name, name, launcher="aten::mm f32[2,2]") for name in "uv")
    found = align(Sequence((first,), one, one), Sequence((second,), one, one))
    assert [EVIDENCE[number] for number in found.evidence] == ["same_launcher"]


def test_a_kernel_that_moved_has_its_partner() -> None:
    found = align(sequence("N G x A w G1 m"), sequence("N G A w x G1 m"))
    assert shown(found) == ["N N", "G G", "x .", "A A", "w w", ". x", "G1 G1", "m m"]
    assert found.partners.tolist() == [-1, -1, 5, -1, -1, 2, -1, -1]
    assert found.common_share == 1


def test_a_kernel_far_away_has_not_moved() -> None:
    middle = " ".join(f"k{place}" for place in range(70))
    found = align(sequence(f"a x {middle} b"), sequence(f"a {middle} x b"))
    assert not found.moved.any()


def test_the_number_that_a_compiler_gives_is_no_difference() -> None:
    one = np.zeros(1, np.int64)
    first = Kernel("triton_poi_fused_add_mul_17", "triton_poi_fused_add_mul", "elementwise")
    second = Kernel("triton_poi_fused_add_mul_9", "triton_poi_fused_add_mul", "elementwise")
    found = align(Sequence((first,), one, one), Sequence((second,), one, one))
    assert found.is_same.tolist() == [True]
    assert EVIDENCE[found.evidence[0]] == "same_family"


def test_generated_kernels_are_alike_by_their_words() -> None:
    names = ["triton_poi_fused_add_addmm_cat", "triton_poi_fused_add_addmm_mul_cat",
             "triton_red_fused_add_addmm_cat", "triton_poi_fused_gelu"]  # fmt: skip
    kernels = tuple(Kernel(name, name, "elementwise") for name in names)
    side = Sequence(kernels, np.arange(4), np.zeros(4, np.int64))
    unused = Sequence(kernels, np.zeros(0, np.int64), np.zeros(0, np.int64))
    scores = Similarity(numbered(side, unused)).scores(np.arange(4), np.arange(4))
    # Three of four words in common: 100 + 140 * 3 / 4.
    assert scores[0].tolist() == [400, 205, FORBIDDEN, FORBIDDEN]


def test_an_empty_side_is_all_on_the_other() -> None:
    empty = Sequence((), np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert shown(align(empty, sequence("a b"))) == [". a", ". b"]
    assert shown(align(sequence("a b"), empty)) == ["a .", "b ."]
    assert shown(align(empty, empty)) == []


def test_two_models_without_anything_in_common_have_no_order() -> None:
    found = align(sequence("G1 a b N1 c d"), sequence("e A1 f g h A2"))
    assert not found.is_ordered
    assert found.common_share == 0


def test_a_model_whose_kernels_all_have_other_names_has_the_same_order() -> None:
    layer = ["N", "G", "x", "A", "y"]
    before = sequence(" ".join(layer * 12))
    kernels = tuple(
        Kernel(each.name + "-new", each.family + "-new", each.op_class) for each in before.kernels
    )
    found = align(before, Sequence(kernels, before.ids, before.durations))
    assert found.columns.tolist() == [[place, place] for place in range(60)]
    assert found.renamed.all() and not found.is_same.any()
    assert found.is_ordered


def test_kernels_that_stand_for_many_are_no_other_names() -> None:
    found = align(sequence("G1 N G2 N G3 N G4 N"), sequence("A N " * 4))
    assert not found.renamed.any()
    found = align(sequence("x N " * 2), sequence("y N " * 2))
    assert not found.renamed.any()


def test_products_of_two_models_make_no_order() -> None:
    random = np.random.default_rng(0)
    texts = [
        [f"{random.choice(list('GANx'))}{side}{random.integers(40)}" for _ in range(900)]
        for side in "ab"
    ]
    sides = [sequence(" ".join(text)) for text in texts]
    kernels = tuple(Kernel(each.name, each.name, each.op_class) for each in sides[1].kernels)
    found = align(sides[0], Sequence(kernels, sides[1].ids, sides[1].durations))
    assert (found.evidence > 0).sum() > 300
    assert not found.is_ordered


NAMES = st.sampled_from(
    ["A1", "A2", "G1", "G2", "G3", "N", "x", "y", "C", "?u", "?v", "m", "triton"]
)
TEXTS = st.lists(NAMES, max_size=25).map(" ".join)


@given(TEXTS, TEXTS)
def test_each_execution_stands_in_one_column_in_order(first: str, second: str) -> None:
    before, after = sequence(first), sequence(second)
    found = align(before, after)
    for side, length in ((0, len(before)), (1, len(after))):
        positions = found.columns[:, side]
        assert positions[positions >= 0].tolist() == list(range(length))
    assert ((found.columns >= 0).any(axis=1)).all()
    is_pair = (found.columns >= 0).all(axis=1)
    assert (found.evidence > 0).tolist() == is_pair.tolist()
    moved = np.flatnonzero(found.moved)
    assert (found.partners[found.partners[moved]] == moved).all()
    assert not (is_pair & found.moved).any()


@given(TEXTS)
def test_nothing_differs_from_itself(text: str) -> None:
    found = align(sequence(text), sequence(text))
    assert found.is_same.all()
    assert len(found.columns) == len(text.split())


@given(st.lists(NAMES, min_size=6, max_size=20), st.integers(8, 60), st.data())
def test_what_is_planted_in_every_layer_is_found(
    layer: list[str], layers: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(layer)))
    changed = [*layer[:place], "new1", "new2", *layer[place:]]
    found = align(sequence(" ".join(layer * layers)), sequence(" ".join(changed * layers)))
    new = found.columns[found.evidence == 0, 1]
    names = [found.after.kernel(position).name for position in new.tolist()]
    assert names == ["new1", "new2"] * layers
    assert (found.columns[:, 1] >= 0).all()


def best_score(scores: np.ndarray) -> int:
    """Return the score of the best alignment, of all that there are."""

    @cache
    def best(row: int, column: int, gap: int) -> float:
        if row == scores.shape[0] and column == scores.shape[1]:
            return 0
        found = -np.inf
        if row < scores.shape[0] and column < scores.shape[1]:
            found = scores[row, column] + best(row + 1, column + 1, 0)
        if row < scores.shape[0]:
            found = max(found, (-5 if gap == 1 else -120) + best(row + 1, column, 1))
        if column < scores.shape[1]:
            found = max(found, (-5 if gap == 2 else -120) + best(row, column + 1, 2))
        return found

    return int(best(0, 0, 0))


def score_of(pairs: list[list[int]], scores: np.ndarray) -> int:
    """Return the score of an alignment; gaps of both sides between two pairs are one each."""
    total = sum(int(scores[row, column]) for row, column in pairs)
    ends = [[-1, -1], *pairs, list(scores.shape)]
    for here, there in pairwise(ends):
        for side in (0, 1):
            length = there[side] - here[side] - 1
            total -= 115 + 5 * length if length else 0
    return total


SCORES = st.sampled_from([FORBIDDEN, 90, 130, 240, 260, 400])


@given(st.integers(0, 7), st.integers(0, 7), st.data())
def test_no_alignment_is_better(rows: int, columns: int, data: st.DataObject) -> None:
    row = st.lists(SCORES, min_size=columns, max_size=columns)
    drawn = data.draw(st.lists(row, min_size=rows, max_size=rows))
    scores = np.array(drawn, np.int32).reshape(rows, columns)
    pairs = aligned(scores, np.arange(rows), np.arange(columns)).tolist()
    assert score_of(pairs, scores) == best_score(scores)
    assert all(scores[row, column] > FORBIDDEN for row, column in pairs)


@given(
    st.lists(st.integers(0, 5), max_size=60),
    st.lists(st.integers(0, 5), max_size=60),
    st.integers(1, 6),
)
def test_anchors_ascend_and_are_equal(first: list[int], second: list[int], length: int) -> None:
    before, after = np.array(first, np.int64), np.array(second, np.int64)
    for find in (anchors, by_occurrence):
        found = find(before, after, length)
        assert (np.diff(found, axis=0) > 0).all()
        assert (before[found[:, 0]] == after[found[:, 1]]).all()


def test_anchors_hold_the_layers_of_two_models_of_another_depth() -> None:
    layer = list(range(10, 30))
    before = np.array([1, 2, *layer * 36, 3], np.int64)
    after = np.array([1, 2, *layer * 32, 3], np.int64)
    found = anchors(before, after, 4)
    assert len(found) == len(after)


def model(layers: int, extra: tuple[str, ...] = (), widths: int = 40) -> str:
    layer = [*(f"k{place}" for place in range(widths)), *extra, "A", "G"]
    return " ".join(["e0", "e1", *layer * layers, "h0", "h1"])


def test_a_long_sequence_of_layers_is_aligned_whole() -> None:
    found = align(sequence(model(300)), sequence(model(300, ("new1", "new2"))))
    is_new = found.evidence == 0
    assert int(is_new.sum()) == 600
    names = [
        found.after.kernel(place + 1).name for place in found.columns[is_new, 1][1::2].tolist()
    ]
    assert set(names) == {"A"}


KINDS = ["equal", "others", "different", "random", "layers", "rolled"]


@pytest.mark.parametrize("what", KINDS)
def test_many_kernels_end_and_say_whether_they_have_an_order(what: str) -> None:
    count = 200_000
    random = np.random.default_rng(0)
    numbers = np.arange(count)
    layer = np.arange(40)
    before, after, shift = {
        "equal": (numbers * 0, numbers[:-50] * 0, 0),
        "others": (numbers * 0, numbers * 0, 1),
        "different": (numbers, numbers, count),
        "random": (random.integers(0, 60, count), random.integers(0, 60, count), 60),
        "layers": (np.tile(layer, 5000), np.tile(np.insert(layer, 7, [40, 41]), 4700), 0),
        "rolled": (numbers, np.roll(numbers, 500), 0),
    }[what]
    distinct = int(max(before.max(), after.max())) + 1 + shift
    kernels = tuple(Kernel(f"k{number}", f"f{number}", "elementwise") for number in range(distinct))
    sides = [Sequence(kernels, ids, np.full(len(ids), 10)) for ids in (before, after + shift)]
    found = align(*sides)
    assert found.is_ordered == (what in ("equal", "layers", "rolled"))
    if what == "layers":
        assert int(found.is_same.sum()) == 4700 * 40


def test_many_layers_are_not_shifted_by_kernels_that_differ_here_and_there() -> None:
    """10 steps of 36 layers of 40 kernels, of which every 50th is another one on the other side."""
    random = np.random.default_rng(0)
    before = np.tile(np.arange(40), 360)
    places = random.choice(len(before), len(before) // 50, replace=False)
    after = before.copy()
    after[places] = random.integers(40, 60, len(places))
    kernels = tuple(Kernel(f"k{number}", f"f{number}") for number in range(60))
    sides = [Sequence(kernels, ids, np.full(len(ids), 10)) for ids in (before, after)]
    found = align(*sides)
    pairs = found.columns[found.is_same]
    assert (pairs[:, 0] == pairs[:, 1]).mean() > 0.99
    assert len(pairs) >= (before == after).sum() - 20


def test_a_kernel_many_times_in_a_row_shifts_nothing() -> None:
    """Gradients set to zero one by one, between steps that have a few kernels more."""
    step = [f"k{place}" for place in range(200)]
    before = " ".join((step + ["zero"] * 161) * 6)
    after = " ".join((step[:100] + ["new"] * 27 + step[100:] + ["zero"] * 161) * 6)
    found = align(sequence(before), sequence(after))
    assert int(found.is_same.sum()) == 6 * 361
    assert len(found.columns) == 6 * 388


def test_a_kernel_that_both_sides_run_is_not_taken_for_one_of_another_name() -> None:
    product, new = Kernel("gemm", "gemm", "matrix_product", "aten::mm a"), "quantise"
    before = Sequence((product,), np.zeros(3, np.int64), np.full(3, 9))
    kernels = (product, Kernel(new, new, "matrix_product", "aten::mm a"))
    after = Sequence(kernels, np.array([1, 0, 1, 0, 1, 0]), np.full(6, 9))
    pairs = [pair for pair in align(before, after).columns.tolist() if min(pair) >= 0]
    assert pairs == [[0, 1], [1, 3], [2, 5]]


@given(st.lists(st.integers(0, 6), max_size=60), st.lists(st.integers(0, 6), max_size=60))
def test_the_longest_chain_is_the_same_by_pair_and_by_position(
    before: list[int], after: list[int]
) -> None:
    """Pairs of equal numbers; of one position those of the last columns first."""
    pairs = [
        (row, column)
        for row, number in enumerate(before)
        for column in range(len(after) - 1, -1, -1)
        if after[column] == number
    ]
    columns = np.array([column for _, column in pairs], dtype=np.int64)
    rows = np.array([row for row, _ in pairs], dtype=np.int64)
    begins = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))[: len(rows)]
    if len(rows):
        assert _by_position(columns, begins) == _by_pair(columns)
