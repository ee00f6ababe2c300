"""What the names of a GPU's kernels, copies and fills say of them."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.operators.kernel_names import kernel_members, kernel_type


def kernel_columns(names: Sequence[str]) -> dict[str, list[object]]:
    """Columns of a trace that follow from the names, which are among them."""
    members = [kernel_members(name) for name in names]
    return {
        "name": list(names),
        "op_type": [kernel_type(name) for name in names],
        "level": ["device_kernel"] * len(names),
        "members": [text for text, _ in members],
        "members_source": [kind for _, kind in members],
    }
