"""The rank of a file as plain values, as JSON has it (docs/json.md)."""

from __future__ import annotations

from typing import Any

from fusescope.analysis.job import Job


def rank_values(job: Job | None) -> dict[str, Any] | None:
    """Return the rank of a file, how many its job has, and the stage of the pipeline that it is,
    each None where the file does not say it; None where it says nothing of a job."""
    if job is None or (job.rank is None and job.world is None):
        return None
    stage = job.stage
    return {
        "rank": job.rank,
        "world": job.world,
        "stage": stage[0] if stage else None,
        "stages": stage[1] if stage else None,
    }
