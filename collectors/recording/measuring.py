"""Measuring a block in this process: un-profiled interleaved rounds, then a few profiled ones in
sessions of their own. How a session is opened is the caller's."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path
from typing import Protocol

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.recording.blocks import plan_block
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers import clock
from fusescope.collectors.workers.jobs import BlockJob, BlockMeasured, Lane, ProfiledRuns
from fusescope.collectors.workers.rounds import Runs, interleaved

PROFILE_ATTEMPTS = 3


class Profiled(Runs, Protocol):
    """A session that may write a profile."""

    def end_profiling(self, to: Path) -> tuple[list[int], list[int]] | None:
        """As runtimes.onnxruntime.Session has it."""
        ...


class Opens(Protocol):
    """Opens the session of a lane; `profile` is the folder for its profile, None without one."""

    def __call__(self, lane: Lane, profile: Path | None = None) -> Profiled:
        """A session that has run."""
        ...


def measured(job: BlockJob, opened: Opens) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs."""
    plan = plan_block(job.lanes, seed=job.seed, attempt=job.attempt, rounds=job.rounds)
    runs = interleaved(plan.creation, plan.rounds, job.warmup_rounds, opened)
    return BlockMeasured(lanes=runs, profiles=_profiled_steadily(job, opened))


def _profiled_steadily(job: BlockJob, opened: Opens) -> list[ProfiledRuns]:
    """Profiles count on the system's clock: those during which it was set are taken again.

    Raises FuseScopeError where it is set again and again.
    """
    for _ in range(PROFILE_ATTEMPTS):
        watch = clock.Watch()
        try:
            profiles = _profiled(job, opened)
        except FuseScopeError:
            if not watch.was_set():
                raise
            continue
        if not watch.was_set():
            return profiles
    raise FuseScopeError("clock_was_set")


def _profiled(job: BlockJob, opened: Opens) -> list[ProfiledRuns]:
    """Interleaved like the timed rounds, so that caches are as cold as they were there."""
    if not job.profiled_variants:
        return []
    lanes = tuple(Lane(variant, 1) for variant in job.profiled_variants)
    runs = job.profile_warmup_rounds + job.profiled_rounds - 1  # opening a session made one
    plan = plan_block(lanes, seed=job.seed, attempt=job.attempt, rounds=runs)
    folder = Path(job.profiles)
    sessions = {lane: opened(lane, _parts(folder, lane)) for lane in plan.creation}
    gc.collect()
    gc.disable()
    try:
        for order in plan.rounds:
            for lane in order:
                sessions[lane].run()
    finally:
        gc.enable()
    profiles = []
    for lane, session in sessions.items():
        file = folder / f"{file_name(lane.variant)}.json"
        spans = session.end_profiling(file) or (None, None)
        shutil.rmtree(_parts(folder, lane), ignore_errors=True)
        profiles.append(ProfiledRuns(lane.variant, str(file), *spans))
    return profiles


def _parts(folder: Path, lane: Lane) -> Path:
    return folder / f"{file_name(lane.variant)}.parts"
