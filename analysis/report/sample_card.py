"""Sample cards: what a sample shows, in two sentences and a picture, as the landing page has it.

Kept in a file beside the samples, which `scripts/sample_cards.py` writes: comparing all samples
takes seconds, which a landing page does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Part, language, passage
from fusescope.analysis.wording import fusion_parts, verdict_parts
from fusescope.analysis.wording.explanation import cause_parts
from fusescope.analysis.wording.explanation.trace import lead_said

FILE = "cards.json"


class Piece(msgspec.Struct, frozen=True):
    """A piece of a sentence, as `analysis.messages.Part`."""

    text: str
    role: str

    @property
    def part(self) -> Part:
        """Return the piece as a part of a sentence."""
        return Part(self.text, self.role)  # type: ignore[arg-type]


class Bar(msgspec.Struct, frozen=True):
    """A bar of the picture: what it stands for, and how long it is."""

    name: str
    role: str  # baseline, candidate, or the part of a run
    ns: float


class Card(msgspec.Struct, frozen=True):
    """What one sample shows: sentences by language, and the bars of its picture."""

    lead: dict[str, list[Piece]]
    cause: dict[str, list[Piece]]
    bars: list[Bar]


class Cards(msgspec.Struct, frozen=True):
    """The cards of all samples, by name."""

    cards: dict[str, Card]


def card_of_comparison(comparison: Comparison) -> Card:
    """Return the card of two sides: the verdict, the largest cause, and both times."""
    times = comparison.verdict.times_ns or (0.0, 0.0)
    names = (comparison.baseline.name, comparison.candidate.name)
    roles = ("baseline", "candidate")
    return Card(
        _spoken(lambda: verdict_parts(comparison)),
        _spoken(lambda: _cause(comparison)),
        [Bar(name, role, ns) for name, role, ns in zip(names, roles, times, strict=True)],
    )


def card_of_trace(explained: TraceExplanation) -> Card:
    """Return the card of one trace: its unit of work, the largest thing that need not be, and what
    its time goes to."""
    parts = explained.unit.parts
    bars = [
        Bar("", "computing", parts.computing_ns),
        Bar("", "communication", parts.communication_ns),
        Bar("", "copies", parts.copies_ns),
        Bar("", "idle", parts.idle_ns),
    ]

    def said(place: int) -> Iterable[Part]:
        return passage(*(one.parts() for one in lead_said(explained)[place]))

    return Card(
        _spoken(lambda: said(0)), _spoken(lambda: said(2)), [bar for bar in bars if bar.ns > 0]
    )


def _cause(comparison: Comparison) -> Iterable[Part]:
    """Return the sentence of the largest cause; of a recording what fusion brought."""
    if comparison.explanation is None:
        return fusion_parts(comparison)
    return cause_parts(comparison.explanation)


def _spoken(parts: Callable[[], Iterable[Part]]) -> dict[str, list[Piece]]:
    """Return a sentence in every language, by the code of the language."""
    said = {}
    for code in language.languages():
        with language.speaking(code):
            said[code] = [Piece(part.text, part.role) for part in parts()]
    return said
