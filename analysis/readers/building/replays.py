"""Replays: kernels of a recorded graph of a device, which is launched as a whole.

Nothing launches such a kernel by itself, so what it belongs to has to be known by its place in the
program: between two kernels whose names tell it, library calls follow each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
_ADDS_UP = re.compile(r"split_?k_?(?:reduce|kernel)", re.IGNORECASE)


def adds_up(kernel: str) -> bool:
    """Whether a kernel only adds up what the one before it left: a product computed in parts."""
    return _ADDS_UP.search(kernel) is not None


def placed(calls: Sequence[T], kernels: Sequence[bool]) -> list[tuple[T, ...]]:
    """The calls that each kernel belongs to. Both are in order; a kernel is True where it adds up
    what the one before it left, and then belongs to the same call.

    Where there are as many kernels as calls, each has one. Otherwise all belong to all calls
    together, since nothing tells them apart; without calls they belong to none.
    """
    groups: list[int] = []
    for adds in kernels:
        last = groups[-1] if groups else -1
        groups.append(last if adds and groups else last + 1)
    is_one_each = bool(groups) and groups[-1] + 1 == len(calls)
    return [(calls[group],) if is_one_each else tuple(calls) for group in groups]
