"""A comparison as tables, by name: what its CSV and Parquet files hold."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.report.exports.findings_json import findings_values
from fusescope.analysis.report.exports.ledger_csv import ledger_table

_OWN = ("row", "operator_baseline", "operator_candidate")  # places in tables of ours
_FINDING = [
    "code", "message", "try", "gain_ns", "gain_low_ns", "gain_high_ns", "at_most_ns", "share",
    "basis", "confidence",
]  # fmt: skip


def comparison_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """figures, operators, op_types, fusion_ledger and findings, told in the language spoken.

    Times are ns, sizes bytes, changes fractions, as in the JSON (docs/json.md).
    """
    return {
        "figures": pd.DataFrame(_figures(comparison)),
        "operators": comparison.operators.drop(columns=list(_OWN), errors="ignore"),
        "op_types": comparison.op_types.drop(columns="row", errors="ignore"),
        "findings": pd.DataFrame(_findings(comparison), columns=_FINDING),
        "fusion_ledger": ledger_table(comparison),
    }


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
