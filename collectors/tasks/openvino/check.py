"""One variant of a model for OpenVINO alone: peak memory, outputs, and its graph."""

from __future__ import annotations

import shutil
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import graph_json, parse_graph
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.openvino.session import OpenvinoSession
from fusescope.collectors.openvino.values import folder_of
from fusescope.collectors.openvino.variant_graph import VariantGraph, graph_of
from fusescope.collectors.tensors.agreement import agreement_of
from fusescope.collectors.tensors.outputs import against
from fusescope.collectors.workers.alone import last_of_runs_ns
from fusescope.collectors.workers.jobs import Checked
from fusescope.collectors.workers.jobs import CheckJob as Job
from fusescope.collectors.workers.memory import PeakMemory


def run(job: Job) -> Checked:
    """Measures and writes as the job says. A graph that cannot be had is not a failure."""
    memory = PeakMemory.start()
    session = OpenvinoSession(job.settings, job.variant)
    run_ns = last_of_runs_ns(session.run)
    peak_bytes = memory.peak_bytes()
    difference = against(job.reference, job.outputs, session.outputs())
    agreed, agreement_problem = agreement_of(job, session)
    settings = {
        **session.settings,
        "peak_memory_from": memory.source,
        "compile_s": round(session.compile_ns / 1e9, 3),
    }
    setup_ns = session.compile_ns
    del session
    made, problem = _graph(job)
    if made is not None:
        Path(job.graph).parent.mkdir(parents=True, exist_ok=True)
        Path(job.graph).write_bytes(graph_json(made.graph))
        settings |= made.settings
    return Checked(
        settings=settings,
        nodes=len(made.graph.nodes) if made is not None else None,
        graph_problem=problem,
        peak_memory_bytes=peak_bytes,
        difference=difference,
        setup_ns=setup_ns,
        run_ns=run_ns,
        agreement=agreed,
        agreement_problem=agreement_problem,
    )


def _graph(job: Job) -> tuple[VariantGraph | None, str | None]:
    """What ran, or why it is not known."""
    folder = folder_of(job.dump)
    try:
        session = OpenvinoSession(job.settings, job.variant, counted=True)
        session.run()
        model = parse_graph(Path(job.model_graph).read_bytes(), "model")
        return graph_of(session, job.settings, job.variant, model, folder), None
    except Exception as error:  # noqa: BLE001 - the engine raises many kinds; the recording goes on without
        shutil.rmtree(folder, ignore_errors=True)
        told = error.text if isinstance(error, FuseScopeError) else clean(str(error))
        return None, told or type(error).__name__
