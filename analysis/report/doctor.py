"""The report's section 'What the files say': one examination a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fusescope.analysis.compare import with_runs_of_both
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.doctor import examine
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import paragraph, say
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.trace import Trace
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
    """Return what the doctor says of each file as it was read, the baseline's first; one where both
    are the same."""
    return _facts(files_of(comparison))


def facts_of(sides: Iterable[Side]) -> tuple[FileFacts, ...]:
    """Return what the doctor says of the file of each side, once for sides of one file."""
    return _facts({side.experiment or side.trace: side for side in sides})


@once
def files_of(comparison: Comparison) -> dict[Trace | Experiment, Side]:
    """Return the files of a comparison as they were read, by the runs that are compared, with their
    sides, one where both are the same. The notes are those of the comparison, which knows more
    names of kernels; what it takes from the other file to compare operators is in neither."""
    files: dict[Trace | Experiment, Side] = {}
    known: set[Trace | Experiment] = set()
    by_runs, _ = with_runs_of_both(comparison.given, comparison.assumptions)
    compared = (comparison.baseline, comparison.candidate)
    for given, side, shown in zip(comparison.given, by_runs, compared, strict=True):
        value = given.experiment or given.trace
        if value not in known:
            notes = shown.trace.diagnostics
            files[given.experiment or replace(side.trace, diagnostics=notes)] = shown
        known.add(value)
    return files


def _facts(files: Mapping[Trace | Experiment, Side]) -> tuple[FileFacts, ...]:
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
