"""Values for a model's inputs: from a file, or from the seed by data type."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.models import shapes as shapes_of
from fusescope.collectors.models.array import Array
from fusescope.collectors.models.drawing import Range, drawn
from fusescope.collectors.models.facts import InputFacts


def make(
    inputs: Sequence[onnx.ValueInfoProto],
    shapes: Mapping[str, tuple[int, ...]],
    *,
    seed: int,
    given: Mapping[str, Array],
    ranges: Mapping[str, Range],
) -> tuple[list[Array], tuple[InputFacts, ...]]:
    """One array for every input, and where its values come from.

    Floats are standard normal (rank 4: smooth images of about unit variance), integers 0 or 1,
    booleans either; `ranges` gives uniform values from low to high, both included for integers.
    `given` (from `load`) wins over both. Raises FuseScopeError for a type that cannot be made
    and for values that do not fit.
    """
    names = [value.name for value in inputs]
    for name in ranges:
        if name not in names:
            raise _unknown(name, names)
    arrays: list[Array] = []
    facts: list[InputFacts] = []
    for index, value in enumerate(inputs):
        dtype, shape = dtype_of(value), shapes[value.name]
        if value.name in given:
            array, source = _checked(given[value.name], value.name, dtype, shape), "file"
        else:
            chance = np.random.default_rng([seed, index])
            array, source = drawn(chance, dtype, shape, ranges.get(value.name))
            source = f"seed {seed}, {source}"
        arrays.append(np.ascontiguousarray(array) if array.ndim else array)
        declared = tuple(shapes_of.dims(value) or ()) if shapes_of.are_dynamic([value]) else None
        facts.append(InputFacts(value.name, str(dtype), shape, source, declared))
    return arrays, tuple(facts)


def dtype_of(value: onnx.ValueInfoProto) -> np.dtype[np.generic]:
    """The numpy type of an input. Raises FuseScopeError for what cannot be fed from numpy."""
    kind = value.type.WhichOneof("value")
    code = value.type.tensor_type.elem_type if kind == "tensor_type" else 0
    try:
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(code))
    except (KeyError, ValueError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in "fiub":
        told = onnx.TensorProto.DataType.Name(code).lower() if code else str(kind)
        raise FuseScopeError("input_type_impossible", input=value.name[:60], type=told)
    return dtype


def load(file: Path, names: Sequence[str]) -> dict[str, Array]:
    """The arrays of an npz file by input name.

    Raises FuseScopeError when it is none, holds Python objects, or names no input of the model.
    """
    where = file.name[:120]
    try:
        with np.load(file, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise FuseScopeError("inputs_one_array", where=where)
            for name in archive.files:
                if name not in names:
                    raise _unknown(name, names)
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise FuseScopeError("inputs_missing", where=where) from None
    except ValueError as error:
        are_objects = "pickle" in str(error).lower() or "Object arrays" in str(error)
        code: Literal["inputs_are_objects", "inputs_not_npz"]
        code = "inputs_are_objects" if are_objects else "inputs_not_npz"
        raise FuseScopeError(code, where=where) from None
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError):
        raise FuseScopeError("inputs_damaged", where=where) from None


def _checked(array: Array, name: str, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> Array:
    if array.shape != shape:
        raise FuseScopeError(
            "inputs_shape_differs",
            input=name[:60],
            given=str(list(array.shape)),
            shape=str(list(shape)),
        )
    if array.dtype != dtype:
        raise FuseScopeError(
            "inputs_type_differs", input=name[:60], given=str(array.dtype), type=str(dtype)
        )
    return array


def _unknown(name: str, names: Sequence[str]) -> FuseScopeError:
    return FuseScopeError("input_unknown", input=name[:60], inputs=", ".join(names) or "-")
