"""Which tensor of the model another tensor holds, by hand-made arrays."""

from __future__ import annotations

import numpy as np
import pytest

from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.candidates import Candidates, Pair, sizes

TOLERANCE = 1e-3
SHAPE = (1, 6, 4, 5)


def drawn(seed: int, shape: tuple[int, ...] = SHAPE) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.fixture
def candidates() -> Candidates:
    made = Candidates()
    made.add("a", drawn(1))
    made.add("b", drawn(2))
    return made


def pairs(candidates: Candidates, array: Array, *, blocked: bool = False) -> list[Pair]:
    return candidates.pairs("t", array, blocked, TOLERANCE)


def test_the_one_with_the_values_is_found(candidates: Candidates) -> None:
    assert pairs(candidates, drawn(2)) == [Pair("t", "b", "value")]
    assert pairs(candidates, drawn(2) * np.float32(1 + 1e-6)) == [Pair("t", "b", "value")]
    assert pairs(candidates, drawn(2).reshape(6, 20)) == [Pair("t", "b", "value")]


def test_other_values_are_nobodys(candidates: Candidates) -> None:
    assert pairs(candidates, drawn(3)) == []
    assert pairs(candidates, drawn(2) * np.float32(1.1)) == []
    assert pairs(candidates, drawn(2, (1, 6, 4, 4))) == []


def test_twins_are_both_found(candidates: Candidates) -> None:
    candidates.add("a again", drawn(1).reshape(6, 20))
    assert [pair.original for pair in pairs(candidates, drawn(1))] == ["a", "a again"]


def test_nearly_twins_are_neither(candidates: Candidates) -> None:
    candidates.add("near a", drawn(1) * np.float32(1 + 1e-4))
    assert pairs(candidates, drawn(1) * np.float32(1 + 5e-5)) == []


def test_too_few_different_values_prove_nothing(candidates: Candidates) -> None:
    ones = np.ones((2, 3), np.float32)
    candidates.add("ones", ones)
    assert pairs(candidates, ones) == []


def test_axes_in_another_order_are_put_back(candidates: Candidates) -> None:
    last = np.ascontiguousarray(np.transpose(drawn(1), (0, 2, 3, 1)))
    [pair] = pairs(candidates, last)
    assert (pair.original, pair.layout) == ("a", "permuted")
    np.testing.assert_array_equal(pair.arranged(last).reshape(SHAPE), drawn(1))


def test_padded_channels_are_left_away(candidates: Candidates) -> None:
    padded = np.concatenate([drawn(2), np.zeros((1, 2, 4, 5), np.float32)], axis=1)
    [pair] = pairs(candidates, padded, blocked=True)
    assert (pair.original, pair.layout, pair.channels) == ("b", "blocked", 6)
    np.testing.assert_array_equal(pair.arranged(padded), drawn(2))
    assert pairs(candidates, padded) == []


def test_sizes_of_what_a_tensor_may_hold() -> None:
    assert sizes((2, 3), blocked=False) == {6}
    assert sizes((1, 4, 2, 3), blocked=True) == {6, 12, 18, 24}
    assert sizes((1, 80, 1, 1), blocked=True) == set(range(17, 81))  # at most 63 are padding
