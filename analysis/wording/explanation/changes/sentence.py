"""Sentences on changes: what they are made of, and the values that most of them have."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.compare.explanation.explanation import Change
from fusescope.analysis.messages import Message, Shown
from fusescope.analysis.wording.explanation.kernels import kernel_text

Sentence = tuple[Message, Mapping[str, Shown]]


def both_sides(change: Change) -> Mapping[str, Shown]:
    """Return the kernels of both sides, their times, and in how many places the change is."""
    return {
        "before": kernel_text(change.before),
        "after": kernel_text(change.after),
        "n": change.repeats,
        "took": change.before_ns,
        "takes": change.after_ns,
    }
