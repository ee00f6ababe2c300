"""A comparison as CSV tables, by file name; all are English in every language."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.advice import Subject, findings
from analysis.compare.comparison import Comparison
from analysis.messages import language
from analysis.report.exports.findings_json import findings_values
from analysis.report.exports.ledger_csv import ledger_csv
from analysis.report.exports.table_csv import table_csv

_OWN = ("row", "operator_baseline", "operator_candidate")  # places in tables of ours


def comparison_csv(comparison: Comparison) -> dict[str, bytes]:
    """figures.csv, operators.csv, op_types.csv, fusion_ledger.csv and findings.csv.

    Times are ns, sizes bytes, changes fractions, as in the JSON (docs/json.md).
    """
    with language.speaking(language.ENGLISH):
        tables = {
            "figures.csv": pd.DataFrame(_figures(comparison)),
            "operators.csv": comparison.operators.drop(columns=list(_OWN), errors="ignore"),
            "op_types.csv": comparison.op_types,
            "findings.csv": pd.DataFrame(_findings(comparison), columns=_FINDING),
        }
        made = {name: table_csv(table) for name, table in tables.items()}
        return {**made, "fusion_ledger.csv": ledger_csv(comparison)}


_FINDING = [
    "code", "message", "try", "gain_ns", "gain_low_ns", "gain_high_ns", "at_most_ns", "share",
    "basis", "confidence",
]  # fmt: skip


def _figures(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "figure": figure.code,
            "unit": figure.candidate.unit,
            "baseline": figure.baseline.value,
            "candidate": figure.candidate.value,
            "change": figure.change,
            "change_kind": figure.kind,
            "baseline_basis": figure.baseline.basis,
            "candidate_basis": figure.candidate.basis,
        }
        for figure in comparison.figures
    ]


def _findings(comparison: Comparison) -> list[dict[str, Any]]:
    found = findings_values(findings(Subject(comparison.candidate, comparison)))["findings"]
    rows = []
    for finding in found:
        gain = finding["gain_ns"] or {}
        ends = {f"gain_{end}_ns": gain.get(end) for end in ("low", "high")}
        rows.append({**finding, "gain_ns": gain.get("value"), **ends})
    return rows
