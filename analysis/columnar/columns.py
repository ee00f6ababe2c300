"""One column of a trace as an Arrow array, and back: values, dtype and categories are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from fusescope.analysis.columnar.header import Column

_NULLABLE = {
    "Int64": pd.arrays.IntegerArray,
    "boolean": pd.arrays.BooleanArray,
    "Float64": pd.arrays.FloatingArray,
}
_KINDS = {"Int64": "int64", "boolean": "bool", "Float64": "float64"}


def stored(name: str, values: pd.Series) -> tuple[Column, pa.Array, pa.Array | None]:
    """The column, its cells, and the texts of a category in their order. Raises ValueError for a
    type that no trace has."""
    dtype = str(values.dtype)
    if isinstance(values.dtype, pd.CategoricalDtype):
        if values.dtype.ordered:
            raise ValueError(f"{name} is ordered")
        index = values.dtype.categories
        texts = _texts(name, index)
        codes = values.cat.codes.to_numpy()
        places = pa.array(np.where(codes < 0, 0, codes).astype("int32"), mask=codes < 0)
        column = Column(name, "category", len(texts), str(index.dtype))
        return column, pa.DictionaryArray.from_arrays(places, texts), texts
    if dtype in _NULLABLE:
        cells = values.to_numpy(_KINDS[dtype], na_value=0)
        return Column(name, dtype), pa.array(cells, mask=values.isna().to_numpy()), None  # type: ignore[arg-type]
    if dtype in ("int64", "bool", "float64"):
        return Column(name, dtype), pa.array(values.to_numpy()), None  # type: ignore[arg-type]
    raise ValueError(f"{name} is {dtype}")


def read(column: Column, cells: pa.ChunkedArray, texts: pa.Array) -> Any:
    """The cells as Pandas has them. `texts` are those of a category. Raises ValueError for cells
    that are not of this column."""
    if column.dtype == "category":
        return _category(column, cells, texts)
    if column.dtype not in _NULLABLE:
        if cells.null_count:
            raise ValueError(f"{column.name}: a cell without a value")
        return _numbers(cells, column.dtype)
    missing = np.zeros(len(cells), dtype=bool)
    if cells.null_count:
        missing = cells.is_null().to_numpy().copy()
        cells = cells.fill_null(False if column.dtype == "boolean" else 0)
    return _NULLABLE[column.dtype](_numbers(cells, _KINDS[column.dtype]), missing)


def _numbers(cells: pa.ChunkedArray, dtype: str) -> np.ndarray:
    numbers: np.ndarray = cells.to_numpy()
    if str(numbers.dtype) != dtype:
        raise ValueError(f"{numbers.dtype} in place of {dtype}")
    return numbers if numbers.flags.writeable else numbers.copy()


def _texts(name: str, index: pd.Index) -> pa.Array:
    if str(index.dtype) != "str" and not all(isinstance(text, str) for text in index):
        raise ValueError(f"{name} is not text")
    return pa.array(index, type=pa.string()) if len(index) else pa.array([], pa.string())


def _category(column: Column, cells: pa.ChunkedArray, texts: pa.Array) -> Any:
    """Parquet keeps the texts that are used, in the order in which they came."""
    whole = cells.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # none at all
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.nulls(0, cells.type)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    if not whole.dictionary.equals(texts):
        places = pc.index_in(whole.dictionary, texts)
        if places.null_count:
            raise ValueError(f"{column.name}: a text that is not there")
        codes = np.append(places.to_numpy(zero_copy_only=False), -1)[codes]
    index = pd.Index(texts.to_pandas().array if len(texts) else [], dtype=column.index)
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(index))
