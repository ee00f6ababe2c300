"""A user's own library of operators at work: does it load, and the variant `custom:library`.

A model may define an operator itself, as an ONNX function, and a library may have a kernel for it.
`custom:library` runs the kernels; every other variant runs what the model defines, so both are
measured in the same blocks.
"""

from __future__ import annotations

import msgspec
import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.runtimes import structure
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Derived, DeriveJob, Switches

_LISTED = 12  # operators that are named


def derive(job: DeriveJob, _variant: Variant, _model: onnx.ModelProto) -> Derived:
    """The model with its functions called, for the library to run. Raises FuseScopeError where
    the library has a kernel for none of them."""
    calls = job.settings.calls
    assert calls is not None  # the model was prepared for this variant
    settings = msgspec.structs.replace(job.settings, model=calls)
    ran = structure.dumped(settings, Switches("none")).op_types
    functions = onnx.load(calls, load_external_data=False).functions
    defined = sorted({f"{function.domain}:{function.name}" for function in functions})
    found = {name: ran[name] for name in defined if ran.get(name)}
    if not found:
        raise FuseScopeError(
            "library_operators_differ", operators=clean(", ".join(defined[:_LISTED]))
        )
    return Derived(
        calls,
        keeps_tensors=True,
        settings={
            "operators_by_library": clean(", ".join([*found][:_LISTED])),
            "nodes_by_library": sum(found.values()),
        },
    )
