"""What is said where there is a speedup but no interval: the times, and why no noise is known."""

from __future__ import annotations

from analysis import units
from analysis.compare.timing.verdict import Verdict
from analysis.wording.phrases import plural
from analysis.wording.texts import NOISE_UNKNOWN

# Time sources of files that do not mark their runs.
OF_FILES = ("busy_union", "kernel_sum")


def times_text(verdict: Verdict) -> str:
    """' (4.27 against 12.4 ms)': the candidate's time and the baseline's; '' without them."""
    if verdict.times_ns is None:
        return ""
    before, after = (units.duration(ns) for ns in verdict.times_ns)
    number, _, unit = after.rpartition(" ")
    return f" ({number if before.endswith(f' {unit}') else after} against {before})"


def unknown_noise(verdict: Verdict) -> str:
    """'One profile each, so the noise is unknown.', as the two sides are."""
    counts = [count for count in verdict.averaged if count is not None]
    if verdict.reason == "single_run" and counts:
        return _means(verdict)
    if verdict.reason == "single_run" and verdict.samples == (1, 1):
        if verdict.of in OF_FILES:
            return "One time of each file, so the noise is unknown."
        return "One profile each, so the noise is unknown."
    if verdict.reason == "one_process" and verdict.samples == (1, 1):
        return "One process each, so the noise between processes is unknown."
    return NOISE_UNKNOWN[verdict.reason or "few_runs"]


def _means(verdict: Verdict) -> str:
    """'Means of 4,216 and 1,600 iterations, so the noise is unknown.'"""
    before, after = verdict.averaged
    if before is not None and after is not None:
        of = plural(before, "iteration")
        of = of if before == after else f"{units.count(before)} and {plural(after, 'iteration')}"
        return f"Means of {of}, so the noise is unknown."
    side, count = ("baseline", before) if before is not None else ("candidate", after)
    return f"The {side}'s time is a mean of {plural(count, 'iteration')}, so the noise is unknown."
