"""Tandem repeats: planted ones are found, with mismatches, nested, and in bounded time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.align.repeats import Repeat, best_period, fold, walk

OTHERS = 1000  # tokens from here on stand outside the planted repeat, each once


def ids(*parts: list[int]) -> np.ndarray:
    return np.array([token for part in parts for token in part], np.int64)


def fresh(count: int, first: int = OTHERS) -> list[int]:
    return list(range(first, first + count))


def test_a_repeat_between_others() -> None:
    found = best_period(ids(fresh(5), [1, 2, 3, 4, 5, 6] * 7, [1, 2], fresh(9, 2000)))
    assert found == Repeat(start=5, period=6, copies=7, covered=44)
    assert found.stop == 47


def test_the_shortest_of_all_multiples_is_taken() -> None:
    found = best_period(ids([1, 2, 3, 4, 5] * 40))
    assert found is not None
    assert (found.period, found.copies) == (5, 40)


def test_two_copies_of_a_long_part_are_more_than_many_of_a_short() -> None:
    part = [*fresh(30), *[1, 2, 3, 4, 5] * 8, *fresh(30, 2000)]
    found = best_period(ids(part, part))
    assert found == Repeat(start=0, period=100, copies=2, covered=200)


@pytest.mark.parametrize("tokens", [[], [1], [1] * 3, [1] * 500, [1, 2] * 300, list(range(500))])
def test_nothing_that_is_long_enough_repeats(tokens: list[int]) -> None:
    assert best_period(ids(tokens)) is None
    assert fold(ids(tokens)) == ()


def test_a_short_period_counts_where_the_caller_says_so() -> None:
    found = best_period(ids([1, 2] * 300), lowest=2)
    assert found == Repeat(start=0, period=2, copies=300, covered=600)


def test_isolated_mismatches_leave_a_repeat_whole() -> None:
    tokens = ids(fresh(20) * 30)
    tokens[[107, 333, 480]] = 7
    found = best_period(tokens)
    assert found == Repeat(start=0, period=20, copies=30, covered=600)


def test_mismatches_at_the_end_are_not_part_of_it() -> None:
    tokens = ids(fresh(20) * 30, fresh(12, 5000))
    found = best_period(tokens)
    assert found == Repeat(start=0, period=20, copies=30, covered=600)


def test_every_transition_may_stand_twice_in_one_copy() -> None:
    first, second = [1, 2, 3, 4, 5], [6, 7, 8, 9]
    copy = first * 6 + second * 6 + first * 9 + second * 4
    found = best_period(ids(copy * 5))
    assert found is not None
    assert (found.period, found.copies) == (len(copy), 5)


def test_steps_of_two_kinds_of_blocks_fold() -> None:
    """Steps of a diffusion transformer: 4 steps of 19 double and 38 single blocks."""
    double, single = fresh(31, 100), fresh(17, 200)
    step = fresh(40) + double * 19 + fresh(3, 2000) + single * 38 + fresh(6, 3000)
    found = fold(ids(fresh(25, 4000), step * 4, fresh(11, 5000)))
    shown = [(depth, repeat.period, repeat.copies) for depth, repeat in walk(found)]
    assert shown == [(0, len(step), 4), (1, 31, 19), (1, 17, 38)]
    assert [repeat.start for _, repeat in walk(found)] == [25, 65, 65 + 19 * 31 + 3]


def test_a_copy_with_a_kernel_more_is_one_of_the_copies() -> None:
    layer = fresh(11, 100)
    found = fold(ids(fresh(5), layer * 9, layer[:6], [7], layer[6:], layer * 3, fresh(4, 2000)))
    assert found == (Repeat(5, 11, 13, 144, lengths=(11,) * 9 + (12,) + (11,) * 3),)
    assert found[0].starts.tolist() == [5 + 11 * k for k in range(10)] + [5 + 111, 5 + 122, 5 + 133]
    assert found[0].stop == 5 + 144


def test_the_first_and_the_last_layer_may_differ_a_little() -> None:
    layer = fresh(12, 100)
    first, last = [*layer[:3], 1, 2, *layer[5:]], [*layer[:7], 3, 4, 5, *layer[10:]]
    (found,) = fold(ids(fresh(20), first, layer * 5, last, fresh(20, 2000)))
    assert (found.start, found.period, found.copies, found.stop) == (20, 12, 7, 20 + 7 * 12)


def test_a_layer_that_is_cut_off_is_none_of_the_copies() -> None:
    layer = fresh(40, 100)
    (found,) = fold(ids(layer * 5, layer[:31]))
    assert (found.copies, found.covered, found.stop) == (5, 231, 200)
    (found,) = fold(ids(layer * 5, layer[:31], fresh(50, 2000)))
    assert (found.copies, found.covered, found.stop) == (5, 231, 200)


def test_another_kind_of_layer_is_none_of_the_copies() -> None:
    """A decoder: the encoder's attention and product, and another attention between them."""
    attention, product, other = fresh(9, 100), fresh(7, 200), fresh(9, 300)
    found = fold(ids((attention + product) * 6, [1, 2], (attention + other + product) * 6))
    assert [(repeat.period, repeat.copies) for repeat in found] == [(16, 6), (25, 6)]


WORDS = st.lists(st.integers(0, 6), min_size=4, max_size=40)


@given(word=WORDS, copies=st.integers(3, 9), head=st.integers(0, 30), tail=st.integers(0, 30))
def test_a_planted_repeat_is_recovered(word: list[int], copies: int, head: int, tail: int) -> None:
    tokens = ids(fresh(head), word * copies, fresh(tail, 2000))
    shortest = next(
        p
        for p in range(1, len(word) + 1)
        if len(word) % p == 0 and word == word[:p] * (len(word) // p)
    )
    found = best_period(tokens, lowest=1)
    assert found is not None
    assert (found.start, found.period) == (head, shortest)
    assert found.copies == copies * len(word) // shortest
    assert found.covered == copies * len(word)
    known = best_period(tokens, lowest=4)
    assert known == found if shortest >= 4 else known is None or known.period >= 4


@given(st.lists(st.integers(0, 3), max_size=120))
def test_what_is_found_repeats_and_lies_inside(tokens: list[int]) -> None:
    array = ids(tokens)
    for _, found in walk(fold(array)):
        assert 0 <= found.start < found.stop <= found.start + found.covered <= len(array)
        assert found.copies >= 2
        part = array[found.start : found.start + found.covered]
        assert sum(found.lengths or (found.period,) * found.copies) == found.stop - found.start
        assert len(found.starts) == found.copies
        if not found.lengths:
            differing = np.count_nonzero(part[found.period :] != part[: -found.period])
            assert differing <= 0.02 * (len(part) - found.period)


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(-(2**40), 2**40))
def test_numbers_only_need_to_be_equal(tokens: list[int], offset: int) -> None:
    assert fold(ids(tokens)) == fold(ids(tokens) + offset)


@given(st.lists(st.integers(0, 4), max_size=150))
def test_repeats_of_one_depth_do_not_overlap(tokens: list[int]) -> None:
    def check(repeats: tuple[Repeat, ...], start: int, stop: int) -> None:
        for repeat in repeats:
            assert start <= repeat.start < repeat.stop <= stop
            for part in repeat.inside:
                assert repeat.start <= part.start < part.stop <= repeat.stop
            check(repeat.inside, repeat.start, repeat.stop)
            start = repeat.stop

    check(fold(ids(tokens)), 0, len(tokens))


@pytest.mark.parametrize("kind", ["equal", "different", "random", "layers"])
def test_a_million_kernels_end(kind: str) -> None:
    count = 1_000_000
    tokens = {
        "equal": np.zeros(count, np.int64),
        "different": np.arange(count),
        "random": np.random.default_rng(0).integers(0, 60, count),
        "layers": np.tile(np.arange(1000), count // 1000),
    }[kind]
    found = best_period(tokens)
    assert (found.period if found else None) == (1000 if kind == "layers" else None)
