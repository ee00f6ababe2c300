"""What each tool answers, as plain values: the figures, sentences and words of evidence that the
terminal prints as JSON, shorter. Names of users, hosts and paths are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pandas as pd

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.advice.explanation import explain_subject
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.redaction import redacted, redacted_all, redacted_texts
from fusescope.analysis.report.explanation.diagnostics_json import diagnostics
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.report.explanation.trace_json import trace_explanation_values
from fusescope.analysis.report.exports.comparison_json import side_values, verdict_values
from fusescope.analysis.report.exports.comparison_tables import comparison_tables
from fusescope.analysis.report.exports.findings_json import findings_values
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.answer import answer_lines
from fusescope.app.agents.bounds import MAX_BYTES
from fusescope.app.agents.files import Files

MAX_ROWS = 100  # of one page of operators, and of one answer in SQL
_CAUSES, _KERNELS = 12, 8  # changes of an answer, and kernels of each
_CHANGE = ("code", "sentence", "change_ns", "before_ns", "after_ns", "repeats", "evidence")
_SAVING = ("code", "sentence", "ns", "repeats", "evidence")
_OPERATOR = (
    "name", "op_type", "op_class", "launched_by", "count", "per_run_ns", "mean_ns", "min_ns",
    "max_ns", "share", "inputs",
)  # fmt: skip
_JOINED = (
    "name", "op_class", "matched_by", "delta_ns", "count_baseline", "count_candidate",
    "per_run_ns_baseline", "per_run_ns_candidate", "mean_ns_baseline", "mean_ns_candidate",
)  # fmt: skip
_SECONDS = 30.0  # for one question in SQL


@dataclass(frozen=True)
class Answers:
    """`has_names` leaves names of users, hosts and paths in."""

    files: Files
    has_names: bool = False

    def inspect(self, path: str) -> dict[str, Any]:
        """Return what is in a file, what was dropped of it, and what it can answer."""
        values = inspection(self._value(path))
        return {name: value for name, value in values.items() if name != "schema_version"}

    def compare(self, baseline: str, candidate: str, variants: tuple[str, str]) -> dict[str, Any]:
        """Return the verdict, whether to trust it, and the largest causes."""
        comparison = self._comparison(baseline, candidate, variants)
        values = {
            "baseline": side_values(comparison.baseline),
            "candidate": side_values(comparison.candidate),
            "answer": answer_lines(comparison),
            "verdict": verdict_values(comparison),
            "doubts": [
                note
                for note in diagnostics(comparison.diagnostics)
                if note["severity"] in ("warning", "error")
            ],
        }
        explanation = explanation_values(comparison.explanation)
        if explanation is None:
            groups = _groups(comparison)
            return {**values, "groups": groups[:_CAUSES], "more_groups": _beyond(groups, _CAUSES)}
        changes = explanation["changes"]
        return {
            **values,
            "changes": [_picked(change, _CHANGE) for change in changes[:_CAUSES]],
            "more_changes": _beyond(changes, _CAUSES),
        }

    def explain(self, baseline: str, candidate: str, variants: tuple[str, str]) -> dict[str, Any]:
        """Return all changes between two sides with their kernels, which add up with `rest_ns`; of
        one trace alone its unit of work and what need not be in it."""
        is_one = not candidate and not variants[1]
        if is_one and not isinstance(self.files.read(baseline), Experiment):
            return self._explained(baseline, variants[0])
        comparison = self._comparison(baseline, candidate, variants)
        values = explanation_values(comparison.explanation)
        if values is None:
            return {"groups": _groups(comparison)}
        kept = ("outcome", "difference", "sentence", "unit", "classes", "rest_ns")
        changes = [_with_kernels(change, _CHANGE) for change in values["changes"]]
        return {**{name: values[name] for name in kept}, "changes": changes}

    def findings(self, path: str, variant: str) -> dict[str, Any]:
        """Return what limits a trace or variant, what to try and what that would save."""
        return findings_values(findings(self._subject(path, variant)))

    def operators(
        self,
        baseline: str,
        candidate: str,
        variants: tuple[str, str],
        contains: str,
        offset: int,
    ) -> dict[str, Any]:
        """Return a page of operators whose name contains a text: of one trace those with most time,
        of two those whose time changed most."""
        if candidate or variants[1]:
            comparison = self._comparison(baseline, candidate, variants)
            table, columns = comparison_tables(comparison)["operators"], list(_JOINED)
        else:
            trace = self._subject(baseline, variants[0]).trace
            table = by_operator(trace).sort_values("per_run_ns", ascending=False)
            columns = list(_OPERATOR)
        if contains:
            has_text = table["name"].astype(str).str.contains(contains, case=False, regex=False)
            table = table[has_text]
        page = table.iloc[offset : offset + MAX_ROWS]
        return {
            "operators": _rows(page[[name for name in columns if name in page]]),
            "offset": offset,
            "total": len(table),
        }

    def sql(self, question: str) -> dict[str, Any]:
        """Return the first rows that a question about the library gives."""
        from fusescope.app.library.query import opened

        with opened(_SECONDS) as prepared:
            answer = prepared.answer(question, MAX_ROWS + 1)
        values = {
            "columns": list(answer.columns),
            "rows": [[_plain(cell) for cell in row] for row in answer.rows[:MAX_ROWS]],
            "has_more": len(answer.rows) > MAX_ROWS,
        }
        return self._shown(values)

    def search_library(self, words: str) -> dict[str, Any]:
        """Return what is in the library and has these words, the newest first."""
        from fusescope.app.library.items import items, matching, values_of

        return self._shown({"items": [values_of(item) for item in matching(items(), words)]})

    def sentence(self, error: FuseScopeError) -> str:
        """Return what an error says; it can quote a file or an answer."""
        return str(self._shown({"": str(error)})[""])

    def _value(self, path: str) -> Trace | Experiment:
        value = self.files.read(path)
        return value if self.has_names else redacted(value)

    def _subject(self, path: str, variant: str) -> Subject:
        return advised(self._value(path), variant or None)

    def _comparison(self, baseline: str, candidate: str, variants: tuple[str, str]) -> Comparison:
        given = {"0": self.files.read(baseline)}
        if candidate:
            given["1"] = self.files.read(candidate)
        if not self.has_names:
            given = redacted_all(given)
        names = [name or None for name in variants]
        return compare(*choose_sides(given["0"], given.get("1"), *names))

    def _explained(self, path: str, name: str) -> dict[str, Any]:
        values = trace_explanation_values(explain_subject(self._subject(path, name)))
        if values is None:
            return {"sentence": "", "changes": []}
        kept = ("sentence", "unit", "classes", "collectives")
        changes = [_with_kernels(each, _SAVING) for each in values["changes"]]
        return {**{name: values[name] for name in kept}, "changes": changes}

    def _shown(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return plain values of the library, without names unless these are shown."""
        return values if self.has_names else redacted_texts(values)


def _plain(cell: object) -> object:
    """Return a cell of SQL as JSON has it, of what cannot be in an answer the beginning."""
    match cell:
        case str():
            return cell[:MAX_BYTES]
        case bool() | int() | float() | None:
            return cell
        case bytes():
            return cell[:MAX_BYTES].decode(errors="replace")
        case dict():
            some = islice(cell.items(), MAX_BYTES)
            return {str(name): _plain(each) for name, each in some}
        case list() | tuple():
            return [_plain(each) for each in cell[:MAX_BYTES]]
    return str(cell)


def _groups(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the fusion groups and what else makes up the change of a recording."""
    table = comparison_tables(comparison)["fusion_ledger"]
    kept = ["line", "group", "known_by", "pattern", "original", "becomes", "before_ns",
            "after_ns", "gain_ns"]  # fmt: skip
    return _rows(table[kept])


def _picked(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _with_kernels(change: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return a change with its largest kernels on both sides and where in the model it is."""
    return {
        **_picked(change, names),
        "where": change["where"][:_KERNELS],
        "kernels_before": change["before"][:_KERNELS],
        "kernels_after": change["after"][:_KERNELS],
        "more_kernels": {side: _beyond(change[side], _KERNELS) for side in ("before", "after")},
    }


def _beyond(rows: Sequence[object], shown: int) -> int:
    """Return how many rows an answer leaves out that has only so many of them."""
    return max(0, len(rows) - shown)


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table with None for what is missing."""
    plain = table.astype(object).where(table.notna(), None)
    return [
        {str(name): _number(cell) for name, cell in row.items()} for row in plain.to_dict("records")
    ]


def _number(cell: Any) -> Any:
    """Return numbers of NumPy as those of Python."""
    return cell.item() if hasattr(cell, "item") else cell
