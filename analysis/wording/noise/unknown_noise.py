"""What is said where there is a speedup but no interval: the times, and why no noise is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis import units
from fusescope.analysis.compare.timing.statistics import MIN_SAMPLES
from fusescope.analysis.compare.timing.verdict import Pairing, Verdict
from fusescope.analysis.messages import Message, say
from fusescope.analysis.trace import RunWord
from fusescope.analysis.wording.texts import NOISE_UNKNOWN

_ONE_EACH = Message("One process each, so the noise between processes is unknown.")
_FEW_RUNS: Mapping[RunWord, Message] = {
    "runs": Message("Fewer than 5 runs a side, so the noise is unknown."),
    "steps": Message("Fewer than 5 steps a side, so the noise is unknown."),
    "repetitions": Message("Fewer than 5 repetitions a side, so the noise is unknown."),
}
_FEW_RUNS_OF_ONE: Mapping[RunWord, Message] = {
    "runs": NOISE_UNKNOWN["few_runs"],
    "steps": Message("A side has fewer than 5 steps, so the noise is unknown."),
    "repetitions": Message("A side has fewer than 5 repetitions, so the noise is unknown."),
}
_FEW_PROCESSES = Message("Fewer than 5 processes a side, so the noise is unknown.")
_FEW_PROCESSES_OF_ONE = Message("A side has fewer than 5 processes, so the noise is unknown.")
# Pairings of sides of blocks, each a process that runs many times.
_OF_BLOCKS: tuple[Pairing, ...] = ("blocks", "unpaired_blocks")
# Pairings of sides of several files.
OF_SEVERAL = ("paired_files", "alternating_files", "separate_files")
# Time sources of files that do not mark their runs.
OF_FILES = ("busy_union", "kernel_sum")


def times_text(verdict: Verdict, ratios: Sequence[str] = ()) -> str:
    """'4.27 against 12.4 ms': the candidate's time and the baseline's, beside which their `ratios`
    stand as printed; '' without them."""
    if verdict.times_ns is None:
        return ""
    before, after = units.durations_in_ratio(*verdict.times_ns, ratios)
    number, _, unit = after.rpartition(" ")
    shown = number if before.endswith(f" {unit}") else after
    return say("{candidate} against {baseline}", candidate=shown, baseline=before)


def unknown_noise(verdict: Verdict) -> str:
    """'One profile each, so the noise is unknown.', as the two sides are."""
    if verdict.reason == "single_run" and any(count is not None for count in verdict.averaged):
        return _means(verdict)
    if verdict.reason == "single_run" and verdict.samples == (1, 1):
        if verdict.of in OF_FILES:
            return say("Each file has one time, so the noise is unknown.")
        return say("One profile each, so the noise is unknown.")
    if verdict.reason == "one_process":
        known = _ONE_EACH if verdict.processes == (1, 1) else NOISE_UNKNOWN[verdict.reason]
        return known.text()
    if verdict.pairing in OF_SEVERAL:
        return say("A side has fewer than 5 files, so the noise is unknown.")
    if verdict.reason == "few_runs":
        return _few(verdict).text()
    return NOISE_UNKNOWN[verdict.reason or "few_runs"].text()


def _few(verdict: Verdict) -> Message:
    """Return that both sides, or one of them, have too few runs or processes."""
    are_both = max(verdict.samples) < MIN_SAMPLES
    if verdict.pairing in _OF_BLOCKS:
        return _FEW_PROCESSES if are_both else _FEW_PROCESSES_OF_ONE
    return (_FEW_RUNS if are_both else _FEW_RUNS_OF_ONE)[verdict.run_word]


def _means(verdict: Verdict) -> str:
    """'Means of 4,216 and 1,600 iterations, so the noise is unknown.'"""
    before, after = verdict.averaged
    if before is not None and before == after:
        return say("Means of {count:iterations}, so the noise is unknown.", count=before)
    if before is not None and after is not None:
        return say(
            "Means of {before:count} and {after:iterations}, so the noise is unknown.",
            before=before,
            after=after,
        )
    if before is not None:
        return say(
            "The baseline's time is a mean of {count:iterations}, so the noise is unknown.",
            count=before,
        )
    return say(
        "The candidate's time is a mean of {count:iterations}, so the noise is unknown.",
        count=after,
    )
