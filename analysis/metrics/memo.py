"""Memo: what many figures of a trace rest on is computed once for each trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import pandas as pd

from analysis.trace import Trace

Made = TypeVar("Made")


def once(make: Callable[[Trace], Made]) -> Callable[[Trace], Made]:
    """`make`, run once for each trace: a trace never changes, and is forgotten with its results.

    A table is given out as a shallow copy: whoever adds a column to his changes no other's. Only
    for results much smaller than the calls of a trace, which may be millions.
    """
    kept: WeakKeyDictionary[Trace, Made] = WeakKeyDictionary()

    @wraps(make)
    def made(trace: Trace) -> Made:
        if trace not in kept:
            kept[trace] = make(trace)
        result = kept[trace]
        if isinstance(result, pd.DataFrame):
            return result.copy(deep=False)
        return result

    return made
