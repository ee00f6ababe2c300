"""Makes random weights behave: without this, all images of a random network look alike.

Every BatchNormalization gets the mean and variance of what reaches it, and the classifier is
centred on the mean feature, so that outputs differ between inputs. Statistics are rounded, and
computed in double precision, so that the model is the same on machines whose last bits differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from fusescope.collectors.models import inputs
from fusescope.collectors.zoo import Precision, double, single

IMAGES = 4
LARGE, LARGE_IMAGES = 256, 2  # from this many pixels a side on, two have places enough
SEED = 7
DIGITS = 3
MIN_VARIANCE = 1e-4
FEW = 16  # values of a channel that say too little about its variance


def calibrate(model: onnx.ModelProto, precision: Precision) -> None:
    """Runs the model once, node by node, on a few images and sets its statistics in place."""
    value = model.graph.input[0]
    size = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)[1:]
    shape = (LARGE_IMAGES if size[-1] >= LARGE else IMAGES, *size)
    arrays, _ = inputs.make([value], {value.name: shape}, seed=SEED, given={}, ranges={})
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    run = {"single": single.run, "double": double.run}[precision]
    run(
        model,
        {value.name: arrays[0].astype(np.float32)},
        lambda node, values: _learn(node, values[node.input[0]], weights),
    )


def _learn(
    node: onnx.NodeProto, x: npt.NDArray[Any], weights: Mapping[str, onnx.TensorProto]
) -> None:
    """Sets what this node takes from data; `x` is what reaches it."""
    if node.op_type == "BatchNormalization":
        _set(weights[node.input[3]], x.mean((0, 2, 3), dtype=np.float64))
        variance = x.var((0, 2, 3), dtype=np.float64)
        if x.size // x.shape[1] < FEW:
            variance[:] = variance.mean()
        _set(weights[node.input[4]], np.maximum(variance, MIN_VARIANCE))
    elif node.op_type == "Gemm" or (node.op_type == "Conv" and len(node.input) > 2):
        # a classifier is the one layer of these models that has a bias; each place is a sample
        features = x if x.ndim == 2 else np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
        _centre(features, *(weights[name] for name in node.input[1:]))


def _centre(
    features: npt.NDArray[np.floating], weight: onnx.TensorProto, bias: onnx.TensorProto
) -> None:
    """Scores become differences from the mean feature, of about unit size."""
    mean = features.mean(0, dtype=np.float64)
    spread = max(float(np.std(features - mean)), 1e-6)
    scale = float(f"{spread:.{DIGITS - 1}e}")
    scaled = (numpy_helper.to_array(weight) / scale).astype(np.float32)
    _replace(weight, scaled)
    _set(bias, -(scaled.astype(np.float64).reshape(len(scaled), -1) @ mean))


def _set(tensor: onnx.TensorProto, values: npt.NDArray[np.float64]) -> None:
    rounded = [float(f"{value:.{DIGITS - 1}e}") for value in values]
    _replace(tensor, np.array(rounded, np.float32))


def _replace(tensor: onnx.TensorProto, values: npt.NDArray[np.float32]) -> None:
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
