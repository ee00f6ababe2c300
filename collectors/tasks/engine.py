"""Import an engine in its own environment, and say what it calls itself: proof that it works."""

from __future__ import annotations

import importlib

from fusescope.collectors.workers.jobs import EngineJob, EngineVersion

Job = EngineJob


def run(job: EngineJob) -> EngineVersion:
    """Raises ImportError where the engine, or a package that workers import, is not there."""
    for name in job.shared:
        importlib.import_module(name)
    return EngineVersion(str(importlib.import_module(job.module).__version__)[:300])
