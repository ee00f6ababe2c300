"""Cut out: some nodes of a model as a model of their own, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx

from fusescope.collectors.models.model import infer_shapes
from fusescope.collectors.workers.jobs import CutOutJob as Job

MAX_KEPT = 64  # values of a weight that may matter to a pattern, and tell nothing of the model


def run(job: Job) -> int:
    """Writes the model and returns its size in bytes. Weights are drawn anew: patterns look at
    small constants, and users need not show their own weights."""
    model = onnx.load(job.model)
    graph = model.graph
    wanted = set(job.nodes)
    nodes = [node for node in graph.node if node.name in wanted]
    read = {name for node in nodes for name in node.input}
    known = {value.name: value for value in (*graph.input, *graph.output, *graph.value_info)}
    weights = [_drawn(tensor) for tensor in graph.initializer if tensor.name in read]
    cut = onnx.helper.make_graph(
        nodes,
        "cut",
        [_value(name, job, known) for name in job.inputs],
        [_value(name, job, known) for name in job.outputs],
        weights,
    )
    whole = onnx.helper.make_model(
        cut,
        opset_imports=model.opset_import,
        ir_version=model.ir_version,
        functions=model.functions,
    )
    _drop_notes(whole)
    infer_shapes(whole)
    onnx.checker.check_model(whole)
    data = whole.SerializeToString(deterministic=True)
    Path(job.to).write_bytes(data)
    return len(data)


def _drop_notes(message: Any) -> None:
    """Removes what exporters write about a model beside its graph, such as the lines of its source,
    and what is known of where its weights were: the cut is made to be shown to others."""
    for field, value in message.ListFields():
        if field.name in ("doc_string", "metadata_props", "producer_name", "producer_version"):
            message.ClearField(field.name)
        elif field.message_type is not None:
            for part in (value,) if hasattr(value, "ListFields") else value:
                _drop_notes(part)


def _value(name: str, job: Job, known: dict[str, onnx.ValueInfoProto]) -> onnx.ValueInfoProto:
    """The tensor as it ran, else as the model declares it."""
    ran = job.tensors.get(name)
    if ran is None:
        return known.get(name, onnx.ValueInfoProto(name=name))
    dtype, shape = ran
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def _drawn(tensor: onnx.TensorProto) -> onnx.TensorProto:
    array = onnx.numpy_helper.to_array(tensor)
    if array.dtype.kind != "f" or array.size <= MAX_KEPT:
        return tensor
    chance = np.random.default_rng(0)
    values = np.abs(chance.standard_normal(array.shape) * 0.05) + 0.01  # also a variance is > 0
    return onnx.numpy_helper.from_array(values.astype(array.dtype), tensor.name)
