"""A user's own library of operators at work: does it load, and the variant `custom:library`.

A model may define an operator itself, as an ONNX function, and a library may have a kernel for it.
`custom:library` runs the kernels; every other variant runs what the model defines, so both are
measured in the same blocks.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

from analysis.errors import FuseScopeError
from collectors import library_errors, structure
from collectors.engine_errors import clean, refused
from collectors.jobs import Derived, DeriveJob, LibraryLoaded, Switches
from collectors.jobs import LibraryJob as Job
from collectors.runtimes.onnxruntime import PROVIDERS, options

_LISTED = 12  # operators that are named


def run(job: Job) -> LibraryLoaded:
    """Loads the library and opens a session that has its operators. Raises FuseScopeError."""
    try:
        settings = options("none", threads=1, spin=False, library=job.path)
        ort.InferenceSession(_smallest(), settings, providers=PROVIDERS)
    except Exception as error:  # noqa: BLE001 - the library's own errors come in many kinds
        raise _refusal(str(error), job.path) from None
    return LibraryLoaded()


def derive(job: DeriveJob, _model: onnx.ModelProto) -> Derived:
    """The model with its functions called, for the library to run. Raises FuseScopeError where
    the library has a kernel for none of them."""
    calls = job.bench.calls
    assert calls is not None  # the model was prepared for this variant
    bench = msgspec.structs.replace(job.bench, model=calls)
    ran = structure.dumped(bench, Switches("none")).op_types
    functions = onnx.load(calls, load_external_data=False).functions
    defined = sorted({f"{function.domain}:{function.name}" for function in functions})
    found = {name: ran[name] for name in defined if ran.get(name)}
    if not found:
        raise FuseScopeError(
            "The custom-op library has none of the operators that the model defines: "
            + clean(", ".join(defined[:_LISTED])),
            hint="Give the operator the domain, name and inputs of the model's function.",
        )
    return Derived(
        calls,
        keeps_tensors=True,
        settings={
            "operators_by_library": clean(", ".join([*found][:_LISTED])),
            "nodes_by_library": sum(found.values()),
        },
    )


def _refusal(text: str, path: str) -> FuseScopeError:
    if known := library_errors.refusal(text, path):
        return known
    told = refused(text.replace(path, Path(path).name))
    return FuseScopeError(
        f"The custom-op library was refused: {told}",
        hint=f"Build it for ONNX Runtime {ort.__version__}, which runs here.",
    )


def _smallest() -> bytes:
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])], "one", types[:1], types[1:]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    data: bytes = model.SerializeToString()
    return data
