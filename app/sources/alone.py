"""What the Trace page draws of one side, made once as long as its trace is open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from analysis.advice import Findings
from analysis.compare.side import Side
from analysis.messages import language
from analysis.trace import Trace


@dataclass
class Drawn:
    """What is derived of a trace: it must not hold the trace, or neither would ever go."""

    findings: Findings
    payload: dict[str, Any]
    drawings: dict[str, str] = field(default_factory=dict)

    @property
    def drawing(self) -> str:
        """The payload as the timeline takes it, in the language that is spoken."""
        from analysis.timeline.packing import packed_json
        from analysis.timeline.payload import texts

        spoken = language.current()
        if spoken not in self.drawings:
            self.drawings[spoken] = packed_json(self.payload, texts(self.payload))
        return self.drawings[spoken]


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
