"""A gate on two traces: whether what changed between them makes a unit of work slower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.gating.judging import Outcome, is_recording, write_html
from fusescope.app.library import baselines

if TYPE_CHECKING:
    from fusescope.analysis.gate.condition import Condition


def are_traces(given: Path, other: Path | None) -> bool:
    """True where both are there, or the first is a saved baseline, and neither is a model."""
    if other is None or not is_recording(other):
        return False
    return str(given).startswith(baselines.PREFIX) or is_recording(given)


def judge_traces(
    before: Path,
    after: Path,
    conditions: Sequence[Condition],
    refused: Mapping[str, object],
    html: Path | None,
    *,
    redact: bool,
) -> Outcome:
    """Return what came of the conditions on two traces; `refused` are options that are not for
    them, by name. Writes the report, too. Raises FuseScopeError."""
    from fusescope.analysis.compare import compare
    from fusescope.analysis.compare.choice import choose_sides
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.gate.judgement import judge
    from fusescope.analysis.redaction import redacted_sides
    from fusescope.app.cli.reading import read_given, reading_ahead
    from fusescope.app.library.reading import named_by_path

    for option, value in refused.items():
        if value:
            raise FuseScopeError("options_exclude", first="NEW", second=option)
    with reading_ahead((before, after)):
        values = [read_given(path) for path in (before, after)]
    if any(isinstance(value, Experiment) for value in values):
        raise FuseScopeError("gate_models_without_file")
    sides = named_by_path(choose_sides(values[0], values[1]), (before, after))
    comparison = compare(*(redacted_sides(*sides) if redact else sides))
    if html is not None:
        write_html(comparison, html)
    names = (comparison.baseline.name, comparison.candidate.name)
    return Outcome(judge(conditions, comparison), names)
