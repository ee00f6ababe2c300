"""A copy of a model with random weights, optimised as the model was: there no two tensors agree by
chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import onnx

from fusescope.analysis.graph import Node
from fusescope.collectors.derive.sessions import open_session
from fusescope.collectors.models import graphs
from fusescope.collectors.models.model import name_nodes, save
from fusescope.collectors.variants import find
from fusescope.collectors.workers.jobs import MatchJob

SEED = 1
SPREAD = 0.2  # of biases and means

# (op type, place of the input) -> what is drawn there
_USES = {
    ("BatchNormalization", 1): "scale", ("BatchNormalization", 2): "shift",
    ("BatchNormalization", 3): "shift", ("BatchNormalization", 4): "scale",
    ("LayerNormalization", 1): "scale", ("LayerNormalization", 2): "shift",
    ("InstanceNormalization", 1): "scale", ("InstanceNormalization", 2): "shift",
    ("Conv", 1): "weight", ("Conv", 2): "shift",
    ("ConvTranspose", 1): "weight", ("ConvTranspose", 2): "shift",
    ("Gemm", 0): "weight", ("Gemm", 1): "weight", ("Gemm", 2): "shift",
    ("MatMul", 0): "weight", ("MatMul", 1): "weight",
    ("Mul", 0): "scale", ("Mul", 1): "scale", ("Div", 1): "scale",
    ("Add", 0): "shift", ("Add", 1): "shift", ("Sub", 0): "shift", ("Sub", 1): "shift",
    ("Gather", 0): "table",
}  # fmt: skip
_ORDER = {"table": 0, "shift": 1, "scale": 2, "weight": 3}  # of uses of equal constants, last wins
_COPYING = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand"}
_FLOATS = {
    onnx.TensorProto.FLOAT: np.float32,
    onnx.TensorProto.DOUBLE: np.float64,
    onnx.TensorProto.FLOAT16: np.float16,
}

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Copy:
    """`names` gives the copy's tensor for each tensor of the original's optimised graph."""

    model: Path
    dump: Path
    names: dict[str, str]


def reseeded(job: MatchJob, optimised: Sequence[Node], folder: Path) -> Copy | None:
    """The copy in `folder`, or None where it would be another graph: the engine must make of it
    what it made of the model, operator by operator. Another model has no copy: nothing says which
    of its weights is which; nor has a provider, whose parts the engine does not write."""
    if find(job.variant).kind in ("model", "provider"):
        return None
    folder.mkdir(parents=True)
    copy = Copy(folder / "model.onnx", folder / "optimised.onnx", {})
    for tied in (False, True):  # engines merge operators whose weights are equal
        model = onnx.load(_optimised_from(job))
        if not randomise(model, np.random.default_rng(SEED), tied=tied):
            return None
        save(model, copy.model)
        names = renaming(optimised, _optimised(job, copy), job.settings.input_names)
        if names is not None:
            return replace(copy, names=names)
    return None


def _optimised_from(job: MatchJob) -> str:
    """What the engine made the variant's graph of: it has the tensors of the working copy."""
    is_dynamic = find(job.variant).kind == "dynamic"
    return job.settings.derived[job.variant].model if is_dynamic else job.settings.model


def _optimised(job: MatchJob, copy: Copy) -> tuple[Node, ...]:
    """What the engine makes of the copy; nothing where it refuses it."""
    settings = msgspec.structs.replace(job.settings, model=str(copy.model))
    if find(job.variant).kind == "dynamic":
        settings = msgspec.structs.replace(settings, derived={})
    try:
        open_session(settings, find(job.variant), dump=copy.dump)
    except Exception:  # noqa: BLE001 - the engine raises many kinds; without a copy less is known
        return ()
    dump = onnx.load(str(copy.dump), load_external_data=False)
    name_nodes(dump)
    return graphs.nodes_of(dump.graph)


def randomise(model: onnx.ModelProto, chance: np.random.Generator, *, tied: bool) -> int:
    """Draws new values for the float weights of more than one value; returns how many tensors.

    Single values stay: operators recognise each other by them (the 0.5 of Gelu, an epsilon).
    With `tied`, constants that were filled with one value and have one shape stay equal.
    """
    graph = model.graph
    drawn = _drawn(graph)
    count = 0
    for tensor in graph.initializer:
        dtype = _FLOATS.get(tensor.data_type)
        if tensor.name in drawn and dtype is not None and math.prod(tensor.dims) > 1:
            values = drawn[tensor.name].values(chance, tuple(tensor.dims)).astype(dtype)
            tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
            count += 1
    return count + _expand_constants(graph, drawn, chance, tied)


def _expand_constants(
    graph: onnx.GraphProto, drawn: Mapping[str, _Slot], chance: np.random.Generator, tied: bool
) -> int:
    """Puts Expand, which may have any values and is folded alike, in place of ConstantOfShape."""
    shapes = _shapes(graph)
    groups: dict[object, list[onnx.NodeProto]] = {}
    for node in graph.node:
        if node.op_type != "ConstantOfShape" or node.output[0] not in drawn:
            continue
        shape = shapes.get(node.output[0], ())
        filled = b"".join(attribute.SerializeToString() for attribute in node.attribute)
        if _dtype_of_constant(node) is not None and math.prod(shape) > 1:
            groups.setdefault((shape, filled) if tied else node.output[0], []).append(node)
    for nodes in groups.values():
        name = nodes[0].output[0]
        slot = max((drawn[node.output[0]] for node in nodes), key=lambda slot: _ORDER[slot.use])
        values = slot.values(chance, shapes[name]).astype(_dtype_of_constant(nodes[0]))
        weight = onnx.numpy_helper.from_array(values, f"{name}:reseeded")
        graph.initializer.append(weight)
        for node in nodes:
            expand = onnx.helper.make_node(
                "Expand", [weight.name, node.input[0]], node.output, name=node.name
            )
            node.CopyFrom(expand)
    return sum(map(len, groups.values()))


def renaming(
    one: Sequence[Node], other: Sequence[Node], inputs: Sequence[str]
) -> dict[str, str] | None:
    """Tensor of `one` -> tensor of `other`, where both run the same operators on the same tensors;
    None where they do not. What is computed from weights alone is left out.

    Operators pair by name; those the engine numbered as it went, by type and by what they read.
    """
    left, right = _running(one, inputs), _running(other, inputs)
    named = {node.name: node for node in right}
    if len(left) != len(right) or len(named) != len(right):
        return None
    numbered: dict[object, list[Node]] = {}
    varying = {*inputs, *(name for node in right for name in node.outputs)}
    for node in right:
        numbered.setdefault(_kind(node, [n for n in _reads(node) if n in varying]), []).append(node)
    names = {name: name for name in inputs}
    taken: set[str] = set()
    for mine in left:
        kind = _kind(mine, [names[name] for name in _reads(mine) if name in names])
        alike = numbered.get(kind, [])
        theirs = [node for node in alike if node.name == mine.name] or alike
        if len(theirs) != 1 or theirs[0].name in taken:
            return None
        taken.add(theirs[0].name)
        names |= zip(mine.outputs, theirs[0].outputs, strict=True)
    return names


def _kind(node: Node, varying: list[str]) -> object:
    """What pairs two operators; weights have names of their own in either graph."""
    return node.op_type, node.domain, len(node.inputs), len(node.outputs), tuple(varying)


def _reads(node: Node) -> tuple[str, ...]:
    return (*node.inputs, *node.captured)


@dataclass(frozen=True)
class _Slot:
    """What a weight is for; `fan_in` is how many products one output of it sums, 0 if unknown."""

    use: str
    fan_in: int = 0

    def values(self, chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Activations keep their size: weights as He et al. (2015), factors around 1."""
        match self.use:
            case "weight":
                fan_in = self.fan_in or math.isqrt(math.prod(shape))
                return chance.standard_normal(shape, np.float32) * math.sqrt(2 / fan_in)
            case "scale":
                return chance.uniform(0.5, 1.5, shape)
            case "shift":
                return chance.standard_normal(shape, np.float32) * SPREAD
        return chance.standard_normal(shape, np.float32)


def _drawn(graph: onnx.GraphProto) -> dict[str, _Slot]:
    """The constant tensors that get new values, also those that reach their operator through
    operators that only copy."""
    nodes = graphs.nodes_of(graph)
    inputs = {value.name for value in graph.input} - {t.name for t in graph.initializer}
    running = {node.name for node in _running(nodes, inputs)}
    varying = inputs | {name for node in nodes if node.name in running for name in node.outputs}
    shapes = _shapes(graph)
    drawn: dict[str, _Slot] = {}
    for node in reversed(nodes):
        if node.name not in running:
            if node.op_type in _COPYING and node.outputs[0] in drawn:
                drawn.setdefault(node.inputs[0], drawn[node.outputs[0]])
            continue
        for index, name in enumerate(node.inputs):
            use = _USES.get((node.op_type, index))
            if use is not None and name and name not in varying:
                drawn.setdefault(name, _Slot(use, _fan_in(node, index, shapes.get(name, ()))))
    return drawn


def _running(nodes: Iterable[Node], inputs: Iterable[str]) -> list[Node]:
    """The nodes that depend on an input."""
    varying = set(inputs)
    running = []
    for node in nodes:
        if any(name in varying for name in (*node.inputs, *node.captured)):
            varying |= set(node.outputs) - {""}
            running.append(node)
    return running


def _fan_in(node: Node, index: int, shape: tuple[int, ...]) -> int:
    """Products that are summed for one output, from the weight's shape at its operator."""
    if len(shape) < 2:
        return math.prod(shape) if shape else 0
    if node.op_type == "Gemm":
        transposed = bool(node.attributes.get("transB" if index else "transA", 0))
        return shape[-1] if transposed == bool(index) else shape[0]
    if node.op_type == "MatMul":
        return shape[-2] if index else shape[-1]
    return shape[0] if node.op_type == "ConvTranspose" else math.prod(shape[1:])


def _shapes(graph: onnx.GraphProto) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights and of what is computed from them, as far as they are known."""
    shapes = {
        value.name: tuple(d.dim_value for d in value.type.tensor_type.shape.dim)
        for value in graph.value_info
        if value.type.tensor_type.HasField("shape")
    }
    weights = {tensor.name: tensor for tensor in graph.initializer}
    shapes |= {name: tuple(tensor.dims) for name, tensor in weights.items()}
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in weights:
            sizes = onnx.numpy_helper.to_array(weights[node.input[0]])
            shapes[node.output[0]] = tuple(int(size) for size in sizes)
    return shapes


def _dtype_of_constant(node: onnx.NodeProto) -> Any:
    """numpy's type of a ConstantOfShape, None if it is not a float."""
    values = [attribute.t.data_type for attribute in node.attribute if attribute.name == "value"]
    return _FLOATS.get(values[0] if values else onnx.TensorProto.FLOAT)
