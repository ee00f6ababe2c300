"""Which kernels of several operators torch.compile makes of a model."""

from __future__ import annotations

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.torch import kernel_map
from fusescope.collectors.torch.session import TorchSession, prepare_process
from fusescope.collectors.workers.jobs import Fusion
from fusescope.collectors.workers.jobs import FusionsJob as Job


def run(job: Job) -> tuple[Fusion, ...]:
    """By the names that the graph of `fused` has for them. Raises FuseScopeError where the compiler
    does not tell which kernel computes what."""
    prepare_process(job.settings)
    made = TorchSession(job.settings, "fused", mapped=True).compiled
    assert made is not None
    if made.provenance.keys() | made.backward != set(range(len(made.modules))):
        raise FuseScopeError("torch_no_map", variant="fused")
    found = []
    for graph, held in sorted(made.provenance.items()):
        place = f"{graph}:" if len(made.modules) > 1 else ""
        for fusion in kernel_map.fusions(graph, held, made.computed.get(graph, {})):
            found.append(Fusion(place + fusion.name, fusion.denied, fusion.bytes))
    return tuple(found)
