"""Advice: what the candidate left undone, and what would change that."""

from __future__ import annotations

from fusescope.analysis.advice.finding import Finding, Findings, Gain, Unanswered
from fusescope.analysis.advice.findings import TOP, findings
from fusescope.analysis.advice.missed_fusions import (
    MissedFusion,
    Unjudged,
    missed_fusions,
    unjudged_attention,
)
from fusescope.analysis.advice.subject import Subject

__all__ = [
    "TOP",
    "Finding",
    "Findings",
    "Gain",
    "MissedFusion",
    "Subject",
    "Unanswered",
    "Unjudged",
    "findings",
    "missed_fusions",
    "unjudged_attention",
]
