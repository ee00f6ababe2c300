"""Prediction: what fusing operators would save, from what fusing others saved.

The shares come from the recordings in sample_traces, pattern by pattern (docs/prediction.md): they
are wide because one engine's fused convolution is slower than its plain one, another's faster.
"""

from __future__ import annotations

from analysis.advice.finding import Gain

# What an engine saves that optimises nothing yet, as a part of the time of a pattern: fusion and
# its layout together.
_OPTIMISED = (0.30, 0.10, 0.65)
# What fusing a light operator into a heavy one saves, as a part of its own time; the heavy one
# changes by up to a quarter of its own.
_ABSORBED = (0.6, 0.6, 1.1)
_HEAVY_LOSS = 0.25
# What fusing light operators with each other saves, as a part of all but the longest: with a kernel
# of the engine, and with one of one's own, which may be slower than what it replaces.
_CHAINED = (0.6, 0.2, 1.0)
_OWN_KERNEL = (0.5, -0.5, 1.0)


def optimised(spent_ns: float) -> Gain:
    """The saving where an engine that optimises nothing is told to: of `spent_ns`, the time of all
    operators of the pattern."""
    return _of(spent_ns, _OPTIMISED)


def absorbed(stake_ns: float, heavy_ns: float) -> Gain:
    """The saving where light operators of `stake_ns` become part of others of `heavy_ns`."""
    value, low, high = (part * stake_ns for part in _ABSORBED)
    return Gain(value, low - _HEAVY_LOSS * heavy_ns, high, "modelled")


def chained(gone_ns: float, *, own_kernel: bool = False) -> Gain:
    """The saving where light operators become one; `gone_ns` is all but the longest of them."""
    return _of(gone_ns, _OWN_KERNEL if own_kernel else _CHAINED)


def together(*gains: Gain) -> Gain:
    """The saving of several remedies; the ends of their intervals add, as they may err alike."""
    value, low, high = (
        sum(getattr(gain, name) for gain in gains) for name in ("value", "low", "high")
    )
    return Gain(value, low, high, "modelled")


def _of(time_ns: float, parts: tuple[float, float, float]) -> Gain:
    value, low, high = (part * time_ns for part in parts)
    return Gain(value, low, high, "modelled")
