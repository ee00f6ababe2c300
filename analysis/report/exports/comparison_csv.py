"""A comparison as CSV tables, by file name; all are English in every language."""

from __future__ import annotations

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import language
from fusescope.analysis.report.exports.comparison_tables import comparison_tables
from fusescope.analysis.report.exports.table_csv import table_csv


def comparison_csv(comparison: Comparison) -> dict[str, bytes]:
    """figures.csv, operators.csv, op_types.csv, fusion_ledger.csv and findings.csv, with the
    contents of `comparison_tables`."""
    with language.speaking(language.ENGLISH):
        tables = comparison_tables(comparison)
    return {f"{name}.csv": table_csv(table) for name, table in tables.items()}
