"""A time that only some of several units have."""

from __future__ import annotations

import numpy as np
import pytest

from fusescope.analysis.metrics.some_units import in_some_units


def test_one_unit_of_six_that_has_nearly_all() -> None:
    """36.4 of 37.5 ms are in one; the others have 1.1 / 5 ms."""
    found = in_some_units(np.array([200, 300, 36_400, 200, 100, 300]))
    assert found == {"some_units": 1, "all_units": 6, "some_ns": 36_400, "other_ns": 220}


def test_two_of_six_are_some_and_three_are_not() -> None:
    assert in_some_units(np.array([50, 0, 0, 30, 0, 0])) == {
        "some_units": 2,
        "all_units": 6,
        "some_ns": 40,
        "other_ns": 0,
    }
    assert in_some_units(np.array([50, 50, 50, 0, 0, 0])) == {}


def test_one_that_is_far_longer_than_each_other_and_holds_half() -> None:
    """250 of 400 us, and more than three times the longest of the others."""
    assert in_some_units(np.array([10, 40, 30, 250, 30, 40])) == {
        "some_units": 1,
        "all_units": 6,
        "some_ns": 250,
        "other_ns": 30,
    }


def test_one_that_holds_half_of_what_is_beyond_the_time_elsewhere() -> None:
    """Beyond 15 are 15, 3, 6, 2, 35 and 0, in all 61: 35 is more than half of them and twice 15."""
    waits = np.array([30, 18, 21, 17, 50, 15])
    assert in_some_units(waits) == {}
    assert in_some_units(waits, without_ns=15) == {
        "some_units": 1, "all_units": 6, "some_ns": 50, "other_ns": 20,
    }  # fmt: skip
    assert in_some_units(np.array([25, 23, 21, 24, 30, 22]), without_ns=15) == {}, "25 of 55 in 2"
    assert in_some_units(waits, without_ns=30) == {}, "less than elsewhere"


def test_one_that_is_far_longer_and_holds_less_than_half() -> None:
    assert in_some_units(np.array([10, 100, 30, 310, 100, 100])) == {}


@pytest.mark.parametrize("ns", [[], [0, 0, 0], [9, 1], [10, 10, 10, 10]])
def test_nothing_is_said_of_few_of_equal_and_of_no_time(ns: list[int]) -> None:
    assert in_some_units(np.array(ns)) == {}
