"""One block: un-profiled interleaved rounds, then a few profiled ones in sessions of their own."""

from __future__ import annotations

from pathlib import Path

from fusescope.collectors.derive.sessions import open_session
from fusescope.collectors.recording.measuring import measured
from fusescope.collectors.runtimes import kernels
from fusescope.collectors.runtimes.onnxruntime import Session
from fusescope.collectors.variants import find
from fusescope.collectors.workers.jobs import BlockJob as Job
from fusescope.collectors.workers.jobs import BlockMeasured, Lane


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs."""
    if job.times_kernels:
        kernels.time_them()

    def opened(lane: Lane, profile: Path | None = None) -> Session:
        return open_session(job.settings, find(lane.variant), profile=profile)

    return measured(job, opened)
