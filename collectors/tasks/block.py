"""One block: un-profiled interleaved rounds, then a few profiled ones in sessions of their own."""

from __future__ import annotations

from pathlib import Path

from collectors.derive.sessions import open_session
from collectors.recording.measuring import measured
from collectors.runtimes import kernels
from collectors.runtimes.onnxruntime import Session
from collectors.variants import find
from collectors.workers.jobs import BlockJob as Job
from collectors.workers.jobs import BlockMeasured, Lane


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs."""
    if job.times_kernels:
        kernels.time_them()

    def opened(lane: Lane, profile: Path | None = None) -> Session:
        return open_session(job.settings, find(lane.variant), profile=profile)

    return measured(job, opened)
