"""Quantiles of Student's t distribution, for one probability and one number of degrees of freedom.

Loading `scipy.special` for this one function takes as long as a comparison; `tests/compare/timing`
holds the values against it.
Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.5.8, 26.7.1 and 26.7.5; the
ratio of gamma functions: Tricomi and Erdélyi (1951), Pacific J. Math. 1, 133-142.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_LARGE = 20.0  # from here on the series of the ratio of gamma functions is exact in a double
_MANY = 5000.0  # the fifth term of the expansion is below 1e-15 up to six standard deviations
_TINY = 1e-300
_EPSILON = 2.0**-53
_MOST_TERMS = 100_000
_MOST_STEPS = 100


@lru_cache(maxsize=4096)
def quantile(probability: float, df: float) -> float:
    """Return the t below which a share of `probability` lies, `df` degrees of freedom; NaN where
    one of them is none."""
    if not (0 < probability < 1 and 0 < df < math.inf):
        return math.nan
    tail, sign = (probability, -1) if probability < 0.5 else (1 - probability, 1)
    return sign * (_expanded(tail, df) if df >= _MANY else _solved(tail, df))


def _solved(tail: float, df: float) -> float:
    """Return the t above which this share lies, of half of all at most, by Newton's method between
    bounds."""
    low, high = 0.0, 1.0
    while upper_tail(high, df) > tail:
        low, high = high, high * 2
    t = min(max(_expanded(tail, df), low), high)
    for _ in range(_MOST_STEPS):
        excess = upper_tail(t, df) - tail
        low, high = (t, high) if excess > 0 else (low, t)
        step = excess / density(t, df)
        new = t + step
        if not low <= new <= high:
            new = (low + high) / 2
        if abs(new - t) <= 4 * _EPSILON * abs(new):
            return new
        t = new
    return t


def upper_tail(t: float, df: float) -> float:
    """Return the share that lies above `t`, which is not negative."""
    ratio = t * t / df
    if not ratio:
        return 0.5
    # Half of the regularised incomplete beta function of x = df / (df + t²); a, b = df / 2, 1 / 2.
    a, b = df / 2, 0.5
    power = math.exp(-a * math.log1p(ratio) + b * math.log(ratio / (1 + ratio))) * _beta_ratio(a)
    if ratio / (1 + ratio) > (b + 1) / (a + b + 2):
        return power / a * _fraction(a, b, 1 / (1 + ratio)) / 2
    return 0.5 - power / b * _fraction(b, a, ratio / (1 + ratio)) / 2


def density(t: float, df: float) -> float:
    """Return the density at `t`."""
    power = math.exp(-(df + 1) / 2 * math.log1p(t * t / df))
    return power * _beta_ratio(df / 2) / math.sqrt(df)


def _beta_ratio(a: float) -> float:
    """Return 1 / B(a, 1/2) = Γ(a + 1/2) / (Γ(a) √π)."""
    if a < _LARGE:
        return math.gamma(a + 0.5) / (math.gamma(a) * math.sqrt(math.pi))
    # The logarithm of Γ(a + 1/2) / (Γ(a) √a), in powers of 1 / a.
    s = 1 / (a * a)
    series = -1 / 8 + s * (1 / 192 + s * (-1 / 640 + s * (17 / 14336 + s * (-31 / 18432))))
    return math.exp(series / a) * math.sqrt(a / math.pi)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + factor * d)
            c = _not_zero(1 + factor / c)
            value *= c * d
        if abs(c * d - 1) <= _EPSILON:
            break
    return value


def _not_zero(value: float) -> float:
    return value or _TINY


def _expanded(tail: float, df: float) -> float:
    """Return the same by its expansion at the normal one, in powers of 1 / df: exact in a double
    for many degrees of freedom, else a start."""
    z = -NormalDist().inv_cdf(tail)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / df**power for power, term in enumerate(terms, start=1))
