"""Makes random weights behave: without this, all images of a random network look alike.

Every BatchNormalization gets the mean and variance of what reaches it, and the classifier is
centred on the mean feature, so that outputs differ between inputs. Statistics are rounded, so
that the model is the same on machines whose last bits differ.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from collectors import inputs
from collectors.runtimes import eager_steps

IMAGES = 4
SEED = 7
DIGITS = 3
MIN_VARIANCE = 1e-4


def calibrate(model: onnx.ModelProto) -> None:
    """Runs the model once, node by node, on a few images and sets its statistics in place."""
    value = model.graph.input[0]
    size = tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)[1:]
    arrays, _ = inputs.make([value], {value.name: (IMAGES, *size)}, seed=SEED, given={}, ranges={})
    weights = {tensor.name: tensor for tensor in model.graph.initializer}

    def before_node(node: onnx.NodeProto, values: Mapping[str, Any]) -> None:
        if node.op_type == "BatchNormalization":
            x = values[node.input[0]].numpy()
            _set(weights[node.input[3]], x.mean((0, 2, 3), dtype=np.float64))
            variance = x.var((0, 2, 3), dtype=np.float64)
            _set(weights[node.input[4]], np.maximum(variance, MIN_VARIANCE))
        elif node.op_type == "Gemm":
            _centre(values[node.input[0]].numpy(), *(weights[name] for name in node.input[1:]))

    with tempfile.TemporaryDirectory() as folder:
        eager_steps.split(model, {value.name: arrays[0]}, Path(folder), before_node=before_node)


def _centre(
    features: npt.NDArray[np.float32], weight: onnx.TensorProto, bias: onnx.TensorProto
) -> None:
    """Scores become differences from the mean feature, of about unit size."""
    mean = features.mean(0, dtype=np.float64)
    spread = max(float(np.std(features - mean)), 1e-6)
    scale = float(f"{spread:.{DIGITS - 1}e}")
    scaled = (numpy_helper.to_array(weight) / scale).astype(np.float32)
    _replace(weight, scaled)
    _set(bias, -(scaled.astype(np.float64) @ mean))


def _set(tensor: onnx.TensorProto, values: npt.NDArray[np.float64]) -> None:
    rounded = [float(f"{value:.{DIGITS - 1}e}") for value in values]
    _replace(tensor, np.array(rounded, np.float32))


def _replace(tensor: onnx.TensorProto, values: npt.NDArray[np.float32]) -> None:
    tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
