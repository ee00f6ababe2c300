"""Runs far from the others: which are told, and how."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.timing.runs_apart import RunsApart, runs_apart
from fusescope.analysis.compare.timing.verdict import mean_verdict
from fusescope.analysis.wording.noise.runs_apart import apart_text


def of(*times: float) -> RunsApart | None:
    return runs_apart(np.array(times, dtype=float))


def test_a_run_far_from_the_median_is_told_where_it_moves_the_mean() -> None:
    assert of(168, 168, 168, 168, 168, 214) == RunsApart(1, 5, (214, 214), (168, 168), 168)
    assert of(100, 100, 100, 100, 124) is None  # within a quarter of the median
    assert of(*(100,) * 40, 130) is None  # 0.7 %: no figure of three digits shows it
    assert of(100, 126, 74.5, 100) is None  # the mean is the median all the same
    assert of(100) is None and of() is None and of(0, 0, 9) is None


def test_fewer_runs_stand_apart_than_not_and_runs_on_both_sides_are_a_spread() -> None:
    assert of(1015, 1068, 1076, 118, 116) == RunsApart(2, 3, (116, 118), (1015, 1076), 1015)
    assert of(50, 100, 100, 400) == RunsApart(2, 0, (50, 400), (50, 400), 100)


def test_runs_nearer_to_the_others_than_those_are_to_each_other_do_not_stand_apart() -> None:
    """1041 is below 1309 / 1.25 = 1047, but 64 from its neighbour, where others are 204 apart."""
    spread = RunsApart(1, 0, (1041, 1041), (1041, 1558), 1309)
    assert of(1041, 1105, 1309, 1332, 1558) == spread
    assert of(1041, 1261, 1309, 1332, 1358) == RunsApart(1, 4, (1041, 1041), (1261, 1358), 1309)


def test_sentences_say_how_many_runs_take_how_long() -> None:
    first = np.array([3.0, 4, 5, 9, 9]) * 1e6
    second = np.array([1.0, 3, 3, 3, 9]) * 1e6
    assert apart_text(mean_verdict(first, second, "run_span")) == (
        "The baseline's 5 runs take 3.00 ms to 9.00 ms, half of them 5.00 ms or less. The "
        "candidate's 5 runs take 1.00 ms to 9.00 ms, half of them 3.00 ms or less."
    )
    third = np.array([4.0, 4, 4.5, 9, 9]) * 1e6
    assert apart_text(mean_verdict(third, third, "run_span")) == (
        "3 of the baseline's 5 runs take 4.00 ms to 4.50 ms, the other 2 take 9.00 ms. "
        "3 of the candidate's 5 runs take 4.00 ms to 4.50 ms, the other 2 take 9.00 ms."
    )


def test_two_runs_that_are_far_apart_are_both_told() -> None:
    """Their mean is their median, and says nothing of either."""
    sides = np.array([13.7, 76.6]) * 1e6, np.array([5.0, 5.4]) * 1e6
    assert apart_text(mean_verdict(*sides, "run_span")) == (
        "The baseline's 2 runs take 13.7 ms and 76.6 ms."
    )


@given(st.lists(st.floats(1.0, 1e9), min_size=1, max_size=12))
def test_what_is_told_holds_every_run(times: list[float]) -> None:
    found = of(*times)
    if found is None:
        return
    ends = (*found.far_ns, *found.near_ns)
    assert (min(ends), max(ends)) == (min(times), max(times))
    assert found.near_ns[0] <= found.median_ns <= found.near_ns[1]
    assert found.others == 0 or found.count + found.others == len(times)
    assert found.others == 0 or found.count <= len(times) / 2
    assert len(times) == 2 or np.mean(times) != pytest.approx(found.median_ns, rel=0.005)
