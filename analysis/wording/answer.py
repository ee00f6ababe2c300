"""The answer of a comparison in a few lines of text, as the terminal begins and as it is copied."""

from __future__ import annotations

from collections.abc import Iterable

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.messages import Part
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.fusion.statements import fusion_sentence
from fusescope.analysis.wording.sentences import change_sentence, verdict_basis, verdict_sentence
from fusescope.analysis.wording.trust import TRUST, trust_line

_CHARS = 1000  # of a line: names in it come from files


def answer_lines(comparison: Comparison) -> list[str]:
    """Return the verdict, what it rests on, the change, whether to trust it, and what changed or
    what fusion bought, a line each."""
    found = trust(comparison.diagnostics)
    lines = [
        verdict_sentence(comparison),
        verdict_basis(comparison.verdict),
        change_sentence(comparison),
        f"{TRUST} {trust_line(found)}",
        *_causes(comparison),
    ]
    return [clean_text(line, _CHARS) for line in lines if line]


def _causes(comparison: Comparison) -> list[str]:
    """Return a line for each cause; of recordings what fusion bought."""
    if comparison.explanation is None:
        return [fusion_sentence(comparison)]
    from fusescope.analysis.wording.explanation import explained_parts

    lead, *others = map(_text, explained_parts(comparison.explanation))
    return [lead, *(f"- {text}" for text in others)]


def _text(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts)
