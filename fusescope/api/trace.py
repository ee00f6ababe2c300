"""Trace: one file of a profiler, one process or device of it, or one variant of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from fusescope.analysis import trace as read
from fusescope.analysis.advice import Subject
from fusescope.analysis.advice.explanation import explain_subject
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare.choice import side_of
from fusescope.analysis.compare.side import Side
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.report.explanation.diagnostics_json import diagnostics
from fusescope.analysis.report.explanation.trace_json import trace_explanation_values
from fusescope.api import tables
from fusescope.api.files import write_report


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """One file of a profiler as it was read, or one variant of a recording.

    `content` is what was read of the file, `chosen` the variant, process or device of it that was
    asked for, `path` where it lies; their form may change from version to version. Tables are
    copies: changing one changes nothing else. Times are in ns, a missing value is null, never 0.
    """

    content: read.Trace | Experiment
    chosen: str | None
    path: Path

    @cached_property
    def side(self) -> Side:
        """Return the side of a comparison that it is."""
        return side_of(self.content, self.chosen)

    @cached_property
    def subject(self) -> Subject:
        """Return what findings are about: a trace by its units of work, a variant with its
        baseline."""
        return advised(self.content, self._part)

    def __repr__(self) -> str:
        calls, runs = len(self.side.trace.calls), len(self.side.trace.runs)
        return f"<fusescope.Trace {self.name!r}: {calls} calls in {runs} runs, {self.format}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the answer, its picture, the first rows."""
        from fusescope.analysis.report.notebook import trace_cell

        return trace_cell(self.subject)

    @property
    def name(self) -> str:
        """Return the name of the file or variant."""
        return self.side.label

    @property
    def names(self) -> tuple[str, ...]:
        """Return the variants of the recording, or the processes or devices of the file."""
        if isinstance(self.content, Experiment):
            return tuple(self.content.record.names)
        return tuple(self.content.units)

    @property
    def format(self) -> str:
        """Return the code of the format, as docs/formats.md lists it."""
        return self.side.trace.meta.format

    @property
    def tool(self) -> str:
        """Return the profiler that wrote the file."""
        return self.side.trace.meta.tool

    @property
    def device(self) -> str | None:
        """Return the device that it ran on, None where the file does not say it."""
        return self.side.trace.meta.device

    @property
    def runs(self) -> pd.DataFrame:
        """Return one row a run: its kind, start and duration, and whether it was profiled."""
        return self.side.trace.runs.copy()

    @property
    def operators(self) -> pd.DataFrame:
        """Return one row a distinct operator: its name, type, shapes, FLOPs and bytes."""
        return self.side.trace.operators.copy()

    @property
    def calls(self) -> pd.DataFrame:
        """Return one row an execution; `operator` is its row in `operators`, `run` that in
        `runs`."""
        return self.side.trace.calls.copy()

    @property
    def diagnostics(self) -> pd.DataFrame:
        """Return what was dropped, repaired or noticed: severity, code, count and a sentence."""
        return tables.table_of(diagnostics(self.side.trace.diagnostics), tables.DIAGNOSTIC)

    @property
    def explanation(self) -> pd.DataFrame:
        """Return what need not be in a unit of work, the largest first, with its time a unit and
        its evidence. No rows where nothing was found, where the file ends early, and of a
        variant of a recording, of which `fusescope.findings` says it."""
        values = self._values
        return tables.table_of(values["changes"] if values else (), tables.SAVING)

    @property
    def sentence(self) -> str:
        """Return what a unit of work takes and goes to; '' where the file does not say it."""
        values = self._values
        return str(values["sentence"]) if values else ""

    def report(self, path: str | PathLike[str], *, redact: bool = False) -> Path:
        """Write the HTML report, and return where it is; `redact` leaves out user names, host
        names and absolute paths. Raises FuseScopeError where it cannot be written."""
        from fusescope.analysis.redaction import redacted
        from fusescope.analysis.report.one_trace.html import trace_html

        value = redacted(self.content) if redact else self.content
        subject = advised(value, self._part)
        return write_report(path, trace_html(subject), [self.path])

    @property
    def _part(self) -> str | None:
        """Return the variant, process or device of its file that it is; None where that has one."""
        if isinstance(self.content, Experiment):
            return self.side.label
        return self.side.trace.meta.variant if self.content.others else None

    @cached_property
    def _values(self) -> dict[str, Any] | None:
        if self.side.trace.ends_early:
            return None
        return trace_explanation_values(explain_subject(self.subject))
