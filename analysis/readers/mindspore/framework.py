"""What the MindSpore profiler before 2.4 tells of operators beside their times.

`framework_raw` has types and tensors, `flops` the FLOPs of recordings that counted them; both go
by the operator's full name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fusescope.analysis.readers.building.trace_tables import dtype_name, shape_text
from fusescope.analysis.readers.input.csv_table import has_columns, read_csv
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.text import clean_text

_TENSOR = re.compile(r"(input|output)_(\d+)", re.IGNORECASE)
_PLAIN_LAYOUTS = ("", "DefaultFormat", "ND")
_FULL_NAMES = ("full_op_name", "full_kernel_name")


@dataclass(frozen=True)
class Operator:
    op_type: str
    inputs: str = ""
    outputs: str = ""
    block_dim: int | None = None


def is_framework(head: bytes) -> bool:
    """True for the head of `framework_raw`."""
    return has_columns(head, "task_id", _FULL_NAMES, "op_info")


def is_flops(head: bytes) -> bool:
    """True for the head of `flops`, where that names its unit."""
    return has_columns(head, _FULL_NAMES, "MFLOPs(10^6 cube)")


def read_framework(source: Source) -> dict[str, Operator]:
    """Full name -> op type and tensors, from `framework_raw`."""
    table = read_csv(source)
    names = table.required(*_FULL_NAMES).cells
    infos = table.required("op_info").cells
    dims = table.integers("block_dim")
    found: dict[str, Operator] = {}
    for name, kind, info, block in zip(
        names, table.texts("op_type", "kernel_type"), infos, dims, strict=True
    ):
        if name and name not in found:
            args: dict[str, object] = decode(info.encode("utf-8", "replace"), dict[str, object], {})
            found[name] = operator_of(kind or "", args, block)
    return found


def operator_of(op_type: str, args: Mapping[str, object], block: int | None = None) -> Operator:
    """Type and tensors out of {'input_0': {format, data_type, shape: '1,8'}, …}."""
    sides: dict[str, list[tuple[int, str]]] = {"input": [], "output": []}
    for key, tensor in args.items():
        match = _TENSOR.fullmatch(key[:20])
        if match is None or not isinstance(tensor, dict):
            continue
        shape = tensor.get("shape")
        sizes = ",".join(map(str, shape)) if isinstance(shape, list) else text_of(shape)
        layout = text_of(tensor.get("format"))
        text = shape_text(
            [_dtype(text_of(tensor.get("data_type")))],
            [clean_text(sizes.strip("[]() "), 120)],
            ["" if layout in _PLAIN_LAYOUTS else clean_text(layout, 40)],
        )
        sides[match[1].lower()].append((int(match[2]), text))
    texts = ["; ".join(text for _, text in sorted(tensors)) for tensors in sides.values()]
    return Operator(op_type, texts[0], texts[1], block)


def _dtype(text: str) -> str:
    name = text.removeprefix("NUMBER_TYPE_")
    return "" if name in ("UNKNOWN", "END") else dtype_name(clean_text(name, 20))


def read_flops(source: Source) -> dict[str, int | None]:
    """Full name -> FLOPs, cube and vector together; only files whose heads name the unit."""
    table = read_csv(source)
    names = table.required(*_FULL_NAMES).cells
    cube = table.required("MFLOPs(10^6 cube)").numbers()
    other = table.numbers("MFLOPs(10^6 vector)")
    found: dict[str, int | None] = {}
    for name, one, two in zip(names, cube, other, strict=True):
        if one is not None or two is not None:
            total = (one or 0.0) + (two or 0.0)
            if 0 <= total < 2**40:
                found[name] = round(total * 1e6)
    return found


def text_of(value: object) -> str:
    """A value of the JSON as text; '' for none."""
    return value if isinstance(value, str) else "" if value is None else str(value)[:40]
