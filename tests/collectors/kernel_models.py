"""Small models, and what a kernel makes of them beside what the engine makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from fusescope.analysis.graph import Graph
from fusescope.collectors.kernels import compiled
from fusescope.collectors.kernels.group import Group
from fusescope.collectors.models import graphs

# op type, inputs, outputs, attributes
Node = tuple[str, list[str], list[str], dict[str, Any]]
Shape = Sequence[int]


def model_of(
    nodes: Sequence[Node],
    inputs: Mapping[str, Shape],
    weights: Mapping[str, Any],
    outputs: Sequence[str] = ("y",),
    opset: int = 20,
) -> onnx.ModelProto:
    """A float32 model with shapes inferred; node n of a type T is called `net/T_n`."""
    helper = onnx.helper
    graph = helper.make_graph(
        [
            helper.make_node(op_type, reads, writes, name=f"net/{op_type}_{place}", **attributes)
            for place, (op_type, reads, writes, attributes) in enumerate(nodes)
        ],
        "model",
        [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in outputs],
        [
            onnx.numpy_helper.from_array(np.asarray(value, np.float32), name)
            for name, value in weights.items()
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return onnx.shape_inference.infer_shapes(model)


def graph_of(model: onnx.ModelProto) -> Graph:
    return graphs.from_model(model)


def values(
    inputs: Mapping[str, Shape], seed: int = 0, low: float = -3.0, high: float = 3.0
) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    return {
        name: chance.uniform(low, high, tuple(shape)).astype(np.float32)
        for name, shape in inputs.items()
    }


def engine(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> np.ndarray:
    """The model's first output with every optimisation off."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(feeds))[0]


def kernel(
    group: Group,
    model: onnx.ModelProto,
    feeds: Mapping[str, np.ndarray],
    cache: Path,
    *,
    over: str = "",
    threads: int = 1,
) -> np.ndarray:
    """What the group's kernel computes; operands that it must not touch are checked."""
    program = group.program(over=over, threads=threads)
    source, machine_code = compiled.store(program.source, (cache,))
    run = compiled.load(str(source), str(machine_code), threads)
    known = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer} | dict(feeds)
    arrays = {name: np.array(known[name]).reshape(-1) for name in group.operands}
    size = int(np.prod(group.shape))
    result = arrays[over] if over else np.full(size, np.nan, np.float32)
    floats = program.scratch_floats
    scratch = [np.full(floats, np.nan, np.float32)] if floats else []
    run(*([] if over else [result]), *arrays.values(), *scratch, *program.numbers)
    for name, array in arrays.items():
        if name != over:
            np.testing.assert_array_equal(array, known[name].reshape(-1))
    return result.reshape(group.shape)
