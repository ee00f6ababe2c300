"""Figures that are not shown, and why."""

from __future__ import annotations

from analysis.messages import Message

# `figures` are their labels.
MISSING = Message("Not known: {figures}. Reason: {reason}.")
ONE_SIDED = Message("Not compared: {figures}. Reason: {reason}.")
