"""Steps that the host marks of kernels that it launched, and when it launched them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.xla.steps import Step, labels_at
from fusescope.analysis.readers.xla.xspace import (
    Line,
    Plane,
    fact_of,
    read_event,
    read_line,
    stats_of,
)


@dataclass
class HostSteps:
    """Marks of the host in order of time, and when each launch began, by its correlation."""

    steps: Sequence[Step] = ()
    launches: Mapping[object, int] = field(default_factory=dict)

    def labels(self, correlations: Sequence[object]) -> list[str | None]:
        """The step in which each was launched."""
        return labels_at(self.steps, [self.launches.get(launch) for launch in correlations])


def host_lines(planes: Sequence[Plane], limits: Limits, where: str) -> Iterator[tuple[Plane, Line]]:
    """Yield the lines of the host, each with its plane. Raises FuseScopeError for more events than
    the limit, in all of them together."""
    count = 0
    for plane in planes:
        if plane.name.startswith("/host:") and plane.name != "/host:metadata":
            for line in map(read_line, plane.lines):
                count += len(line.events)
                limits.check_events(count, "more_events_than_limit", where)
                yield plane, line


def host_steps(planes: Sequence[Plane], limits: Limits, where: str) -> HostSteps:
    """Return the steps that the threads of the host mark, and their launches. Raises FuseScopeError
    for more events than the limit."""
    steps: list[tuple[int, int]] = []
    launches: dict[object, int] = {}
    for plane, line in host_lines(planes, limits, where):
        for event in (read_event(data, line) for data in line.events):
            stats = {**fact_of(plane, event.kind).stats, **stats_of(plane, event.stats)}
            if event.start_ns is None:
                continue
            if "step_num" in stats and event.dur_ns:
                steps.append((event.start_ns, event.start_ns + event.dur_ns))
            elif "correlation_id" in stats:
                launches.setdefault(stats["correlation_id"], event.start_ns)
    marked = [(start, end, f"step {at}") for at, (start, end) in enumerate(sorted(steps))]
    return HostSteps(marked, launches)


def spans_of(
    steps: Sequence[Step],
    labels: Sequence[str | None],
    starts_ns: Sequence[object],
    ends_ns: Sequence[int | None],
) -> dict[str, tuple[int, int]]:
    """The span of each step, of the label, start and end of each kernel.

    That of the mark where every step's kernels end in it. A host that runs ahead marks only when
    it launched them: then a step lasts from its first kernel to the end of its last.
    """
    marks = {label: (start, end) for start, end, label in steps}
    busy: dict[str, tuple[int, int]] = {}
    for label, start, end in zip(labels, starts_ns, ends_ns, strict=True):
        if label is None or not isinstance(start, int) or end is None:
            continue
        first, last = busy.get(label, (start, end))
        busy[label] = (min(first, start), max(last, end))
    if all(last <= marks[label][1] for label, (_, last) in busy.items()):
        return marks
    return {label: busy.get(label, mark) for label, mark in marks.items()}
