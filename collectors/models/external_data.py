"""External data of an ONNX model: weights that lie in files beside it.

A model names these files itself, so every name is checked before anything is read: inside the
model's folder after links are resolved, a regular file with one name, long enough.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import shown

MAX_DEPTH = 64

DataError = Literal[
    "data_hard_link", "data_missing", "data_not_a_name", "data_not_regular", "data_offset",
    "data_outside",
]  # fmt: skip


def tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every tensor of the model: initialisers, sparse ones, attributes, subgraphs, functions."""
    yield from _graph_tensors(model.graph, 0)
    for function in model.functions:
        yield from _node_tensors(function.node, 0)
        yield from _attribute_tensors(function.attribute_proto, 0)
    for training in model.training_info:
        yield from _graph_tensors(training.initialization, 0)
        yield from _graph_tensors(training.algorithm, 0)


def is_external(tensor: onnx.TensorProto) -> bool:
    """Whether the values lie outside the model file."""
    return tensor.data_location == onnx.TensorProto.EXTERNAL or bool(tensor.external_data)


def inline(
    model: onnx.ModelProto, path: Path, *, allowed: bool, read: Callable[[bytes], object]
) -> None:
    """Reads the external data into the model; `read` sees all of it, in the model's order.

    Raises FuseScopeError when external data is not allowed or a file is not what it must be.
    """
    for tensor in tensors(model):
        if not is_external(tensor):
            continue
        if not allowed:
            raise FuseScopeError("data_not_allowed")
        fields = {entry.key: entry.value for entry in tensor.external_data}
        data = _read(path.parent, fields)
        read(data)
        tensor.raw_data = data
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]


def _read(folder: Path, fields: dict[str, str]) -> bytes:
    """The bytes that one tensor names."""
    location = fields.get("location", "")
    name = shown(location, 120)
    if not location or "\0" in location or os.path.isabs(location):
        raise _refused(name, "data_not_a_name")
    inside = Path(os.path.realpath(folder))
    target = Path(os.path.realpath(inside / location))
    if not target.is_relative_to(inside):
        raise _refused(name, "data_outside")
    try:
        # the resolved path has no link left; NOFOLLOW and NONBLOCK guard against a late swap
        handle = os.open(target, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise _refused(name, "data_missing") from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(name, "data_not_regular")
        if status.st_nlink > 1:
            raise _refused(name, "data_hard_link")
        try:
            offset = int(fields.get("offset") or 0)
            length = int(fields["length"]) if fields.get("length") else status.st_size - offset
        except ValueError:
            raise _refused(name, "data_offset") from None
        if offset < 0 or length < 0 or offset + length > status.st_size:
            raise FuseScopeError("data_too_short", file=name, size=status.st_size)
        file.seek(offset)
        return file.read(length)


def _refused(name: str, code: DataError) -> FuseScopeError:
    return FuseScopeError(code, file=name)


def _graph_tensors(graph: onnx.GraphProto, depth: int) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _node_tensors(graph.node, depth)


def _node_tensors(nodes: Iterable[onnx.NodeProto], depth: int) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        yield from _attribute_tensors(node.attribute, depth)


def _attribute_tensors(
    attributes: Iterable[onnx.AttributeProto], depth: int
) -> Iterator[onnx.TensorProto]:
    if depth > MAX_DEPTH:
        raise FuseScopeError("graphs_too_deep", largest=MAX_DEPTH)
    for attribute in attributes:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        sparse_tensors = list(attribute.sparse_tensors)
        if attribute.HasField("sparse_tensor"):
            sparse_tensors.append(attribute.sparse_tensor)
        for sparse in sparse_tensors:
            yield from (sparse.values, sparse.indices)
        graphs = list(attribute.graphs)
        if attribute.HasField("g"):
            graphs.append(attribute.g)
        for graph in graphs:
            yield from _graph_tensors(graph, depth + 1)
