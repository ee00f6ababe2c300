"""Names of tensors in a model: what they stand for, and others in place of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

import onnx

from fusescope.collectors.models import shapes

MARK = "'"


def without_clashes(model: onnx.ModelProto, renamed: Mapping[str, str]) -> dict[str, str]:
    """The renaming, with another new name for tensors that are in the way of one."""
    found = {name: new for name, new in renamed.items() if name != new}
    names = {name for graph in _graphs(model.graph) for name in _tensors(graph)}
    given = set(found.values())
    for name in sorted(given & names - set(found)):
        found[name] = unused(name, {*names, *given})
    return found


def unused(name: str, names: set[str]) -> str:
    """The name with as many marks as it takes; it is added to the names."""
    name += MARK
    while name in names:
        name += MARK
    names.add(name)
    return name


def origins(graph: onnx.GraphProto) -> dict[str, str]:
    """What each tensor is computed from, down to inputs by name and weights by value."""
    known = {value.name: _hash("input", value.name) for value in shapes.model_inputs(graph)}
    for tensor in graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        shape = list(tensor.dims)
        known[tensor.name] = _hash("weight", tensor.data_type, shape, values.tobytes())
    for sparse in graph.sparse_initializer:
        known[sparse.values.name] = _hash("weight", sparse.SerializeToString(deterministic=True))
    for node in graph.node:
        bodies = [body for attribute in node.attribute for body in _bodies(attribute)]
        read = [*node.input, *(name for body in bodies for name in _reads(body))]
        attributes = sorted(one.SerializeToString(deterministic=True) for one in node.attribute)
        inputs = [known.get(name, name) for name in read]
        for place, name in enumerate(node.output):
            if name:
                known[name] = _hash(node.domain, node.op_type, place, inputs, attributes)
    return known


def _hash(*parts: object) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()


def rename(model: onnx.ModelProto, names: Mapping[str, str]) -> None:
    """Everywhere at once, in bodies of operators too: ONNX has one name for one tensor."""
    if not names:
        return
    for graph in _graphs(model.graph):
        for node in graph.node:
            node.input[:] = [names.get(name, name) for name in node.input]
            node.output[:] = [names.get(name, name) for name in node.output]
        sparse = (one.values for one in graph.sparse_initializer)
        for named in (
            *graph.input, *graph.output, *graph.value_info, *graph.initializer, *sparse,
        ):  # fmt: skip
            named.name = names.get(named.name, named.name)
        del graph.quantization_annotation[:]  # nothing that runs reads it


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and those inside its operators."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in _bodies(attribute):
                yield from _graphs(body)


def _bodies(attribute: onnx.AttributeProto) -> tuple[onnx.GraphProto, ...]:
    own = (attribute.g,) if attribute.HasField("g") else ()
    return (*own, *attribute.graphs)


def _reads(graph: onnx.GraphProto) -> Iterator[str]:
    for inner in _graphs(graph):
        for node in inner.node:
            yield from node.input
        yield from (value.name for value in inner.output)


def _tensors(graph: onnx.GraphProto) -> Iterator[str]:
    for node in graph.node:
        yield from (*node.input, *node.output)
    for value in (*graph.input, *graph.output, *graph.initializer):
        yield value.name
