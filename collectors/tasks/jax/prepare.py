"""Load a model for jax and see what it is: its inputs, and the graph of its jaxpr."""

from __future__ import annotations

from pathlib import Path

import jax

from fusescope.analysis.graph import graph_json
from fusescope.collectors.jax import devices, models
from fusescope.collectors.jax.equations import trace
from fusescope.collectors.models.facts import InputFacts
from fusescope.collectors.workers.jobs import Prepared
from fusescope.collectors.workers.jobs import PrepareJob as Job


def run(job: Job) -> Prepared:
    """Writes graph.json into the job's folder. Raises FuseScopeError for what returns no model, or
    one that cannot be traced."""
    devices.prefer(job.placement)
    loaded = models.load(job.model, job.placement)
    graph = trace(loaded).graph
    file = Path(job.folder) / "graph.json"
    file.write_bytes(graph_json(graph))
    facts = tuple(
        InputFacts(name, str(leaf.dtype), tuple(leaf.shape), "made by the model's function")
        for name, leaf in loaded.leaves()
    )
    return Prepared(
        model=job.model,
        inputs="",
        graph=str(file),
        sha256=loaded.sha256,
        nodes=len(graph.nodes),
        opset=None,
        batch=None,
        facts=facts,
        engine_version=str(jax.__version__),
    )
