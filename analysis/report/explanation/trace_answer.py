"""The answer on one trace to take along: as a few lines of text, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from fusescope.analysis import wording
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import Part, say
from fusescope.analysis.report.explanation.rows import ExplainedRows
from fusescope.analysis.report.exports.markdown import plain
from fusescope.analysis.report.origins import origin_of
from fusescope.analysis.text import clean_text

_CHARS = 1000  # of a sentence, which may hold names from a file


def trace_text(side: Side, rows: ExplainedRows) -> str:
    """Return what a run of the trace takes, what need not be in it, a line each, and where the file
    is from."""
    lines = [_text(wording.trace_parts(side)), *map(_text, rows.before)]
    lines += [f"- {_text(row.parts)}" for row in rows.rows]
    return "\n".join([*lines, *map(_text, rows.after), _origin(side)]) + "\n"


def trace_markdown(side: Side, rows: ExplainedRows) -> str:
    """Return the same as Markdown; nothing that comes from the file is interpreted."""
    passages = [f"### {plain(_text(wording.trace_parts(side)))}"]
    passages += map(plain, map(_text, rows.before))
    passages.append("\n".join(f"- {plain(_text(row.parts))}" for row in rows.rows))
    passages += map(plain, map(_text, rows.after))
    return "\n\n".join(filter(None, [*passages, f"<sub>{plain(_origin(side))}</sub>"])) + "\n"


def _origin(side: Side) -> str:
    origin = origin_of(side, is_alone=True)
    return clean_text(say("{file:name}, {made:name}", file=origin.file_name, made=origin.made))


def _text(parts: Iterable[Part]) -> str:
    return clean_text("".join(part.text for part in parts), _CHARS)
