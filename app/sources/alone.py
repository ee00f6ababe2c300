"""What the Trace page draws of one side, made once as long as its trace is open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from analysis.advice import Findings
from analysis.compare.side import Side
from analysis.trace import Trace

if TYPE_CHECKING:
    from analysis.timeline.drawing import Drawing, Drawings


@dataclass
class Drawn:
    """What is derived of a trace: it must not hold the trace, or neither would ever go."""

    findings: Findings
    payload: dict[str, Any]

    @cached_property
    def _drawings(self) -> Drawings:
        from analysis.timeline.drawing import Drawings

        return Drawings(self.payload)

    @property
    def drawing(self) -> Drawing:
        """What the timeline draws in the language that is spoken."""
        return self._drawings.spoken


_DRAWN: WeakKeyDictionary[Trace, Drawn] = WeakKeyDictionary()


def drawn(side: Side) -> Drawn:
    """What is drawn of a side."""
    from analysis.advice import Subject, findings
    from analysis.timeline.payload import trace_payload

    found = _DRAWN.get(side.trace)
    if found is None:
        found = Drawn(findings(Subject(side)), trace_payload(side))
        _DRAWN[side.trace] = found
    return found
