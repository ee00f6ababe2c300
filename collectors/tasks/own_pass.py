"""The worker that tries our own pass on a model which is recorded: what it would fuse."""

from __future__ import annotations

from pathlib import Path

import onnx

from fusescope.analysis.experiment import OwnFusion
from fusescope.collectors.fusion.fusing import fuse
from fusescope.collectors.fusion.rules import Rules
from fusescope.collectors.workers.jobs import OwnPassJob as Job


def run(job: Job) -> tuple[OwnFusion, ...]:
    """Groups that the pass rewrites as a whole; what it takes back, or does in part, is none."""
    folder = Path(job.folder)
    folder.mkdir()
    report = fuse(
        onnx.load(job.settings.model), job.settings, Rules(), folder, seed=job.seed
    ).report
    return tuple(
        OwnFusion(found.pattern, found.operators, found.rewrites, found.makes)
        for found in report.opportunities
        if found.outcome == "applied"
    )
