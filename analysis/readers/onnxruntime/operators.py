"""Operators of ONNX Runtime profiles, told apart by name, type, provider and tensors."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from fusescope.analysis.limits import Limits
from fusescope.analysis.operators import flops
from fusescope.analysis.operators.classes import op_class
from fusescope.analysis.operators.devices import runs_on_device
from fusescope.analysis.operators.subgraph_names import of_session
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.onnxruntime.events import KERNEL_TIME, Args, Event, Kernel
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import operators_frame

NODE = "graph_layer"
KERNEL = "device_kernel"
_DTYPES = {"float": "float32", "double": "float64"}


class _Operator(NamedTuple):
    name: str
    op_type: str | None
    provider: str | None
    inputs: str
    outputs: str
    bytes_in: int | None
    bytes_param: int | None
    bytes_out: int | None
    level: str
    launched_by: str | None
    whole: bool  # it does all that its node does


class OperatorTable:
    """The operators of one Trace, numbered as they come; `long_names` are those that were cut."""

    def __init__(self, limits: Limits) -> None:
        self.long_names: set[str] = set()
        self._limits = limits
        self._numbers: dict[tuple[object, ...], int] = {}
        self._rows: list[_Operator] = []
        self._shape_text: dict[bytes, str] = {}

    def of_node(self, event: Event, occurrence: int) -> int:
        """The operator of a node; `occurrence` counts nodes of its type without a name in a run."""
        args = event.args or Args()
        name, op_name = of_session(event.name[: -len(KERNEL_TIME)], args.op_name)
        ins, outs = bytes(args.input_type_shape), bytes(args.output_type_shape)
        # Only unnamed nodes need their index: it differs between optimisation levels.
        index = args.node_index if args.node_index is not None else args.graph_index
        position = None if name else str(occurrence if index is None else index)[:40]
        key = (name, op_name, args.provider, ins, outs, position)
        known = self._numbers.get(key)
        if known is not None:
            return known
        number = self._numbers[key] = len(self._rows)
        self.long_names.update(
            text for text in (name, op_name or "") if len(text) > self._limits.text_chars
        )
        op_type = clean_text(op_name) if op_name else None
        self._rows.append(
            _Operator(
                clean_text(name) if name else f"{op_type or 'operator'}#{position}",
                op_type,
                clean_text(args.provider) if args.provider else None,
                self._shapes(ins),
                self._shapes(outs),
                _size(args.activation_size),
                _size(args.parameter_size),
                _size(args.output_size),
                NODE,
                None,
                True,
            )
        )
        return number

    def of_kernel(self, kernel: Kernel, *, whole: bool, level: str = KERNEL) -> int:
        """The operator of a kernel: type and tensors are those of the node that launched it.

        The node's FLOPs are the kernel's only where it was the only one (`whole`). `level` is
        another where nodes have the times of their kernels, and this is of none.
        """
        args = kernel.event.args or Args()
        parent = (kernel.parent.args if kernel.parent else None) or args
        op_type = parent.op_name or args.op_name
        ins, outs = bytes(parent.input_type_shape), bytes(parent.output_type_shape)
        launcher = kernel.parent.name.removesuffix(KERNEL_TIME) if kernel.parent else ""
        key = (kernel.event.name, op_type, parent.provider, ins, outs, launcher, whole)
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self._rows)
            self._rows.append(
                _Operator(
                    clean_text(kernel.event.name) or f"kernel#{known}",
                    clean_text(op_type) if op_type else None,
                    clean_text(parent.provider) if parent.provider else None,
                    self._shapes(ins),
                    self._shapes(outs),
                    None,
                    None,
                    None,
                    level,
                    clean_text(launcher) if launcher else None,
                    whole,
                )
            )
        return known

    def launch_timed(self) -> list[str]:
        """Providers whose nodes were timed at their launch, and whose kernels were not timed: then
        kernel_time is the launch, not the kernel."""
        timed = {row.provider for row in self._rows if row.level == KERNEL}
        providers = {row.provider for row in self._rows if row.provider}
        return sorted(p for p in providers - timed if runs_on_device(p))

    def frame(self) -> pd.DataFrame:
        """The operators of the Trace, with FLOPs out of their shapes."""
        rows = self._rows
        counts = [_flops(row) for row in rows]
        told = [name for name in _Operator._fields if name != "whole"]
        return operators_frame(
            operator=range(len(rows)),
            **{name: [getattr(row, name) for row in rows] for name in told},
            op_class=[op_class(row.op_type) for row in rows],
            flops=[count if count is not None and count < 2**62 else None for count in counts],
            flops_source=[
                flops.shapes_source(str(row.op_type)) if count is not None else None
                for row, count in zip(rows, counts, strict=True)
            ],
        )

    def _shapes(self, raw: bytes) -> str:
        """[{"float":[1,3]},…] as 'float32[1,3]; …'; '' when it is not of that form."""
        text = self._shape_text.get(raw)
        if text is None:
            listed = decode(raw, list[dict[str, list[int]]], ())
            text = "; ".join(
                f"{_DTYPES.get(dtype, clean_text(dtype, 20))}[{','.join(map(str, dims))}]"
                for tensor in listed
                for dtype, dims in tensor.items()
            )
            text = self._shape_text[raw] = clean_text(text, self._limits.text_chars, is_name=False)
        return text


def _flops(row: _Operator) -> int | None:
    if not row.whole:
        return None
    ins, outs = flops.parse_shapes(row.inputs), flops.parse_shapes(row.outputs)
    return flops.from_shapes(str(row.op_type), ins, outs)


def _size(value: str | float | None) -> int | None:
    try:
        size = int(value) if value is not None else None
    except (ValueError, OverflowError):
        return None
    return size if size is not None and 0 <= size < 2**62 else None
