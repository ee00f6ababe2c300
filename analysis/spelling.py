"""Spelling: which known name was meant by one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.5  # difflib's ratio: 1 for equal names


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, in whatever case; None where none is alike."""
    spelled = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=_ALIKE)
    return spelled[near[0]] if near else None
