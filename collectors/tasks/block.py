"""One block: un-profiled interleaved rounds, then a few profiled ones in sessions of their own."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

from analysis.errors import FuseScopeError
from collectors.derive.sessions import open_session
from collectors.recording.blocks import plan_block
from collectors.variants import file_name, find
from collectors.workers import clock
from collectors.workers.jobs import BlockJob as Job
from collectors.workers.jobs import BlockMeasured, Lane, ProfiledRuns
from collectors.workers.rounds import Runs, interleaved

PROFILE_ATTEMPTS = 3


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs."""
    plan = plan_block(job.lanes, seed=job.seed, attempt=job.attempt, rounds=job.rounds)

    def opened(lane: Lane) -> Runs:
        return open_session(job.settings, find(lane.variant))

    runs = interleaved(plan.creation, plan.rounds, job.warmup_rounds, opened)
    return BlockMeasured(lanes=runs, profiles=_profiled_steadily(job))


def _profiled_steadily(job: Job) -> list[ProfiledRuns]:
    """Profiles count on the system's clock: those during which it was set are taken again.

    Raises FuseScopeError where it is set again and again.
    """
    for _ in range(PROFILE_ATTEMPTS):
        watch = clock.Watch()
        try:
            profiles = _profiled(job)
        except FuseScopeError:
            if not watch.was_set():
                raise
            continue
        if not watch.was_set():
            return profiles
    raise FuseScopeError("clock_was_set")


def _profiled(job: Job) -> list[ProfiledRuns]:
    """Interleaved like the timed rounds, so that caches are as cold as they were there."""
    if not job.profiled_variants:
        return []
    lanes = tuple(Lane(variant, 1) for variant in job.profiled_variants)
    runs = job.profile_warmup_rounds + job.profiled_rounds - 1  # opening a session made one
    plan = plan_block(lanes, seed=job.seed, attempt=job.attempt, rounds=runs)
    folder = Path(job.profiles)
    sessions = {
        lane: open_session(job.settings, find(lane.variant), profile=_parts(folder, lane))
        for lane in plan.creation
    }
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
