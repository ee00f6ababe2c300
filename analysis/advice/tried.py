"""Tried: remedies that were recorded beside the present best, each with what it brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fusescope.analysis.advice.finding import Gain
from fusescope.analysis.compare.choice import PREFERRED, chosen_names, same_cut
from fusescope.analysis.compare.timing.verdict import Verdict, paired_verdict
from fusescope.analysis.experiment import MAX_DIFFERENCE, ExperimentRecord, Try, VariantRecord

Outcome = Literal[
    "kept",
    "outpaced",
    "taken_back",
    "cannot_tell",
    "other_outputs",
    "outputs_unknown",
    "not_recorded",
]
# Variants that run the model as it is with other settings, and beside which others can be tried:
# those have fixed sizes and threads that do not spin.
_OF_SETTINGS = ("unfused", "basic", "extended", "fused", "without", "only", "threads")


@dataclass(frozen=True)
class Tried:
    """One remedy. `predicted` and `saved` are of the un-profiled time of a run of the best, at 90
    and at 95 %: what it was predicted to save, None without a prediction, and what it saved, None
    where the noise is not known; `difference` is max|a-b| / max|a| of its outputs against those of
    the best, None where not known. `by_kernel` is what a kernel of one's own saves against the same
    cut without it: the cut costs time, too."""

    remedy: Try
    outcome: Outcome
    verdict: Verdict | None = None
    predicted: Gain | None = None
    saved: Gain | None = None
    difference: float | None = None
    by_kernel: Gain | None = None


def present_best(record: ExperimentRecord) -> str:
    """The fastest variant of those that run the model as it is with other settings: the most
    optimised one, unless another is faster beyond noise."""
    optimised = (name for name in PREFERRED if name in record.names)
    best = next(optimised, chosen_names(record)[1])
    if not is_of_settings(best):
        best = next(filter(is_of_settings, record.names), best)
    for name in filter(is_of_settings, record.names):
        if name != best and paired_verdict(record, best, name).outcome == "faster":
            best = name
    return best


def is_of_settings(variant: str) -> bool:
    """Whether the variant is the model as it is under other settings of the engine."""
    return variant.partition(":")[0] in _OF_SETTINGS


def tried(record: ExperimentRecord) -> tuple[Tried, ...]:
    """What became of each try of a recording, in its order, against the best, its baseline; empty
    where the recording was made for none. Of several that are faster the fastest is kept."""
    best = record.settings.baseline
    if best not in record.names:
        return ()
    asked = {one.variant: one for one in record.tries if one.variant != best}
    results = [_tried(record, best, remedy) for remedy in asked.values()]
    faster = [one for one in results if one.outcome == "kept"]
    fastest = max(faster, key=lambda one: (one.verdict and one.verdict.speedup) or 0, default=None)
    return tuple(
        replace(one, outcome="outpaced") if one in faster and one is not fastest else one
        for one in results
    )


def kept(results: Sequence[Tried]) -> Tried | None:
    """The one that is kept; None where none is."""
    return next((one for one in results if one.outcome == "kept"), None)


def _tried(record: ExperimentRecord, best: str, remedy: Try) -> Tried:
    if remedy.variant not in record.names:
        return Tried(remedy, "not_recorded")
    verdict = paired_verdict(record, best, remedy.variant)
    variant = record.variant(remedy.variant)
    difference = variant.output_difference.relative if variant.output_difference else None
    twin = same_cut(remedy.variant, record.names)
    return Tried(
        remedy,
        _outcome(verdict, variant, difference),
        verdict,
        _predicted(remedy, verdict),
        _saved(verdict),
        difference,
        None if twin is None else _saved(paired_verdict(record, twin, remedy.variant)),
    )


def _predicted(remedy: Try, verdict: Verdict) -> Gain | None:
    """The predicted part of the time of the best that was measured beside the remedy."""
    part = remedy.predicted
    if part is None or verdict.times_ns is None:
        return None
    whole = verdict.times_ns[0]
    return Gain(part.value * whole, part.low * whole, part.high * whole, "modelled")


def _outcome(verdict: Verdict, variant: VariantRecord, difference: float | None) -> Outcome:
    if not verdict.is_decided:
        return "cannot_tell"
    if verdict.outcome == "slower":
        return "taken_back"
    if difference is None:
        return "outputs_unknown"
    if variant.is_quantised or difference > MAX_DIFFERENCE:
        return "other_outputs"
    return "kept"


def _saved(verdict: Verdict) -> Gain | None:
    """What the speedup and its interval are of the time of the best."""
    if verdict.times_ns is None or verdict.interval is None or verdict.speedup is None:
        return None
    whole = verdict.times_ns[0]
    value, low, high = (
        whole * (1 - 1 / ratio)
        for ratio in (verdict.speedup, verdict.interval.low, verdict.interval.high)
    )
    return Gain(value, min(low, value), max(high, value), "measured")
