"""What changed between two traces, as the sentences at the head of a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from analysis.compare.comparison import Comparison
from analysis.messages import Part
from analysis.report.text import minus
from analysis.wording.explanation import explained_parts


def causes(shown: Comparison) -> list[list[Part]]:
    """Return what changed, the cause of most of it first; nothing of recordings, whose groups say
    it."""
    if shown.explanation is None:
        return []
    return [with_minus(parts) for parts in explained_parts(shown.explanation)]


def with_minus(parts: Iterable[Part]) -> list[Part]:
    """Return the parts of a sentence with the sign of minus; names stay as they are."""
    return [part if part.role == "name" else replace(part, text=minus(part.text)) for part in parts]
