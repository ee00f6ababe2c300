"""What the threads of the host did in an XLA profile, and when each kernel was launched.

The tracer of the device writes its calls on lines of its own ('Host Threads/583'), with the number
of each launch; XLA writes what it and Python do on lines that have other numbers. A line of calls
belongs to the one line in whose spans of an instruction its kernels are launched. Where a single
other line is in a call that executes the program then, that one left it to a pool of threads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.host_activity import ANNOTATION, FRAME, OPERATOR, RUNTIME, HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.call_stacks import Frames, Moments, innermost
from fusescope.analysis.readers.building.host.spans import HostSpans, host_activity
from fusescope.analysis.readers.xla.host_steps import host_lines
from fusescope.analysis.readers.xla.xspace import Plane, fact_of, read_event, stats_of
from fusescope.analysis.trace import Diagnostic

_ALIKE = 0.9  # of the launches of a line, which lie in spans of their instructions on another one
_PYTHON = re.compile(r"\$(?P<file>[^ :]{1,200}):(?P<line>\d{1,9}) (?P<name>.{1,400})", re.DOTALL)
_EXECUTES = re.compile(r"(?:LoadedExecutable|Py\w{0,20}Executable)(?:::|_)Execute\w{0,20}$")
_BUILT_IN = re.compile(r"\$(?:builtins|<unknown>) (?P<name>.{1,400})", re.DOTALL)


@dataclass(frozen=True, eq=False)
class HostThreads:
    """Spans of all lines of the host as columns, the names of these and of lines, and the line and
    time of each launch by its correlation."""

    spans: HostSpans
    names: Sequence[str]
    lines: Sequence[str]
    launches: Mapping[object, tuple[int, int]]

    def activity(
        self,
        launched: Sequence[object],
        instructions: Sequence[str],
        limits: Limits,
        source_rows: np.ndarray,
    ) -> tuple[HostActivity | None, list[Diagnostic]]:
        """The activity of the host, and notes; of each call of a device `launched` is the
        correlation of its launch, `instructions` the one that it runs, '' for none, and
        `source_rows` its row in the file. None where the file has no launch of any of them:
        nothing shows which thread the device waits for."""
        found = [
            (*self.launches[number], call)
            for call, number in enumerate(launched)
            if number is not None and number in self.launches
        ]
        if not found:
            return None, []
        launches = np.array(found, dtype="int64")
        joined = self._joined(launches, instructions)
        spans = self.spans
        lanes, times = joined[launches[:, 0]], launches[:, 1]
        rows = source_rows[launches[:, 2]]
        asked = self._asked(lanes, times)
        return host_activity(
            HostSpans(joined[spans.lanes], spans.starts, spans.lengths, spans.names, spans.kinds),
            Moments(*asked, rows),
            self.names,
            [("", line) for line in self.lines],
            limits,
            Moments(lanes, times, rows),
        )

    def _asked(self, lanes: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The line that asked for each launch, and when: the only other one that is in a call that
        executes a program; else the one that launches, when it does."""
        is_call = np.array([_EXECUTES.search(name) is not None for name in self.names], dtype=bool)
        spans = self.spans
        calls = spans.take(np.flatnonzero(is_call[spans.names]))
        frames = Frames(calls.lanes, calls.starts, calls.lengths, calls.names, self.names)
        askers, asked, counts = lanes.copy(), times.copy(), np.zeros(len(lanes), dtype="int64")
        for line in np.unique(calls.lanes).tolist():
            at = innermost(frames, Moments(np.full(len(lanes), line), times, times))
            is_in = (at >= 0) & (lanes != line)
            askers[is_in], asked[is_in] = line, calls.starts[at[is_in]]
            counts += is_in
        is_own = np.isin(lanes, np.unique(calls.lanes)) & (counts == 0)
        is_known = (counts == 1) & ~is_own
        return np.where(is_known, askers, lanes), np.where(is_known, asked, times)

    def _joined(self, launches: np.ndarray, instructions: Sequence[str]) -> np.ndarray:
        """The line that each line is part of: another one for lines of calls, where it is known."""
        of = np.arange(len(self.lines))
        wanted = [at for at, call in enumerate(launches[:, 2].tolist()) if instructions[call]]
        spans = self.spans
        is_work = spans.kinds != RUNTIME
        for line in np.unique(launches[wanted, 0]).tolist() if wanted else []:
            mine = [at for at in wanted if launches[at, 0] == line]
            hits: Counter[int] = Counter()
            for other in np.unique(spans.lanes[is_work]).tolist():
                at = np.flatnonzero(is_work & (spans.lanes == other))
                frames = Frames(
                    spans.lanes[at],
                    spans.starts[at],
                    spans.lengths[at],
                    spans.names[at],
                    self.names,
                )
                times = launches[mine, 1]
                inside = innermost(frames, Moments(np.full(len(mine), other), times, times))
                hits[other] = sum(
                    place >= 0 and self.names[frames.name_of[place]] == instructions[call]
                    for place, call in zip(inside.tolist(), launches[mine, 2].tolist(), strict=True)
                )
            ranked = hits.most_common(2)
            is_clear = len(ranked) < 2 or ranked[0][1] > ranked[1][1]
            if ranked and is_clear and ranked[0][1] >= _ALIKE * len(mine):
                of[line] = ranked[0][0]
        return of


def host_threads(planes: Sequence[Plane], limits: Limits, where: str) -> HostThreads | None:
    """Return what the lines of the host hold, None without any span. Raises FuseScopeError for more
    events than the limit."""
    lines: list[str] = []
    names: dict[str, int] = {}
    launches: dict[object, tuple[int, int]] = {}
    spans: list[tuple[int, int, int, int, int]] = []
    for plane, line in host_lines(planes, limits, where):
        lines.append(line.name)
        for event in (read_event(data, line) for data in line.events):
            if event.start_ns is None or not event.dur_ns:
                continue
            fact = fact_of(plane, event.kind)
            stats = {**fact.stats, **stats_of(plane, event.stats)}
            kind, name = span_kind(fact.display_name or fact.name, is_step="step_num" in stats)
            if "correlation_id" in stats:
                kind, name = RUNTIME, fact.display_name or fact.name
                launches.setdefault(stats["correlation_id"], (len(lines) - 1, event.start_ns))
            number = names.setdefault(name, len(names))
            spans.append((len(lines) - 1, event.start_ns, event.dur_ns, number, kind))
    if not spans:
        return None
    columns = np.array(spans, dtype="int64").T
    return HostThreads(HostSpans(*columns), list(names), lines, launches)


def span_kind(name: str, *, is_step: bool) -> tuple[int, str]:
    """Return the kind of a span that is no call to the runtime, and the name that is shown:
    '$train.py:7 main' is a Python frame."""
    if is_step:
        return ANNOTATION, name
    if python := _PYTHON.fullmatch(name):
        return FRAME, f"{python['file']}({python['line']}): {python['name']}"
    if built_in := _BUILT_IN.fullmatch(name):
        return FRAME, f"<built-in {built_in['name']}>"
    return OPERATOR, name
