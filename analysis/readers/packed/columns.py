"""One column of a table as few bytes, and back, exactly."""

from __future__ import annotations

import zlib
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pandas as pd

_WIDTHS: tuple[Literal["i1", "i2", "i4", "i8"], ...] = ("i1", "i2", "i4", "i8")
_SCALES = (1, 1000)  # of numbers that were written with that many decimals
_EXACT = 2.0**53  # whole numbers up to it are exact as a double

Dtype = Literal["int64", "Int64", "bool", "category", "Float64"]


class Column(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How the cells of a column are written.

    `form` is the number type, little-endian, byte by byte: all lowest bytes first. With `delta`
    each number is the difference to the one before; a number is divided by `scale`. With `nulls` a
    bit a cell stands in front. Cells of a category are places in `texts`, -1 for null.
    """

    name: str
    dtype: Dtype
    form: Literal["i1", "i2", "i4", "i8", "f8"]
    delta: bool = False
    nulls: bool = False
    scale: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    texts: list[str] = []

    def size(self, rows: int) -> int:
        """Bytes of that many cells."""
        return rows * int(self.form[1]) + (-(-rows // 8) if self.nulls else 0)


def packed(name: str, values: pd.Series) -> tuple[Column, bytes]:
    """A column of a Trace, and its cells. Raises ValueError for a type that no trace has."""
    dtype = str(values.dtype)
    if dtype == "category":
        form, delta, data = _whole(values.cat.codes.to_numpy("int64"))
        texts = [str(text) for text in values.cat.categories]
        return Column(name, "category", form, delta, texts=texts), data
    if dtype in ("int64", "bool"):
        form, delta, data = _whole(values.to_numpy().astype("int64"))
        return Column(name, "bool" if dtype == "bool" else "int64", form, delta), data
    if dtype not in ("Int64", "Float64"):
        raise ValueError(f"{name} is {dtype}")
    missing = values.isna().to_numpy()
    known = values.ffill().fillna(0)
    bits = np.packbits(missing).tobytes() if missing.any() else b""
    has_nulls = bool(bits)
    if dtype == "Int64":
        form, delta, data = _whole(known.to_numpy("int64"))
        return Column(name, "Int64", form, delta, has_nulls), bits + data
    numbers = known.to_numpy("float64")
    for scale in _SCALES:
        whole = np.rint(numbers * scale)
        if (np.abs(whole) < _EXACT).all() and (whole / scale == numbers).all():
            form, delta, data = _whole(whole.astype("int64"))
            return Column(name, "Float64", form, delta, has_nulls, scale), bits + data
    return Column(name, "Float64", "f8", False, has_nulls), bits + _planes(numbers.astype("<f8"))


def unpacked(column: Column, data: bytes, rows: int) -> Any:
    """The cells: int64, bool or codes of a category as an array, else a nullable pandas array.

    `data` has `column.size(rows)` bytes. Numbers may be anything that 64 bits hold.
    """
    missing = np.zeros(rows, dtype=bool)
    if column.nulls:
        bits = np.frombuffer(data, dtype="u1", count=-(-rows // 8))
        missing = np.unpackbits(bits, count=rows).astype(bool)
        data = data[len(bits) :]
    width = int(column.form[1])
    planes = np.frombuffer(data, dtype="u1", count=rows * width).reshape(width, rows)
    cells = np.ascontiguousarray(planes.T).view(f"<{column.form}").reshape(rows)
    if column.form == "f8":
        return pd.arrays.FloatingArray(cells.astype("float64"), missing)
    numbers = cells.astype("int64")
    if column.delta:
        numbers = np.cumsum(numbers, dtype="int64")
    if column.dtype == "Int64":
        return pd.arrays.IntegerArray(numbers, missing)
    if column.dtype == "Float64":
        return pd.arrays.FloatingArray(numbers / column.scale, missing)
    return numbers != 0 if column.dtype == "bool" else numbers


def _whole(numbers: np.ndarray) -> tuple[Literal["i1", "i2", "i4", "i8"], bool, bytes]:
    """Form, whether differences are written, and bytes: whichever packs better."""
    options = []
    for delta in (False, True):
        written = np.diff(numbers, prepend=np.int64(0)) if delta else numbers
        low, high = (int(written.min()), int(written.max())) if len(written) else (0, 0)
        form = next(
            name for name in _WIDTHS if np.iinfo(name).min <= low and high <= np.iinfo(name).max
        )
        data = _planes(written.astype(f"<{form}"))
        options.append((len(zlib.compress(data, 1)), delta, form, data))
    _, delta, form, data = min(options, key=lambda option: option[:2])
    return form, delta, data


def _planes(numbers: np.ndarray) -> bytes:
    """The lowest bytes of all numbers, then the next ones: alike bytes side by side pack well."""
    return numbers.view("u1").reshape(len(numbers), numbers.dtype.itemsize).T.tobytes()
