"""'Can I trust this?' in one line, and the words around the whole list."""

from __future__ import annotations

from analysis.compare.trust import Trust
from analysis.wording.diagnostics import diagnostic_headline, diagnostic_sentence
from analysis.wording.phrases import plural

TRUST = "Can I trust this?"
GENERAL_DOUBT = "They are two separate recordings, so neither machine nor drift is controlled."
NO_DOUBT = "Nothing speaks against it."
_MAX = 2


def trust_line(trust: Trust) -> str:
    """How many doubts there are and the two that matter most, in short; else what speaks for it."""
    if not trust.doubts:
        return " ".join([NO_DOUBT, *(diagnostic_sentence(note) for note in trust.notes[:1])])
    told = [diagnostic_headline(note) for note in trust.first[:_MAX]]
    if trust.general and len(told) < _MAX:
        told.append(GENERAL_DOUBT)
    return " ".join([f"{plural(trust.doubts, 'doubt')}.", *told])
