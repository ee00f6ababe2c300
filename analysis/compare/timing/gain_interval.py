"""Intervals of many gains at once: Student's and Welch's t over the columns of a matrix.

Of means, where the verdict has trimmed means: gains have to add up to those of patterns and of the
whole run, and an estimate has to lie inside its own interval. What makes means fragile, single
slow executions, has been taken out of them before (slow_executions.py).
Source: Welch (1947), "The generalization of 'Student's' problem when several different population
variances are involved", Biometrika 34.
"""

from __future__ import annotations

import numpy as np

from fusescope.analysis.compare.timing.statistics import MIN_SAMPLES, student_t_each

Bounds = tuple[np.ndarray, np.ndarray]


def gain_intervals(
    gain: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    alpha: float,
    paired: bool,
    minimum: np.ndarray | float = 0.0,
) -> Bounds:
    """(low, high) around the gain before - after of each column, two-sided at level 1 - alpha.

    Rows are blocks or runs, in ns; `gain` is the difference of their means. Paired: Student's t
    over the differences of the rows; else Welch's. All NaN below 5 rows a side. No squared error
    is taken as smaller than `least`: rows of whole µs are equal by chance, and their spread then
    says nothing.
    """
    if min(len(before), len(after)) < MIN_SAMPLES:
        nothing = np.full(before.shape[1], np.nan)
        return nothing, nothing.copy()
    df: np.ndarray | float
    if paired:
        error, df = _squared_error(before - after), len(before) - 1
    else:
        of_before, of_after = _squared_error(before), _squared_error(after)
        error = of_before + of_after
        floor = of_before**2 / (len(before) - 1) + of_after**2 / (len(after) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.where(floor > 0, error**2 / floor, min(len(before), len(after)) - 1)
    half_width = student_t_each(1 - alpha / 2, df) * np.sqrt(np.maximum(error, minimum))
    return gain - half_width, gain + half_width


def _squared_error(values: np.ndarray) -> np.ndarray:
    """Squared standard error of the mean of each column."""
    error: np.ndarray = values.var(axis=0, ddof=1) / len(values)
    return error
