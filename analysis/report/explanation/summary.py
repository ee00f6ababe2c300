"""The paragraph below the result, which leads the report: what was compared, why the noise is
unknown, the cause where no rows below say it, whether to trust it, when and on what it
was recorded."""

from __future__ import annotations

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.messages import Message, Part, listed, passage
from fusescope.analysis.report.method import profile_date, recorded
from fusescope.analysis.report.text import model_name, unbroken_parts
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import headline_and_rest
from fusescope.analysis.wording.sentences import engines_text, headline_and_noise
from fusescope.analysis.wording.trust import trust_line

_CHARS = 400  # of a sentence: names in it come from files
_VARIANTS = Message(
    "Two variants of {model:name} were compared: {baseline:name} as the baseline, and "
    "{candidate:name}."
)
_TRACES = Message(
    "Two traces were compared: {baseline:name} as the baseline, and {candidate:name}."
)
_RECORDED = Message("Recorded {date} with {engine:name} on {machine:name}.")
_DATED = {
    "baseline": Message("The baseline was recorded {date} with {tool:name} on {machine:name}."),
    "candidate": Message("The candidate was recorded {date} with {tool:name} on {machine:name}."),
}
_UNDATED = {
    "baseline": Message(
        "The baseline was recorded with {tool:name} on {machine:name}; its file has no date."
    ),
    "candidate": Message(
        "The candidate was recorded with {tool:name} on {machine:name}; its file has no date."
    ),
}
_NO_MACHINE = Message("a machine that the file does not name")


def summary_parts(comparison: Comparison) -> tuple[Part, ...]:
    """Return the paragraph, whose parts may hold text of the files."""
    return tuple(
        unbroken_parts(
            passage(
                _subject(comparison),
                (Part(headline_and_noise(comparison)[1], "text"),),
                headline_and_rest(comparison)[0] if comparison.explanation is None else (),
                (Part(clean_text(trust_line(trust(comparison.diagnostics)), _CHARS), "text"),),
                *_recordings(comparison),
            )
        )
    )


def _subject(comparison: Comparison) -> tuple[Part, ...]:
    baseline, candidate = comparison.baseline, comparison.candidate
    names = {"baseline": baseline.name, "candidate": candidate.name}
    models = [
        model_name(side.experiment.record.model)
        for side in (baseline, candidate)
        if side.experiment is not None
    ]
    if len(models) < 2:
        return _TRACES.parts(**names)
    return _VARIANTS.parts(model=listed(list(dict.fromkeys(models))), **names)


def _recordings(comparison: Comparison) -> list[tuple[Part, ...]]:
    """Return when, with what and on what each file was recorded, one sentence where it is one."""
    baseline, candidate = comparison.baseline, comparison.candidate
    one = baseline.experiment
    if one is not None and candidate.experiment is one:
        record = one.record
        date, machine = recorded(record.created), record.machine.cpu_model
        return [_RECORDED.parts(date=date, engine=engines_text(record), machine=machine)]
    return [_recording("baseline", baseline), _recording("candidate", candidate)]


def _recording(role: str, side: Side) -> tuple[Part, ...]:
    meta = side.trace.meta
    machine: str = meta.device or _NO_MACHINE.text()
    tool, date = meta.tool, profile_date(meta)
    if side.experiment is not None:
        record = side.experiment.record
        tool, date = engines_text(record), recorded(record.created)
        machine = record.machine.cpu_model
    if date is None:
        return _UNDATED[role].parts(tool=tool, machine=machine)
    return _DATED[role].parts(date=date, tool=tool, machine=machine)
