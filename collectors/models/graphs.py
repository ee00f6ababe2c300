"""ONNX models as analysis.graph values: nodes and tensors without weights."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import onnx

from fusescope.analysis.graph import Attribute, Graph, Node, Tensor

MAX_LIST = 64
MAX_VALUES = 8
MAX_TEXT = 256

_DTYPES = {"FLOAT": "float32", "DOUBLE": "float64", "UNDEFINED": None}
_ENGINE_DTYPES = {"float": "float32", "double": "float64"}

Shapes = Mapping[str, Sequence[tuple[str, tuple[int, ...]]]]


def from_model(model: onnx.ModelProto, output_shapes: Shapes | None = None) -> Graph:
    """The model's top-level graph.

    Shapes come from the model's own declarations and, where a node stands in `output_shapes`
    (node name -> (dtype, shape) of each output, see `profiled_shapes`), from what really ran.
    """
    graph = model.graph
    tensors: dict[str, Tensor] = {}
    for value in (*graph.value_info, *graph.output, *graph.input):
        tensors[value.name] = _declared(value)
    nodes = nodes_of(graph)
    for node in nodes:
        outputs = [name for name in node.outputs if name]
        ran = (output_shapes or {}).get(node.name, ())
        if len(ran) == len(outputs):
            for name, (dtype, shape) in zip(outputs, ran, strict=True):
                tensors[name] = Tensor(name, dtype, shape)
    listed = {value.name for value in graph.input} if model.ir_version >= 4 else set()
    for tensor in graph.initializer:
        tensors[tensor.name] = Tensor(
            tensor.name,
            dtype_name(tensor.data_type),
            tuple(tensor.dims),
            constant=True,
            digest=_digest(tensor),
            values=_values(tensor),
            overridable=tensor.name in listed,
        )
    for sparse in graph.sparse_initializer:
        tensors[sparse.values.name] = Tensor(
            sparse.values.name,
            dtype_name(sparse.values.data_type),
            tuple(sparse.dims),
            constant=True,
        )
    for node in nodes:
        for name in (*node.inputs, *node.outputs, *node.captured):
            if name and name not in tensors:
                tensors[name] = Tensor(name)
    constant = {name for name, tensor in tensors.items() if tensor.constant}
    return Graph(
        nodes=nodes,
        tensors=tuple(tensors.values()),
        inputs=tuple(value.name for value in graph.input if value.name not in constant),
        outputs=tuple(value.name for value in graph.output),
    )


def nodes_of(graph: onnx.GraphProto) -> tuple[Node, ...]:
    """The graph's own nodes in its order; those of subgraphs are inside the nodes that run them."""
    return tuple(_node(node) for node in graph.node)


def profiled_shapes(
    events: Iterable[Mapping[str, Any]],
) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Node name -> (dtype, shape) of each output, from an ONNX Runtime profile."""
    shapes: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for event in events:
        name = str(event.get("name", ""))
        if event.get("cat") == "Node" and name.endswith("_kernel_time"):
            outputs = event.get("args", {}).get("output_type_shape", [])
            shapes[name.removesuffix("_kernel_time")] = [
                (_ENGINE_DTYPES.get(dtype, dtype), tuple(shape))
                for output in outputs
                for dtype, shape in output.items()
            ]
    return shapes


def name_as_profiled(model: onnx.ModelProto, events: Iterable[Mapping[str, Any]]) -> None:
    """Gives unnamed nodes of an engine's graph the names that its profile calls them by.

    ONNX Runtime leaves the nodes of an expanded function unnamed and reports them as
    `<op type>_<node index>`, in the order in which they stand in the graph.
    """
    taken = {node.name for node in model.graph.node if node.name}
    free: dict[str, list[tuple[int, str]]] = {}
    for event in events:
        name = str(event.get("name", ""))
        kind, _, index = name.removesuffix("_kernel_time").rpartition("_")
        if event.get("cat") == "Node" and name.endswith("_kernel_time") and index.isdigit():
            profiled = f"{kind}_{index}"
            if profiled not in taken:
                taken.add(profiled)
                free.setdefault(kind, []).append((int(index), profiled))
    ordered = {kind: iter(sorted(names)) for kind, names in free.items()}
    for node in model.graph.node:
        if not node.name:
            _, node.name = next(ordered.get(node.op_type, iter(())), (0, ""))


def dtype_name(code: int) -> str | None:
    """numpy's name of an ONNX data type; None when undefined."""
    try:
        name = onnx.TensorProto.DataType.Name(code)
    except ValueError:
        return None
    return _DTYPES.get(name, name.lower())


def scope_of(name: str) -> str:
    """The module that a node belongs to: its name up to the last '/'."""
    return name.rpartition("/")[0]


def _declared(value: onnx.ValueInfoProto) -> Tensor:
    kind = value.type.tensor_type
    shape: tuple[int, ...] | None = None
    if kind.HasField("shape"):
        shape = tuple(d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim)
    return Tensor(value.name, dtype_name(kind.elem_type), shape)


def _node(node: onnx.NodeProto) -> Node:
    attributes = {a.name: _attribute(a) for a in node.attribute}
    if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
        attributes = {}
    return Node(
        name=node.name,
        op_type=node.op_type,
        inputs=tuple(node.input),
        outputs=tuple(node.output),
        domain=node.domain,
        attributes={name: value for name, value in attributes.items() if value is not None},
        scope=scope_of(node.name),
        captured=_captured(node),
    )


def _captured(node: onnx.NodeProto) -> tuple[str, ...]:
    """Tensors from outside that the subgraphs of a node read, at any depth, in order of use."""
    read: dict[str, None] = {}
    for attribute in node.attribute:
        bodies = [attribute.g] if attribute.HasField("g") else []
        for body in (*bodies, *attribute.graphs):
            read |= dict.fromkeys(_read_outside(body))
    return tuple(read)


def _read_outside(body: onnx.GraphProto) -> list[str]:
    """Tensors that a subgraph reads or returns and does not make itself."""
    own = {value.name for value in body.input}
    own |= {tensor.name for tensor in body.initializer}
    own |= {sparse.values.name for sparse in body.sparse_initializer}
    outside = []
    for node in body.node:
        outside += [name for name in (*node.input, *_captured(node)) if name and name not in own]
        own |= set(node.output)
    return outside + [value.name for value in body.output if value.name not in own]


def _attribute(attribute: onnx.AttributeProto) -> Attribute | None:
    """Its value, a digest for a tensor or a long list, which is data; None for graphs."""
    kind = onnx.AttributeProto.AttributeType
    match attribute.type:
        case kind.INT:
            return attribute.i
        case kind.FLOAT:
            return _float(attribute.f)
        case kind.STRING:
            return _text(attribute.s)
        case kind.INTS if len(attribute.ints) <= MAX_LIST:
            return list(attribute.ints)
        case kind.FLOATS if len(attribute.floats) <= MAX_LIST:
            return [_float(value) for value in attribute.floats]
        case kind.STRINGS if len(attribute.strings) <= MAX_LIST:
            return [_text(text) for text in attribute.strings]
        case kind.TENSOR:
            return _digest(attribute.t)
        case kind.INTS | kind.FLOATS | kind.STRINGS | kind.TENSORS | kind.SPARSE_TENSOR:
            content = attribute.SerializeToString(deterministic=True)
            return hashlib.sha256(content).hexdigest()[:16]
    return None


def _digest(tensor: onnx.TensorProto) -> str | None:
    """Stands for dtype, shape and values; None where the values are in another file."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return None
    content = hashlib.sha256(f"{tensor.data_type} {list(tensor.dims)} ".encode())
    if tensor.HasField("raw_data"):
        content.update(tensor.raw_data)
    else:
        values = onnx.TensorProto()
        values.CopyFrom(tensor)
        for field in ("name", "doc_string"):
            values.ClearField(field)
        content.update(values.SerializeToString(deterministic=True))
    return content.hexdigest()[:16]


def _values(tensor: onnx.TensorProto) -> tuple[float, ...] | None:
    """The numbers of a small constant; None for large ones, text, and what JSON cannot hold."""
    if math.prod(tensor.dims) > MAX_VALUES or tensor.data_location == onnx.TensorProto.EXTERNAL:
        return None
    try:
        array = onnx.numpy_helper.to_array(tensor)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.size > MAX_VALUES or array.dtype.kind not in "fiub":
        return None
    numbers = [float(value) for value in array.ravel()]
    if not all(math.isfinite(number) for number in numbers):
        return None
    exact = array.dtype.kind != "f"
    return tuple(number if exact else float(f"{number:.7g}") for number in numbers)


def _float(value: float) -> float | str:
    """float32 as people write it; JSON has no infinity, so that is text."""
    return float(f"{value:.7g}") if math.isfinite(value) else str(value)


def _text(data: bytes) -> str:
    return data[:MAX_TEXT].decode(errors="replace")
