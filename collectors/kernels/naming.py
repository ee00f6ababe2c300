"""Names of kernels, as the profile and the graph show them."""

from __future__ import annotations

from fusescope.analysis.graph import Node


def unique(node: Node, op_name: str, number: int, taken: set[str]) -> str:
    """What a kernel is called in place of the operators that end in `node`: a name beside theirs,
    which is taken from now on."""
    scope, slash, _ = node.name.rpartition("/")
    name = f"{scope}{slash}{op_name}_{number}"
    while name in taken:
        name += "_"
    taken.add(name)
    return name
