"""Replays: kernels of a recorded graph of a device, which is launched as a whole.

Nothing launches such a kernel by itself, so what it is of has to be known by its place in the
program: between two kernels whose names tell it, the calls of libraries follow each other.
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
    """The calls that each kernel is of. Both are in order; a kernel is True where it adds up what
    the one before it left, and is then of the same call.

    As many as calls are one of each. Others are of all calls together, since nothing tells them
    apart; without calls they are of none.
    """
    groups: list[int] = []
    for adds in kernels:
        last = groups[-1] if groups else -1
        groups.append(last if adds and groups else last + 1)
    is_one_each = bool(groups) and groups[-1] + 1 == len(calls)
    return [(calls[group],) if is_one_each else tuple(calls) for group in groups]
