"""Graph: the nodes and tensors of a model, without weights.

Collectors write it as JSON before and after optimisation, so that analysis needs no `onnx`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text

# Of a file that is foreign: a dimension of which a few make no number beyond every table.
Dimension = Annotated[int, msgspec.Meta(ge=-1, le=2**40)]
Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Attribute = Integer | float | str | list[Integer | float | str]

# Attributes of an operator: tensors of the model that depend on no input, and that it writes, or
# computes on the way (analysis.compare.groups.fixed).
MAKES, HOLDS = "makes", "holds"
# Of nodes that are a part of the graph which an execution provider compiled: what runs inside them
# is not known.
COMPILED_DOMAIN = "fusescope.subgraph"

_DTYPE_BITS = {
    "float32": 32, "float16": 16, "bfloat16": 16, "float64": 64,
    "int8": 8, "int16": 16, "int32": 32, "int64": 64,
    "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64,
    "bool": 8, "complex64": 64, "complex128": 128,
    "float8e4m3fn": 8, "float8e4m3fnuz": 8, "float8e5m2": 8, "float8e5m2fnuz": 8,
    "int4": 4, "uint4": 4, "float4e2m1": 4, "int2": 2, "uint2": 2,
}  # fmt: skip


class Tensor(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tensor. `shape` is None when unknown, a dimension -1 when it is dynamic.

    `digest` stands for the content of a constant: equal where dtype, shape and values are.
    `values` are those of a small numeric constant, in storage order. An `overridable` constant is
    also listed as a model input, so that whoever runs the model may replace it.
    """

    name: str
    dtype: str | None = None
    shape: tuple[Dimension, ...] | None = None
    constant: bool = False
    digest: str | None = None
    values: tuple[float, ...] | None = None
    overridable: bool = False

    @property
    def bytes(self) -> int | None:
        """Size in bytes, or None when shape or dtype is not known."""
        return tensor_bytes(self.dtype, self.shape)


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One operator of the graph; '' stands for an optional input that is absent.

    `captured` are tensors of this graph that the node's own subgraphs (If, Loop, Scan) read.
    """

    name: str
    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    domain: str = ""
    attributes: dict[str, Attribute] = {}
    scope: str = ""
    captured: tuple[str, ...] = ()


class Graph(msgspec.Struct, frozen=True, dict=True):
    """Nodes in topological order, tensors by name, and the model's own inputs and outputs."""

    nodes: tuple[Node, ...]
    tensors: tuple[Tensor, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @cached_property
    def tensor(self) -> dict[str, Tensor]:
        """Tensor by name."""
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def node(self) -> dict[str, Node]:
        """Node by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of a node in the graph, by name."""
        return {node.name: position for position, node in enumerate(self.nodes)}

    @cached_property
    def returned(self) -> frozenset[str]:
        """The outputs, to look names up in."""
        return frozenset(self.outputs)

    @cached_property
    def producer(self) -> dict[str, Node]:
        """The node that writes a tensor, by tensor name."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    @cached_property
    def consumers(self) -> dict[str, list[Node]]:
        """The nodes that read a tensor, by tensor name; a node stands once per read."""
        readers: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in (*node.inputs, *node.captured):
                if name:
                    readers.setdefault(name, []).append(node)
        return readers

    def with_types(self, types: Mapping[str, str]) -> Graph:
        """The same with the op types of these nodes, by name, in place of their own."""
        nodes = (
            msgspec.structs.replace(node, op_type=types.get(node.name, node.op_type))
            for node in self.nodes
        )
        return msgspec.structs.replace(self, nodes=tuple(nodes))

    def bytes_of(self, name: str) -> int | None:
        """Size of a tensor in bytes, None when it is not known."""
        tensor = self.tensor.get(name)
        return tensor.bytes if tensor else None


def tensor_bytes(dtype: str | None, shape: tuple[int, ...] | None) -> int | None:
    """Bytes of a dense tensor; None for unknown dtype or a dynamic dimension."""
    if dtype is None or shape is None or dtype not in _DTYPE_BITS or any(d < 0 for d in shape):
        return None
    return (math.prod(shape) * _DTYPE_BITS[dtype] + 7) // 8


def parse_graph(data: bytes, where: str) -> Graph:
    """Graph from its JSON. Raises FuseScopeError naming `where` and the offending field."""
    try:
        return msgspec.json.decode(data, type=Graph)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        reason = clean_text(str(error), 160)
        raise FuseScopeError("experiment_file_damaged", where=where, reason=reason) from error


def graph_json(graph: Graph) -> bytes:
    """The JSON that `parse_graph` reads."""
    return msgspec.json.encode(graph)
