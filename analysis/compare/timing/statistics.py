"""Intervals for ratios of times: Yuen's trimmed means, paired and unpaired, and Welch's of means.

Times enter as natural logarithms, so differences are log-ratios. Trimming 20 % of the blocks at
each end was the most powerful of the valid methods on recorded blocks, whose log-ratios are
heavy-tailed; bootstrapping blocks was not valid below about 20 of them.
Source: Yuen (1974), "The two-sample trimmed t for unequal population variances", Biometrika 61.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from fusescope.analysis.compare.timing.student_t import quantile as student_t_quantile

# What stands for runs: of a block, of a file beside a recording, of a trace beside another one.
Statistic = Literal["lower_quartile", "trimmed_mean", "mean"]
MIN_SAMPLES = 5
_FEW = 300  # quantiles that take less than loading scipy.special
TRIM = 0.2
TYPICAL = 0.25
# Pocock's constant significance level per look that keeps 5 % over all looks, by number of looks.
POCOCK = {1: 0.05, 2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158}


class Estimate(msgspec.Struct, frozen=True):
    """A trimmed mean with its standard error and degrees of freedom, in log units."""

    mean: float
    se: float
    df: float

    def interval(self, alpha: float) -> tuple[float, float]:
        """The two-sided 1 - alpha interval: mean ± t(1 - alpha/2, df) · SE."""
        half_width = student_t(1 - alpha / 2, self.df) * self.se
        return self.mean - half_width, self.mean + half_width

    def detectable(self, alpha: float, power: float = 0.8) -> float:
        """The smallest effect seen with that power: exp((t(1-α/2) + t(power)) · SE) - 1."""
        quantiles = student_t(1 - alpha / 2, self.df) + student_t(power, self.df)
        return math.expm1(quantiles * self.se)


def student_t(probability: float, df: float) -> float:
    """Quantile of Student's t distribution."""
    return student_t_quantile(probability, float(df))


def student_t_each(probability: float, df: np.ndarray | float) -> np.ndarray:
    """The same for each of `df`, in its shape."""
    each, places = np.unique(np.asarray(df, dtype=float), return_inverse=True)
    if len(each) <= _FEW:
        quantiles = np.array([student_t_quantile(probability, one) for one in each.tolist()])
        return quantiles[places].reshape(np.shape(df))
    from scipy.special import stdtrit  # takes 0.1 s to load

    return np.asarray(stdtrit(df, probability))


def typical_log(times: Sequence[float] | np.ndarray, quantile: float = TYPICAL) -> float:
    """25th percentile of ln(time): the lower quartile of a block beat its median and minimum."""
    return float(np.quantile(np.log(np.asarray(times, dtype=float)), quantile))


def trimmed_mean(values: Sequence[float] | np.ndarray) -> float:
    """Mean without max(1, floor(0.2 n)) values at each end; the plain mean below 5 values."""
    ordered = np.sort(np.asarray(values, dtype=float))
    cut = _cut(len(ordered)) if len(ordered) >= MIN_SAMPLES else 0
    kept = ordered[cut : len(ordered) - cut]
    # The sum rounds, and a mean of equal values must not lie outside them.
    return float(np.clip(kept.mean(), kept[0], kept[-1])) if len(kept) else float("nan")


def yuen(values: Sequence[float] | np.ndarray) -> Estimate | None:
    """Paired case: trimmed mean of block log-ratios; None below 5 blocks.

    g = max(1, floor(0.2 n)), h = n - 2g, SE = s_w · sqrt((n - 1) / (h (h - 1))), df = h - 1,
    s_w the winsorised standard deviation.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    if n < MIN_SAMPLES:
        return None
    return Estimate(trimmed_mean(ordered), math.sqrt(_squared_error(ordered)), _kept(n) - 1)


def yuen_welch(
    baseline: Sequence[float] | np.ndarray, candidate: Sequence[float] | np.ndarray
) -> Estimate | None:
    """Unpaired case: candidate - baseline; None when a side has fewer than 5 values.

    SE² = d_b + d_c with d = (n - 1) s_w² / (h (h - 1)); df = SE⁴ / Σ d² / (h - 1).
    """
    b, c = np.sort(np.asarray(baseline, float)), np.sort(np.asarray(candidate, float))
    if min(len(b), len(c)) < MIN_SAMPLES:
        return None
    d_b, d_c = _squared_error(b), _squared_error(c)
    total = d_b + d_c
    floor = d_b**2 / (_kept(len(b)) - 1) + d_c**2 / (_kept(len(c)) - 1)
    df = total**2 / floor if floor > 0 else float(_kept(min(len(b), len(c))) - 1)
    return Estimate(trimmed_mean(c) - trimmed_mean(b), math.sqrt(total), df)


def welch_of_means(
    baseline: Sequence[float] | np.ndarray, candidate: Sequence[float] | np.ndarray
) -> Estimate | None:
    """Two means of times that share no block: ln(mean candidate / mean baseline); None when a side
    has fewer than 5 values, or a mean that is not above 0.

    By the delta method the squared error of ln(mean) is d = s² / (n mean²); SE² = d_b + d_c, df =
    SE⁴ / Σ d² / (n - 1), as Welch has it.
    """
    sides = [np.asarray(values, dtype=float) for values in (baseline, candidate)]
    if min(map(len, sides)) < MIN_SAMPLES or min(float(values.mean()) for values in sides) <= 0:
        return None
    means = [float(values.mean()) for values in sides]
    errors = [
        float(values.var(ddof=1)) / (len(values) * mean**2)
        for values, mean in zip(sides, means, strict=True)
    ]
    squared = sum(errors)
    floor = sum(d**2 / (len(values) - 1) for d, values in zip(errors, sides, strict=True))
    df = squared**2 / floor if floor > 0 else float(min(map(len, sides)) - 1)
    return Estimate(math.log(means[1] / means[0]), math.sqrt(squared), df)


def yuen_between(
    one: Sequence[float] | np.ndarray, other: Sequence[float] | np.ndarray
) -> Estimate | None:
    """Two trimmed means over the same blocks, value by value: other - one; None below 5 blocks.

    With q the winsorised variances and covariance × (n - 1): SE² = (q_1 + q_2 - 2 q_12) /
    (h (h - 1)), df = h - 1. Where one is constant, that is `yuen` of the other one.
    Source: Wilcox (2012), "Introduction to Robust Estimation and Hypothesis Testing", chapter 5
    (comparing the trimmed means of dependent groups).
    """
    n = len(one)
    if n < MIN_SAMPLES:
        return None
    sides = [np.asarray(values, dtype=float) for values in (one, other)]
    cut, kept = _cut(n), _kept(n)
    ordered = [np.sort(values) for values in sides]
    first, second = (
        np.clip(values, of[cut], of[n - cut - 1]) for values, of in zip(sides, ordered, strict=True)
    )
    error = float((second - first).var(ddof=1)) * (n - 1) / (kept * (kept - 1))
    return Estimate(trimmed_mean(other) - trimmed_mean(one), math.sqrt(error), kept - 1)


def look_alpha(looks: int, candidates: int) -> float:
    """Significance level of one look: Pocock over looks, Bonferroni over candidates."""
    per_look = POCOCK.get(looks, 0.05 / looks if looks else 0.05)
    return per_look / max(1, candidates)


def _cut(n: int) -> int:
    return max(1, math.floor(TRIM * n))


def _kept(n: int) -> int:
    return n - 2 * _cut(n)


def _squared_error(ordered: np.ndarray) -> float:
    n, cut, kept = len(ordered), _cut(len(ordered)), _kept(len(ordered))
    winsorised = np.clip(ordered, ordered[cut], ordered[n - cut - 1])
    variance = float(winsorised.var(ddof=1))
    return variance * (n - 1) / (kept * (kept - 1))
