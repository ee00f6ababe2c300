"""Our figures beside published ones, from the record alone: no profile is read for them."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

from fusescope.analysis.compare.timing.samples import record_times
from fusescope.analysis.compare.timing.statistics import trimmed_mean
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.recipes.measures import sampled_ns
from fusescope.analysis.recipes.recipe import Published, Recipe


def beside_published(
    recipe: Recipe, record: ExperimentRecord
) -> tuple[Published, Published] | None:
    """The first published figure that the record answers for all of its steps, and ours of it in
    the same form and unit, as the table has it. None where each of them needs a profile."""
    for published in recipe.published:
        own = [
            (variant, _figure(published.code, variant, recipe, record))
            for variant, _ in published.values
        ]
        values = tuple((variant, value) for variant, value in own if value is not None)
        if len(values) == len(own):
            return published, replace(published, values=values, basis="measured", note_message=None)
    return None


def _figure(code: str, name: str, recipe: Recipe, record: ExperimentRecord) -> float | None:
    variant = record.variant(name)
    if code == "latency":
        return _latency(name, recipe, record)
    if code == "latency_mean":
        runs = sampled_ns(variant)
        return statistics.fmean(runs) if runs else None
    if code == "memory":
        return None if variant.peak_memory_bytes is None else float(variant.peak_memory_bytes)
    if code == "operators":
        return None if variant.nodes is None else float(variant.nodes)
    if code in ("latency_change", "throughput_change"):
        change: float | None = getattr(paired_verdict(record, recipe.variants[0], name), code)
        return change
    return None


def _latency(name: str, recipe: Recipe, record: ExperimentRecord) -> float | None:
    """Return ns as the verdict has them: a step's time is that of the first step times their
    ratio, which is paired inside blocks, so that times and ratio agree."""
    first = recipe.variants[0]
    if name != first:
        paired = paired_verdict(record, first, name).times_ns
        if paired is not None:
            return paired[1]
    times = record_times(record.variant(name)).mean.to_numpy(dtype=float)
    return math.exp(trimmed_mean(times)) * 1e9 if len(times) else None
