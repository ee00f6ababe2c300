"""Where the files of a comparison come from: name, date, engine and machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side, holds_several
from fusescope.analysis.messages import say
from fusescope.analysis.report.method import profile_date, recorded
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import engines_text, files_text

_CHARS = 300  # of a line, which holds names from a file


@dataclass(frozen=True)
class Origin:
    """The file of one side, or of both. All of it may hold text of the file."""

    file_name: str
    sha256: str
    made: str


def origins(comparison: Comparison) -> tuple[Origin, ...]:
    """Return the file of baseline and candidate, or one where both come from the same. A name that
    a profiler gives to each of its files has what its side is called with it, alone where that says
    the file."""
    sides = (comparison.baseline, comparison.candidate)
    found = tuple(origins_of(sides))
    if len(found) < 2:
        return found
    alike = found[0].file_name == found[1].file_name
    return tuple(
        replace(origin, file_name=side.label)
        if not alike and _is_unit(origin.file_name, side)
        else replace(origin, file_name=_named_file(origin.file_name, side))
        if alike or _is_of_folder(origin.file_name, side)
        else origin
        for origin, side in zip(found, sides, strict=True)
    )


def origin_lines(comparison: Comparison) -> list[str]:
    """Return the files of a comparison and how they were recorded, a line each."""
    lines = []
    for origin in origins(comparison):
        made = say("{file:name}, {made:name}", file=origin.file_name, made=origin.made)
        lines.append(clean_text(made, _CHARS))
    return lines


def _is_unit(file_name: str, side: Side) -> bool:
    """Return True for a process or device of the file, which its label has behind the name."""
    return holds_several(side.trace) and side.label.startswith(f"{file_name} ")


def _is_of_folder(file_name: str, side: Side) -> bool:
    """Return True for a file of a folder that was given, by whose name the side goes."""
    return side.experiment is None and not side.files and file_name not in side.label


def _named_file(file_name: str, side: Side) -> str:
    if side.name.startswith(file_name):
        return side.name
    return say("{file:name} of {side:name}", file=file_name, side=side.name)


def origins_of(sides: Iterable[Side]) -> dict[Origin, tuple[str, ...]]:
    """The file of each side, once, with the names of the sides that are of it."""
    found: dict[Origin, tuple[str, ...]] = {}
    for side in sides:
        origin = origin_of(side)
        found[origin] = (*found.get(origin, ()), side.name)
    return found


def origin_of(side: Side, *, is_alone: bool = False) -> Origin:
    """The file of one side, with the engine of that side where it `is_alone`, else with all that
    recorded the file."""
    meta = side.trace.meta
    if side.files:
        made = say("recorded with {tool:name}, each by a process of its own", tool=meta.tool)
        return Origin(files_text(side), meta.sha256[:12], made)
    record = side.experiment.record if side.experiment else None
    if record is None:
        date = profile_date(meta)
        made = (
            say("recorded with {tool:name}, the date is not in the file", tool=meta.tool)
            if date is None
            else say("recorded {date} with {tool:name}", date=date, tool=meta.tool)
        )
    else:
        made = say(
            "recorded {date}, {engine:name}, {cpu:name}",
            date=recorded(record.created),
            engine=f"{side.engine.name} {side.engine.version}"
            if is_alone and side.engine is not None and record.command is None
            else engines_text(record),
            cpu=record.machine.cpu_model,
        )
    return Origin(meta.file_name, meta.sha256[:12], made)
