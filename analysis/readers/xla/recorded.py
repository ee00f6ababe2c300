"""Profiles of recordings of ours with jax: the calls of each marked run, several files as one."""

from __future__ import annotations

from dataclasses import dataclass, field

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.xla.executions import joined
from fusescope.analysis.readers.xla.protobuf import DamagedMessage
from fusescope.analysis.readers.xla.xplane import rows_of
from fusescope.analysis.trace import Diagnostic, Meta, Trace, merged, noted, runs_frame


@dataclass
class RecordedSteps:
    """Collects the profiles of one variant, one a block, into one Trace. `graph` is the variant's,
    None where it is not known: calls then keep the profiler's names."""

    graph: Graph | None
    limits: Limits = DEFAULT_LIMITS
    _rows: Columns = field(default_factory=Columns)
    _runs: Columns = field(default_factory=Columns)
    _notes: list[Diagnostic] = field(default_factory=list)
    _outside: int = 0
    _unjoined: int = 0

    def add(self, data: bytes, where: str, *, block: int | None, warmup_runs: int) -> None:
        """Add the runs of one file; the first `warmup_runs` are marked. Raises FuseScopeError for a
        file that cannot be read."""
        source = Source(where, data, self.limits)
        try:
            rows, steps, _, _, notes = rows_of(source, with_executions=self.graph is not None)
        except DamagedMessage:
            raise FuseScopeError("xla_damaged", where=where) from None
        self._notes += [note for note in notes if note.code != "other_events"]
        numbers = {}
        for number, label in enumerate(sorted(steps, key=steps.__getitem__)):
            start, end = steps[label]
            numbers[label] = self._runs.count
            self._runs.add(
                run=self._runs.count,
                kind="step",
                start_ns=start,
                dur_ns=end - start,
                warmup=number < warmup_runs,
                block=block,
            )
        columns = rows.columns
        labels = columns.pop("step")
        columns["run"] = [numbers.get(str(label)) for label in labels]
        self._outside += sum(label is None for label in labels)
        if self.graph is not None:
            columns, unjoined = joined(columns, self.graph)
            self._unjoined += unjoined
        self.limits.check_events(self._rows.count + len(labels), "more_events_than_limit", where)
        self._rows.extend(columns)

    def trace(self, meta: Meta) -> Trace:
        """The Trace of everything added so far. Raises FuseScopeError where there is no call."""
        notes = [*merged(self._notes), *noted("warning", "outside_runs", self._outside)]
        notes += noted("warning", "calls_not_of_graph", self._unjoined)
        runs = runs_frame(**self._runs, profiled=[True] * self._runs.count)
        return build_trace(meta, self._rows, runs=runs, notes=notes, limits=self.limits)
