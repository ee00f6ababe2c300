"""Comparison: a baseline and a candidate, and what is known of the change between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from fusescope.analysis.compare import compare
from fusescope.analysis.compare import comparison as compared
from fusescope.analysis.compare.timing.verdict import VerdictOutcome, VerdictReason
from fusescope.analysis.report.explanation.diagnostics_json import diagnostics
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.report.exports.comparison_tables import comparison_tables
from fusescope.analysis.wording import verdict_basis, verdict_sentence
from fusescope.analysis.wording.answer import answer_lines
from fusescope.api import tables
from fusescope.api.files import write_report


@dataclass(frozen=True)
class Verdict:
    """The answer of a comparison: is the candidate faster, and how sure is that.

    `speedup` is baseline time by candidate time, with the interval `low` to `high` where the noise
    is known; `baseline_ns` and `candidate_ns` are the times of a run that it rests on. None is not
    known. `basis` says what was measured, and how.
    """

    outcome: VerdictOutcome
    reason: VerdictReason | None
    sentence: str
    basis: str
    speedup: float | None
    low: float | None
    high: float | None
    baseline_ns: float | None
    candidate_ns: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two sides and the change between them. Tables are DataFrames, the largest change first;
    times are in ns a run, changes are candidate less baseline. `content` and `paths` are what it
    was made of; their form may change from version to version."""

    content: compared.Comparison
    paths: Sequence[Path]

    def __repr__(self) -> str:
        sides = f"{self.baseline!r} and {self.candidate!r}"
        return f"<fusescope.Comparison of {sides}: {self.verdict.outcome}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the answer, its picture, the first rows."""
        from fusescope.analysis.report.notebook import comparison_cell

        return comparison_cell(self.content)

    @property
    def baseline(self) -> str:
        """Return the name of the baseline."""
        return self.content.baseline.label

    @property
    def candidate(self) -> str:
        """Return the name of the candidate."""
        return self.content.candidate.label

    @property
    def verdict(self) -> Verdict:
        """Return the verdict: outcome, speedup and interval, times and what they rest on."""
        verdict = self.content.verdict
        low, high = (
            (verdict.interval.low, verdict.interval.high) if verdict.interval else (None, None)
        )
        before, after = verdict.times_ns or (None, None)
        return Verdict(
            verdict.outcome,
            verdict.reason,
            verdict_sentence(self.content),
            verdict_basis(verdict),
            verdict.speedup,
            low,
            high,
            before,
            after,
        )

    @property
    def text(self) -> str:
        """Return the answer in a few lines: the verdict, whether to trust it, and what changed."""
        return "\n".join(answer_lines(self.content))

    @property
    def explanation(self) -> pd.DataFrame:
        """Return what changed between two traces, a cause a row with its evidence; no rows where
        nothing did, and of recordings, whose `ledger` has each fusion group."""
        values = explanation_values(self.content.explanation)
        changes = values["changes"] if values else []
        rows = [
            {**row, "baseline_ns": row["before_ns"], "candidate_ns": row["after_ns"]}
            for row in changes
        ]
        return tables.table_of(rows, tables.CHANGE)

    @property
    def figures(self) -> pd.DataFrame:
        """Return one row a figure: both values with their basis, and the change."""
        return self._tables["figures"].copy()

    @property
    def operators(self) -> pd.DataFrame:
        """Return one row an operator of either side, joined where they are the same."""
        return self._tables["operators"].copy()

    @property
    def op_types(self) -> pd.DataFrame:
        """Return one row a type of operators."""
        return self._tables["op_types"].copy()

    @property
    def ledger(self) -> pd.DataFrame:
        """Return one row a fusion group, then what else makes up the change: `gain_ns` is time
        saved, and adds up to the time saved by a run."""
        return self._tables["fusion_ledger"].copy()

    @property
    def diagnostics(self) -> pd.DataFrame:
        """Return what speaks against the answer, and what else was noticed."""
        return tables.table_of(diagnostics(self.content.diagnostics), tables.DIAGNOSTIC)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, as `fusescope compare --json` prints them
        (docs/json.md)."""
        return comparison_values(self.content)

    def report(self, path: str | PathLike[str], *, redact: bool = False) -> Path:
        """Write the HTML report, and return where it is; `redact` leaves out user names, host
        names and absolute paths. Raises FuseScopeError where it cannot be written."""
        from fusescope.analysis.redaction import redacted_sides
        from fusescope.analysis.report.html import report_html

        shown = self.content
        if redact:
            shown = compare(*redacted_sides(*shown.given), shown.assumptions)
        return write_report(path, report_html(shown), self.paths)

    @cached_property
    def _tables(self) -> dict[str, pd.DataFrame]:
        return comparison_tables(self.content)
