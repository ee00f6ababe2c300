"""Tables as Parquet: typed columns, null for what is missing."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.trace import Trace

# Of columns without any value, whose type nothing else tells.
_NUMBERS = ("_ns", "share", "value", "change", "baseline", "candidate")


def calls_table(trace: Trace) -> pd.DataFrame:
    """Every call with the name and type of its operator in place of its number."""
    places = trace.calls["operator"].to_numpy()
    facts = {
        name: trace.operators[name].array.take(places) for name in ("name", "op_type", "op_class")
    }
    return pd.concat([pd.DataFrame(facts), trace.calls.drop(columns="operator")], axis=1)


def parquet(*parts: pd.DataFrame) -> bytes:
    """One table below the other; a column that only some have is null in the others. Raises
    FuseScopeError without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise FuseScopeError("package_missing", package="pyarrow", extra="tables") from error
    plain = len(parts) > 1  # categories of one part are not those of another
    tables = [pa.Table.from_pandas(_all_typed(part, plain), preserve_index=False) for part in parts]
    if plain:
        tables = _without_empty(tables)
    made = pa.concat_tables(tables, promote_options="permissive") if plain else tables[0]
    out = io.BytesIO()
    pq.write_table(made.replace_schema_metadata(None), out, compression="zstd", store_schema=False)
    return out.getvalue()


def _all_typed(table: pd.DataFrame, plain: bool) -> pd.DataFrame:
    typed = {str(name): _typed(str(name), table[name]) for name in table.columns}
    if plain:
        typed = {
            name: column.astype("string")
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column
            for name, column in typed.items()
        }
    return pd.DataFrame(typed)


def _without_empty(tables: list[Any]) -> list[Any]:
    """The tables, each without columns that have a value in another one alone: that one tells the
    type."""
    filled = {
        name
        for table in tables
        for name in table.column_names
        if table[name].null_count < len(table)
    }
    return [
        table.select(
            [
                name
                for name in table.column_names
                if name not in filled or table[name].null_count < len(table)
            ]
        )
        for table in tables
    ]


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
