"""Drift of what did not change, and executions far beyond the others, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.align.alignment import align
from fusescope.analysis.align.drift import drift, outliers
from fusescope.analysis.align.sequence import Kernel, Sequence
from tests.align.kernels import sequence

NAMES = [f"k{number}" for number in range(24)]


def scaled(factors: dict[str, float], base: dict[str, int]) -> tuple[Sequence, Sequence]:
    text = " ".join(NAMES * 5)
    times = {name: round(ns * factors.get(name, factors["all"])) for name, ns in base.items()}
    return sequence(text, base), sequence(text, times)


EVEN = dict.fromkeys(NAMES, 100_000)


@pytest.mark.parametrize("factor", [0.92, 0.976, 1.08])
def test_kernels_that_all_run_alike_are_clocks(factor: float) -> None:
    found = drift(align(*scaled({"all": factor}, EVEN)))
    assert found is not None
    assert found.ratio == found.median == found.low == found.high == pytest.approx(factor)
    assert (found.kernels, found.share, found.agreeing) == (24, 1, 1)
    assert (found.before_ns, found.after_ns) == (12_000_000, round(12_000_000 * factor))
    assert found.is_clocks


def test_kernels_bound_by_memory_do_not_follow_the_clocks() -> None:
    still = {name: 1.0 for name in NAMES[:8]}
    assert drift(align(*scaled({**still, "all": 0.95}, EVEN))).is_clocks
    still = {name: 1.0 for name in NAMES[:12]}
    assert not drift(align(*scaled({**still, "all": 0.95}, EVEN))).is_clocks


@pytest.mark.parametrize(
    "factors",
    [
        {"all": 1.0},
        {"all": 1.003},  # within what recordings differ by
        {"all": 1.0, "k3": 1.6},  # one kernel, however much it is slower
        {"all": 2.0},  # another batch, not clocks
    ],
)
def test_what_is_no_clocks(factors: dict[str, float]) -> None:
    found = drift(align(*scaled(factors, {**EVEN, "k3": 900_000})))
    assert found is not None and not found.is_clocks


def test_few_kernels_of_little_time_show_no_clocks() -> None:
    before = sequence("a b G1 c", {"G1": 100_000})
    after = sequence("a b q c", {"a": 900, "b": 900, "c": 900, "q": 200_000})
    found = drift(align(before, after))
    assert found is not None and found.agreeing == 1
    assert not found.is_clocks


def test_communication_and_one_long_execution_are_no_drift() -> None:
    before = sequence("C " + "k0 k1 k2 " * 10, {"C": 10**6})
    ids = before.ids
    durations = np.where(ids == 0, 5 * 10**6, 1000)
    durations[-1] = 50_000
    found = drift(align(before, Sequence(before.kernels, ids, durations)))
    assert found is not None
    assert (found.before_ns, found.after_ns, found.kernels) == (29_000, 29_000, 3)


def test_without_the_same_kernels_there_is_no_drift() -> None:
    assert drift(align(sequence("a"), sequence("G1"))) is None
    assert drift(align(sequence("a", {"a": 0}), sequence("a"))) is None


def test_one_execution_far_beyond_227_others_is_named() -> None:
    side = sequence("A x " * 228, {"A": 510_000, "x": 2000})
    side.durations[2 * 57] = 6_065_000
    (found,) = outliers(side)
    assert (found.kernel.name, found.position, found.count) == ("A", 114, 228)
    assert (found.ns, found.usual_ns, found.excess_ns) == (6_065_000, 510_000, 5_555_000)


def test_two_kinds_of_executions_under_one_name_are_no_outliers() -> None:
    side = sequence("A " * 20, {"A": 1000})
    side.durations[::4] = 9000
    assert outliers(side) == ()


def test_few_executions_and_small_excesses_are_no_outliers() -> None:
    side = sequence("A " * 7, {"A": 1000})
    side.durations[3] = 90_000
    assert outliers(side) == ()
    side = sequence("A " * 20 + "G1", {"A": 10, "G1": 10**6})
    side.durations[3] = 90
    assert outliers(side) == ()


TIMES = st.lists(st.integers(0, 10**9), min_size=1, max_size=40)


@given(TIMES, st.integers(1, 5))
def test_outliers_are_few_and_far(times: list[int], distinct: int) -> None:
    kernels = tuple(Kernel(f"k{number}", "k") for number in range(distinct))
    ids = np.arange(len(times)) % distinct
    side = Sequence(kernels, ids, np.array(times, np.int64))
    for found in outliers(side):
        others = sorted(ns for ns, own in zip(times, ids.tolist(), strict=True)
                        if kernels[own] == found.kernel)  # fmt: skip
        assert len(others) == found.count >= 8
        assert others[-1] == found.ns > 3 * others[-2]


@given(TIMES, TIMES)
def test_drift_is_within_the_ratios_of_the_kernels(first: list[int], second: list[int]) -> None:
    length = min(len(first), len(second))
    kernels = tuple(Kernel(f"k{number}", "k") for number in range(length))
    ids = np.arange(length)
    before, after = (
        Sequence(kernels, ids, np.array(times[:length], np.int64)) for times in (first, second)
    )
    found = drift(align(before, after))
    ratios = [b / a for a, b in zip(first, second, strict=False) if a]
    assert (found is None) == (not ratios)
    if found is not None:
        assert min(ratios) <= found.low <= found.median <= found.high <= max(ratios)
        assert 0 <= found.agreeing <= 1
        assert found.kernels == len(ratios)
