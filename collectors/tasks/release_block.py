"""One block of several releases of the engine, all in this process, each by its own library: one is
loaded when the first session of it is opened, so in random order. Imports no engine."""

from __future__ import annotations

from pathlib import Path

from fusescope.collectors.recording.measuring import measured
from fusescope.collectors.runtimes.c_interface import Library, LibrarySession
from fusescope.collectors.workers.jobs import BlockJob as Job
from fusescope.collectors.workers.jobs import BlockMeasured, Lane


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs. Raises FuseScopeError where a library is
    none, or refuses the model."""
    loaded: dict[str, Library] = {}

    def opened(lane: Lane, profile: Path | None = None) -> LibrarySession:
        place = job.libraries[lane.variant]
        library = loaded.get(place) or loaded.setdefault(place, Library(Path(place)))
        if profile is not None:
            profile.mkdir(parents=True, exist_ok=True)
        prefix = None if profile is None else profile / "profile"
        return LibrarySession(library, job.settings, prefix)

    return measured(job, opened)
