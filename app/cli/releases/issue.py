"""`fusescope bisect --issue FILE`: a text for the engine's tracker, with a model that shows it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.messages import say
from fusescope.app.cli import streams
from fusescope.app.cli.writing.outputs import write_whole

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.releases.changes import Change
    from fusescope.analysis.releases.history import History
    from fusescope.analysis.report.releases.issue import Example
    from fusescope.collectors.record import Recording


def write_issue(
    path: Path,
    recording: Recording | None,
    history: History,
    change: Change,
    measured: Comparison | None,
) -> None:
    """Writes the text, and beside it the smallest model that shows the change, where one does and
    it may be shown: without `recording` none is. Raises FuseScopeError."""
    from fusescope.analysis.report.releases.issue import issue_text

    model = path.with_suffix(".onnx")
    found = None if recording is None else _example(model, recording, history, change)
    data = issue_text(history, change, found[1] if found else None, measured).encode()
    if found:
        write_whole(model, found[0], option="--issue", code="report_unwritable")
    elif recording is not None:
        streams.tell(say("No part of the model shows the change, so no model is beside the text."))
    write_whole(path, data, option="--issue", code="report_unwritable")


def _example(
    model: Path, recording: Recording, history: History, change: Change
) -> tuple[bytes, Example] | None:
    from fusescope.analysis.releases.changes import between
    from fusescope.analysis.report.releases.issue import Example
    from fusescope.app.cli.releases.optimising import Line
    from fusescope.collectors import bisect as collector

    wanted, names = _smallest(change)
    seen: list[Change] = []

    def shows(cut: History) -> bool:
        versions = (cut.find(change.older), cut.find(change.newer))
        found = between(cut, *versions)
        if found is None or not found.groups or wanted - found.lost - found.won:
            return False
        seen.append(found)
        return True

    with Line() as line:
        versions = (change.older, change.newer)
        made = collector.example(recording, history.graph, names, versions, shows, line)
    if made is None:
        return None
    data, cut = made
    return data, Example(model.name, cut.nodes, cut.of, seen[-1])


def _smallest(change: Change) -> tuple[Counter[str], list[str]]:
    """What a cut has to lose (or win), and the operators of the model in the smallest group that
    does."""
    groups = change.of("lost") or change.of("won") or change.groups
    smallest = min(groups, key=lambda one: len(one.group.original))
    wanted = smallest.lost or smallest.won
    return Counter(wanted), [one.name for one in smallest.group.original]
