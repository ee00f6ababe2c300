"""Heads of columns in a terminal."""

from __future__ import annotations


def head_with_unit(label: str, unit: str) -> str:
    """Return the head of a column whose numbers share a unit, in two lines: behind the label it
    would take the room of names."""
    return f"{label}\n{unit}"
