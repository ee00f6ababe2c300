"""The model while it is rewritten: nodes and weights by name, and what every node stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
import onnx
from onnx import helper, numpy_helper

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.patterns import Match, View
from fusescope.collectors.fusion.rewrite import CONTRIB, NewNode, Numbers, Place, Rewrite, Stored
from fusescope.collectors.models import graphs


@dataclass(frozen=True)
class Step:
    """One rewrite that was applied: its name, and the original nodes it made one."""

    rewrite: str
    members: frozenset[str]


@dataclass(frozen=True)
class Origin:
    """What a node stands for: original nodes and their op types in the order that data flows, and
    the steps that made it, in order. `pattern` is what people call it."""

    members: tuple[str, ...]
    op_types: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    pattern: str = ""


class Working:
    """`model` as rewrites leave it; the model itself and its weights are never changed. `graph` is
    its graph with the shapes that ran."""

    def __init__(self, model: onnx.ModelProto, graph: Graph) -> None:
        self._model = model
        self._before = graph
        self.nodes = {node.name: node for node in model.graph.node}
        self.origins = {
            node.name: Origin((node.name,), (node.op_type,)) for node in model.graph.node
        }
        self.weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._place = {name: index for index, name in enumerate(self.nodes)}
        self._tensors = dict(graph.tensor)
        self._names = {*self._tensors, *(name for node in graph.nodes for name in node.outputs)}
        self._view: View | None = None
        self._before_of: dict[str, tuple[str, ...]] = {}

    @property
    def opset(self) -> int:
        """Version of the standard operators."""
        imports = self._model.opset_import
        return max((o.version for o in imports if o.domain in ("", "ai.onnx")), default=0)

    @property
    def view(self) -> View:
        """The graph as it was when `refresh` was called last."""
        if self._view is None:
            nodes = graphs.nodes_of(onnx.GraphProto(node=self.nodes.values()))
            self._view = View(
                msgspec.structs.replace(
                    self._before, nodes=nodes, tensors=tuple(self._tensors.values())
                )
            )
        return self._view

    def refresh(self) -> None:
        """Lets the view show what was rewritten: it costs a walk over the model. Nodes are in the
        model's order again."""
        self._view = None
        self.nodes = dict(sorted(self.nodes.items(), key=lambda item: self._place[item[0]]))

    # What rewrites read

    def array(self, tensor: str) -> Numbers:
        """The values of a stored weight."""
        return numpy_helper.to_array(self.weights[self.view.source(tensor)]).astype(np.float64)

    def attribute(self, node: str, name: str) -> int | float | None:
        """A number among the attributes of a node, in full precision; None where absent."""
        for attribute in self.nodes[node].attribute:
            if attribute.name == name:
                value = helper.get_attribute_value(attribute)
                return value if isinstance(value, int | float) else None
        return None

    def new_name(self, wanted: str) -> str:
        """A tensor name that is free."""
        while wanted in self._names:
            wanted += "_"
        self._names.add(wanted)
        return wanted

    # Rewriting

    def members(self, match: Match) -> tuple[str, ...]:
        """The original nodes of a match, with the Identity nodes between them."""
        nodes = (*match.nodes, *self._between(match))
        return tuple(name for node in nodes for name in self.origins[node.name].members)

    def op_types(self, match: Match) -> tuple[str, ...]:
        """The original op types of a match in the order that data flows."""
        return tuple(of for node in match.nodes for of in self.origins[node.name].op_types)

    def apply(self, rewrite: Rewrite, match: Match) -> None:
        """Puts what the rewrite writes in place of the match's last node, under the same output
        names, and takes out the others. It comes last among the nodes until `refresh`."""
        new = rewrite.write(Place(match, self.view, self))
        named, last = match.steps[new.named], match.nodes[-1]
        between = self._between(match)
        members = self.members(match)
        node = self._proto(new, named, last)
        flow = [self.origins[of.name] for of in match.nodes]
        steps = [step for origin in flow for step in origin.steps]
        origin = Origin(
            members,
            self.op_types(match),
            (*steps, Step(rewrite.name, frozenset(members))),
            rewrite.pattern.title or " + ".join(self.op_types(match)),
        )
        gone = {of.name for of in (*match.nodes, *between)}
        for made in (*new.before, new):
            self._store(made.weights)
        for name in gone:
            del self.nodes[name], self.origins[name]
        place = self._place[last.name]
        before = [self._proto(made, match.steps[made.named], last) for made in new.before]
        for made in (*before, node):
            self.nodes[made.name] = made
            self.origins[made.name] = Origin((), ())
            self._place[made.name] = place
        self.origins[node.name] = origin
        self._before_of[node.name] = tuple(made.name for made in before)

    def written(self, name: str) -> list[onnx.NodeProto]:
        """The node of a group, after those that were written before it."""
        return [self.nodes[made] for made in (*self._before_of.get(name, ()), name)]

    def groups(self) -> dict[str, Origin]:
        """What was rewritten, by the name of the node that stands for it."""
        return {name: self.origins[name] for name in self.nodes if self.origins[name].steps}

    def model(self) -> onnx.ModelProto:
        """The rewritten model, without the weights that nothing reads any more."""
        result = shell(self._model)
        graph, before = result.graph, self._model.graph
        graph.name = before.name
        graph.doc_string = before.doc_string
        graph.input.extend(before.input)
        graph.output.extend(before.output)
        graph.quantization_annotation.extend(before.quantization_annotation)
        given = {value.name for value in before.input}
        ordered = self._ordered()
        graph.node.extend(ordered)
        read = {name for node in graphs.nodes_of(graph) for name in (*node.inputs, *node.captured)}
        wanted = read | given | {value.name for value in before.output}
        graph.initializer.extend(t for name, t in self.weights.items() if name in wanted)
        made = {name for node in ordered for name in node.output}
        graph.value_info.extend(v for v in before.value_info if v.name in made)
        if any(node.domain == CONTRIB for node in ordered):
            use_contrib(result)
        return result

    def _store(self, weights: Mapping[str, Stored]) -> None:
        for name, values in weights.items():
            dtype = np.int64 if values.dtype.kind == "i" else np.float32
            array = np.array(values, dtype, order="C")
            self.weights[name] = numpy_helper.from_array(array, name)
            self._tensors[name] = Tensor(name, array.dtype.name, array.shape, constant=True)

    def _proto(self, new: NewNode, named: Node, last: Node) -> onnx.NodeProto:
        node = onnx.NodeProto()
        if new.keeps:
            kept = self.nodes[named.name].attribute
            node.attribute.extend(a for a in kept if a.name not in new.attributes)
        node.name, node.op_type, node.domain = named.name, new.op_type, new.domain
        node.input.extend(new.inputs)
        node.output.extend(new.outputs or last.outputs[:1])
        for name, value in new.attributes.items():
            node.attribute.append(helper.make_attribute(name, value))
        return node

    def _between(self, match: Match) -> list[Node]:
        """Nodes that hand a tensor on from one node of the match to another, and to nobody else."""
        inner = {of.outputs[0] for of in match.nodes[:-1]}
        found: dict[str, Node] = {}
        for node in match.nodes:
            for name in node.inputs:
                while name and name not in inner and self.view.source(name) in inner:
                    maker = self.view.graph.producer[name]
                    readers = {reader.name for reader in self.view.graph.consumers[name]}
                    is_inside = readers <= {of.name for of in match.nodes} | found.keys()
                    if is_inside and name not in self.view.graph.returned:
                        found[maker.name] = maker
                    name = maker.inputs[0]
        return list(found.values())

    def _ordered(self) -> list[onnx.NodeProto]:
        """The nodes, each after those that make what it reads; else in their order."""
        readable = graphs.nodes_of(onnx.GraphProto(node=self.nodes.values()))
        maker = {name: node.name for node in readable for name in node.outputs if name}
        reads = {node.name: (*node.inputs, *node.captured) for node in readable}
        placed: dict[str, None] = {}
        for first in self.nodes:
            waiting = [first]
            while waiting:
                name = waiting[-1]
                missing = _missing(reads[name], maker, placed)
                if name in placed:
                    waiting.pop()
                elif missing:
                    waiting += missing
                else:
                    placed[waiting.pop()] = None
        return [self.nodes[name] for name in placed]


def _missing(
    reads: Iterable[str], maker: Mapping[str, str], placed: Mapping[str, None]
) -> list[str]:
    wanted = (maker[name] for name in reads if name in maker)
    return [name for name in wanted if name not in placed]


def shell(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model with everything but the graph."""
    return onnx.ModelProto(
        ir_version=model.ir_version,
        producer_name=model.producer_name,
        producer_version=model.producer_version,
        domain=model.domain,
        model_version=model.model_version,
        doc_string=model.doc_string,
        opset_import=model.opset_import,
        functions=model.functions,
        metadata_props=model.metadata_props,
    )


def use_contrib(model: onnx.ModelProto) -> None:
    """Imports ONNX Runtime's own operators."""
    if all(entry.domain != CONTRIB for entry in model.opset_import):
        model.opset_import.append(helper.make_opsetid(CONTRIB, 1))
