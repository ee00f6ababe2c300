"""Advice: what the candidate left undone, and what would change that."""

from __future__ import annotations

from analysis.advice.near_misses import NearMiss, near_misses

__all__ = ["NearMiss", "near_misses"]
