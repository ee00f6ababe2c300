"""Intervals of many gains at once: statistics.yuen and yuen_welch over the columns of a matrix."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from analysis.compare.statistics import MIN_SAMPLES, TRIM

Bounds = tuple[np.ndarray, np.ndarray]


def gain_intervals(
    before: np.ndarray,
    after: np.ndarray,
    alpha: float,
    paired: bool,
    least: np.ndarray | float = 0.0,
) -> Bounds:
    """(low, high) of the gain before - after of each column, two-sided at level 1 - alpha.

    Rows are blocks or runs, in ns. Paired: Yuen over the differences of the rows; else
    Yuen-Welch. All NaN below 5 rows a side. No squared error is taken as smaller than `least`:
    rows of whole µs are equal by chance, and their spread then says nothing.
    """
    if min(len(before), len(after)) < MIN_SAMPLES:
        nothing = np.full(before.shape[1], np.nan)
        return nothing, nothing.copy()
    if paired:
        mean, squared_error, kept = _trimmed(before - after)
        reach = stdtrit(kept - 1, 1 - alpha / 2) * np.sqrt(np.maximum(squared_error, least))
        return mean - reach, mean + reach
    mean_b, error_b, kept_b = _trimmed(before)
    mean_a, error_a, kept_a = _trimmed(after)
    total = error_b + error_a
    floor = error_b**2 / (kept_b - 1) + error_a**2 / (kept_a - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(floor > 0, total**2 / floor, min(kept_b, kept_a) - 1)
    reach = stdtrit(df, 1 - alpha / 2) * np.sqrt(np.maximum(total, least))
    return mean_b - mean_a - reach, mean_b - mean_a + reach


def _trimmed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Trimmed mean and squared standard error of each column, and how many rows were kept."""
    ordered = np.sort(values, axis=0)
    n = len(ordered)
    cut = max(1, math.floor(TRIM * n))
    kept = n - 2 * cut
    winsorised = np.clip(ordered, ordered[cut], ordered[n - cut - 1])
    squared_error = winsorised.var(axis=0, ddof=1) * (n - 1) / (kept * (kept - 1))
    return ordered[cut : n - cut].mean(axis=0), squared_error, kept
