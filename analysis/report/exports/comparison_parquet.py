"""A comparison as Parquet tables, by file name: typed columns, null for what is missing."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd

from analysis.compare.comparison import Comparison
from analysis.errors import FuseScopeError
from analysis.messages import language
from analysis.report.exports.comparison_tables import comparison_tables
from analysis.trace import Trace

# Of columns without any value, whose type nothing else tells.
_NUMBERS = ("_ns", "share", "value", "change", "baseline", "candidate")


def comparison_parquet(comparison: Comparison) -> dict[str, bytes]:
    """The tables of the CSV, and every run and every call of both sides. The columns are those of
    `comparison_tables` and analysis.trace, English in every language. Raises FuseScopeError without
    pyarrow."""
    with language.speaking(language.ENGLISH):
        tables = comparison_tables(comparison)
    for role, side in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        tables[f"runs_{role}"] = side.trace.runs
        tables[f"calls_{role}"] = _calls(side.trace)
    return {f"{name}.parquet": _parquet(table) for name, table in tables.items()}


def _calls(trace: Trace) -> pd.DataFrame:
    """Every call with the name and type of its operator in place of its number."""
    places = trace.calls["operator"].to_numpy()
    facts = {
        name: trace.operators[name].array.take(places) for name in ("name", "op_type", "op_class")
    }
    return pd.concat([pd.DataFrame(facts), trace.calls.drop(columns="operator")], axis=1)


def _parquet(table: pd.DataFrame) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise FuseScopeError("package_missing", package="pyarrow", extra="tables") from error
    typed = pd.DataFrame({str(name): _typed(str(name), table[name]) for name in table.columns})
    out = io.BytesIO()
    made = pa.Table.from_pandas(typed, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(made, out, compression="zstd", store_schema=False)
    return out.getvalue()


def _typed(name: str, column: pd.Series[Any]) -> pd.Series[Any]:
    """The column with one type for all cells, the same whatever they hold."""
    values = column.reset_index(drop=True)
    if isinstance(values.dtype, pd.CategoricalDtype) or str(values.dtype) in ("Int64", "Float64"):
        return values
    if pd.api.types.is_float_dtype(values.dtype):
        return values.astype("Float64")
    if pd.api.types.is_bool_dtype(values.dtype) or pd.api.types.is_integer_dtype(values.dtype):
        return values
    known = values.dropna()
    if len(known) and known.map(lambda cell: isinstance(cell, bool)).all():
        return values.astype("boolean")
    numbers = known.map(lambda cell: isinstance(cell, int | float)).all()
    if numbers and (len(known) or name.endswith(_NUMBERS)):
        return pd.to_numeric(values).astype("Float64")
    return values.astype("string")
