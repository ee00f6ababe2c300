"""The calls of a recording of the MindSpore profiler before 2.4, gathered from its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

import pandas as pd

from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.iterations import profiled_runs, span_at
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.mindspore.beside import MindSporeBeside, fused_columns, type_of
from fusescope.analysis.readers.mindspore.executions import Executions
from fusescope.analysis.readers.mindspore.framework import Operator, is_flops, read_flops
from fusescope.analysis.readers.mindspore.steps import Step
from fusescope.analysis.readers.mindspore.tables import Table
from fusescope.analysis.trace import Diagnostic, Trace, noted

_FLOPS_SOURCE = "counted by the profiler"
_UNTOLD = Operator("")
_WHOLE = 0.5  # of the operators of the other steps, which a step has that is not cut off


def _cut_off(labels: Sequence[int | None], steps: int) -> int | None:
    """Return the step in which the profiler stopped recording operators: the last one that has any,
    with far fewer than the others, where more steps follow; None for none."""
    counts = Counter(label for label in labels if label is not None)
    last = max(counts, default=steps)
    others = [count for label, count in counts.items() if label != last]
    if last >= steps - 1 or not others:
        return None
    return last if counts[last] < _WHOLE * median(others) else None


class Rows:
    """The calls of a trace as columns, and what the files beside it tell of their operators."""

    def __init__(self, beside: MindSporeBeside, framework: dict[str, Operator]) -> None:
        self.beside = beside
        self.framework = framework
        self.columns = Columns(
            "name", "op_type", "inputs", "launched_by", "device", "start_ns", "dur_ns"
        )

    def add(
        self, ran: Executions, index: int, provider: str, *, communication: bool = False
    ) -> None:
        """One execution."""
        self._add(
            name=ran.name[index],
            provider=provider,
            is_communication=communication,
            stream=ran.stream[index],
            start_ns=ran.start_ns[index],
            dur_ns=ran.dur_ns[index],
            n=1,
            source_row=ran.row[index],
        )

    def add_total(self, table: Table, index: int) -> None:
        """One operator of a table of totals or means."""
        counters = {name: values[index] for name, values in table.counters.items()}
        self._add(**table.at(index), is_communication=False, **counters)

    def _add(self, **values: object) -> None:
        name = str(values["name"])
        told = self.framework.get(name, _UNTOLD)
        values.setdefault("level", "device_kernel")
        if values.get("op_type") is None and not values["is_communication"]:
            values["op_type"] = told.op_type or type_of(name)
        values |= {"inputs": told.inputs, "outputs": told.outputs, "block_dim": told.block_dim}
        self.columns.add(**values)

    def put_into(self, steps: Sequence[Step]) -> pd.DataFrame | None:
        """Gives every call its step, adds what steps communicated, and makes the runs table.

        None where no call is in any step. A profiler may time hundreds of steps and stop recording
        operators after the first few: the others stay, as runs of known time; so does the step in
        which it stopped, whose few operators are in no run.
        """
        starts, ends = [step.start_ns for step in steps], [step.end_ns for step in steps]
        labels = [span_at(starts, ends, start) for start in self.columns["start_ns"]]
        cut_off = _cut_off(labels, len(steps))
        labels = [None if label == cut_off else label for label in labels]
        told = {label for label in labels if label is not None}
        if not told:
            return None
        self.columns["run"] = list(labels)
        for run, step in enumerate(steps):
            for name, stream, start, end in step.communication:
                self._add(
                    name=name, provider="HCCL", op_type=None, is_communication=True,
                    stream=f"stream {stream}" if stream else None, start_ns=start,
                    dur_ns=end - start, n=1, run=run,
                )  # fmt: skip
        self.beside.notes += noted("info", "runs_untold", len(steps) - len(told))
        self.beside.notes += noted(
            "warning", "outside_runs", sum(label is None for label in labels)
        )
        return profiled_runs("step", starts, [step.end_ns - step.start_ns for step in steps])

    def trace(
        self,
        name: str,
        source: Source,
        notes: Sequence[Diagnostic],
        runs: pd.DataFrame | None = None,
    ) -> Trace:
        """The Trace of all that was added."""
        columns: dict[str, Sequence[object]] = dict(self.columns)
        kinds = [str(kind or "") for kind in self.columns["op_type"]]
        inputs = [str(text or "") for text in self.columns["inputs"]]
        fused = fused_columns(kinds, inputs, self.beside)
        columns |= {key: fused[key] for key in ("members", "members_source") if key in fused}
        counted = self.beside.first(
            is_flops, read_flops, lambda told: not set(columns["name"]).isdisjoint(told)
        )
        if counted:
            columns["flops"] = [counted.get(str(n)) for n in columns["name"]]
            columns["flops_source"] = [
                _FLOPS_SOURCE if str(n) in counted else None for n in columns["name"]
            ]
        return build_trace(
            source.meta(name, "MindSpore profiler", files=self.beside.files),
            columns,
            runs=runs,
            run_kind="iteration",
            notes=[*notes, *self.beside.notes],
            limits=source.limits,
        )
