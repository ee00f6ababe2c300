"""Inputs of PyTorch operators as Kineto records them, and the FLOPs that follow from them."""

from __future__ import annotations

import re

from fusescope.analysis.operators.classes import is_heavy, op_class
from fusescope.analysis.readers.building.trace_tables import dtype_name, shape_text
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.pytorch.event import Args, number
from fusescope.analysis.readers.pytorch.flops.aten_flops import COUNTED, Count, count
from fusescope.analysis.readers.pytorch.spans import InputTexts

FROM_PROFILER = "PyTorch's count from shapes, padded taps counted"

Shape = tuple[int, ...]

_MAX_BYTES = 64 * 1024
_MAX_INPUTS = 64
_MAX_DIMS = 16
_MAX_SIZE = 2**48
_MAX_FLOPS = 2**62
_DTYPE = re.compile(r"(?:c10::|at::|torch\.)?([A-Za-z][\w ]{0,30})(?:<(\w+)>)?")
# What stands for an input that is not a tensor, now and in 2021.
_NO_TENSOR = frozenset(
    (
        "Scalar", "ScalarList", "TensorList", "OptionalTensorList", "GenericList", "GenericDict",
        "Tuple", "None", "Device", "Int", "Double", "Bool", "String", "IntList", "DoubleList",
        "BoolList", "Generator", "Layout", "MemoryFormat", "ScalarType", "Stream", "Storage",
        "Object", "Any", "SymInt",
    )
)  # fmt: skip


class Inputs:
    """The inputs of operators, read once for each distinct text."""

    def __init__(self) -> None:
        self._texts: dict[tuple[bytes, bytes], str] = {}
        self._flops: dict[tuple[str, bytes, bytes], Count | None] = {}

    def text(self, args: Args) -> str:
        """Canonical text of the tensors among the inputs; '' where no shapes were recorded."""
        return self.text_of((args.dims, bytes(args.input_types), b""))

    def text_of(self, inputs: InputTexts) -> str:
        """The same of shapes and types as JSON."""
        key = inputs[:2]
        known = self._texts.get(key)
        if known is None:
            known = self._texts[key] = _text(_listed(key[0]), _listed(key[1]))
        return known

    def flops(self, op: str, args: Args) -> Count | None:
        """FLOPs of one execution and what was counted; None where neither is sure.

        What PyTorch counted of a heavy operator (`with_flops`), else what `aten_flops` counts.
        """
        counted = number(args.flops) if is_heavy(op_class(op)) else None
        if counted is not None and 0 < counted < _MAX_FLOPS and counted == int(counted):
            own = self._counted(op, args)
            return Count(int(counted), FROM_PROFILER, written=own.written if own else None)
        return self._counted(op, args)

    def _counted(self, op: str, args: Args) -> Count | None:
        if op not in COUNTED:
            return None
        key = (op, args.dims, bytes(args.concrete_inputs))
        if key not in self._flops:
            shapes = [_shape(dims) for dims in _listed(key[1])]
            self._flops[key] = count(op, shapes, _listed(key[2]))
        return self._flops[key]


def _listed(raw: bytes) -> list[object]:
    if len(raw) > _MAX_BYTES:
        return []
    return decode(raw, list[object], [])[:_MAX_INPUTS]


def _text(dims: list[object], types: list[object]) -> str:
    shapes: list[str] = []
    dtypes: list[str] = []
    for index, each in enumerate(dims):
        given = types[index] if index < len(types) else None
        kind = given if isinstance(given, str) else ""
        # A list of tensors holds their shapes.
        nested = isinstance(each, list) and any(isinstance(item, list) for item in each)
        for dim in each if nested and isinstance(each, list) else [each]:
            shape = _shape(dim)
            if shape is None or (not shape and (not kind or kind in _NO_TENSOR)):
                continue
            shapes.append(",".join(map(str, shape)))
            dtypes.append("" if kind in _NO_TENSOR else _dtype(kind))
    return shape_text(dtypes, shapes)


def _dtype(text: str) -> str:
    match = _DTYPE.fullmatch(text.strip())
    if match is None:
        return ""
    if match[1].lower().startswith("complex"):
        return {"float": "complex64", "double": "complex128", "Half": "complex32"}.get(
            match[2] or "", match[1].lower()
        )
    return dtype_name(match[1]).replace(" ", "_")


def _shape(dims: object) -> Shape | None:
    if not isinstance(dims, list) or len(dims) > _MAX_DIMS:
        return None
    sizes = tuple(d for d in dims if type(d) is int and 0 <= d < _MAX_SIZE)
    return sizes if len(sizes) == len(dims) else None
