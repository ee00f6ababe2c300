"""Clocks that disagree, and graphs whose kernels are not there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.readers.building.checks.clocks import clock_skew
from fusescope.analysis.readers.building.checks.graph_launches import graph_notes, is_graph_launch

ONE = np.zeros(4, dtype="int64")
ALL = np.ones(4, dtype=bool)


def test_no_kernel_before_its_launch_changes_nothing() -> None:
    launched = np.array([10, 20, 30, 40])
    moves, notes = clock_skew(launched + 5, launched, ALL, ONE)
    assert not moves.any() and notes == []


def test_all_kernels_of_a_device_move_by_the_least_that_makes_up_for_it() -> None:
    launched = np.array([208, 228, 408, 428])
    moves, [note] = clock_skew(np.array([155, 180, 355, 380]), launched, ALL, ONE)
    assert moves.tolist() == [53] * 4
    assert (note.count, note.values["by_ns"], note.values["moved"]) == (4, 53, 1)


def test_devices_move_each_by_its_own() -> None:
    launched = np.array([100, 200, 100, 200])
    moves, _ = clock_skew(
        np.array([50, 160, 130, 230]), launched, ALL, np.array([0, 0, 1, 1], dtype="int64")
    )
    assert moves.tolist() == [50, 50, 0, 0]


@pytest.mark.parametrize("starts", [[50, 250, 350, 450], [99, 199, 299, -9999]])
def test_what_only_some_show_is_a_doubt_and_moves_nothing(starts: list[int]) -> None:
    launched = np.array([100, 200, 300, 400])
    moves, [note] = clock_skew(np.array(starts), launched, ALL, ONE)
    assert not moves.any() and "moved" not in note.values
    assert note.values["by_ns"] == (np.array(launched) - starts).max()


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 1000)), min_size=1, max_size=30),
       st.integers(1001, 10**5))  # fmt: skip
def test_after_moving_no_kernel_is_early(told: list[tuple[int, int]], skew: int) -> None:
    launched = np.array([at for at, _ in told])
    starts = launched + [delay for _, delay in told] - skew
    known, one = np.ones(len(told), dtype=bool), np.zeros(len(told), dtype="int64")
    moves, _ = clock_skew(starts, launched, known, one)
    if moves.any():
        assert (starts + moves >= launched).all() and moves.max() <= skew


@pytest.mark.parametrize("name", ["cudaGraphLaunch", "cudaGraphLaunch_v10000", "hipGraphLaunch",
                                  "cuGraphLaunch"])  # fmt: skip
def test_names_of_graph_launches(name: str) -> None:
    assert is_graph_launch(name) and not is_graph_launch("cudaLaunchKernel")


def test_launches_without_kernels_and_the_share_of_graphs_are_said() -> None:
    notes = graph_notes(np.arange(1, 9), np.array([1, 1, 99]), np.array([60, 30, 10]))
    missing, launched = notes
    assert (missing.code, missing.count, missing.values["of"]) == ("graphs_unrecorded", 7, 8)
    assert (launched.code, launched.count, launched.values["share"]) == ("graphs_launched", 2, 0.9)
    assert graph_notes(np.array([], dtype="int64"), np.array([1]), np.array([5])) == []
