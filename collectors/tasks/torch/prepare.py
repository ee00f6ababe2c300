"""Load a model for torch and see what it is: its inputs, and the graph of its eager run."""

from __future__ import annotations

from pathlib import Path

import torch

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import graph_json
from fusescope.collectors.models.facts import InputFacts
from fusescope.collectors.torch import devices, internals, models
from fusescope.collectors.torch.calls import Watch
from fusescope.collectors.torch.compiling import SETTINGS
from fusescope.collectors.torch.eager import watch_eager
from fusescope.collectors.torch.naming import DTYPES, model_graph
from fusescope.collectors.workers.jobs import Prepared
from fusescope.collectors.workers.jobs import PrepareJob as Job


def run(job: Job) -> Prepared:
    """Writes graph.json into the job's folder. Raises FuseScopeError for what returns no model, and
    whatever the model raises."""
    torch.set_grad_enabled(False)
    with devices.chosen(job.placement).failing():
        return _prepared(job)


def _prepared(job: Job) -> Prepared:
    folder = Path(job.folder)
    loaded = models.load(job.model, job.seed, job.placement, job.given)
    watch = Watch(loaded.named_tensors())
    given = [(name, tensor, tensor.clone()) for name, tensor in loaded.named_inputs()]
    watch_eager(watch, loaded, folder)
    for name, tensor, before in given:
        if not torch.equal(tensor, before) and not tensor.isnan().any():
            raise FuseScopeError("torch_changes_inputs", input=name)
    graph = model_graph(watch.run)
    (folder / "graph.json").write_bytes(graph_json(graph))
    facts = tuple(
        InputFacts(
            name,
            DTYPES.get(tensor.dtype, str(tensor.dtype)),
            tuple(tensor.shape),
            loaded.source(number),
        )
        for number, (name, tensor) in enumerate(loaded.named_inputs())
    )
    return Prepared(
        model=job.model,
        inputs="",
        graph=str(folder / "graph.json"),
        sha256=loaded.sha256,
        nodes=len(graph.nodes),
        opset=None,
        batch=None,
        facts=facts,
        engine_version=str(torch.__version__),
        lacking={name: place for name in SETTINGS if (place := internals.needed_for(name))},
    )
