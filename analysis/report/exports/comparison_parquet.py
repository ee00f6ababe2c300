"""A comparison as Parquet tables, by file name: typed columns, null for what is missing."""

from __future__ import annotations

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import language
from fusescope.analysis.report.exports.comparison_tables import comparison_tables
from fusescope.analysis.report.exports.parquet import calls_table, parquet


def comparison_parquet(comparison: Comparison) -> dict[str, bytes]:
    """The tables of the CSV, and every run and every call of both sides. The columns are those of
    `comparison_tables` and analysis.trace, English in every language. Raises FuseScopeError without
    pyarrow."""
    with language.speaking(language.ENGLISH):
        tables = comparison_tables(comparison)
    for role, side in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        tables[f"runs_{role}"] = side.trace.runs
        tables[f"calls_{role}"] = calls_table(side.trace)
    return {f"{name}.parquet": parquet(table) for name, table in tables.items()}
