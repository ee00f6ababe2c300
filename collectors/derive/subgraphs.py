"""The graph that runs where a provider compiles parts of it. ONNX Runtime cannot write such a
graph, so it is drawn from what it says of the parts: each is one node that calls a function of the
model, whose body are the operators that the provider took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import onnx
from onnx import helper

from fusescope.analysis.graph import COMPILED_DOMAIN, Graph
from fusescope.analysis.operators.subgraph_names import of_session
from fusescope.collectors.derive.cut import reads
from fusescope.collectors.models.model import save
from fusescope.collectors.runtimes.assignment import Ran, RanNode, optimised
from fusescope.collectors.runtimes.providers import Provider
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Optimization, SessionSettings

_KERNEL_TIME = "_kernel_time"
_ENGINE_TYPES = {"float": "FLOAT", "double": "DOUBLE"}
# Up to where a graph is optimised before providers take their parts of it.
_BEFORE: dict[Optimization, Optimization] = {
    "none": "none", "basic": "basic", "extended": "basic", "all": "basic",
}  # fmt: skip


class NotKnown(Exception):
    """Why the graph cannot be drawn, for people."""


def names(ran: Ran, provider: Provider) -> list[RanNode]:
    """The parts that the provider compiled, in their order: they carry its name."""
    return [
        node
        for node in ran.nodes
        if node.provider == provider.engine_name and node.name.startswith(provider.engine_name)
    ]


def drawn(
    model: onnx.ModelProto,
    ran: Ran,
    provider: Provider,
    settings: SessionSettings,
    variant: Variant,
    folder: Path,
) -> onnx.ModelProto:
    """Nodes of the CPU as they ran, those of the provider's parts as one each. Raises NotKnown."""
    if ran.parts is None:
        raise NotKnown("this ONNX Runtime does not say which operators a provider took")
    before = _BEFORE[variant.optimization]
    base = model if before == "none" else optimised(settings.model, settings, before)
    parts = [part.nodes for part in ran.parts if part.provider == provider.engine_name]
    made = names(ran, provider)
    known = {node.name: node for node in base.graph.node}
    if len(parts) != len(made) or any(name not in known for part in parts for name in part):
        raise NotKnown("what ONNX Runtime says of the provider's parts does not fit its profile")
    drawing = _Drawing(base, parts, made)
    rest = drawing.rest
    if rest and variant.optimization != before:
        cut = folder / "rest.onnx"
        save(drawing.rest_model(), cut)
        return drawing.joined(optimised(str(cut), settings, variant.optimization))
    return drawing.joined(None)


def name_as_drawn(events: list[dict[str, Any]]) -> dict[str, str]:
    """Gives the nodes of a profile the names that they have in a drawn graph. Returns their op
    types."""
    types = {}
    for event in events:
        name, args = str(event.get("name", "")), event.get("args")
        if event.get("cat") == "Node" and name.endswith(_KERNEL_TIME) and isinstance(args, dict):
            own, op_type = of_session(name.removesuffix(_KERNEL_TIME), args.get("op_name"))
            event["name"] = own + _KERNEL_TIME
            types[own] = op_type or ""
    return types


def typed(graph: Graph, op_types: Mapping[str, str]) -> Graph:
    """The graph with the op types of the profile, in place of the names of functions."""
    nodes = tuple(
        msgspec.structs.replace(node, op_type=op_types.get(node.name, node.op_type))
        if node.domain == COMPILED_DOMAIN
        else node
        for node in graph.nodes
    )
    return msgspec.structs.replace(graph, nodes=nodes)


class _Drawing:
    """`base` is the graph before the provider took its parts, in topological order."""

    def __init__(
        self, base: onnx.ModelProto, parts: Sequence[Sequence[str]], made: Sequence[RanNode]
    ) -> None:
        self._base = base
        graph = base.graph
        part_of = {name: index for index, part in enumerate(parts) for name in part}
        self._bodies: list[list[onnx.NodeProto]] = [[] for _ in parts]
        self.rest: list[onnx.NodeProto] = []
        for node in graph.node:
            index = part_of.get(node.name)
            (self.rest if index is None else self._bodies[index]).append(node)
        self._returned = {value.name for value in graph.output}
        self._types: dict[str, int] = {}
        self._functions = []
        self.calls: list[onnx.NodeProto] = []
        for body, node in zip(self._bodies, made, strict=True):
            inputs, outputs = self._boundary(body)
            types = [_dtype(one) for one in node.output_types]
            if len(types) != len(outputs):
                raise NotKnown("a part of the provider returns other tensors than its operators do")
            self._types.update(zip(outputs, types, strict=True))
            name, _ = of_session(node.name, node.op_name)
            function = helper.make_function(
                COMPILED_DOMAIN, name, inputs, outputs, body, base.opset_import
            )
            self._functions.append(function)
            self.calls.append(
                helper.make_node(name, inputs, outputs, name=name, domain=COMPILED_DOMAIN)
            )

    def rest_model(self) -> onnx.ModelProto:
        """The nodes of the CPU as a model of their own, for ONNX Runtime to optimise as it did:
        what the parts write are inputs, what they read are outputs."""
        graph = self._base.graph
        made = {name for node in self.rest for name in node.output if name}
        read = [name for node in self.rest for name in reads(node)]
        wanted = {name for call in self.calls for name in call.input} | self._returned
        weights = {tensor.name: tensor for tensor in graph.initializer}
        declared = {value.name: value for value in graph.input}
        inputs = [
            declared.get(name) or helper.make_tensor_value_info(name, self._types[name], None)
            for name in dict.fromkeys(read)
            if name in declared or name in self._types
        ]
        own = helper.make_graph(
            self.rest,
            "rest",
            [value for value in inputs if value.name not in weights],
            [onnx.ValueInfoProto(name=name) for name in sorted(made & wanted)],
            [weights[name] for name in dict.fromkeys(read) if name in weights],
        )
        return helper.make_model(
            own, opset_imports=self._base.opset_import, ir_version=self._base.ir_version
        )

    def joined(self, rest: onnx.ModelProto | None) -> onnx.ModelProto:
        """The whole graph: the parts as calls, and the nodes of the CPU, of `rest` where they were
        optimised further."""
        base, graph = self._base, self._base.graph
        others = list(rest.graph.node) if rest is not None else self.rest
        ordered = _in_order([*self.calls, *others], made_before=_given(graph, rest))
        weights = {tensor.name: tensor for tensor in graph.initializer}
        if rest is not None:
            weights |= {tensor.name: tensor for tensor in rest.graph.initializer}
        read = {name for node in ordered for name in reads(node)}
        own = helper.make_graph(
            ordered,
            graph.name,
            list(graph.input),
            list(graph.output),
            [tensor for name, tensor in weights.items() if name in read],
        )
        imports = {one.domain: one for one in base.opset_import}
        if rest is not None:
            imports |= {one.domain: one for one in rest.opset_import}
        imports[COMPILED_DOMAIN] = helper.make_opsetid(COMPILED_DOMAIN, 1)
        return helper.make_model(
            own,
            opset_imports=list(imports.values()),
            ir_version=max(base.ir_version, 8),  # the first with functions
            functions=[*base.functions, *self._functions],
        )

    def _boundary(self, body: Sequence[onnx.NodeProto]) -> tuple[list[str], list[str]]:
        """What the operators of a part read from outside, weights too, and what they write that
        others read or the model returns."""
        made = {name for node in body for name in node.output if name}
        inside = {id(node) for node in body}
        read = {
            name for node in self._base.graph.node if id(node) not in inside for name in reads(node)
        }
        inputs = dict.fromkeys(name for node in body for name in reads(node) if name not in made)
        outputs = [name for node in body for name in node.output if name in read | self._returned]
        return list(inputs), outputs


def _given(graph: onnx.GraphProto, rest: onnx.ModelProto | None) -> set[str]:
    graphs: Iterable[onnx.GraphProto] = (graph,) if rest is None else (graph, rest.graph)
    return {
        name
        for one in graphs
        for name in (
            *(tensor.name for tensor in one.initializer),
            *(tensor.values.name for tensor in one.sparse_initializer),
        )
    } | {value.name for value in graph.input}


def _in_order(nodes: list[onnx.NodeProto], made_before: set[str]) -> list[onnx.NodeProto]:
    """The nodes so that each comes after what it reads."""
    known, waiting, ordered = set(made_before), nodes, []
    while waiting:
        ready = [node for node in waiting if all(name in known for name in reads(node))]
        if not ready:
            raise NotKnown(
                "the provider's parts and the nodes of the CPU read each other in a ring"
            )
        ordered += ready
        known.update(name for node in ready for name in node.output)
        waiting = [node for node in waiting if not any(node is one for one in ready)]
    return ordered


def _dtype(engine: str) -> int:
    name = _ENGINE_TYPES.get(engine, engine.upper())
    if name not in onnx.TensorProto.DataType.keys():  # noqa: SIM118 - not a mapping
        raise NotKnown(f"a part of the provider returns values of the type {engine}")
    return int(onnx.TensorProto.DataType.Value(name))
