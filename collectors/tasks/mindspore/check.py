"""One variant of a model for MindSpore alone: compile time, peak memory, outputs, and its graph."""

from __future__ import annotations

from fusescope.collectors.mindspore import process
from fusescope.collectors.tensors.outputs import against
from fusescope.collectors.workers.alone import last_of_runs_ns
from fusescope.collectors.workers.jobs import Checked
from fusescope.collectors.workers.jobs import CheckJob as Job
from fusescope.collectors.workers.memory import PeakMemory


def run(job: Job) -> Checked:
    """Measures and writes as the job says."""
    process.prepare(job.settings.compiled)
    from fusescope.collectors.mindspore.session import MindSporeSession, prepare_process

    prepare_process(job.settings)
    memory = PeakMemory.start()
    session = MindSporeSession(job.settings, job.variant)
    run_ns = last_of_runs_ns(session.run)
    peak_bytes = memory.peak_bytes()
    difference = against(job.reference, job.outputs, session.outputs())
    return Checked(
        settings={
            **session.settings,
            "peak_memory_from": memory.source,
            "compile_s": round(session.compile_ns / 1e9, 3) if job.variant != "eager" else 0.0,
        },
        nodes=None,
        graph_problem=None,
        peak_memory_bytes=peak_bytes,
        difference=difference,
        setup_ns=0,
        run_ns=run_ns,
    )
