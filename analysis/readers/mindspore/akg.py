"""Kernels that AKG compiled for MindSpore: what `.info` files beside a recording say of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.operators.members import Members, akg_info, graph_kernel, members_text
from fusescope.analysis.readers.building.trace_tables import dtype_name, shape_text
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, noted

_PREFIXES = ("GraphKernel_", "Fused_")
_MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class AkgKernel:
    """One compiled kernel: its op type in a trace, its originals, its tensors as canonical text."""

    op_type: str
    members: Members
    inputs: str
    outputs: str
    path: str


def is_kernel(op_type: str) -> bool:
    """True for op types of fused kernels, for which a `.info` file may lie somewhere."""
    return op_type.startswith(_PREFIXES)


def sniff_info(head: bytes) -> bool:
    """True when the first bytes look like an AKG `.info` file."""
    return head.lstrip().startswith(b"{") and b'"composite' in head and b'"op_desc"' in head


def read_kernels(beside: Iterable[Source]) -> tuple[list[AkgKernel], list[Diagnostic]]:
    """The kernels of these `.info` files, and a note on those that cannot be read."""
    found: list[AkgKernel] = []
    unreadable: list[str] = []
    for source in beside:
        try:
            data = source.content
        except FuseScopeError:
            unreadable.append(source.name)
            continue
        known = akg_info(data) if len(data) <= _MAX_BYTES else None
        if known is None:
            unreadable.append(source.name)
            continue
        described = json.loads(data)
        found.append(
            AkgKernel(
                *known,
                inputs=_tensors(described.get("input_desc")),
                outputs=_tensors(described.get("output_desc")),
                path=source.path,
            )
        )
    return found, noted("warning", "companion_unreadable", unreadable)


def members_of(
    op_type: str, inputs: str, kernels: Iterable[AkgKernel]
) -> tuple[Members | None, AkgKernel | None]:
    """Originals of a fused kernel, and the `.info` file that told them.

    A cache folder keeps kernels of other shapes and models: only those with the shapes of `inputs`
    (canonical text, '' for unknown) count, and only where they agree. A kernel of one operator is
    no fusion: its name says which operator, while the file lists what that was expanded to.
    """
    by_name = graph_kernel(op_type) if is_kernel(op_type) else None
    fitting = [
        kernel
        for kernel in kernels
        if kernel.op_type == op_type
        and (not inputs or _dimensions(kernel.inputs) == _dimensions(inputs))
    ]
    if not fitting or len({members_text(kernel.members) for kernel in fitting}) > 1:
        return by_name, None
    kernel = fitting[0]
    lone = by_name is not None and len(by_name.members) == 1
    return (by_name if lone else kernel.members), kernel


def _dimensions(text: str) -> list[str]:
    return [part.partition("[")[2] for part in text.split("; ")]


def _tensors(described: object) -> str:
    """[[{data_type, shape}], …] or [{…}, …] as canonical text; '' for another form."""
    dtypes, shapes = [], []
    for item in described if isinstance(described, list) else []:
        tensor = item[0] if isinstance(item, list) and item else item
        if not isinstance(tensor, dict) or not isinstance(tensor.get("shape"), list):
            return ""
        dtypes.append(dtype_name(str(tensor.get("data_type") or "")))
        shapes.append(",".join(str(size)[:20] for size in tensor["shape"]))
    return shape_text(dtypes, shapes)
