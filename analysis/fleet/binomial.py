"""Interval of a share: so many of so many, by Clopper and Pearson."""

from __future__ import annotations


def share_interval(hits: int, trials: int, alpha: float) -> tuple[float, float]:
    """The exact two-sided 1 - alpha interval of hits / trials; (0, 1) without trials.

    Source: Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the
    case of the binomial", Biometrika 26.
    """
    from scipy.special import betaincinv  # loading it takes longer than the rest

    low = float(betaincinv(hits, trials - hits + 1, alpha / 2)) if hits else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - alpha / 2)) if hits < trials else 1.0
    return low, high
