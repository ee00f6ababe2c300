"""Tiny ONNX models around one pattern each, and what ONNX Runtime makes of them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

from fusescope.analysis.graph import Graph
from fusescope.analysis.operators.classes import CONVERSIONS, op_class
from fusescope.collectors.models import graphs
from fusescope.collectors.models.model import constants_to_initializers, infer_shapes, name_nodes

ORT_LEVELS = {
    "none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
Shape = Sequence[int | str]


class Builder:
    """Nodes, weights and inputs of one dtype; every method returns the name of a tensor."""

    def __init__(self, dtype: str = "float32") -> None:
        self.dtype = np.dtype(dtype)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self._chance = np.random.default_rng(0)

    def input(self, *shape: int | str) -> str:
        name = f"in{len(self.inputs)}"
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def weight(self, *shape: int) -> str:
        return self._add(np.abs(self._chance.standard_normal(shape)).astype(self.dtype) + 0.5)

    def number(self, value: float, shape: tuple[int, ...] = ()) -> str:
        return self._add(np.full(shape, value, self.dtype))

    def integers(self, *values: int) -> str:
        return self._add(np.array(values, np.int64))

    def weight_or_input(self, constant: bool, *shape: int) -> str:
        return self.weight(*shape) if constant else self.input(*shape)

    def node(self, op_type: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        place = len(self.nodes)
        names = [f"t{place}" + (f"_{n}" if n else "") for n in range(outputs)]
        self.nodes.append(
            helper.make_node(op_type, inputs, names, name=f"{op_type}_{place}", **attributes)
        )
        return names[0]

    def model(self, *outputs: str, opset: int = 17) -> onnx.ModelProto:
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        results = [helper.make_tensor_value_info(name, kind, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, results, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = min(10, model.ir_version)
        return model

    def _add(self, values: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name


def optimised_types(
    model: onnx.ModelProto, level: str, disabled: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """(domain, op type) of every node of the engine's own graph at that level."""
    settings = ort.SessionOptions()
    settings.graph_optimization_level = ORT_LEVELS[level]
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "optimised.onnx")
        settings.optimized_model_filepath = path
        ort.InferenceSession(
            model.SerializeToString(),
            settings,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=list(disabled) or None,
        )
        return [(node.domain, node.op_type) for node in onnx.load(path).graph.node]


def work(model: onnx.ModelProto, level: str, disabled: Sequence[str] = ()) -> int:
    """How many operators remain that do more than change layout, shape or dtype."""
    types = optimised_types(model, level, disabled)
    return sum(op_class(op_type) not in CONVERSIONS for _, op_type in types)


@lru_cache
def has_blocked_layout() -> bool:
    """True where this machine's engine moves convolutions to channel blocks."""
    b = Builder()
    model = b.model(b.node("Conv", b.input(1, 16, 8, 8), b.weight(16, 16, 3, 3)))
    return any(domain.endswith("nchwc") for domain, _ in optimised_types(model, "all"))


def graph_of(model: onnx.ModelProto) -> Graph:
    """The model's graph as a recording holds it."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    name_nodes(copy)
    constants_to_initializers(copy.graph)
    infer_shapes(copy)
    return graphs.from_model(copy)
