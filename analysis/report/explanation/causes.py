"""What changed between two traces, as the sentences at the head of a report."""

from __future__ import annotations

from analysis.compare.comparison import Comparison
from analysis.messages import Part
from analysis.report.text import with_minus
from analysis.wording.explanation import explained_parts


def causes(shown: Comparison) -> list[list[Part]]:
    """Return what changed, the cause of most of it first; nothing of recordings, whose groups say
    it."""
    if shown.explanation is None:
        return []
    return [with_minus(parts) for parts in explained_parts(shown.explanation)]
