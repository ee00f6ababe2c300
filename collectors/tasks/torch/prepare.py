"""Load a model for torch and see what it is: its inputs, and the graph of its eager run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import graph_json
from fusescope.collectors.models.facts import InputFacts
from fusescope.collectors.torch import devices, internals, models
from fusescope.collectors.torch.calls import Watch
from fusescope.collectors.torch.compiling import SETTINGS
from fusescope.collectors.torch.eager import watch_eager
from fusescope.collectors.torch.loaded import Loaded
from fusescope.collectors.torch.naming import DTYPES, model_graph
from fusescope.collectors.torch.trees import leaves_of
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
    changed = _changed(loaded)
    if changed:  # made anew: what they held is gone
        loaded = models.load(job.model, job.seed, job.placement, job.given)
        loaded = replace(loaded, changed=changed)
    watch = Watch(loaded.named_tensors())
    watch_eager(watch, loaded, folder)
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
        changed=changed,
    )


def _changed(loaded: Loaded) -> tuple[str, ...]:
    """The inputs and buffers that a run writes into, by name. Raises FuseScopeError where it puts
    tensors of another shape in their place, as a cache that grows does, or changes a number that an
    input holds, and where a training step draws random numbers."""
    state, inputs = loaded.state(), [name for name, _ in loaded.named_inputs()]
    before = {name: tensor.clone() for name, tensor in state.items()}
    numbers = list(map(_numbers, loaded.inputs))
    chance = torch.get_rng_state()
    loaded.call(*loaded.inputs)
    if loaded.training is not None and not torch.equal(chance, torch.get_rng_state()):
        raise FuseScopeError("torch_training_random")
    for place, (known, value) in enumerate(zip(numbers, loaded.inputs, strict=True)):
        if known != _numbers(value):
            name = loaded.names[place] if loaded.names else f"input_{place}"
            raise FuseScopeError("torch_changes_numbers", input=name[:80])
    after = loaded.state()
    others = [name for name, tensor in state.items() if _is_other(tensor, after.get(name))]
    others += [name for name, _ in loaded.named_inputs() if name not in inputs]
    if others:
        raise FuseScopeError("torch_changes_inputs", input=others[0][:80])
    return tuple(name for name in state if _differs(state[name], before[name]))


def _numbers(value: Any) -> list[Any]:
    """What an input holds beside tensors."""
    return [leaf for leaf in leaves_of(value) if not isinstance(leaf, torch.Tensor)]


def _is_other(tensor: torch.Tensor, after: torch.Tensor | None) -> bool:
    return after is None or after.shape != tensor.shape


def _differs(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether a value is another one; NaN is NaN."""
    apart = one != other
    if one.is_floating_point():
        apart &= ~(one.isnan() & other.isnan())
    return bool(apart.any())
