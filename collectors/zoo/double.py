"""The operators of calibrated models in double precision, with numpy.

In single precision two machines differ in the last bits, which is enough to round some of many
thousand statistics another way. In double precision they agree to more digits than are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

Array = npt.NDArray[np.float64]
BeforeNode = Callable[[onnx.NodeProto, Mapping[str, Array]], None]

BAND = 16  # channels of a depthwise convolution at a time, to stay in cache


def run(
    model: onnx.ModelProto, feeds: Mapping[str, npt.NDArray[Any]], before_node: BeforeNode
) -> None:
    """Runs the nodes in order. `before_node` sees every node and the tensors so far, and may
    change its initialisers. Raises KeyError for an operator that no calibrated model has."""
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    last_use = {name: index for index, node in enumerate(graph.node) for name in node.input}
    values = {name: array.astype(np.float64) for name, array in feeds.items()}
    for index, node in enumerate(graph.node):
        before_node(node, values)
        inputs = [
            values[name] if name in values else numpy_helper.to_array(weights[name])
            for name in node.input
            if name
        ]
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        values[node.output[0]] = _OPERATORS[node.op_type](inputs, attributes)
        for name in node.input:
            if last_use[name] == index:
                values.pop(name, None)


def _conv(inputs: list[Any], attributes: dict[str, Any]) -> Array:
    x, weight = inputs[0], inputs[1].astype(np.float64)
    group, dilations = attributes["group"], attributes.get("dilations", [1, 1])
    windows = _windows(x, weight.shape[2:], attributes["strides"], dilations, attributes["pads"])
    y = _depthwise(windows, weight) if group > 1 else _dense(windows, weight)
    return y + inputs[2].astype(np.float64)[:, None, None] if len(inputs) > 2 else y


def _windows(
    x: Array, kernel: tuple[int, ...], strides: list[int], dilations: list[int], pads: list[int],
    fill: float = 0.0,
) -> Array:  # fmt: skip
    """[n, c, kernel height, kernel width, rows, columns], a view on the padded tensor."""
    padded = np.pad(
        x, ((0, 0), (0, 0), *zip(pads[:2], pads[2:], strict=True)), constant_values=fill
    )
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(padded, spans, (2, 3))
    view = view[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
    return view.transpose(0, 1, 4, 5, 2, 3)


def _dense(windows: Array, weight: Array) -> Array:
    samples, _, _, _, rows, columns = windows.shape
    matrix = weight.reshape(len(weight), -1)
    y = np.empty((samples, len(weight), rows * columns))
    for sample in range(samples):
        np.matmul(matrix, windows[sample].reshape(matrix.shape[1], -1), out=y[sample])
    return y.reshape(samples, len(weight), rows, columns)


def _depthwise(windows: Array, weight: Array) -> Array:
    samples, channels, height, width, rows, columns = windows.shape
    y = np.zeros((samples, channels, rows, columns))
    for first in range(0, channels, BAND):
        band = slice(first, first + BAND)
        for sample in range(samples):
            for row in range(height):
                for column in range(width):
                    factor = weight[band, 0, row, column, None, None]
                    y[sample, band] += windows[sample, band, row, column] * factor
    return y


def _batch_normalization(inputs: list[Any], attributes: dict[str, Any]) -> Array:
    x = inputs[0]
    gamma, beta, mean, variance = (a.astype(np.float64)[:, None, None] for a in inputs[1:])
    scale = gamma / np.sqrt(variance + attributes["epsilon"])
    y: Array = x * scale
    y += beta - mean * scale
    return y


def _max_pool(inputs: list[Any], attributes: dict[str, Any]) -> Array:
    kernel, strides, pads = (attributes[name] for name in ("kernel_shape", "strides", "pads"))
    windows = _windows(inputs[0], tuple(kernel), strides, [1, 1], pads, -np.inf)
    y: Array = windows[:, :, 0, 0].copy()
    for row in range(kernel[0]):
        for column in range(kernel[1]):
            np.maximum(y, windows[:, :, row, column], out=y)
    return y


def _resize(inputs: list[Any], attributes: dict[str, Any]) -> Array:
    """Bilinear, corners on corners, as two matrices: one for rows, one for columns."""
    assert attributes["coordinate_transformation_mode"] == b"align_corners"
    x: Array = inputs[0]
    sizes = inputs[1]
    rows, columns = map(_interpolation, x.shape[2:], sizes)
    y: Array = rows @ x @ columns.T
    return y


def _interpolation(old: int, new: int) -> Array:
    """[new, old]: the weights of the two neighbours of every new place."""
    places = np.arange(new) * ((old - 1) / (new - 1))
    weights: Array = np.maximum(0.0, 1.0 - np.abs(places[:, None] - np.arange(old)))
    return weights


_OPERATORS: dict[str, Callable[[list[Any], dict[str, Any]], Array]] = {
    "Add": lambda inputs, _: inputs[0] + inputs[1],
    "BatchNormalization": _batch_normalization,
    "Clip": lambda inputs, _: np.clip(*inputs),
    "Concat": lambda inputs, attributes: np.concatenate(inputs, attributes["axis"]),
    "Conv": _conv,
    "GlobalAveragePool": lambda inputs, _: inputs[0].mean((2, 3), keepdims=True),
    "MaxPool": _max_pool,
    "Relu": lambda inputs, _: np.maximum(inputs[0], 0.0),
    "Resize": _resize,
}
