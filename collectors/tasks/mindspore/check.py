"""One variant of a model for MindSpore alone: compile time, peak memory, outputs, and its graph."""

from __future__ import annotations

import time

from collectors.mindspore import process
from collectors.tensors.outputs import against
from collectors.workers.jobs import Checked
from collectors.workers.jobs import CheckJob as Job
from collectors.workers.memory import PeakMemory

MEMORY_RUNS = 3


def run(job: Job) -> Checked:
    """Measures and writes as the job says."""
    process.prepare(job.settings.compiled)
    from collectors.mindspore.session import MindSporeSession, prepare_process

    prepare_process(job.settings)
    memory = PeakMemory.start()
    session = MindSporeSession(job.settings, job.variant)
    run_ns = 0
    for _ in range(MEMORY_RUNS):
        started = time.perf_counter_ns()
        session.run()
        run_ns = time.perf_counter_ns() - started
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
