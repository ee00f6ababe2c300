"""Several sides on screen, compared once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import streamlit as st

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.multiple.comparison import MultipleComparison, compare_several
from fusescope.analysis.compare.side import Side
from fusescope.analysis.limits import MIB
from fusescope.app.server.same_origin import is_local
from fusescope.app.server.shelf import Shelf, weight
from fusescope.app.sources.comparisons import identity

if TYPE_CHECKING:
    from fusescope.analysis.timeline.drawing import Drawing, Drawings

_MAX = 3
_MAX_BYTES = 192 * MIB
_COMPARING = threading.RLock()
_DRAWINGS: WeakKeyDictionary[MultipleComparison, Drawings] = WeakKeyDictionary()
_REDACTED: WeakKeyDictionary[MultipleComparison, MultipleComparison] = WeakKeyDictionary()


def compare(
    sides: Sequence[Side], assumptions: Assumptions, *, uploads: bool
) -> MultipleComparison:
    """The first side with each other one. Of several users' dashboard, what has `uploads` in it
    stays with its session.

    Raises FuseScopeError for too few or too many.
    """
    key = repr(([identity(side) for side in sides], assumptions))
    if uploads and not is_local():
        return _own(sides, assumptions, key)
    shelf = _shelf()
    with _COMPARING:
        found = shelf.get(key)
        if found is None:
            found = compare_several(sides, assumptions)
            shelf.put({key: found})
    return found


def taken(multiple: MultipleComparison, *, private: bool) -> MultipleComparison:
    """What is taken away: where `private`, without names of users, hosts and absolute paths, made
    when the first thing is taken."""
    if not private:
        return multiple
    from fusescope.analysis.redaction import all_redacted

    with _COMPARING:
        if multiple not in _REDACTED:
            assumptions = multiple.comparisons[0].assumptions
            _REDACTED[multiple] = compare_several(all_redacted(multiple.sides), assumptions)
        return _REDACTED[multiple]


def drawing(multiple: MultipleComparison) -> Drawing:
    """What the timelines draw, in the language that is spoken; made when it is first asked for."""
    from fusescope.analysis.timeline.drawing import Drawings
    from fusescope.analysis.timeline.payload import several_payload

    made = _DRAWINGS.get(multiple)
    if made is None:
        made = _DRAWINGS[multiple] = Drawings(several_payload(multiple))
    return made.spoken


@st.cache_resource(show_spinner=False)
def _shelf() -> Shelf[MultipleComparison]:
    """Those of the whole server, with the traces that they hold."""
    return Shelf(_MAX, _MAX_BYTES, lambda one: 2 * sum(weight(side.trace) for side in one.sides))


@st.cache_resource(max_entries=2, show_spinner=False, scope="session")
def _own(_sides: Sequence[Side], _assumptions: Assumptions, key: str) -> MultipleComparison:
    return compare_several(_sides, _assumptions)
