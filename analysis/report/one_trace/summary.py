"""The paragraph that leads the report of one trace: what it is, when and on what it was recorded,
and what its times are."""

from __future__ import annotations

from fusescope.analysis import wording
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import Message, Part, passage
from fusescope.analysis.report.method import profile_date, recorded
from fusescope.analysis.report.text import model_name, unbroken_parts
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import engines_text
from fusescope.analysis.wording.shown import sample_alone_sentence

_CHARS = 1000  # of a sentence: names in it come from files
_TRACE = Message("This is about one trace by itself, {file:name}.")
_VARIANT = Message("This is about one variant of {model:name} by itself, {variant:name}.")
_RECORDED = Message("It was recorded {date} with {tool:name} on {machine:name}.")
_UNDATED = Message("It was recorded with {tool:name} on {machine:name}; its file has no date.")
_NO_MACHINE = Message("a machine that the file does not name")


def summary_of_trace(side: Side, *, is_made: bool) -> tuple[Part, ...]:
    """Return the paragraph, whose parts may hold text of the file; `is_made` of a sample that
    nothing recorded, whose date and profiler are none."""
    facts = clean_text(wording.trace_facts(side), _CHARS)
    sample = (Part(sample_alone_sentence(is_made), "text"),)
    origin = sample if is_made else _recording(side)
    parts = passage(_subject(side), origin, (Part(facts, "text"),))
    return tuple(unbroken_parts(parts))


def _subject(side: Side) -> tuple[Part, ...]:
    if side.experiment is None:
        return _TRACE.parts(file=side.name)
    return _VARIANT.parts(model=model_name(side.experiment.record.model), variant=side.name)


def _recording(side: Side) -> tuple[Part, ...]:
    meta = side.trace.meta
    tool, date = meta.tool, profile_date(meta)
    machine: str = meta.device or _NO_MACHINE.text()
    if side.experiment is not None:
        record = side.experiment.record
        tool, date = engines_text(record), recorded(record.created)
        machine = record.machine.cpu_model
    if date is None:
        return _UNDATED.parts(tool=tool, machine=machine)
    return _RECORDED.parts(date=date, tool=tool, machine=machine)
