"""A model as every variant runs it: loaded, modernised, with names and shapes.

This working copy differs from the model file in what has to be fixed before variants can be
compared: every node has a unique name, dynamic dimensions have numbers, external data is read
in, and Constant nodes are initialisers (as the engine makes them on load).
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np
import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.errors import engine
from fusescope.collectors.models import external_data

ONE_FILE_BYTES = 1_900_000_000  # protobuf ends at 2 GiB
MAX_DEPTH = external_data.MAX_DEPTH


def load(path: Path, *, allow_external_data: bool) -> tuple[onnx.ModelProto, str]:
    """The model with its external data read in, and the SHA-256 over both."""
    data = _read(path)
    model = onnx.load_model_from_string(data)
    if not model.HasField("graph") or not (model.graph.node or model.graph.output):
        raise engine.unreadable()
    digest = hashlib.sha256(data)
    external_data.inline(model, path, allowed=allow_external_data, read=digest.update)
    return model, digest.hexdigest()


def save(model: onnx.ModelProto, path: Path) -> None:
    """Writes the model; weights go into a file beside it when one file cannot hold them."""
    weights = sum(len(tensor.raw_data) for tensor in external_data.tensors(model))
    onnx.save(
        model,
        str(path),
        save_as_external_data=weights > ONE_FILE_BYTES,
        location="weights.bin",
    )


def opset_of(model: onnx.ModelProto) -> int:
    """Version of the standard operators, 0 when the model imports none."""
    versions = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
    return max(versions, default=0)


def modernise(model: onnx.ModelProto) -> None:
    """Before IR version 4 weights had to be listed as inputs though nobody could feed them."""
    if model.ir_version < 4:
        weights = {tensor.name for tensor in model.graph.initializer}
        kept = [value for value in model.graph.input if value.name not in weights]
        copies = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in kept]
        del model.graph.input[:]
        model.graph.input.extend(copies)
        model.ir_version = 4


def infer_shapes(model: onnx.ModelProto) -> None:
    """Adds inferred shapes to the model, where inference can do anything with it.

    Weights are left out: they are big, and only small constants (shapes) matter to inference.
    Data propagation stays off: it would make a tensor as big as a model asks for. What it would
    have found comes from the shapes that really ran.
    """
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for tensor in bare.graph.initializer:
        if len(tensor.raw_data) > 1024:
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="weights")
    try:
        inferred = onnx.shape_inference.infer_shapes(bare)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        return
    del model.graph.value_info[:]
    model.graph.value_info.extend(inferred.graph.value_info)
    for output, known in zip(model.graph.output, inferred.graph.output, strict=True):
        output.CopyFrom(known)


def name_nodes(model: onnx.ModelProto) -> None:
    """Gives every unnamed node, and every later one of a name, a unique name: `Conv_12`."""
    taken: set[str] = set()
    _name_graph(model.graph, taken, 0)


def constants_to_initializers(graph: onnx.GraphProto) -> None:
    """Turns Constant nodes that hold numbers into initialisers of the same name."""
    kept = []
    for node in graph.node:
        tensor = _constant(node)
        if tensor is None:
            kept.append(node)
        else:
            tensor.name = node.output[0]
            graph.initializer.append(tensor)
    if len(kept) < len(graph.node):
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(copies)


def _constant(node: onnx.NodeProto) -> onnx.TensorProto | None:
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    if len(node.attribute) != 1 or not node.output or not node.output[0]:
        return None
    value = node.attribute[0]
    match value.name:
        case "value":
            tensor = onnx.TensorProto()
            tensor.CopyFrom(value.t)
            return tensor
        case "value_float":
            return onnx.numpy_helper.from_array(np.array(value.f, np.float32))
        case "value_floats":
            return onnx.numpy_helper.from_array(np.array(value.floats, np.float32))
        case "value_int":
            return onnx.numpy_helper.from_array(np.array(value.i, np.int64))
        case "value_ints":
            return onnx.numpy_helper.from_array(np.array(value.ints, np.int64))
    return None


def _name_graph(graph: onnx.GraphProto, taken: set[str], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise FuseScopeError("graphs_too_deep", largest=MAX_DEPTH)
    declared = {node.name for node in graph.node}
    for index, node in enumerate(graph.node):
        if not node.name or node.name in taken:
            name = f"{node.op_type}_{index}"
            while name in taken or name in declared:
                name += "_"
            node.name = name
        taken.add(node.name)
        for attribute in node.attribute:
            bodies = [attribute.g] if attribute.HasField("g") else []
            for body in (*bodies, *attribute.graphs):
                _name_graph(body, taken, depth + 1)


def _read(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise FuseScopeError("model_missing") from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise FuseScopeError("model_not_regular")
        if status.st_size == 0:
            raise FuseScopeError("model_empty")
        if status.st_size >= 1 << 31:
            raise FuseScopeError("model_too_large")
        return file.read()
