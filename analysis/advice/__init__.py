"""Advice: what the candidate left undone, and what would change that."""

from __future__ import annotations

from analysis.advice.near_misses import NearMiss, Unjudged, near_misses, unjudged_attention

__all__ = ["NearMiss", "Unjudged", "near_misses", "unjudged_attention"]
