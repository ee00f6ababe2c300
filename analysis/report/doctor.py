"""The report's section 'What the files say': one examination a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.doctor import examine
from fusescope.analysis.messages import paragraph, say
from fusescope.analysis.wording import doctor as words


@dataclass(frozen=True)
class FileFacts:
    """One file as sentences: `notes` as (dropped, repaired or noted; sentence), `figures` as
    (label, whether it can be fed, from what or why not)."""

    name: str
    summary: str
    files: str
    notes: tuple[tuple[str, str], ...]
    has: str
    lacks: tuple[str, ...]
    figures: tuple[tuple[str, bool, str], ...]


def file_facts(comparison: Comparison) -> tuple[FileFacts, ...]:
    """What the doctor says of each file, the baseline's first; one where both are the same."""
    return facts_of((comparison.baseline, comparison.candidate))


def facts_of(sides: Iterable[Side]) -> tuple[FileFacts, ...]:
    """Return what the doctor says of the file of each side, once for sides of one file."""
    files = {side.experiment or side.trace: side for side in sides}
    facts = []
    for file, side in files.items():
        found = examine(file)
        parts = (
            (say("dropped"), found.dropped),
            (say("repaired"), found.repaired),
            (say("note"), found.noted),
        )
        facts.append(
            FileFacts(
                name=side.trace.meta.file_name if side.experiment else side.label,
                summary=paragraph(words.recognised_sentence(found), words.read_sentence(found)),
                files=words.files_sentence(found.files),
                notes=tuple((name, words.note_sentence(n)) for name, of in parts for n in of),
                has=words.has_sentence(found),
                lacks=words.lack_sentences(found),
                figures=tuple(
                    (words.FIGURE_LABELS[one.figure].text(), one.available, words.answer_text(one))
                    for one in found.answers
                ),
            )
        )
    return tuple(facts)
