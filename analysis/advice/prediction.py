"""Prediction: what fusing operators would save, from what fusing others took.

The constants come from the recordings in sample_traces, as docs/prediction.md shows with what they
are worth: of a convolution that is fused, what it takes; of others a share of what they take now.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fusescope.analysis.advice.finding import Gain


class Convolution(msgspec.Struct, frozen=True):
    """Time of a fused convolution = fixed_ns + at_peak x its time at the arithmetic peak
    + at_bandwidth x that at the bandwidth of main memory + now x what it takes unfused; `low` and
    `high` bound what others took, as parts of it."""

    fixed_ns: float
    at_peak: float
    at_bandwidth: float
    now: float
    low: float
    high: float


DENSE = Convolution(32_300, 0.743, 0.382, 0.217, 0.85, 1.35)
DEPTHWISE = Convolution(27_800, 1.905, 0.2, 0.053, 0.7, 1.45)
# What an engine saves that optimises nothing yet, as a part of the time of a pattern with a heavy
# operator: fusion and its layout together. Where nothing is known of the machine.
_OPTIMISED = (0.30, 0.10, 0.65)
# What fusing a light operator into a heavy one saves, as a part of its own time; the heavy one
# changes by up to a quarter of its own.
_ABSORBED = (0.6, 0.6, 1.1)
_HEAVY_LOSS = 0.25
# What fusing light operators with each other saves, as a part of all but the longest: with a kernel
# that the engine has, with one that a compiler makes, and with one of one's own, which may be
# slower than what it replaces.
_ENGINE_KERNEL = (0.8, 0.3, 1.2)
_COMPILED = (0.6, 0.2, 1.0)
_OWN_KERNEL = (0.5, -0.5, 1.0)
# Inside the session, where the dispatches of what goes are saved, too. Rows hold an exp or a root,
# which the engine computes as fast.
_INSIDE_CHAIN = (0.65, -0.1, 1.2)
_INSIDE_ROWS = (0.35, -0.3, 1.4)
# What operators that compute sizes take of an un-profiled run, as a part of what they take of the
# profiled one: they are tiny, and profiling adds to each of them. Seen were 0.46 to 0.81.
_SIZES = (0.6, 0.3, 1.0)
# What SkipLayerNormalization takes for a value, in ns, as seen with ONNX Runtime 1.31 in exported
# transformers of 128 x 256.
_SKIP_NORM_NS = (5.3, 3.5, 7.0)
# What a piece costs that a model is cut into: a call from Python, the start and end of a session,
# and threads that go to sleep and wake up.
PIECE_NS = (80_000, 40_000, 190_000)


def convolution(
    at_peak_ns: float, at_bandwidth_ns: float, now_ns: float, *, is_depthwise: bool
) -> Gain:
    """The time per execution that a convolution takes with what is fused into it: of all its
    operations at the peak; of its inputs, weights and outputs, each once, at the bandwidth; and of
    what it takes now by itself."""
    of = DEPTHWISE if is_depthwise else DENSE
    value = of.fixed_ns + of.at_peak * at_peak_ns + of.at_bandwidth * at_bandwidth_ns
    value += of.now * now_ns
    return Gain(value, of.low * value, of.high * value, "modelled")


def saved(spent_ns: float, after: Gain) -> Gain:
    """The saving where operators that take `spent_ns` become one that takes `after`."""
    return Gain(spent_ns - after.value, spent_ns - after.high, spent_ns - after.low, "modelled")


def optimised(spent_ns: float) -> Gain:
    """The saving where an engine that optimises nothing is told to: of `spent_ns`, the time of all
    operators of the pattern."""
    return _of(spent_ns, _OPTIMISED)


def absorbed(stake_ns: float, heavy_ns: float) -> Gain:
    """The saving where light operators of `stake_ns` become part of others of `heavy_ns`."""
    value, low, high = (part * stake_ns for part in _ABSORBED)
    return Gain(value, low - _HEAVY_LOSS * heavy_ns, high, "modelled")


By = Literal["engine", "compiler", "own", "inside", "inside_rows"]


def chained(gone_ns: float, by: By) -> Gain:
    """The saving where light operators become one; `gone_ns` is all but the longest of them, `by`
    who has the kernel."""
    parts = {
        "engine": _ENGINE_KERNEL,
        "compiler": _COMPILED,
        "own": _OWN_KERNEL,
        "inside": _INSIDE_CHAIN,
        "inside_rows": _INSIDE_ROWS,
    }
    return _of(gone_ns, parts[by])


def computed_ahead(time_ns: float) -> Gain:
    """The saving where operators that compute sizes are computed once, before the model runs."""
    return _of(time_ns, _SIZES)


def skip_normalised(spent_ns: float, values: int, chained: Gain) -> Gain:
    """The saving where operators that take `spent_ns` become a SkipLayerNormalization of so many
    values: what chains save, unless its kernel takes longer."""
    value, least, most = (spent_ns - values * ns for ns in _SKIP_NORM_NS)
    ends = min(chained.low, most), min(chained.high, least)
    return Gain(min(chained.value, value), *ends, "modelled")


def in_pieces(gone_ns: float, pieces: int) -> Gain:
    """The saving where kernels of one's own run in a model that is cut into `pieces`, against the
    model as it is; `gone_ns` as in `chained`."""
    kernel = chained(gone_ns, "own")
    cost, least, most = (pieces * ns for ns in PIECE_NS)
    return Gain(kernel.value - cost, kernel.low - most, kernel.high - least, "modelled")


def together(*gains: Gain) -> Gain:
    """The saving of several remedies; the ends of their intervals add, as they may err alike."""
    value, low, high = (
        sum(getattr(gain, name) for gain in gains) for name in ("value", "low", "high")
    )
    return Gain(value, low, high, "modelled")


def _of(time_ns: float, parts: tuple[float, float, float]) -> Gain:
    value, low, high = (part * time_ns for part in parts)
    return Gain(value, low, high, "modelled")
