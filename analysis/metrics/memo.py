"""Memo: what many figures of a trace, or of a comparison, rest on is computed once for each."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary, ref

import pandas as pd

Of = TypeVar("Of")
Other = TypeVar("Other")
Made = TypeVar("Made")


def once(make: Callable[[Of], Made]) -> Callable[[Of], Made]:
    """`make`, run once for each trace: a trace never changes, and is forgotten with its results.

    A table is given out as a shallow copy: whoever adds a column to his changes no other's. Only
    for results much smaller than the calls of a trace, which may be millions.
    """
    kept: WeakKeyDictionary[Of, Made] = WeakKeyDictionary()

    @wraps(make)
    def made(of: Of) -> Made:
        if of not in kept:
            kept[of] = make(of)
        result = kept[of]
        if isinstance(result, pd.DataFrame):
            return result.copy(deep=False)
        return result

    return made


def once_of_two(make: Callable[[Of, Other], Made]) -> Callable[[Of, Other], Made]:
    """`make`, run once for two traces that are compared: the result for the second that a first was
    last given with is kept, as long as both are."""
    kept: WeakKeyDictionary[Of, tuple[ref[Other], Made]] = WeakKeyDictionary()

    @wraps(make)
    def made(of: Of, other: Other) -> Made:
        last = kept.get(of)
        if last is None or last[0]() is not other:
            last = kept[of] = (ref(other), make(of, other))
        return last[1]

    return made
