"""Intervals: against worked examples, by property, and on recorded blocks."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy  # loads `stats` when it is asked for it
from hypothesis import example, given
from hypothesis import strategies as st

from fusescope.analysis.compare.timing.statistics import (
    Estimate,
    look_alpha,
    student_t,
    student_t_each,
    trimmed_mean,
    typical_log,
    welch_of_means,
    yuen,
    yuen_between,
    yuen_welch,
)

VALUES = st.lists(
    st.floats(-3, 3, allow_nan=False).map(lambda v: round(v, 6)), min_size=5, max_size=30
)


def test_quantiles_of_students_t() -> None:
    """Table values."""
    assert student_t(0.975, 5) == pytest.approx(2.5706, abs=1e-4)
    assert student_t(0.995, 3) == pytest.approx(5.8409, abs=1e-4)


def test_quantiles_are_those_of_scipy_stats() -> None:
    """Degrees of freedom of few blocks, of Welch's formula and of the normal limit."""
    df = np.array([1.0, 2.0, 3.7, 5.0, 13.4, 23.0, 100.5, 1e6])
    for probability in (0.5, 0.8, 0.975, 1 - 0.0221 / 2, 1 - 0.05 / 40, 1e-6):
        expected = scipy.stats.t.ppf(probability, df)
        np.testing.assert_allclose(
            student_t_each(probability, df), expected, rtol=1e-12, atol=1e-12
        )
        assert [student_t(probability, one) for one in df] == pytest.approx(
            expected.tolist(), rel=1e-12, abs=1e-12
        )


@given(
    st.floats(1e-9, 1 - 1e-9),
    st.floats(0.5, 2e4) | st.integers(1, 300).map(float) | st.sampled_from([4999.0, 5000.0, 1e7]),
)
def test_a_quantile_has_its_share_on_either_side(probability: float, df: float) -> None:
    """Of scipy's distribution function, which is exact where its quantiles are not: 1.3e-14 away
    for 2.5 degrees of freedom."""
    t = student_t(probability, df)
    near = scipy.special.stdtr(df, [t * (1 - 1e-12) - 1e-15, t * (1 + 1e-12) + 1e-15])
    tolerance = 1e-13 * min(probability, 1 - probability)
    assert min(near) - tolerance <= probability <= max(near) + tolerance


def test_quantiles_of_one_and_two_degrees_of_freedom_in_closed_form() -> None:
    """tan(π (p - 1/2)), and (2 p - 1) / √(2 p (1 - p))."""
    for p in (0.01, 0.2, 0.5, 0.6, 0.975, 0.9999):
        assert student_t(p, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-12, abs=1e-15)
        closed = (2 * p - 1) / math.sqrt(2 * p * (1 - p))
        assert student_t(p, 2) == pytest.approx(closed, rel=1e-12, abs=1e-15)


def test_what_is_no_probability_or_no_number_of_degrees_has_no_quantile() -> None:
    for p, df in (
        (0.0, 5.0),
        (1.0, 5.0),
        (0.9, 0.0),
        (0.9, -1.0),
        (math.nan, 5.0),
        (0.9, math.nan),
    ):
        assert math.isnan(student_t(p, df))


def test_many_quantiles_are_those_of_each() -> None:
    df = np.linspace(1, 60, 400).reshape(20, 20)
    many = student_t_each(0.975, df)
    assert many.shape == df.shape
    few = np.array([student_t(0.975, one) for one in df.ravel()]).reshape(df.shape)
    np.testing.assert_allclose(many, few, rtol=1e-12)


def test_yuen_by_hand() -> None:
    """n = 8, g = 1, h = 6: trimmed mean of 2..7; winsorised 2,2,3,4,5,6,7,7."""
    estimate = yuen([1, 2, 3, 4, 5, 6, 7, 30])
    assert estimate is not None
    assert estimate.mean == pytest.approx(4.5)
    variance = float(np.var([2, 2, 3, 4, 5, 6, 7, 7], ddof=1))
    assert estimate.se == pytest.approx(math.sqrt(variance * 7 / (6 * 5)))
    assert estimate.df == 5
    low, high = estimate.interval(0.05)
    assert high - 4.5 == pytest.approx(2.5706 * estimate.se, rel=1e-4)
    assert low + high == pytest.approx(9)


def assert_as_scipy_has_it(
    estimate: Estimate | None, candidate: list[float], baseline: list[float]
) -> None:
    """Trimmed mean, error, degrees of freedom and interval of the trimmed t test of scipy.stats."""
    assert estimate is not None
    theirs = scipy.stats.ttest_ind(candidate, baseline, equal_var=False, trim=0.2)
    means = scipy.stats.trim_mean(candidate, 0.2) - scipy.stats.trim_mean(baseline, 0.2)
    assert estimate.mean == pytest.approx(means, abs=1e-12)
    assert estimate.mean / estimate.se == pytest.approx(theirs.statistic, rel=1e-6, abs=1e-9)
    assert estimate.df == pytest.approx(theirs.df, rel=1e-6)
    for alpha in (0.05, 0.0221 / 3):
        low, high = theirs.confidence_interval(1 - alpha)
        assert estimate.interval(alpha) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("count", [*range(5, 27), 50, 99, 100])
def test_yuen_is_the_trimmed_t_test_of_scipy(count: int) -> None:
    """For every number of values cut off. Against zeros, which have no error, it is the paired
    case: scipy has no trimmed test of one sample."""
    rng = np.random.default_rng(count)
    baseline = rng.standard_t(2, count).tolist()
    candidate = (0.3 + 2 * rng.standard_t(2, 30 - count % 20)).tolist()
    assert_as_scipy_has_it(yuen_welch(baseline, candidate), candidate, baseline)
    assert_as_scipy_has_it(yuen_welch(candidate, baseline), baseline, candidate)
    assert_as_scipy_has_it(yuen(baseline), baseline, [0.0] * 5)


# scipy looks for values that cancel out and says so of equal ones: no warning of ours.
@pytest.mark.filterwarnings("ignore:Precision loss occurred in moment:RuntimeWarning:scipy")
@given(VALUES, VALUES)
@example([0.0, 1.0, 2.0, 3.0, 4.0], [1.0] * 5)
def test_yuen_of_any_values_is_that_of_scipy(first: list[float], second: list[float]) -> None:
    paired, welch = yuen(first), yuen_welch(second, first)
    assert paired is not None and welch is not None
    if paired.se > 1e-6:  # else scipy divides by what rounding left
        assert_as_scipy_has_it(paired, first, [0.0] * 5)
        assert_as_scipy_has_it(welch, first, second)


def test_five_values_are_the_least() -> None:
    assert yuen([1.0] * 4) is None
    assert yuen_welch([1.0] * 4, [1.0] * 9) is None
    assert trimmed_mean([1.0, 2.0, 9.0]) == pytest.approx(4)  # plain below five


def test_equal_values_have_no_width() -> None:
    estimate = yuen([0.5] * 8)
    assert estimate == Estimate(0.5, 0.0, 5)
    welch = yuen_welch([0.0] * 8, [0.5] * 8)
    assert welch is not None and welch.mean == 0.5 and welch.se == 0


def test_welch_df_lies_between_the_smaller_and_the_sum() -> None:
    rng = np.random.default_rng(3)
    estimate = yuen_welch(rng.normal(0, 1, 10), rng.normal(0, 3, 20))
    assert estimate is not None
    assert 5 <= estimate.df <= 5 + 11


def test_typical_time_is_the_lower_quartile_of_logs() -> None:
    assert typical_log([1.0, math.e, math.e**2, math.e**3, math.e**4]) == pytest.approx(1.0)


def test_levels_of_the_looks() -> None:
    assert look_alpha(3, 1) == pytest.approx(0.0221)
    assert look_alpha(3, 2) == pytest.approx(0.01105)
    assert look_alpha(1, 1) == pytest.approx(0.05)


def test_the_ratio_of_two_means_by_hand() -> None:
    """Means of 10 and 20, variances of 2.5 and 10: both relative errors of the mean are √0.005, so
    the error of ln 2 is 0.1, with 4 + 4 degrees of freedom."""
    before = np.array([8.0, 9, 10, 11, 12])
    found = welch_of_means(before, 2 * before)
    assert found is not None
    assert (found.mean, found.se, found.df) == pytest.approx((math.log(2), 0.1, 8.0))
    assert welch_of_means(before[:4], before) is None
    assert welch_of_means(before * 0, before) is None
    equal = welch_of_means(np.full(5, 3.0), np.full(6, 3.0))
    assert equal is not None and (equal.mean, equal.se, equal.df) == (0.0, 0.0, 4.0)


def test_trimmed_means_of_the_same_blocks_by_hand() -> None:
    """n = 5, g = 1, h = 3: 1..5 winsorised is 2, 2, 3, 4, 4; 0, 0, 3, 0, 9 is 0, 0, 3, 0, 3. Their
    differences, block by block -2, -2, 0, -4, -1, have the mean -1.8 and squares of 8.8."""
    estimate = yuen_between([1, 2, 3, 4, 5], [0, 0, 3, 0, 9])
    assert estimate is not None
    assert estimate.mean == pytest.approx(1 - 3)
    assert estimate.se == pytest.approx(math.sqrt(8.8 / (3 * 2)))
    assert estimate.df == 2
    assert yuen_between([1, 2, 3, 4], [1, 2, 3, 4]) is None


@given(VALUES)
def test_against_nothing_it_is_yuens(values: list[float]) -> None:
    alone, both = yuen(values), yuen_between([0.0] * len(values), values)
    assert alone is not None and both is not None
    assert (both.mean, both.df) == (alone.mean, alone.df)
    assert both.se == pytest.approx(alone.se, abs=1e-12)


@given(VALUES, st.floats(-2, 2), st.randoms())
def test_yuen_moves_with_its_values_and_ignores_their_order(values, shift, random) -> None:  # type: ignore[no-untyped-def]
    estimate = yuen(values)
    shuffled = list(values)
    random.shuffle(shuffled)
    moved = yuen([value + shift for value in shuffled])
    assert estimate is not None and moved is not None
    assert moved.mean == pytest.approx(estimate.mean + shift, abs=1e-9)
    assert moved.se == pytest.approx(estimate.se, abs=1e-9)


@given(VALUES, st.floats(10, 1e6))
def test_one_wild_block_moves_nothing_much(values: list[float], wild: float) -> None:
    """The reason for trimming: a single outlier cannot carry the estimate away."""
    estimate = yuen([*values, wild])
    assert estimate is not None
    assert min(values) <= estimate.mean <= max(values)


def test_false_alarms_and_power_on_recorded_blocks(shared_traces: Path) -> None:
    """A/A blocks with random signs: alarms near 5 %; a 3 % change is nearly always seen."""
    packed = (shared_traces.parent / "lab/blocks/mbv2.jsonl.gz").read_bytes()
    lines = gzip.decompress(packed).splitlines()
    blocks = [json.loads(line)["T"] for line in lines]
    x = {name: np.array([typical_log(b[name]) for b in blocks]) for name in ("D1", "D2")}
    assert_few_alarms_and_much_power(x["D2"] - x["D1"])


def test_false_alarms_and_power_on_heavy_tails() -> None:
    """The same where 1 % is usual and some blocks are far off, as recorded ones are."""
    assert_few_alarms_and_much_power(0.008 * np.random.default_rng(1).standard_t(2.5, 500))


def assert_few_alarms_and_much_power(difference: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    alarms = seen = 0
    rounds = 1500
    for _ in range(rounds):
        chosen = difference[rng.choice(len(difference), 8, replace=False)] * rng.choice([-1, 1], 8)
        null, effect = yuen(chosen), yuen(chosen - 0.03)
        assert null is not None and effect is not None
        low, high = null.interval(0.05)
        alarms += low > 0 or high < 0
        seen += effect.interval(0.05)[1] < 0
    assert alarms / rounds < 0.07
    assert seen / rounds > 0.9
