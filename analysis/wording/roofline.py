"""Words of the roofline: names of roofs, what a dot says, and why there is no picture."""

from __future__ import annotations

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.compare.roofline import Dot, Line, Picture
from analysis.quantity import Reason
from analysis.wording.texts import REASONS

ROOFLINE_HELP = (
    "Operators whose FLOPs are counted (convolutions, matrix products, attention) by their "
    "arithmetic intensity = FLOPs / bytes of inputs, parameters and outputs, and by the FLOP/s "
    "that they attained in the profile. The roof is min(peak, intensity × bandwidth of main "
    "memory). The area of a dot is its part of the time; products of 8-bit numbers, in OP/s, have "
    "another shape and a peak of their own. FLOPs and bytes are modelled, the roofs are measured. "
    "A dot above the rising roof had its data in a cache: thin lines are what caches gave, "
    "where measured."
)
_NAMES = {
    "peak": "float32 peak",
    "int8_peak": "8-bit peak",
    "memory": "main memory",
}


def line_name(line: Line) -> str:
    """'float32 peak 113 GFLOP/s', 'L2 cache 95.2 GB/s, candidate', entered ones marked."""
    name = _NAMES.get(line.what, f"{line.what} cache")
    if line.rises:
        rate = units.bandwidth(line.rate / 1e9)
    else:
        rate = _operations(line.rate, int8=line.what == "int8_peak")
    whose = f", {line.side}" if line.side else ""
    return f"{name} {'~' if line.basis == 'assumed' else ''}{rate}{whose}"


def line_label(line: Line) -> str:
    """What stands at the line itself: 'float32 peak', 'main memory', 'L2'."""
    return _NAMES.get(line.what, line.what)


def attained(dot: Dot) -> str:
    """What it attained: '113 GFLOP/s', of 8-bit numbers '450 GOP/s'."""
    return _operations(dot.flops_per_s, int8=dot.int8)


def place_text(dot: Dot) -> str:
    """Where it stands: '2.41 FLOP/B, 113 GFLOP/s', of 8-bit numbers '9.64 OP/B, 450 GOP/s'."""
    return f"{dot.intensity:.3g} {'OP/B' if dot.int8 else 'FLOP/B'}, {attained(dot)}"


def share_text(dot: Dot) -> str:
    """'~82.1 % of its roof, memory bound'; says so above 100 % and where there is no roof."""
    if dot.bound_share is None:
        return "roof not known"
    over = " (over: data from a cache, or roof too low)" if dot.bound_share > 1 else ""
    return f"~{units.percent(dot.bound_share)} of its roof, {dot.bound_by} bound{over}"


def _operations(per_second: float, *, int8: bool) -> str:
    return units.op_rate(per_second) if int8 else units.flop_rate(per_second)


def no_roofline(comparison: Comparison) -> str:
    """Why there is no picture: 'No roofline: …' with the reason of most time."""
    codes: tuple[Reason, ...] = ("no_flops", "no_sizes", "no_times")
    lacking: dict[Reason, float] = {}
    for side in ("baseline", "candidate"):
        reasons = comparison.operators[f"roofline_reason_{side}"]
        for reason, time in zip(reasons, comparison.operators[f"per_run_ns_{side}"], strict=True):
            for code in codes:
                if isinstance(reason, str) and reason == code:
                    lacking[code] = lacking.get(code, 0.0) + float(time)
    maximum = max(lacking, key=lambda code: lacking[code]) if lacking else codes[0]
    return f"No roofline: {REASONS[maximum]}."


def roofline_notes(comparison: Comparison, picture: Picture) -> tuple[str, ...]:
    """What to know of the picture: what is over its roof, which roofs are missing, what is cut."""
    notes = []
    over = sum(dot.bound_share is not None and dot.bound_share > 1 for dot in picture.dots)
    if over:
        are = "operator is" if over == 1 else "operators are"
        notes.append(
            f"{over} {are} above the roof: data came from a cache, the peak or the bandwidth was "
            "measured too low, or FLOPs are counted too high."
        )
    reasons = dict.fromkeys(
        quantity.reason
        for roofs in comparison.roofs
        for quantity in (roofs.peak, roofs.bandwidth)
        if quantity.reason is not None
    )
    if any(dot.int8 for dot in picture.dots):
        reasons |= dict.fromkeys(r.int8.reason for r in comparison.roofs if r.int8.reason)
    notes += [f"A roof is missing: {REASONS[reason]}." for reason in reasons]
    if picture.cut:
        notes.append(f"{picture.cut} operators with less time are not drawn.")
    return tuple(notes)
