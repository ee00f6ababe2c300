"""Spelling: which known name was meant by one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.5  # difflib's ratio: 1 for equal names


def suggestion(name: str, known: Iterable[str], heading: str = "Known") -> str:
    """A hint: the nearest of the known names, in whatever case, and the list of them all."""
    listed = list(known)
    spelled = {other.lower(): other for other in listed}
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=_ALIKE)
    meant = f"Did you mean '{spelled[near[0]]}'? " if near else ""
    return f"{meant}{heading}: {', '.join(listed)}."
