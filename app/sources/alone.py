"""What the Trace page draws of one side, made once as long as its trace is open."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pandas as pd

from fusescope.analysis.advice import Findings
from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.roofs import UnderRoofs, under_roofs
from fusescope.analysis.compare.side import Side
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.hierarchy import By, Node, hierarchies, hierarchy
from fusescope.analysis.trace import Trace

if TYPE_CHECKING:
    from fusescope.analysis.advice import Subject
    from fusescope.analysis.compare.roofline import Picture
    from fusescope.analysis.timeline.drawing import Drawing, Drawings
    from fusescope.analysis.timeline.highlight import ShownChange


@dataclass
class Drawn:
    """What is derived of a trace: it must not hold the trace, or neither would ever go. `operators`
    are rows of `by_operator` under their roofs, longest time first, by their place there."""

    findings: Findings
    explained: TraceExplanation | None
    payload: dict[str, Any]
    under: UnderRoofs
    operators: pd.DataFrame
    kinds: tuple[By, ...]
    trees: dict[By, tuple[Node, ...]] = field(default_factory=dict)
    pictures: list[Picture | None] = field(default_factory=list)  # of the roofline: one, once made
    _places: tuple[ShownChange | None, ...] | None = None

    def places(self, trace: Trace) -> tuple[ShownChange | None, ...]:
        """Return where the timeline draws each of what need not be; `trace` is what this was made
        of."""
        from fusescope.analysis.report.explanation.trace_rows import TOGETHER
        from fusescope.analysis.timeline.highlight import of_calls

        if self._places is None:
            savings = self.explained.savings if self.explained else ()
            self._places = tuple(
                of_calls(
                    self.payload,
                    trace,
                    each.calls,
                    each.longest,
                    together=each.code in TOGETHER,
                )
                for each in savings
            )
        return self._places

    @cached_property
    def _drawings(self) -> Drawings:
        from fusescope.analysis.timeline.drawing import Drawings

        return Drawings(self.payload)

    @property
    def drawing(self) -> Drawing:
        """What the timeline draws in the language that is spoken."""
        return self._drawings.spoken


def _operators(side: Side, under: UnderRoofs) -> pd.DataFrame:
    table = pd.concat([by_operator(side.trace), under.operators], axis=1)
    table = table.loc[:, ~table.columns.duplicated()]
    return table.sort_values("per_run_ns", ascending=False, kind="stable")


_DRAWN: WeakKeyDictionary[Trace, Drawn] = WeakKeyDictionary()


def drawn(side: Side) -> Drawn:
    """What is drawn of a side."""
    from fusescope.analysis.advice import findings
    from fusescope.analysis.advice.explanation import explain_subject
    from fusescope.analysis.timeline.payload import trace_payload

    found = _DRAWN.get(side.trace)
    if found is None:
        under = under_roofs(Assumptions(), side)
        subject = subject_of(side)
        found = Drawn(
            findings(subject),
            explain_subject(subject),
            trace_payload(side),
            under,
            _operators(side, under),
            hierarchies(side.trace, side.graph),
        )
        _DRAWN[side.trace] = found
    return found


def subject_of(side: Side) -> Subject:
    """Return what findings are about: a variant beside its baseline, as on the page Compare and by
    `advise`."""
    from fusescope.analysis.advice import Subject
    from fusescope.analysis.advice.sides import advised

    return Subject(side) if side.experiment is None else advised(side.experiment, side.label)


def report(side: Side, *, is_made: bool) -> bytes:
    """Return the HTML report of a side, without names of users, hosts and paths; `is_made` of a
    sample that nothing recorded."""
    from fusescope.analysis.redaction import all_redacted
    from fusescope.analysis.report.one_trace.html import trace_html

    [private] = all_redacted([side])
    return trace_html(subject_of(private), is_made=is_made).encode()


def tree(side: Side, by: By) -> tuple[Node, ...]:
    """The hierarchy of a side, made once."""
    trees = drawn(side).trees
    if by not in trees:
        trees[by] = hierarchy(side.trace, side.graph, by)
    return trees[by]


def roofline_of(side: Side) -> Picture | None:
    """The roofline of a side, made once."""
    from fusescope.analysis.compare import roofline

    found = drawn(side)
    if not found.pictures:
        picture = roofline.roofline_of(found.under, by_operator(side.trace))
        found.pictures.append(picture)
    return found.pictures[0]
