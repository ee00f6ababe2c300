"""A small builder of ONNX graphs with scoped names and seeded weights."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

VERSION = 1  # part of the cache's file names: raise it when any model changes
OPSET = 17
IR_VERSION = 8
BATCH = "batch"

Activation = Literal["Relu", "Relu6"] | None


class GraphBuilder:
    """Collects nodes and weights. Every method returns the name of the tensor it makes; a node
    is called `<scope>/<op type>`, so that its scope is its module."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self._name = name
        self._chance = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}

    def weight(self, name: str, values: npt.ArrayLike) -> str:
        """An initialiser; one that exists already is shared."""
        if name not in self._weights:
            self._weights[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def node(self, op_type: str, inputs: list[str], scope: str = "", **attributes: Any) -> str:
        """One node with one output."""
        name = f"{scope}/{op_type}" if scope else op_type
        output = f"{name}:0"
        self._nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        return output

    def conv(
        self,
        x: str,
        channels_in: int,
        channels_out: int,
        kernel: int,
        scope: str,
        *,
        stride: int = 1,
        groups: int = 1,
    ) -> str:
        """A convolution without bias, padded to keep the size, with He-normal weights."""
        fan_in = channels_in // groups * kernel * kernel
        shape = (channels_out, channels_in // groups, kernel, kernel)
        weights = self._normal(shape) * np.float32(math.sqrt(2 / fan_in))
        return self.node(
            "Conv",
            [x, self.weight(f"{scope}.weight", weights)],
            scope,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
            group=groups,
        )

    def batch_norm(self, x: str, channels: int, scope: str, gamma: float = 1.0) -> str:
        """Statistics are those of a standard normal until calibration replaces them."""
        parameters = {
            "gamma": gamma * (1 + 0.1 * self._normal((channels,))),
            "beta": 0.1 * self._normal((channels,)),
            "mean": np.zeros(channels),
            "var": np.ones(channels),
        }
        inputs = [
            self.weight(f"{scope}.bn.{name}", np.asarray(values, np.float32))
            for name, values in parameters.items()
        ]
        return self.node("BatchNormalization", [x, *inputs], scope, epsilon=1e-5)

    def conv_bn(
        self,
        x: str,
        channels_in: int,
        channels_out: int,
        kernel: int,
        scope: str,
        *,
        activation: Activation = None,
        stride: int = 1,
        groups: int = 1,
        gamma: float = 1.0,
    ) -> str:
        """Conv, BatchNormalization and the activation, three separate nodes."""
        y = self.conv(x, channels_in, channels_out, kernel, scope, stride=stride, groups=groups)
        y = self.batch_norm(y, channels_out, scope, gamma)
        if activation == "Relu":
            return self.node("Relu", [y], scope)
        if activation == "Relu6":
            low = self.weight("relu6.low", np.float32(0))
            high = self.weight("relu6.high", np.float32(6))
            return self.node("Clip", [y, low, high], scope)
        return y

    def classifier(self, x: str, features: int, classes: int = 1000) -> str:
        """Global pooling and one fully connected layer."""
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x], "head")], "head")
        weights = self._normal((classes, features)) * np.float32(math.sqrt(1 / features))
        bias = self.weight("head.bias", np.zeros(classes, np.float32))
        return self.node("Gemm", [x, self.weight("head.weight", weights), bias], "head", transB=1)

    def model(
        self, output: str, shape_in: tuple[int, ...], shape_out: tuple[int, ...]
    ) -> onnx.ModelProto:
        """The finished model with one input, `input`; shapes without the batch, which is open."""
        graph = helper.make_graph(
            self._nodes,
            self._name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, [BATCH, *shape_in])],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [BATCH, *shape_out])],
            list(self._weights.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="fusescope zoo",
        )

    def _normal(self, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
        return self._chance.standard_normal(shape, dtype=np.float32)
