"""Comparisons of the sides on screen, each computed once."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import streamlit as st

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.limits import MIB
from fusescope.analysis.trace import Trace
from fusescope.app.server.shelf import Shelf, weight

if TYPE_CHECKING:
    from fusescope.analysis.advice import Findings, MissedFusion, Unjudged
    from fusescope.analysis.timeline.drawing import Drawing, Drawings
    from fusescope.analysis.timeline.highlight import ShownChange

MAX_COMPARISONS = 6
MAX_COMPARISONS_BYTES = 192 * MIB
_COMPARING = threading.RLock()
_NUMBER: WeakKeyDictionary[Trace, int] = WeakKeyDictionary()
_COUNT = count()


@dataclass(frozen=True, eq=False)
class Shown:
    """A comparison and what the page draws of it."""

    comparison: Comparison
    key: str
    assumptions: Assumptions

    @cached_property
    def payload(self) -> dict[str, Any]:
        """What the timelines draw."""
        from fusescope.analysis.timeline.payload import timeline_payload

        return timeline_payload(self.comparison)

    @cached_property
    def changes(self) -> tuple[ShownChange | None, ...]:
        """The places of each change of the explanation in the timelines."""
        from fusescope.analysis.timeline.highlight import of_changes

        return of_changes(self.payload, self.comparison)

    @cached_property
    def _drawings(self) -> Drawings:
        from fusescope.analysis.timeline.drawing import Drawings

        return Drawings(self.payload)

    @property
    def drawing(self) -> Drawing:
        """What the timelines draw in the language that is spoken."""
        return self._drawings.spoken

    @cached_property
    def missed_fusions(self) -> tuple[MissedFusion, ...]:
        """Patterns that the candidate did not fuse, found when they are first asked for."""
        from fusescope.analysis.advice import missed_fusions

        return missed_fusions(self.comparison)

    @cached_property
    def findings(self) -> Findings:
        """What limits the candidate, found when it is first asked for."""
        from fusescope.analysis.advice import Subject, findings

        return findings(Subject(self.comparison.candidate, self.comparison))

    @cached_property
    def attention(self) -> Unjudged | None:
        """Attention that is named and not judged, found when it is first asked for."""
        from fusescope.analysis.advice import unjudged_attention

        return unjudged_attention(self.comparison)

    @cached_property
    def redacted_sides(self) -> tuple[Side, Side]:
        """Both sides, as they were read, without names of users, hosts and absolute paths: what a
        comparison adds to its sides, or leaves out, is to be done once."""
        from fusescope.analysis.redaction import redacted_sides

        return redacted_sides(*self.comparison.given)

    @property
    def redacted(self) -> Shown:
        """The same comparison without names of users, hosts and absolute paths, made when the first
        thing is taken away; this one where there are none."""
        is_plain = all(map(_is_same, self.redacted_sides, self.comparison.given))
        return self if is_plain else self._redacted

    @cached_property
    def _redacted(self) -> Shown:
        return _compute(*self.redacted_sides, self.key, self.assumptions)


def identity(side: Side) -> tuple[str | int, ...]:
    """What tells a side from others, as it was read."""
    return (*_identity(side), *_numbers(side))


def compare(baseline: Side, candidate: Side, assumptions: Assumptions, *, private: bool) -> Shown:
    """The comparison of two sides, computed once. `private` ones stay with their session."""
    parts = [part for side in (baseline, candidate) for part in _identity(side)]
    key, read = "|".join(parts), _numbers(baseline, candidate)
    if private:
        return _own(baseline, candidate, key, read, assumptions)
    shelf, name = _comparisons(), repr((key, read, assumptions))
    shown = shelf.get(name)
    if shown is None:
        with _COMPARING:
            shown = shelf.get(name)
            if shown is None:
                shown = _compute(baseline, candidate, key, assumptions)
                shelf.put({name: shown})
    return shown


def _is_same(side: Side, given: Side) -> bool:
    """Whether this is the trace that was given, under the same name."""
    return (
        side.trace is given.trace
        and given.experiment is None
        and (side.label, side.short_name) == (given.label, given.short_name)
    )


def _identity(side: Side) -> tuple[str, ...]:
    """What tells a side from others: its file, its label, and the files read with it."""
    meta = side.trace.meta
    return (meta.sha256, side.label, *meta.files, str(len(side.trace.calls.columns)))


def _numbers(*sides: Side) -> tuple[int, ...]:
    """A number for each trace as it was read: a file beside it may change while it does not."""
    return tuple(_NUMBER.setdefault(side.trace, next(_COUNT)) for side in sides)


@st.cache_resource(show_spinner=False)
def _comparisons() -> Shelf[Shown]:
    """Comparisons of the whole server, with the traces that they hold."""
    return Shelf(MAX_COMPARISONS, MAX_COMPARISONS_BYTES, _weight)


def _weight(shown: Shown) -> int:
    """Tables of both sides, and as much again for what is drawn of them."""
    return 2 * sum(
        weight(side.trace) for side in (shown.comparison.baseline, shown.comparison.candidate)
    )


@st.cache_resource(max_entries=4, show_spinner=False, scope="session")
def _own(
    _baseline: Side, _candidate: Side, key: str, read: tuple[int, ...], assumptions: Assumptions
) -> Shown:
    return _compute(_baseline, _candidate, key, assumptions)


def _compute(baseline: Side, candidate: Side, key: str, assumptions: Assumptions) -> Shown:
    from fusescope.analysis.compare import compare as compare_sides

    return Shown(compare_sides(baseline, candidate, assumptions), key, assumptions)
