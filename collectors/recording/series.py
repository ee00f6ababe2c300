"""The blocks of one recording: run, replace what ran under load, stop when it is enough."""

from __future__ import annotations

import math
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from fusescope.analysis.experiment import DeviceState, Profile, Samples
from fusescope.collectors.recording import quiet
from fusescope.collectors.recording.blocks import (
    MIN_BLOCKS,
    MIN_ROUNDS,
    PROFILE_WARMUP_ROUNDS,
    WARMUP_ROUNDS,
    may_replace,
    next_look,
)
from fusescope.collectors.recording.budget import BlockCost, Deadline
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers.jobs import BlockMeasured, Lane, ProfiledRuns

Stopped = Literal["decided", "blocks", "seconds", "interrupted", "device"]
Measure = Callable[[Path, int, int], BlockMeasured]


@dataclass
class Series:
    """Complete blocks so far. `looks` are the numbers of blocks at which `enough` is asked;
    the last one ends the recording. `measure` runs one block: its empty folder, the number of the
    attempt, and the rounds."""

    rounds: int
    looks: tuple[int, ...]
    folder: Path
    cost: BlockCost
    deadline: Deadline
    quiet_reference: float | None
    measure: Measure
    attempts: int = 0
    replaced: int = 0
    complete: list[BlockMeasured] = field(default_factory=list)
    durations_s: list[float] = field(default_factory=list)

    def run(self, enough: Callable[[], bool], report: Callable[[], None]) -> Stopped:
        """Runs blocks until a look decides, all are done, or the time is over."""
        while True:
            done = len(self.complete)
            if done == self.looks[-1]:
                return "blocks"
            if done in self.looks and enough():
                return "decided"
            if self._time_is_over():
                return "seconds"
            self._fit_rounds()
            report()
            self._attempt()

    @property
    def look(self) -> int:
        """The number of blocks that is aimed at now."""
        return next_look(self.looks, len(self.complete))

    @property
    def kept_rounds(self) -> int:
        """Rounds that every complete block has at least; a budget may shrink the later ones."""
        runs = [len(lane.wall_ns) for block in self.complete for lane in block.lanes]
        return min(runs, default=self.rounds)

    @property
    def loaded(self) -> int:
        """Complete blocks that ran under load: no attempts or no time were left to replace them."""
        return sum(self._is_loaded(block) for block in self.complete)

    @property
    def block_s(self) -> float | None:
        """Median seconds of a block, those that ran under load included; None before the first."""
        return statistics.median(self.durations_s) if self.durations_s else None

    def seconds_left(self) -> float:
        """Estimate to the next look, or to the end of the budget."""
        wanted = (self.look - len(self.complete)) * self.cost.seconds(self.rounds)
        left = self.deadline.left_s()
        return wanted if left is None or self.look == self.looks[0] else min(wanted, left)

    def levels(self) -> list[float]:
        """Mean ln(seconds) of every complete block."""
        return [_level(block) for block in self.complete]

    def samples(self, variant: str) -> Samples:
        """All un-profiled runs of one variant, both copies of the baseline."""
        lanes = [
            (block, lane)
            for block, measured in enumerate(self.complete)
            for lane in sorted(measured.lanes, key=lambda lane: lane.copy)
            if lane.variant == variant
        ]
        rows = [
            (block, index, lane.copy, lane.wall_ns[index], lane.cpu_ns[index])
            for block, lane in lanes
            for index in range(len(lane.wall_ns))
        ]
        block, number, copy, wall, cpu = [list(column) for column in zip(*rows, strict=True)] or [
            [] for _ in range(5)
        ]
        times = [time for _, lane in lanes for time in lane.device_ns or ()]
        device = times if times and len(times) == len(rows) else None
        return Samples(block, number, copy, wall, cpu, device)

    def states(self) -> list[DeviceState]:
        """What the driver said of the device before and after each block."""
        return [
            msgspec.structs.replace(state, block=block)
            for block, measured in enumerate(self.complete)
            for state in measured.states
        ]

    def profiles(self, variant: str) -> tuple[list[Profile], dict[str, Path]]:
        """Profiles of one variant, and the files behind them by name in the zip."""
        entries: list[Profile] = []
        files: dict[str, Path] = {}
        for block, measured in enumerate(self.complete):
            for profile in measured.profiles:
                if profile.variant == variant:
                    name, own = in_zip(profile, f"profiles/{file_name(variant)}/{block}")
                    files |= own
                    entries.append(
                        Profile(
                            block,
                            name,
                            PROFILE_WARMUP_ROUNDS,
                            profile.run_start_ns,
                            profile.run_dur_ns,
                        )
                    )
        return entries, files

    def _attempt(self) -> None:
        """One block; it counts unless it ran under load and there are attempts left."""
        self.attempts += 1
        folder = self.folder / f"{self.attempts:04d}"
        folder.mkdir()
        started = time.monotonic()
        measured = self.measure(folder, self.attempts, self.rounds)
        timed_s = measured.rounds_s
        if timed_s is None:
            timed_s = sum(sum(lane.wall_ns) for lane in measured.lanes) / 1e9
        self.durations_s.append(time.monotonic() - started)
        self.cost.learn(self.durations_s[-1], timed_s, self.rounds)
        if self._is_loaded(measured) and self._may_replace():
            self.replaced += 1
            shutil.rmtree(folder, ignore_errors=True)
        else:
            self.complete.append(measured)

    def _is_loaded(self, block: BlockMeasured) -> bool:
        limit = math.inf if self.quiet_reference is None else self.quiet_reference + quiet.LOADED
        return _level(block) > limit

    def _may_replace(self) -> bool:
        left = self.deadline.left_s()
        needed = self.look - len(self.complete)
        if left is not None and left < needed * self.cost.seconds(self.rounds):
            return False
        return may_replace(self.look, self.attempts, len(self.complete))

    def _time_is_over(self) -> bool:
        """Whether the next block would overrun the budget. Up to the first look rounds shrink
        instead, and below 5 blocks there would be no verdict."""
        left, done = self.deadline.left_s(), len(self.complete)
        if left is None or done < min(MIN_BLOCKS, self.looks[0]):
            return False
        if done < self.looks[0] and self.rounds > MIN_ROUNDS:
            return False
        return left < self.cost.seconds(self.rounds)

    def _fit_rounds(self) -> None:
        left, done = self.deadline.left_s(), len(self.complete)
        if left is not None and done < self.looks[0]:
            share = left / (self.looks[0] - done)
            self.rounds = self.cost.rounds_in(share, at_most=self.rounds)


def in_zip(profile: ProfiledRuns, place: str) -> tuple[str, dict[str, Path]]:
    """The name of a profile in the zip, and every file that goes there."""
    if not profile.folder:
        kind = "json" if profile.file.endswith(".json") else "xplane.pb"
        return f"{place}.{kind}", {f"{place}.{kind}": Path(profile.file)}
    folder = Path(profile.folder)
    files = {
        f"{place}/{file.relative_to(folder).as_posix()}": file
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    return f"{place}/{Path(profile.file).relative_to(folder).as_posix()}", files


def _level(block: BlockMeasured) -> float:
    return quiet.block_level({(lane.variant, lane.copy): lane.wall_ns for lane in block.lanes})


def expected_cost(
    lanes: Sequence[Lane],
    setup_s: dict[str, float],
    run_s: dict[str, float],
    profiled_rounds: int,
) -> BlockCost:
    """A first estimate from each variant's time alone: process start about half a second,
    sessions, warm-up, and profiled rounds at one and a half times the un-profiled time."""
    round_s = sum(run_s[lane.variant] for lane in lanes)
    profiled = 1.5 * (PROFILE_WARMUP_ROUNDS + profiled_rounds)
    fixed_s = 0.5 + WARMUP_ROUNDS * round_s + sum(setup_s[lane.variant] for lane in lanes)
    fixed_s += sum(setup_s[lane.variant] + profiled * run_s[lane.variant] for lane in lanes)
    return BlockCost(fixed_s, round_s)
