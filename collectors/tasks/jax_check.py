"""One variant of a model for jax alone: compile time, peak memory, outputs."""

from __future__ import annotations

import time

from collectors.jax.session import JaxSession, prepare_process
from collectors.tensors.outputs import against
from collectors.workers.jobs import Checked
from collectors.workers.jobs import CheckJob as Job
from collectors.workers.memory import PeakMemory

MEMORY_RUNS = 3


def run(job: Job) -> Checked:
    """Measures as the job says. There is no graph of its own: each profile has the program."""
    prepare_process(job.settings)
    memory = PeakMemory.start()
    session = JaxSession(job.settings, job.variant)
    run_ns = 0
    for _ in range(MEMORY_RUNS):
        started = time.perf_counter_ns()
        session.run()
        run_ns = time.perf_counter_ns() - started
    peak_bytes = memory.peak_bytes()
    return Checked(
        settings={
            **session.settings,
            "peak_memory_from": memory.source,
            "compile_s": round(session.compile_ns / 1e9, 3) if job.variant != "eager" else 0.0,
        },
        nodes=None,
        graph_problem=None,
        peak_memory_bytes=peak_bytes,
        difference=against(job.reference, job.outputs, session.outputs()),
        setup_ns=0,
        run_ns=run_ns,
    )
