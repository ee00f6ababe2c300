"""Runs in the Python of torch's environment: what FuseScope sees of Triton kernels, without a GPU.

Inductor generates Triton for the processor, and Triton's interpreter runs it, so kernels, launchers
and what they read and write are those of a GPU; how they are compiled, and their times, are not.
Prints one JSON object, of each variant its graph and its matches.
"""

# mypy: ignore-errors

from __future__ import annotations

import math
import os
import sys
import tempfile
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"

import msgspec
import numpy as np
import torch._inductor.config as inductor
import torch.utils._triton as torch_triton
import triton.language as tl
from torch._inductor.runtime.triton_helpers import libdevice
from triton.runtime.interpreter import TensorHandle

from fusescope.analysis.graph import graph_json
from fusescope.collectors.tasks.torch import fusions
from fusescope.collectors.torch.session import prepare_process
from fusescope.collectors.torch.variant_graph import graph_of
from fusescope.collectors.workers.jobs import FusionsJob, SessionSettings

_FUNCTIONS = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp,
    "erf": np.vectorize(math.erf),
}


def _interpreted(function):
    """The function, of which the interpreter has none: they are in the device's library."""

    def call(x, **_):
        values = function(x.handle.data).astype(x.handle.data.dtype)
        return tl.core.tensor(TensorHandle(values, x.handle.dtype), x.type)

    return call


def main(model: str) -> None:
    """Print what is seen of `unfused`, of `fused`, and of that without its first fusion."""
    inductor.cpu_backend = "triton"
    torch_triton.triton_hash_with_backend = lambda: "interpreter"
    for name, function in _FUNCTIONS.items():
        setattr(libdevice, name, _interpreted(function))
    with tempfile.TemporaryDirectory() as folder:
        settings = SessionSettings(
            model=model, inputs="", input_names=(), threads=1, spin=False, compiled=folder
        )
        prepare_process(settings)
        first = fusions.run(FusionsJob(settings))[0]
        without = f"without:{first.name}"
        settings = msgspec.structs.replace(settings, denied={without: first.denied})
        seen = {}
        for variant in ("eager", "unfused", "fused", without):
            made = graph_of(settings, variant, Path(folder))
            seen[variant] = {
                "graph": msgspec.Raw(graph_json(made.named.graph)),
                "matches": made.named.matches,
            }
    print(msgspec.json.encode(seen).decode())


if __name__ == "__main__":
    main(sys.argv[1])
