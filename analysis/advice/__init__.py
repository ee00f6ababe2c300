"""Advice: what the candidate left undone, and what would change that."""

from __future__ import annotations

from analysis.advice.missed_fusions import (
    MissedFusion,
    Unjudged,
    missed_fusions,
    unjudged_attention,
)

__all__ = ["MissedFusion", "Unjudged", "missed_fusions", "unjudged_attention"]
