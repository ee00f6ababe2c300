"""What the Trace page draws of one side, made once as long as its trace is open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pandas as pd

from analysis.advice import Findings
from analysis.compare.assumptions import Assumptions
from analysis.compare.roofs import UnderRoofs, under_roofs
from analysis.compare.side import Side
from analysis.metrics.breakdown import by_operator
from analysis.trace import Trace

if TYPE_CHECKING:
    from analysis.timeline.drawing import Drawing, Drawings


@dataclass
class Drawn:
    """What is derived of a trace: it must not hold the trace, or neither would ever go. `operators`
    are rows of `by_operator` under their roofs, longest time first, by their place there."""

    findings: Findings
    payload: dict[str, Any]
    under: UnderRoofs
    operators: pd.DataFrame

    @cached_property
    def _drawings(self) -> Drawings:
        from analysis.timeline.drawing import Drawings

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
    from analysis.advice import Subject, findings
    from analysis.timeline.payload import trace_payload

    found = _DRAWN.get(side.trace)
    if found is None:
        under = under_roofs(Assumptions(), side)
        found = Drawn(findings(Subject(side)), trace_payload(side), under, _operators(side, under))
        _DRAWN[side.trace] = found
    return found
