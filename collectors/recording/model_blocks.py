"""What runs in one block of a model's recording: a process of all lanes, or one of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fusescope.collectors.recording.blocks import (
    PROFILE_WARMUP_ROUNDS,
    WARMUP_ROUNDS,
    plan_block,
)
from fusescope.collectors.variants import is_alone, uses_device
from fusescope.collectors.workers.jobs import BlockJob, BlockMeasured, Lane, SessionSettings

RunBlock = Callable[[BlockJob], BlockMeasured]


@dataclass(frozen=True)
class ModelBlocks:
    """Blocks of the variants of a model, in workers. `libraries` are those of releases that share a
    process. With `are_several` engines each lane has a process of its own in every block."""

    settings: SessionSettings
    lanes: tuple[Lane, ...]
    seed: int
    profiled_rounds: int
    run_worker: RunBlock
    libraries: Mapping[str, str] = field(default_factory=dict)
    are_several: bool = False

    def measure(self, folder: Path, attempt: int, rounds: int) -> BlockMeasured:
        """Return what ran in the block of that attempt; its profiles lie in the folder."""
        are_alone = self.are_several or any(is_alone(lane.variant) for lane in self.lanes)
        if not self.settings.spin and not (are_alone and not self.libraries):
            return self.run_worker(self._job(self.lanes, folder, attempt, rounds))
        # Sessions that spin steal each other's cores, and a process imports one release and one
        # engine. Each lane has a process alone: beside others of its engine it would find colder
        # caches than what is alone in its own.
        order = plan_block(self.lanes, seed=self.seed, attempt=attempt, rounds=0).creation
        parts: list[BlockMeasured] = []
        for number, lane in enumerate(order):
            own = folder / str(number)  # engines give their profiles the same names
            own.mkdir()
            parts += map(self.run_worker, self._jobs_alone(lane, own, attempt, rounds))
        return BlockMeasured(
            lanes=[lane for part in parts for lane in part.lanes],
            profiles=[profile for part in parts for profile in part.profiles],
            states=[state for part in parts for state in part.states],
        )

    def _jobs_alone(
        self, lane: Lane, folder: Path, attempt: int, rounds: int
    ) -> tuple[BlockJob, ...]:
        """Those of a lane in processes of its own: on a device runs are timed as they are, and
        profiled in another process, in which kernels are timed."""
        job = self._job((lane,), folder, attempt, rounds)
        if not uses_device(lane.variant):
            return (job,)
        timed = msgspec.structs.replace(job, profiled_variants=())
        if not job.profiled_variants:
            return (timed,)
        return timed, msgspec.structs.replace(job, lanes=(), times_kernels=True)

    def _job(self, lanes: tuple[Lane, ...], folder: Path, attempt: int, rounds: int) -> BlockJob:
        return BlockJob(
            settings=self.settings,
            lanes=lanes,
            seed=self.seed,
            attempt=attempt,
            rounds=rounds,
            warmup_rounds=WARMUP_ROUNDS,
            profiled_rounds=self.profiled_rounds,
            profile_warmup_rounds=PROFILE_WARMUP_ROUNDS,
            profiled_variants=tuple(lane.variant for lane in lanes if lane.copy == 1),
            profiles=str(folder),
            libraries=dict(self.libraries),
        )
