"""Sentences and short texts of a comparison and of its figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pandas as pd

from analysis import units
from analysis.compare.comparison import Comparison, Figure
from analysis.compare.timing.verdict import Verdict
from analysis.experiment import Experiment
from analysis.messages import Part
from analysis.quantity import Quantity
from analysis.trace import Trace
from analysis.wording.counted import counts_of
from analysis.wording.phrases import capital, plural
from analysis.wording.texts import CANNOT_TELL, REASONS, TIME_SOURCES
from analysis.wording.unknown_noise import OF_FILES, times_text, unknown_noise


def verdict_parts(comparison: Comparison) -> tuple[Part, ...]:
    """The verdict in pieces: 'fused', ' is ', '2.12× faster', ' than ', 'unfused'."""
    return pair_parts(comparison.verdict, comparison.baseline.name, comparison.candidate.name)


def pair_parts(verdict: Verdict, baseline_label: str, candidate_label: str) -> tuple[Part, ...]:
    """`verdict_parts` of a verdict alone, with what its two sides are called."""
    candidate = Part(candidate_label, "name")
    baseline = Part(baseline_label, "name")
    if verdict.reason == "different_models":
        return baseline, Part(" and "), candidate, Part(" look like different models")
    if verdict.outcome == "cannot_tell" or verdict.speedup is None:
        start = Part("Cannot tell whether ")
        return start, candidate, Part(" is faster or slower than "), baseline
    if verdict.outcome == "noise_unknown":
        number = Part(f"{units.factor(1 / verdict.speedup)} the time", "number")
        end = Part(f"{times_text(verdict)}. {unknown_noise(verdict)}")
        return candidate, Part(" took "), number, Part(" of "), baseline, end
    factor = verdict.speedup if verdict.outcome == "faster" else 1 / verdict.speedup
    number = Part(f"{units.factor(factor)} {verdict.outcome}", "number")
    return candidate, Part(" is "), number, Part(" than "), baseline


def verdict_sentence(comparison: Comparison) -> str:
    """What stands on top: 'fused is 2.12× faster than unfused (95 % interval …)'; where no noise
    is known, 'fp16 took 0.34× the time of fp32 (…). One profile each, so the noise is unknown.'"""
    sentence = "".join(part.text for part in verdict_parts(comparison))
    interval = verdict_interval(comparison.verdict)
    return f"{sentence} ({interval})" if interval else sentence


def verdict_interval(verdict: Verdict) -> str:
    """'95 % interval 2.10× to 2.14×', read in the direction of the sentence; '' without one."""
    if verdict.interval is None:
        return ""
    low, high = verdict.interval.low, verdict.interval.high
    if verdict.outcome == "slower":
        low, high = 1 / high, 1 / low
    return f"95 % interval {units.factor(low)} to {units.factor(high)}"


def interval_key(verdict: Verdict) -> str:
    """How to read the picture of the verdict: 'Dot: speedup 2.15×; bar: 95 % interval; …'."""
    parts = [f"dot: speedup {units.factor(verdict.speedup)}"]
    if verdict.interval is not None:
        parts.append("bar: 95 % interval")
    if verdict.noise_floor is not None:
        parts.append("grey: A/A control, two copies of the baseline")
    return capital("; ".join([*parts, "dashed: no change"])) + "."


def why_not_told(verdict: Verdict) -> str:
    """Why there is no interval or it tells nothing, as a sentence's middle; '' where it tells."""
    if verdict.reason is None:
        return ""
    if verdict.outcome == "noise_unknown":
        return unknown_noise(verdict).rstrip(".")
    reason = CANNOT_TELL[verdict.reason]
    return reason + _stricter(verdict) if verdict.reason == "within_noise" else reason


def _stricter(verdict: Verdict) -> str:
    """Why a 95 % interval without 1 in it is not enough; '' where 1 is in it."""
    shown = verdict.interval
    if shown is None or shown.low <= 1 <= shown.high:
        return ""
    return (
        f" (a level of {verdict.alpha:.2g}, for all looks and variants together, takes a wider "
        "interval than the 95 % one)"
    )


def verdict_basis(verdict: Verdict) -> str:
    """What the verdict rests on, and the smallest effect that would have been seen."""
    parts = []
    if verdict.speedup is not None and verdict.outcome == "cannot_tell":
        parts.append(f"best guess {units.factor(verdict.speedup)}")
    what = TIME_SOURCES[verdict.of]
    one, other = verdict.samples
    if verdict.pairing == "blocks":
        parts.append(f"{what}, {plural(one, 'block')} of fresh processes, paired")
    else:
        noun = "blocks" if verdict.pairing == "unpaired_blocks" else "runs"
        noun = "files" if verdict.of in OF_FILES else noun
        if one and other:
            counts = f"one {noun[:-1]} each" if one == other == 1 else f"{one} and {other} {noun}"
            if verdict.reason == "single_run" and any(verdict.averaged):
                counts = _averaged(verdict)
            parts.append(f"{what}, {counts}, not paired")
    if verdict.outcome == "cannot_tell":
        parts.insert(0, why_not_told(verdict))
    if verdict.smallest_detectable is not None:
        seen = units.percent(verdict.smallest_detectable)
        parts.append(f"this measurement would have seen a change of {seen}")
    return capital("; ".join(parts)) + "."


def _averaged(verdict: Verdict) -> str:
    """'means of 1,600 and 4,216 iterations': of how many runs each side's one time is."""
    before, after = verdict.averaged
    if before is not None and before == after:
        return f"means of {plural(before, 'iteration')} each"
    if before is not None and after is not None:
        return f"means of {units.count(before)} and {plural(after, 'iteration')}"
    sides = zip(("baseline", "candidate"), (before, after), verdict.samples, strict=True)
    return ", ".join(
        f"the {side} {plural(samples, 'run')}"
        if count is None
        else f"the {side} a mean of {plural(count, 'iteration')}"
        for side, count, samples in sides
    )


def offer_sentence(side: str, runs: int | None) -> str:
    """What is asked of a side that does not mark its runs; `runs` is what its calls suggest."""
    if runs is None:
        return f"The {side} does not mark its runs. Say how many it holds to compare by run:"
    return (
        f"The {side} does not mark its runs; its calls suggest {plural(runs, 'run')}. Say how many "
        "it holds to compare by run:"
    )


def entered_text(side: str, runs: int) -> str:
    """What was entered for a side that does not mark its runs."""
    return f"The {side} holds {plural(runs, 'run')}, as entered"


def light_work(comparison: Comparison) -> str:
    """Light time and count, which must stand beside the small-op ratio; '' where those of the two
    sides are not of the same runs."""
    light = comparison.figure("light_time")
    if not comparison.has_changes or None in (light.baseline.value, light.candidate.value):
        return ""
    before, after = comparison.small_ops
    return (
        f"light time {units.duration(before.light_ns)} → {units.duration(after.light_ns)}, "
        f"{units.count(before.light_count)} → {units.count(after.light_count)} operators"
    )


def agreement_text(comparison: Comparison) -> str:
    """The candidate's classes beside the baseline's; '' where the model scores none.

    'top-1 56.2 %, top-5 93.8 % of 16 samples, 15 classes seen: agreement, not accuracy'.
    """
    variant = comparison.candidate.variant
    agreed = variant.agreement if variant else None
    if variant is None or agreed is None:
        return ""
    shares = [f"top-1 {units.percent(agreed.top1)}"]
    if agreed.top5 is not None:
        shares.append(f"top-5 {units.percent(agreed.top5)}")
    of = plural(agreed.samples, "sample")
    if agreed.positions > agreed.samples:
        of = f"{units.count(agreed.positions)} positions in {of}"
    seen = f"{units.count(agreed.distinct)} {'class' if agreed.distinct == 1 else 'classes'} seen"
    return f"{', '.join(shares)} of {of}, {seen}: agreement with the baseline, not accuracy"


def gap_statistic(comparison: Comparison) -> str:
    """That the dispatch gap is a mean, and why it can exceed the latency; '' of one run a side."""
    gap, latency = comparison.figure("dispatch_gap"), comparison.figure("latency")
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    if not gap.is_known or all(len(trace.profiled_runs) < 2 for trace in traces):
        return ""
    pairs = ((gap.baseline, latency.baseline), (gap.candidate, latency.candidate))
    if not any((g.value or 0.0) > (t.value or math.inf) for g, t in pairs):
        return "mean per run"
    if comparison.verdict.of == "unprofiled_wall":
        return "mean per profiled run, which takes longer than an un-profiled one"
    return "mean per run, in which slow runs weigh; latency is that of the typical run"


def figure_detail(comparison: Comparison, code: str) -> str:
    """What must be read with a figure; '' where there is nothing."""
    return _DETAILS[code](comparison) if code in _DETAILS else ""


_DETAILS: Mapping[str, Callable[[Comparison], str]] = {
    "small_op_time": light_work,
    "output_difference": agreement_text,
    "dispatch_gap": gap_statistic,
}


def totals_sentence(comparison: Comparison) -> str:
    """'All operators: 685 ms → 721 ms (+36.0 ms), a sum over streams and no run time.'; between
    what is not compared no arrow: 'All operators: baseline 359 ms (whole file), candidate 109 ms
    (per run); sums over streams and no run times.'"""
    is_communication = comparison.op_classes["op_class"] == "communication"
    if not comparison.has_changes:
        sums = _sums(comparison, comparison.op_classes[~is_communication])
        others = (
            _sums(comparison, comparison.op_classes[is_communication])
            if is_communication.any()
            else ""
        )
        beside = f"; communication: {others}" if others else ""
        return f"All operators: {sums}; sums over streams and no run times{beside}."
    computing = _sum_change(comparison.op_classes[~is_communication])
    beside = (
        f"; communication: {_sum_change(comparison.op_classes[is_communication])}"
        if is_communication.any()
        else ""
    )
    return f"All operators: {computing}, a sum over streams and no run time{beside}."


_SIDES = ("baseline", "candidate")


def _sums(comparison: Comparison, table: pd.DataFrame) -> str:
    return ", ".join(
        f"{side} {units.duration(float(table[f'per_run_ns_{side}'].fillna(0.0).sum()))} ({of})"
        for side, of in zip(_SIDES, counts_of(comparison), strict=True)
    )


def _sum_change(table: pd.DataFrame) -> str:
    before, after = (float(table[f"per_run_ns_{side}"].fillna(0.0).sum()) for side in _SIDES)
    change = after - before
    times = " → ".join(units.durations_apart(before, after, change))
    return f"{times} ({units.duration(change, signed=True)})"


def change_sentence(comparison: Comparison) -> str:
    """The change both ways: 'Latency -52.8 %, throughput +112.0 %.'; '' without one. Of files
    that do not mark their runs, whose throughput is not known: 'Time of the file -52.8 %.'"""
    verdict = comparison.verdict
    if verdict.latency_change is None or verdict.throughput_change is None:
        return ""
    if verdict.of in OF_FILES:
        return f"Time of the file {relative_text(verdict.latency_change)}."
    return (
        f"Latency {relative_text(verdict.latency_change)}, "
        f"throughput {relative_text(verdict.throughput_change)}."
    )


def relative_text(change: float) -> str:
    """A relative change: '+26.3 %'; from ten times on, where percentages say little, '11.4×'."""
    if change >= _MAX_PERCENT:
        return units.factor(1 + change)
    return units.percent(change, signed=True)


# A relative change beyond it is told as a factor.
_MAX_PERCENT = 9.0


def assumptions_sentence(comparison: Comparison) -> str:
    """What short-operator, cache and utilisation figures were computed with."""
    peaks = dict.fromkeys(_with_basis(peak) for peak in comparison.peaks)
    rates = dict.fromkeys(_with_basis(roofs.bandwidth) for roofs in comparison.roofs)
    return (
        f"Computed with τ {_with_basis(comparison.tau)}; modelled cache "
        f"{_with_basis(comparison.cache_size)}; arithmetic peak {' and '.join(peaks)}; memory "
        f"bandwidth {' and '.join(rates)}."
    )


def _with_basis(quantity: Quantity) -> str:
    if quantity.value is None:
        return "not known"
    return f"{_FORMATS[quantity.unit](quantity.value)} ({quantity.basis})"


def opened_sentence(value: Trace | Experiment) -> str:
    """What was read from a file: its format and how much is in it."""
    if isinstance(value, Experiment):
        record = value.record
        names = ", ".join(value.traces)
        blocks = plural(record.outcome.blocks, "block")
        return f"Experiment of {record.model.name}: {names}; {blocks}."
    is_marked = value.has_runs or value.profiled_runs.empty
    runs = plural(len(value.profiled_runs), "run") if is_marked else "runs not marked"
    operators = plural(len(value.operators), "operator")
    return f"{value.meta.tool} profile: {runs}, {operators}."


def quantity_text(quantity: Quantity) -> str:
    """A value with its unit; estimates carry '~', missing values a dash."""
    text = _FORMATS[quantity.unit](quantity.value)
    return f"~{text}" if quantity.is_estimate and quantity.value is not None else text


def change_text(figure: Figure) -> str:
    """The change of a figure with sign and unit, as its two values read; '' where it has none."""
    if figure.kind == "none" or figure.change is None:
        return ""
    before, after = figure.baseline, figure.candidate
    if figure.kind == "points":
        return units.points_between(before.value, after.value)
    text = relative_text(figure.change)
    if text == units.percent(0.0) and quantity_text(before) != quantity_text(after):
        # Two values that differ as printed did not stay the same.
        return f"{figure.change * 100:+.1g} %"
    return text


def basis_text(figure: Figure) -> str:
    """What a figure rests on, or why it is missing."""
    quantities = (figure.baseline, figure.candidate)
    reasons = {
        side: REASONS[quantity.reason]
        for side, quantity in zip(("baseline", "candidate"), quantities, strict=True)
        if quantity.value is None and quantity.reason is not None
    }
    if len(reasons) == 2 and len(set(reasons.values())) > 1:
        return "; ".join(f"{side}: {reason}" for side, reason in reasons.items())
    if reasons:
        reason = next(iter(reasons.values()))
        is_missing = all(quantity.value is None for quantity in quantities)
        return reason if is_missing else f"one side: {reason}"
    bases = list(dict.fromkeys(quantity.basis for quantity in quantities))
    return " / ".join(bases)


def source_text(figure: Figure, verdict: Verdict) -> str:
    """Which clock a figure's times come from: 'un-profiled wall time'; '' where none ran."""
    if figure.code in ("latency", "throughput"):
        of_file = ", of the whole file" if verdict.of in OF_FILES else ""
        return TIME_SOURCES[verdict.of] + of_file
    return "operator times of the profile" if figure.code in _FROM_PROFILE else ""


_FROM_PROFILE = frozenset(
    ("small_op_time", "small_op_count", "light_time", "light_count")
    + ("short_op_time", "short_op_count", "dispatch_gap", "operator_utilisation", "roofline_share")
    + ("kernels", "device_busy", "device_idle", "launches", "launch_time", "copies", "copy_time")
)

_FORMATS: Mapping[str, Callable[[float | None], str]] = {
    "ns": units.duration,
    "bytes": units.data_size,
    "fraction": units.percent,
    "1/s": units.rate,
    "flop/s": units.flop_rate,
    "op/s": units.op_rate,
    "byte/s": lambda value: units.bandwidth(None if value is None else value / 1e9),
    "count": units.count,
    "factor": units.factor,
    "number": units.small_number,
    "flop": units.flop_count,
    "GB/s": units.bandwidth,
    "KB": units.kilobytes,
}
