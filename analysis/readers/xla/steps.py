"""Runs of a profile: steps that devices or the host mark, else executions of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from fusescope.analysis.readers.building.iterations import profiled_runs, span_at
from fusescope.analysis.trace import Diagnostic, noted

_MOST = 0.9  # of all operator time: what one program must have for its executions to be the runs

Step = tuple[int, int, str]  # start, end, label


@dataclass(frozen=True)
class Executed:
    """An operator of the host: when, and of which execution of which program."""

    start_ns: int | None
    dur_ns: int | None
    program: object
    execution: object


def labels_at(steps: Sequence[Step], starts: Sequence[int | None]) -> list[str | None]:
    """The step in which each start lies; `steps` are in order."""
    begins, lasts = [start for start, _, _ in steps], [end for _, end, _ in steps]
    places = (span_at(begins, lasts, start) for start in starts)
    return [None if at is None else steps[at][2] for at in places]


def all_steps(of_devices: Iterable[Sequence[Step]]) -> dict[str, tuple[int, int]]:
    """The span of each label, from its first start to its last end on any device."""
    spans: dict[str, tuple[int, int]] = {}
    for start, end, label in (step for steps in of_devices for step in steps):
        first, last = spans.get(label, (start, end))
        spans[label] = (min(first, start), max(last, end))
    return spans


def step_runs(
    steps: Mapping[str, tuple[int, int]],
    labels: Sequence[object],
    columns: dict[str, list[object]],
    notes: list[Diagnostic],
) -> pd.DataFrame | None:
    """The runs table of the steps that have calls, and each call's run among the columns; None
    without steps. `labels` are the calls' steps, None outside of them."""
    seen = set(labels)
    used = sorted((label for label in steps if label in seen), key=steps.__getitem__)
    if not used:
        return None
    number = {label: index for index, label in enumerate(used)}
    columns["run"] = [number.get(str(label)) if label is not None else None for label in labels]
    notes += noted("info", "runs_without_operators", len(steps) - len(used))
    notes += noted("warning", "outside_runs", sum(label is None for label in labels))
    spans = [steps[label] for label in used]
    return profiled_runs("step", [s for s, _ in spans], [end - start for start, end in spans])


def host_runs(
    steps: Sequence[Step], calls: Sequence[Executed]
) -> tuple[list[str | None], Mapping[str, tuple[int, int]]]:
    """The run of each call, and the spans of the runs.

    Steps count where each execution lies in one of them: the host may run ahead of what it started.
    Else the runs are the executions of the program that has nearly all the time; without one, such
    as where every operator is a program of its own, there are no runs.
    """
    labels = labels_at(steps, [call.start_ns for call in calls])
    seen: dict[tuple[object, object], set[str | None]] = {}
    for call, label in zip(calls, labels, strict=True):
        seen.setdefault((call.program, call.execution), set()).add(label)
    if any(labels) and all(len(found) == 1 for found in seen.values()):
        return labels, {label: (start, end) for start, end, label in steps}
    return _executions(calls)


def _executions(
    calls: Sequence[Executed],
) -> tuple[list[str | None], Mapping[str, tuple[int, int]]]:
    times = Counter[object]()
    for call in calls:
        times[call.program] += call.dur_ns or 0
    program, most = times.most_common(1)[0] if times else (None, 0)
    if program is None or most < _MOST * sum(times.values()):
        return [None] * len(calls), {}
    labels: list[str | None] = []
    spans: dict[str, tuple[int, int]] = {}
    for call in calls:
        is_own = call.program == program and call.execution is not None
        label = f"execution {call.execution}" if is_own else None
        labels.append(label)
        if label is None or call.start_ns is None or call.dur_ns is None:
            continue
        end = call.start_ns + call.dur_ns
        first, last = spans.get(label, (call.start_ns, end))
        spans[label] = (min(first, call.start_ns), max(last, end))
    return labels, spans
