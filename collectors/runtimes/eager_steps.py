"""Eager execution, prepared: a one-node model for every node of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import onnx
import onnxruntime as ort

from analysis.errors import FuseScopeError
from collectors.jobs import Step, Steps
from collectors.runtimes.onnxruntime import PROVIDERS, Array, options

BeforeNode = Callable[[onnx.NodeProto, Mapping[str, Any]], None]


def split(
    model: onnx.ModelProto,
    feeds: Mapping[str, Array],
    folder: Path,
    *,
    before_node: BeforeNode | None = None,
) -> Path:
    """Writes a one-node model for every node, and the list of them; returns the list's path.

    The nodes run once on the way, because a node's input types are known only then.
    `before_node` sees every node and the tensors so far, and may change its initialisers.
    """
    folder.mkdir(exist_ok=True)
    graph = model.graph
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    outputs = tuple(output.name for output in graph.output)
    last_use = {name: place for place, node in enumerate(graph.node) for name in _reads(node)}
    values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
    steps: list[Step] = []
    for place, node in enumerate(graph.node):
        if before_node is not None:
            before_node(node, values)
        reads = list(dict.fromkeys(_reads(node)))
        fed = tuple(name for name in reads if name in values)
        constants = [initializers[name] for name in reads if name in initializers]
        file = folder / f"{place:05d}.onnx"
        try:
            one = _one_node_model(model, node, {name: values[name] for name in fed}, constants)
            file.write_bytes(one.SerializeToString())
        except (ValueError, onnx.onnx_cpp2py_export.checker.ValidationError):
            raise _not_eager(node, "its weights are too big for a model of their own") from None
        writes = tuple(name for name in node.output if name)
        free = tuple(
            name
            for name in dict.fromkeys((*fed, *writes))
            if last_use.get(name, place) == place and name not in outputs
        )
        session = ort.InferenceSession(
            str(file), options("none", threads=1, spin=False), providers=PROVIDERS
        )
        ran = session.run_with_ort_values(writes, {name: values[name] for name in fed})
        values.update(zip(writes, ran, strict=True))
        for name in free:
            values.pop(name, None)
        steps.append(Step(str(file), fed, writes, free))
    for name in outputs:
        if name not in values:
            raise FuseScopeError(
                f"Eager cannot return the constant output '{name[:60]}'",
                hint="Leave eager out of --variants.",
            )
    listing = folder / "steps.json"
    listing.write_bytes(msgspec.json.encode(Steps(tuple(steps), outputs)))
    return listing


def _reads(node: onnx.NodeProto) -> Iterator[str]:
    """What a node reads, in order: its inputs, and what its subgraphs take from outside."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        bodies = [attribute.g] if attribute.HasField("g") else []
        for body in (*bodies, *attribute.graphs):
            made = {value.name for value in body.input}
            made.update(tensor.name for tensor in body.initializer)
            for inner in body.node:
                yield from (name for name in _reads(inner) if name not in made)
                made.update(inner.output)
            yield from (value.name for value in body.output if value.name not in made)


def _one_node_model(
    model: onnx.ModelProto,
    node: onnx.NodeProto,
    fed: Mapping[str, Any],
    constants: list[onnx.TensorProto],
) -> onnx.ModelProto:
    """The node alone. Output types are left open: the engine infers them."""
    types = []
    for name, value in fed.items():
        if not value.is_tensor():
            raise _not_eager(node, f"it reads '{name[:60]}', which is no tensor")
        types.append(
            onnx.helper.make_tensor_value_info(name, value.element_type(), list(value.shape()))
        )
    graph = onnx.helper.make_graph(
        [node],
        node.name,
        types,
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
        constants,
    )
    return onnx.helper.make_model(
        graph,
        opset_imports=list(model.opset_import),
        ir_version=max(model.ir_version, 4),
        functions=list(model.functions),
    )


def _not_eager(node: onnx.NodeProto, why: str) -> FuseScopeError:
    return FuseScopeError(
        f"Eager cannot run the node '{node.name[:60]}': {why}",
        hint="Leave eager out of --variants.",
    )
