"""What the engine makes of a model under several settings, to find what each optimizer does."""

from __future__ import annotations

from fusescope.collectors.runtimes.structure import dumped
from fusescope.collectors.workers.jobs import Structure
from fusescope.collectors.workers.jobs import StructuresJob as Job


def run(job: Job) -> tuple[Structure, ...]:
    """The structure under each of the settings asked for, in that order."""
    return tuple(dumped(job.settings, switches) for switches in job.switches)
