"""A small builder of ONNX graphs with scoped names and seeded weights."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
BATCH = "batch"

Activation = Literal["Relu", "Relu6"] | None


@dataclass(frozen=True)
class Features:
    """What a backbone hands on: a tensor at a quarter of the image's size, and its last one."""

    low: str
    low_channels: int
    high: str
    high_channels: int


class Strides:
    """Stride and dilation of one layer after the other, so that the image shrinks by
    `output_stride` at most: beyond it, a stride becomes a dilation of the layers that follow
    (atrous convolution, Chen et al. 2017)."""

    def __init__(self, output_stride: int) -> None:
        self._left = output_stride
        self._dilation = 1

    def step(self, stride: int) -> tuple[int, int]:
        """(stride, dilation) of the next layer, which asks for `stride`."""
        dilation = self._dilation
        if stride > self._left:
            self._dilation *= stride
            return 1, dilation
        self._left //= stride
        return stride, dilation


class GraphBuilder:
    """Collects nodes and weights. Every method returns the name of the tensor it makes; a node
    is called `<scope>/<op type>`, so that its scope is its module; a second one of that name
    gets `_1`."""

    def __init__(self, name: str, seed: int = 0, opset: int = OPSET) -> None:
        self._name = name
        self._opset = opset
        self._taken: Counter[str] = Counter()
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
        self._taken[name] += 1
        if self._taken[name] > 1:
            name += f"_{self._taken[name] - 1}"
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
        dilation: int = 1,
        bias: bool = False,
    ) -> str:
        """A convolution padded to keep the size, with He-normal weights; a bias starts at 0."""
        fan_in = channels_in // groups * kernel * kernel
        shape = (channels_out, channels_in // groups, kernel, kernel)
        weights = self._normal(shape) * np.float32(math.sqrt(2 / fan_in))
        inputs = [x, self.weight(f"{scope}.weight", weights)]
        if bias:
            inputs.append(self.weight(f"{scope}.bias", np.zeros(channels_out, np.float32)))
        atrous = {"dilations": [dilation, dilation]} if dilation > 1 else {}
        return self.node(
            "Conv",
            inputs,
            scope,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2 * dilation] * 4,
            group=groups,
            **atrous,
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
        dilation: int = 1,
        gamma: float = 1.0,
    ) -> str:
        """Conv, BatchNormalization and the activation, three separate nodes."""
        y = self.conv(
            x, channels_in, channels_out, kernel, scope,
            stride=stride, groups=groups, dilation=dilation,
        )  # fmt: skip
        y = self.batch_norm(y, channels_out, scope, gamma)
        if activation == "Relu":
            return self.node("Relu", [y], scope)
        if activation == "Relu6":
            low = self.weight("relu6.low", np.float32(0))
            high = self.weight("relu6.high", np.float32(6))
            return self.node("Clip", [y, low, high], scope)
        return y

    def dense(self, x: str, features_in: int, features_out: int, scope: str) -> str:
        """A linear layer as exporters write it: MatMul, then Add with the bias in front."""
        y = self.linear(x, features_in, features_out, scope)
        bias = 0.1 * self._normal((features_out,))
        return self.node("Add", [self.weight(f"{scope}.bias", bias), y], scope)

    def linear(self, x: str, features_in: int, features_out: int, scope: str) -> str:
        """A MatMul with weights."""
        weights = self._normal((features_in, features_out)) * np.float32(math.sqrt(1 / features_in))
        return self.node("MatMul", [x, self.weight(f"{scope}.weight", weights)], scope)

    def normal(self, name: str, shape: tuple[int, ...]) -> str:
        """A weight of standard normal values."""
        return self.weight(name, self._normal(shape))

    def layer_norm(self, x: str, features: int, scope: str) -> str:
        """Layer normalisation over the last axis, decomposed as exporters write it (9 nodes)."""
        centred = self.node("Sub", [x, self._mean(x, scope)], scope)
        square = self.node("Pow", [centred, self.weight("two", np.float32(2))], scope)
        epsilon = self.weight("epsilon", np.float32(1e-5))
        variance = self.node("Add", [self._mean(square, scope), epsilon], scope)
        y = self.node("Div", [centred, self.node("Sqrt", [variance], scope)], scope)
        gamma = self.weight(f"{scope}.gamma", 1 + 0.1 * self._normal((features,)))
        beta = self.weight(f"{scope}.beta", 0.1 * self._normal((features,)))
        return self.node("Add", [self.node("Mul", [y, gamma], scope), beta], scope)

    def _mean(self, x: str, scope: str) -> str:
        return self.node("ReduceMean", [x], scope, axes=[-1])

    def classifier(self, x: str, features: int, classes: int = 1000) -> str:
        """Global pooling and one fully connected layer."""
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x], "head")], "head")
        weights = self._normal((classes, features)) * np.float32(math.sqrt(1 / features))
        bias = self.weight("head.bias", np.zeros(classes, np.float32))
        return self.node("Gemm", [x, self.weight("head.weight", weights), bias], "head", transB=1)

    def model(
        self,
        output: str,
        shape_in: tuple[int, ...],
        shape_out: tuple[int, ...],
        inputs: tuple[str, ...] = ("input",),
    ) -> onnx.ModelProto:
        """The finished model; all `inputs` have one shape. Shapes are without the batch, which is
        open."""
        graph = helper.make_graph(
            self._nodes,
            self._name,
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, [BATCH, *shape_in])
                for name in inputs
            ],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [BATCH, *shape_out])],
            list(self._weights.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self._opset)],
            ir_version=IR_VERSION,
            producer_name="fusescope zoo",
        )

    def _normal(self, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
        return self._chance.standard_normal(shape, dtype=np.float32)
