"""Calls of a payload whose operator has a text in its name or type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusescope.analysis.timeline.question import Search


@dataclass(frozen=True)
class Hit:
    """A call that has the text, by its side and its number there, and its place among `hits`, from
    1; all None where there is none."""

    hits: int
    side: int | None = None
    call: int | None = None
    place: int | None = None


def find(payload: Mapping[str, Any], search: Search) -> Hit:
    """The hit that is asked for. Hits stand in the order of their starts, of equal ones in that of
    the sides; behind the last comes the first."""
    sides = [
        np.flatnonzero(_has(side["ops"], search.text)[np.asarray(side["calls"]["op"], dtype=int)])
        for side in payload["sides"]
    ]
    count = sum(len(each) for each in sides)
    if count == 0:
        return Hit(0)
    starts = np.concatenate(
        [
            np.asarray(side["calls"]["start_ns"])[each]
            for side, each in zip(payload["sides"], sides, strict=True)
        ]
    )
    calls = np.concatenate(sides)
    of = np.repeat(np.arange(len(sides)), [len(each) for each in sides])
    order = np.lexsort((calls, of, starts))
    known = np.flatnonzero((of[order] == search.side) & (calls[order] == search.call))
    if len(known):
        at = (int(known[0]) + search.step) % count
    else:
        at = int(np.searchsorted(starts[order], search.at)) % count
    return Hit(count, int(of[order][at]), int(calls[order][at]), at + 1)


def _has(ops: Mapping[str, Any], text: str) -> np.ndarray:
    """Which operators have the text, which is casefolded already."""
    pairs = zip(ops["name"], ops["op_type"], strict=True)
    found = [any(text in (known or "").casefold() for known in pair) for pair in pairs]
    return np.array(found, dtype=bool)
