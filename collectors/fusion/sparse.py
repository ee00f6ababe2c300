"""Sparse initialisers as ordinary ones, so that rewrites and the verification can read them."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper


def dense(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy whose weights are all stored in full, as the engine holds them once it has loaded the
    model; the model itself where they are."""
    if not model.graph.sparse_initializer:
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.initializer.extend(_in_full(sparse) for sparse in model.graph.sparse_initializer)
    del copy.graph.sparse_initializer[:]
    return copy


def _in_full(sparse: onnx.SparseTensorProto) -> onnx.TensorProto:
    values, indices = map(numpy_helper.to_array, (sparse.values, sparse.indices))
    array = np.zeros(tuple(sparse.dims), values.dtype)
    if indices.ndim == 1:  # places in storage order
        array.reshape(-1)[indices] = values
    else:
        array[tuple(indices.T)] = values
    return numpy_helper.from_array(array, sparse.values.name)
