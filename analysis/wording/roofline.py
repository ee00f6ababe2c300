"""Words of the roofline: names of roofs, what a dot says, and why there is no picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fusescope.analysis import units
from fusescope.analysis.messages import Message, Said, Shown, say
from fusescope.analysis.quantity import Reason
from fusescope.analysis.wording.texts import REASONS

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.compare.roofline import Dot, Line, Picture
    from fusescope.analysis.compare.roofs import Product, Roofs

ROOFLINE_HELP = Message(
    "Operators with counted FLOPs (convolutions, matrix products, attention). Horizontal: "
    "arithmetic intensity = FLOPs / bytes of inputs, parameters and outputs. Vertical: the FLOP/s "
    "that they attained in the profile. The roof is min(peak, intensity × bandwidth of main "
    "memory). The area of a dot is its part of the time. Products of 8-bit numbers, in OP/s, have "
    "another shape and their own peak. FLOPs and bytes are modelled. The roofs are measured; those "
    "marked ~ were entered, or are public figures of the device that the file names: then each "
    "data type has its own peak. A dot above the rising roof read its data from a "
    "cache: thin lines are the measured bandwidths of caches."
)
_NAMES: Mapping[str, Message] = {
    "peak": Message("float32 peak"),
    "int8_peak": Message("8-bit peak"),
    "float8_peak": Message("float8 peak"),
    "float16_peak": Message("float16 peak"),
    "bfloat16_peak": Message("bfloat16 peak"),
    "tf32_peak": Message("TF32 peak"),
    "float32_peak": Message("float32 peak"),
    "float64_peak": Message("float64 peak"),
    "memory": Message("main memory"),
}
_CACHE = Message("{level:name} cache")
_SIDES: Mapping[str, Message] = {
    "baseline": Message("baseline"),
    "candidate": Message("candidate"),
}
_LINE = Message("{name} {rate}")
_LINE_OF_SIDE = Message("{name} {rate}, {side}")
_ASSUMED = Message("~{rate}")
_PLACE = Message("{intensity:intensity} FLOP/B, {attained}")
_PLACE_INT8 = Message("{intensity:intensity} OP/B, {attained}")
_SHARES: Mapping[tuple[str | None, bool], Message] = {
    ("compute", False): Message("~{share:percent} of its roof, the arithmetic peak"),
    ("memory", False): Message("~{share:percent} of its roof, memory bandwidth"),
    ("compute", True): Message(
        "~{share:percent} of its roof, the arithmetic peak (over: data from a cache, or roof too "
        "low)"
    ),
    ("memory", True): Message(
        "~{share:percent} of its roof, memory bandwidth (over: data from a cache, or roof too low)"
    ),
}
_ROOFS: Mapping[str, Message] = {
    "compute": Message("arithmetic peak"),
    "memory": Message("memory bandwidth"),
}
_PRODUCT = Message("The matrix product {inputs:name} takes {time:duration} and attains {rate}.")
_PRODUCT_OF_PEAK = Message(
    "The matrix product {inputs:name} takes {time:duration} and attains {rate}, ~{share:percent} "
    "of the peak."
)
_FLOPS = Message("{rate:flop_rate}")
_OPS = Message("{rate:op_rate}")
_BANDWIDTH = Message("{rate:bandwidth}")


def line_name(line: Line) -> str:
    """'float32 peak 113 GFLOP/s', 'L2 cache 95.2 GB/s, candidate', entered ones marked."""
    name: Shown = _NAMES.get(line.what) or _CACHE.of(level=line.what)
    if line.rises:
        rate = _BANDWIDTH.of(rate=line.rate / 1e9)
    else:
        rate = _operations(line.rate, int8=line.what == "int8_peak")
    shown = _ASSUMED.of(rate=rate) if line.basis == "assumed" else rate
    if line.side:
        return _LINE_OF_SIDE.text(name=name, rate=shown, side=_SIDES[line.side])
    return _LINE.text(name=name, rate=shown)


def line_label(line: Line) -> str:
    """The label at the line itself: 'float32 peak', 'main memory', 'L2'."""
    known = _NAMES.get(line.what)
    return line.what if known is None else known.text()


def roof_name(dot: Dot) -> str:
    """Return the lower roof at its intensity: 'arithmetic peak' or 'memory bandwidth', which limits
    it only where it reaches most of it; a dash where none is known."""
    return _ROOFS[dot.bound_by].text() if dot.bound_by else units.MISSING


def attained(dot: Dot) -> str:
    """What it attained: '113 GFLOP/s', of 8-bit numbers '450 GOP/s'."""
    return str(_operations(dot.flops_per_s, int8=dot.int8))


def place_text(dot: Dot) -> str:
    """Where it stands: '2.41 FLOP/B, 113 GFLOP/s', of 8-bit numbers '9.64 OP/B, 450 GOP/s'."""
    place = _PLACE_INT8 if dot.int8 else _PLACE
    return place.text(intensity=dot.intensity, attained=attained(dot))


def share_text(dot: Dot) -> str:
    """Return '~82.1 % of its roof, memory bandwidth'; says so above 100 % and where there is no
    roof."""
    if dot.bound_share is None:
        return say("roof not known")
    return _SHARES[dot.bound_by, dot.bound_share > 1].text(share=dot.bound_share)


def _operations(per_second: float, *, int8: bool) -> Said:
    return (_OPS if int8 else _FLOPS).of(rate=per_second)


def no_roofline(comparison: Comparison) -> str:
    """Why there is no picture: 'No roofline: …' with what operators lack that have the rest: where
    FLOPs of some are known, they are not what is missing."""
    codes: tuple[Reason, ...] = ("no_times", "no_sizes", "no_flops")
    lacking = {
        reason
        for side in ("baseline", "candidate")
        for reason in comparison.operators[f"roofline_reason_{side}"]
        if isinstance(reason, str)
    }
    reason: Reason = next((code for code in codes if code in lacking), "no_flops")
    return say("No roofline: {reason}.", reason=REASONS[reason])


def device_note(roofs: Roofs) -> str:
    """Where the roofs of a device come from that is known by its name; '' where none does."""
    if roofs.device is None:
        return ""
    return say(
        "The file names {device:name}. What it can do at most is assumed: public figures of "
        "{source:name}, without sparsity.",
        device=roofs.device.name,
        source=roofs.device.source,
    )


def product_sentences(products: Sequence[Product]) -> tuple[str, ...]:
    """One for each: 'The matrix product bfloat16[…]; bfloat16[…] takes 244 ms and attains
    457 TFLOP/s, ~34.9 % of the peak.'"""
    return tuple(
        (_PRODUCT if one.of_peak is None else _PRODUCT_OF_PEAK).text(
            inputs=one.inputs or one.name,
            rate=_operations(one.flops_per_s, int8=one.number_type == "int8"),
            time=one.per_run_ns,
            share=one.of_peak or 0.0,
        )
        for one in products
    )


def roofline_notes(sides: Sequence[Roofs], picture: Picture) -> tuple[str, ...]:
    """What to know of the picture: where public figures come from, what is over its roof, which
    roofs are missing, what is cut."""
    notes = list(dict.fromkeys(filter(None, map(device_note, sides))))
    over = sum(dot.bound_share is not None and dot.bound_share > 1 for dot in picture.dots)
    if over:
        notes.append(
            say(
                "{n:count} operator is above the roof: its data came from a cache, the "
                "peak or bandwidth is too low, or FLOPs are counted too high.",
                "{n:count} operators are above the roof: their data came from a cache, the "
                "peak or bandwidth is too low, or FLOPs are counted too high.",
                n=over,
            )
        )
    notes += missing_roofs(sides, picture)
    notes += _little_drawn(picture, is_alone=len(sides) == 1)
    if picture.cut:
        notes.append(
            say(
                "{n:count} operator with less time is not drawn.",
                "{n:count} operators with less time are not drawn.",
                n=picture.cut,
            )
        )
    return tuple(notes)


def _little_drawn(picture: Picture, *, is_alone: bool) -> list[str]:
    """Return how much of its time a side's dots are, where that is less than half of it."""
    times: dict[str, float] = {}
    for dot in picture.dots:
        times[dot.side] = times.get(dot.side, 0.0) + dot.share
    return [
        (_DRAWN_ALONE if is_alone else _DRAWN[side]).text(share=share)
        for side, share in sorted(times.items())
        if share < _LITTLE
    ]


_LITTLE = 0.5  # of the operators' time
_DRAWN_ALONE = Message("The operators that are drawn take {share:percent} of the operator time.")
_DRAWN: Mapping[str, Message] = {
    "baseline": Message(
        "The operators that are drawn take {share:percent} of the baseline's operator time."
    ),
    "candidate": Message(
        "The operators that are drawn take {share:percent} of the candidate's operator time."
    ),
}


def missing_roofs(sides: Sequence[Roofs], picture: Picture) -> list[str]:
    """One sentence for each reason why a roof of these sides is not in the picture."""
    reasons = dict.fromkeys(
        quantity.reason
        for roofs in sides
        for quantity in (roofs.peak, roofs.bandwidth)
        if quantity.reason is not None
    )
    if any(dot.int8 for dot in picture.dots):
        reasons |= dict.fromkeys(roofs.int8.reason for roofs in sides if roofs.int8.reason)
    return [say("A roof is missing: {reason}.", reason=REASONS[reason]) for reason in reasons]
