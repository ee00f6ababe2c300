"""What is on screen: samples are called that, and nothing passes for what was just chosen."""

from __future__ import annotations

from collections.abc import Sequence

_SAMPLES = {
    (True, True): "Sample: a recording that comes with FuseScope, not one of yours.",
    (True, False): "The baseline is a sample that comes with FuseScope.",
    (False, True): "The candidate is a sample that comes with FuseScope.",
}


def sample_sentence(baseline: bool, candidate: bool) -> str:
    """Which sides are samples; empty where none is."""
    return _SAMPLES.get((baseline, candidate), "")


def unchanged_sentence(baseline: str, candidate: str) -> str:
    """What is shown after files were refused: what was shown before."""
    return f"Nothing was opened. What is shown is still {candidate} against {baseline}."


def reading_sentence(names: Sequence[str]) -> str:
    """What is being read, and what stands below it meanwhile; the names as they are given."""
    what = names[0] if len(names) == 1 else f"{len(names)} files"
    return f"Reading {what} … What stands below is what was shown before."


def comparing_sentence() -> str:
    """What is done while the page still has what was shown before."""
    return "Reading and comparing … What else stands here is what was shown before."
