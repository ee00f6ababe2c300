"""A model node by node in single precision, each in a session of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, options

Array = npt.NDArray[np.float32]
BeforeNode = Callable[[onnx.NodeProto, Mapping[str, Any]], None]


def run(model: onnx.ModelProto, feeds: Mapping[str, Array], before_node: BeforeNode) -> None:
    """Runs the nodes in order. `before_node` sees every node and the tensors so far, and may
    change its initialisers. Every node has one output."""
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    last_use = {name: index for index, node in enumerate(model.graph.node) for name in node.input}
    values = dict(feeds)
    for index, node in enumerate(model.graph.node):
        before_node(node, values)
        read = {name: values[name] for name in node.input if name in values}
        graph = helper.make_graph(
            [node],
            node.name,
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in read.items()],
            [onnx.ValueInfoProto(name=node.output[0])],
            [weights[name] for name in node.input if name in weights],
        )
        one = helper.make_model(
            graph, opset_imports=list(model.opset_import), ir_version=model.ir_version
        )
        session = ort.InferenceSession(
            one.SerializeToString(), options("none", threads=1, spin=False), providers=PROVIDERS
        )
        [values[node.output[0]]] = session.run(None, read)
        for name in read:
            if last_use[name] == index:
                del values[name]
