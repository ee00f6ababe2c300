"""A gate on two releases of the engine: the fusions that the second one has lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.gating.judging import Outcome

if TYPE_CHECKING:
    from fusescope.analysis.gate.condition import Condition


def judge_releases(
    model: Path,
    base: str,
    head: str,
    conditions: Sequence[Condition],
    refused: Mapping[str, object],
    *,
    redact: bool = False,
) -> Outcome:
    """What came of the conditions on what two releases make of a model. Raises FuseScopeError, also
    where one of both cannot run it."""
    from fusescope.analysis.gate.judgement import judge_structure
    from fusescope.analysis.gate.two_releases import changes_of_releases
    from fusescope.app.cli.releases.optimising import optimised
    from fusescope.collectors.releases.version import parse_release

    versions = (parse_release(base), parse_release(head))
    for option, value in refused.items():
        if value:
            raise FuseScopeError("options_exclude", first="--structure", second=option)
    history = optimised(str(model), versions)
    if redact:
        from fusescope.analysis.redaction import redacted_histories

        [history] = redacted_histories([history])
    sides = (history.find(versions[0]), history.find(versions[1]))
    for side in sides:
        if side.made is None:
            from fusescope.analysis.wording.releases import skipped_text

            reason = skipped_text(side)
            raise FuseScopeError("release_left_out", version=side.version, reason=reason)
    return Outcome(judge_structure(conditions, changes_of_releases(history, *sides)), (base, head))
