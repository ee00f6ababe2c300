"""One variant alone in a process: peak memory, outputs, and the graph the engine made of it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import msgspec
import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, graph_json
from fusescope.collectors.derive import subgraphs
from fusescope.collectors.derive.sessions import open_session, preload, recorded_settings
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.models import graphs, shapes
from fusescope.collectors.models.model import name_nodes
from fusescope.collectors.tensors.agreement import agreement_of
from fusescope.collectors.tensors.outputs import against
from fusescope.collectors.variants import Variant, find, uses_device
from fusescope.collectors.workers.alone import last_of_runs_ns
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import Checked
from fusescope.collectors.workers.jobs import CheckJob as Job
from fusescope.collectors.workers.memory import PeakMemory


def run(job: Job) -> Checked:
    """Measures and writes as the job says. A graph that cannot be written is not a failure.

    Raises FuseScopeError when the engine left no operator to run: there is nothing to compare.
    """
    variant = find(job.variant)
    preload(job.settings, variant)
    memory = PeakMemory.start()
    started = time.perf_counter_ns()
    session = open_session(job.settings, variant)
    setup_ns = time.perf_counter_ns() - started
    run_ns = last_of_runs_ns(session.run, already=1)
    # Of a device the host sees nothing, and its own is not what the model needs.
    peak_bytes = None if uses_device(job.variant) else memory.peak_bytes()
    told = {} if peak_bytes is None else {"peak_memory_from": memory.source}
    outputs = session.outputs()
    difference = against(job.reference, job.outputs, outputs)
    agreed, agreement_problem = agreement_of(job, session)
    del session
    graph, problem = _graph(job, variant)
    if graph is not None and not graph.nodes:
        raise FuseScopeError("no_operator_left", variant=variant.name)
    if graph is not None:
        Path(job.graph).write_bytes(graph_json(graph))
    return Checked(
        settings={**recorded_settings(job.settings, variant), **told},
        nodes=len(graph.nodes) if graph is not None else None,
        graph_problem=problem,
        peak_memory_bytes=peak_bytes,
        difference=difference,
        setup_ns=setup_ns,
        run_ns=run_ns,
        agreement=agreed,
        agreement_problem=agreement_problem,
    )


def _graph(job: Job, variant: Variant) -> tuple[Graph | None, str | None]:
    """The graph as it ran with the shapes that ran, or why there is none."""
    folder = Path(job.graph).with_suffix(".parts")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        profile = folder / "profile.json"
        dump = Path(job.dump)
        derived = job.settings.derived.get(variant.name)
        drawn = derived.drawn if derived is not None else ""
        if drawn:
            shutil.copyfile(drawn, dump)
        open_session(
            job.settings, variant, profile=folder, dump=None if drawn else dump
        ).end_profiling(profile)
        dumped = Path(derived.model) if derived is not None and derived.steps else dump
        events = msgspec.json.decode(profile.read_bytes(), type=list[dict[str, Any]])
        op_types = subgraphs.name_as_drawn(events) if drawn else {}
        model = onnx.load(str(dumped), load_external_data=False)
        graphs.name_as_profiled(model, events)
        name_nodes(model)
        fed = load_inputs(job.settings)
        shapes.apply(model, {name: array.shape for name, array in fed.items()})
        graph = graphs.from_model(model, graphs.profiled_shapes(events))
        return subgraphs.typed(graph, op_types), None
    except FuseScopeError as error:
        return None, error.text
    except Exception as error:  # noqa: BLE001 - the engine raises many kinds; the recording goes on without
        return None, clean(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
