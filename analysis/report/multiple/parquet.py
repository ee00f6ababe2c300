"""Several sides as Parquet tables, by file name; all are English in every language."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.messages import language
from fusescope.analysis.report.exports.comparison_tables import comparison_tables
from fusescope.analysis.report.exports.parquet import calls_table, parquet
from fusescope.analysis.report.multiple.csv import multiple_tables

_SIDE = "side_name"  # `name` of variants.parquet


def multiple_parquet(multiple: MultipleComparison) -> dict[str, bytes]:
    """The tables of the CSV; operators, op types, fusion ledger and findings of each candidate
    against the baseline; and every run and every call of all sides: the first column says of
    which side. Raises FuseScopeError without pyarrow."""
    parts: dict[str, list[pd.DataFrame]] = {}
    with language.speaking(language.ENGLISH):
        for name, table in multiple_tables(multiple).items():
            parts[name] = [table]
        for one, side in zip(multiple.comparisons, multiple.sides[1:], strict=True):
            for name, table in comparison_tables(one).items():
                if name != "figures":  # those of all stand in one table
                    parts.setdefault(name, []).append(_of(side.name, table))
    for side in multiple.sides:
        parts.setdefault("runs", []).append(_of(side.name, side.trace.runs))
        parts.setdefault("calls", []).append(_of(side.name, calls_table(side.trace)))
    return {f"{name}.parquet": parquet(*tables) for name, tables in parts.items()}


def _of(name: str, table: pd.DataFrame) -> pd.DataFrame:
    sides = pd.Categorical([name] * len(table), categories=[name])
    return pd.concat([pd.DataFrame({_SIDE: sides}), table.reset_index(drop=True)], axis=1)
