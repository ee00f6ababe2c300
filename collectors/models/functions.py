"""Functions of a model: operators that it defines itself, by a graph of other operators."""

from __future__ import annotations

import onnx
from onnx import inliner

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.errors.engine import clean

_KEPT_BYTES = 1024  # smaller constants may be shapes that decide something


def expand(model: onnx.ModelProto) -> None:
    """Puts what it stands for in place of every call of a function; the model then has none.

    Tensors outside of functions keep their names. Raises FuseScopeError for a model without
    functions, or with some that cannot be put in place.
    """
    if not model.functions:
        raise FuseScopeError("functions_missing")
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for tensor in bare.graph.initializer:  # protobuf ends at 2 GiB, and weights do not matter here
        if len(tensor.raw_data) > _KEPT_BYTES:
            tensor.ClearField("raw_data")
    try:
        expanded = inliner.inline_local_functions(bare)
    except Exception as error:  # noqa: BLE001 - onnx raises many kinds for a malformed function
        raise FuseScopeError("functions_impossible", reason=clean(str(error))) from None
    del model.functions[:], model.graph.node[:], model.graph.value_info[:], model.opset_import[:]
    model.graph.node.extend(expanded.graph.node)
    model.graph.value_info.extend(expanded.graph.value_info)
    model.opset_import.extend(expanded.opset_import)
