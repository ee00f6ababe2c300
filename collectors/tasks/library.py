"""Does a user's own library of operators load?"""

from __future__ import annotations

from pathlib import Path

import onnxruntime as ort
from onnx import TensorProto, helper

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.errors import library
from fusescope.collectors.errors.engine import refused
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, options
from fusescope.collectors.workers.jobs import LibraryJob as Job


def run(job: Job) -> None:
    """Loads the library and opens a session that has its operators. Raises FuseScopeError."""
    try:
        settings = options("none", threads=1, spin=False, library=job.path)
        ort.InferenceSession(_smallest(), settings, providers=PROVIDERS)
    except Exception as error:  # noqa: BLE001 - the library's own errors come in many kinds
        raise _refusal(str(error), job.path) from None


def _refusal(text: str, path: str) -> FuseScopeError:
    if known := library.refusal(text, path):
        return known
    told = refused(text.replace(path, Path(path).name))
    return FuseScopeError("library_refused", reason=told, version=ort.__version__)


def _smallest() -> bytes:
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "one", types[:1], types[1:]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    data: bytes = model.SerializeToString()
    return data
