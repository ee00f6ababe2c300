"""Equivalence: what a model says about its own tensors, before any optimised graph is looked at.

Which tensors are constant, which nodes only hand their input on, and which nodes compute the same
thing twice: all three vanish in optimised graphs without being fused into anything.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.text import clean_text

_RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
           "Multinomial", "Bernoulli"}  # fmt: skip
SHAPE_READERS = {"Shape", "Size"}
_SAME_DATA = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand"}
# Of JAX: they add or drop axes of size 1 or divide them anew, as far as they add no elements.
_SAME_MEMORY = {"reshape", "squeeze", "expand_dims", "broadcast_in_dim", "stop_gradient", "copy"}
_NEUTRAL = {"Mul": 1.0, "Div": 1.0, "Add": 0.0, "Sub": 0.0}
_ONE_INPUT_IS_IDENTITY = {"Concat", "Sum", "Max", "Min", "Mean"}
_LONGEST_CHAIN = 16  # of Transpose or Reshape that may cancel out; walking each is quadratic


def in_order(graph: Graph) -> list[Node]:
    """The nodes, each after those that it reads from. Raises FuseScopeError for a cycle."""
    if _is_sorted(graph):
        return list(graph.nodes)
    waiting: dict[str, list[int]] = {}
    missing = [0] * len(graph.nodes)
    made = {name for node in graph.nodes for name in node.outputs if name}
    for index, node in enumerate(graph.nodes):
        for name in set(read_by(node)) & made:
            waiting.setdefault(name, []).append(index)
            missing[index] += 1
    ready = [index for index, count in enumerate(missing) if not count]
    order: list[int] = []
    done: set[str] = set()
    for index in ready:  # grows while it is walked
        order.append(index)
        for name in graph.nodes[index].outputs:
            if name and name not in done:
                done.add(name)
                for reader in waiting.get(name, ()):
                    missing[reader] -= 1
                    if not missing[reader]:
                        ready.append(reader)
    if len(order) < len(graph.nodes):
        stuck = next(n for index, n in enumerate(graph.nodes) if missing[index])
        raise FuseScopeError("graph_cycle", node=clean_text(stuck.name, 80))
    return [graph.nodes[index] for index in order]


def read_by(node: Node) -> Iterable[str]:
    """Every tensor that a node reads, those of its subgraphs included."""
    return (name for name in (*node.inputs, *node.captured) if name)


def constants(graph: Graph, order: Iterable[Node]) -> set[str]:
    """Tensors whose values do not depend on the model's inputs.

    Weights, listed or not, whatever is computed from them alone, and the shapes of tensors of
    known shape.
    """
    found = {tensor.name for tensor in graph.tensors if tensor.constant}
    read = {name for node in graph.nodes for name in read_by(node)}
    found |= read - graph.producer.keys() - set(graph.inputs)
    for node in order:
        if node.op_type in _RANDOM or node.captured:
            continue
        given = [name for name in node.inputs if name]
        static = node.op_type in SHAPE_READERS and bool(given) and _has_shape(graph, given[0])
        if static or all(name in found for name in given):
            found.update(name for name in node.outputs if name)
    return found


def duplicates(graph: Graph, order: Iterable[Node]) -> dict[str, str]:
    """Tensor -> the first tensor that is computed in the same way from the same values.

    Only of tensors that have such a twin. Weights are the same when their content is.
    """
    first: dict[Hashable, str] = {}
    same: dict[str, str] = {}
    for tensor in graph.tensors:
        if tensor.constant and tensor.digest is not None:
            kept = first.setdefault((tensor.dtype, tensor.shape, tensor.digest), tensor.name)
            if kept != tensor.name:
                same[tensor.name] = kept
    equal: dict[str, str] = {}  # also behind nodes that hand their input on
    for node in order:
        source = passed_through(node, graph)
        if source is not None:
            source = same.get(source, source)
            equal[node.outputs[0]] = equal.get(source, source)
            continue
        if not _is_comparable(node):
            continue
        settings = tuple(sorted((name, str(value)) for name, value in node.attributes.items()))
        known = (same.get(name, name) for name in node.inputs)
        given = tuple(equal.get(name, name) for name in known)
        for index, name in enumerate(node.outputs):
            if name:
                key = (node.op_type, node.domain, settings, given, index)
                kept = first.setdefault(key, name)
                if kept != name:
                    same[name] = kept
    return same


def passed_through(node: Node, graph: Graph) -> str | None:
    """The earlier tensor that the node's first output is equal to, whatever its values are.

    Its input, or what chains of Transpose or Reshape end up at again; None for other nodes.
    """
    if not node.inputs or not node.outputs or node.domain not in ("", "ai.onnx"):
        return None
    if not node.inputs[0] or not node.outputs[0]:
        return None
    given, made = graph.tensor.get(node.inputs[0]), graph.tensor.get(node.outputs[0])
    match node.op_type:
        case "Identity":
            return node.inputs[0]
        case "Dropout":
            trains = len(node.inputs) > 2 and bool(node.inputs[2])
            masks = [name for name in node.outputs[1:] if name]
            used = any(m in graph.consumers or m in graph.returned for m in masks)
            return None if trains or used else node.inputs[0]
        case "Transpose":
            return _transposed_back(node, graph)
        case "Cast":
            same = given and made and given.dtype and given.dtype == made.dtype
            return node.inputs[0] if same else None
        case kind if kind in _ONE_INPUT_IS_IDENTITY:
            return node.inputs[0] if len(node.inputs) == 1 else None
        case kind if kind in _SAME_DATA:
            return _reshaped_back(node, graph)
        case kind if kind in _NEUTRAL:
            return _beside_neutral(node, graph, _NEUTRAL[kind])
        case kind if kind in _SAME_MEMORY:
            return node.inputs[0] if _same_elements(given, made) else None
    return None


def _transposed_back(node: Node, graph: Graph) -> str | None:
    """What a chain of Transpose starts from, when its axes are in order again."""
    whole: list[int] | None = None
    link: Node | None = node
    for _ in range(_LONGEST_CHAIN):
        if link is None or link.op_type != "Transpose" or not link.inputs:
            return None
        axes = link.attributes.get("perm")
        if not isinstance(axes, list) or set(axes) != set(range(len(axes))):
            return None
        order = [int(axis) for axis in axes]
        if whole is None:
            whole = order
        elif len(whole) != len(order):
            return None
        else:
            whole = [order[axis] for axis in whole]
        if whole == sorted(whole):
            return link.inputs[0] or None
        link = graph.producer.get(link.inputs[0])
    return None


def _reshaped_back(node: Node, graph: Graph) -> str | None:
    """The first tensor of the final shape behind a chain of operators that only reshape."""
    link: Node | None = node
    for _ in range(_LONGEST_CHAIN):
        if link is None or link.op_type not in _SAME_DATA or not link.inputs:
            return None
        if _same_shape(graph, link.inputs[0], node.outputs[0]):
            return link.inputs[0]
        if link.op_type == "Expand":
            return None
        link = graph.producer.get(link.inputs[0])
    return None


def _beside_neutral(node: Node, graph: Graph, neutral: float) -> str | None:
    """The operand that an elementwise node leaves as it is: x · 1, x + 0, x / 1, x - 0."""
    if len(node.inputs) != 2:
        return None
    sides = [(0, 1)] if node.op_type in ("Sub", "Div") else [(0, 1), (1, 0)]
    for data, other in sides:
        constant = graph.tensor.get(node.inputs[other])
        if constant is None or not constant.values:
            continue
        same = _same_shape(graph, node.inputs[data], node.outputs[0])
        if same and all(value == neutral for value in constant.values):
            return node.inputs[data]
    return None


def _same_elements(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether both have as many elements, of one type."""
    if one is None or other is None or one.shape is None or other.shape is None:
        return False
    return one.dtype == other.dtype and math.prod(one.shape) == math.prod(other.shape)


def _same_shape(graph: Graph, name: str, other: str) -> bool:
    return _has_shape(graph, name) and graph.tensor[name].shape == (
        graph.tensor[other].shape if other in graph.tensor else None
    )


def _is_comparable(node: Node) -> bool:
    """Whether equal attributes and inputs prove equal outputs; bodies and random values do not."""
    if node.op_type in _RANDOM or node.captured or node.op_type in ("If", "Loop", "Scan"):
        return False
    if "event" in node.attributes:  # of torch: its attributes lack arguments that are not tensors
        return False
    # Files from before tensor attributes were recorded do not say the value.
    if node.op_type in ("Constant", "ConstantOfShape"):
        return "value" in node.attributes
    return bool(node.inputs)


def _has_shape(graph: Graph, name: str) -> bool:
    tensor = graph.tensor.get(name)
    return tensor is not None and tensor.shape is not None and all(d >= 0 for d in tensor.shape)


def _is_sorted(graph: Graph) -> bool:
    made = {name for node in graph.nodes for name in node.outputs if name}
    known: set[str] = set()
    for node in graph.nodes:
        if any(name in made and name not in known for name in read_by(node)):
            return False
        known.update(node.outputs)
    return True
