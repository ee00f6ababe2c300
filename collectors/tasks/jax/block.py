"""One block of a model for jax: interleaved rounds, then a profile of each variant."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import jax

from fusescope.collectors.jax import devices
from fusescope.collectors.jax.session import JaxSession, prepare_process
from fusescope.collectors.recording.blocks import plan_block
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers.jobs import BlockJob as Job
from fusescope.collectors.workers.jobs import BlockMeasured, Lane, ProfiledRuns
from fusescope.collectors.workers.rounds import Runs, interleaved


def run(job: Job) -> BlockMeasured:
    """Runs the block. Every lane has `job.rounds` runs; compiling is not part of any."""
    prepare_process(job.settings)
    plan = plan_block(job.lanes, seed=job.seed, attempt=job.attempt, rounds=job.rounds)

    def opened(lane: Lane) -> Runs:
        return JaxSession(job.settings, lane.variant)

    device = devices.chosen(job.settings.placement)
    with device.failing():
        before = device.state()
        runs = interleaved(
            plan.creation, plan.rounds, job.warmup_rounds, opened, settles=not device.is_cpu
        )
        states = [state for state in (before, device.state()) if state is not None]
        return BlockMeasured(lanes=runs, profiles=_profiled(job), states=states)


def _profiled(job: Job) -> list[ProfiledRuns]:
    """The profiler sees the whole process, and its file cannot be cut, so the variants run one
    after the other, in an order that is drawn for each block."""
    if not job.profiled_variants:
        return []
    lanes = tuple(Lane(variant, 1) for variant in job.profiled_variants)
    plan = plan_block(lanes, seed=job.seed, attempt=job.attempt, rounds=1)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    found = []
    for lane in plan.creation:
        session = JaxSession(job.settings, lane.variant)
        session.run()
        folder = Path(job.profiles) / f"{file_name(lane.variant)}.parts"
        gc.collect()
        gc.disable()
        try:
            with jax.profiler.trace(str(folder), profiler_options=options):
                for number in range(job.profile_warmup_rounds + job.profiled_rounds):
                    with jax.profiler.StepTraceAnnotation("run", step_num=number):
                        session.run()
        finally:
            gc.enable()
        (profile,) = folder.glob("plugins/profile/*/*.xplane.pb")
        file = Path(job.profiles) / f"{file_name(lane.variant)}.xplane.pb"
        shutil.move(profile, file)
        shutil.rmtree(folder)
        found.append(ProfiledRuns(lane.variant, str(file)))
        del session
        gc.collect()
    return found
