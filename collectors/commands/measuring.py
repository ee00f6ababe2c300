"""Runs of the variants of a command: timed in blocks, and profiled."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said, listed
from fusescope.analysis.text import shown
from fusescope.collectors.commands import printed, process, traces
from fusescope.collectors.commands.process import CommandRun
from fusescope.collectors.commands.request import SHELL, CommandPlan
from fusescope.collectors.commands.variation import CommandVariant
from fusescope.collectors.recording.blocks import plan_block
from fusescope.collectors.workers.jobs import BlockMeasured, Lane, LaneRuns, ProfiledRuns

LAST_LINES = 4
CheckTrace = Callable[[Path], None]
Redact = Callable[[str], str]
_NO_OUTPUT = Message("(no output)")


@dataclass
class CommandRuns:
    """Runs of one recording, each with a new folder below `folder`. `trace` is the pattern of its
    traces. `check_trace` raises FuseScopeError for a folder that holds no recording, or several;
    `redact` takes what is private out of what a command printed. `scale` is how many of the counted
    things a sample is of."""

    plan: CommandPlan
    trace: str
    seconds: float
    folder: Path
    cancelled: Callable[[], bool]
    check_trace: CheckTrace
    redact: Redact
    scale: int = 1
    _number: int = field(default=0, init=False)

    def timed(self, variant: CommandVariant, keep: Path | None = None) -> tuple[list[int], int]:
        """Return the times of one run in ns, and its processor time in ns, 0 where what it prints
        is not the time of the whole; its trace goes to the new folder `keep`."""
        ran, values = self._run(variant, is_profiled=False, keep=keep)
        if self.plan.reading.unit is None:
            return [ran.wall_ns], ran.cpu_ns
        return self._times(variant, ran, values), 0

    def profiled(self, variant: CommandVariant, keep: Path) -> None:
        """Runs the variant as it is profiled; its trace goes to the new folder `keep`."""
        self._run(variant, is_profiled=True, keep=keep)

    def tried(self, variant: CommandVariant, keep: Path | None) -> float:
        """Runs the variant for the first time, and returns its seconds; the first of a recording
        says how many of the counted things a sample is of."""
        ran, values = self._run(variant, is_profiled=False, keep=keep)
        unit = self.plan.reading.unit
        if unit is not None:
            if self._number == 1 and values:
                self.scale = unit.scale(values[0])
            self._times(variant, ran, values)
        return ran.wall_ns / 1e9

    def _run(
        self, variant: CommandVariant, *, is_profiled: bool, keep: Path | None
    ) -> tuple[CommandRun, list[float]]:
        """One run, and what it printed; raises FuseScopeError where it fails or leaves no trace."""
        self._number += 1
        folder = self.folder / f"{self._number:05d}"
        own = folder / "traces"
        own.mkdir(parents=True)
        plan = self.plan
        words = (*plan.words, *variant.arguments, *(plan.profiling_words if is_profiled else ()))
        environment = _environment(variant.environment, plan.profiling if is_profiled else {}, own)
        since_ns = time.time_ns()
        ran = process.run(
            [word.replace(traces.FOLDER, str(own)) for word in words],
            environment,
            folder,
            self.seconds,
            self.cancelled,
        )
        if ran.code != 0:
            raise self._failed(variant, ran)
        reading = plan.reading
        values = (
            [] if reading.unit is None else printed.values_of(reading, ran.output, ran.errors, own)
        )
        if keep is not None:
            self._keep(variant, own, since_ns, keep)
        shutil.rmtree(folder)
        return ran, values

    def _times(self, variant: CommandVariant, ran: CommandRun, values: list[float]) -> list[int]:
        """What it printed, in ns. Raises FuseScopeError where that is no time, or nothing."""
        unit = self.plan.reading.unit
        times = [unit.sample_ns(value, self.scale) if unit else None for value in values]
        known = [one for one in times if one is not None]
        if not times or len(known) < len(times):
            raise FuseScopeError(
                "command_time_impossible" if times else "command_time_not_printed",
                variant=variant.name,
                time=shown(self.plan.reading.text, 80),
                lines=self._last_lines(ran.output or ran.errors),
            )
        return known

    def _keep(self, variant: CommandVariant, own: Path, since_ns: int, keep: Path) -> None:
        found = traces.written(self.trace, own, since_ns, self.plan.reading.file)
        if not found:
            if not self.trace:
                raise FuseScopeError(
                    "command_no_trace", variant=variant.name, variable=traces.VARIABLE
                )
            raise FuseScopeError(
                "command_trace_unmatched",
                variant=variant.name,
                variable=traces.VARIABLE,
                pattern=shown(self.trace, 80),
                files=listed([shown(one.name, 60) for one in traces.written("", own, 0)][:5]),
            )
        traces.keep(found, own, keep)
        try:
            self.check_trace(keep)
        except FuseScopeError as error:
            raise FuseScopeError(
                "command_trace_unread", variant=variant.name, reason=error.said
            ) from None

    def _failed(self, variant: CommandVariant, ran: CommandRun) -> FuseScopeError:
        lines = self._last_lines(ran.errors or ran.output)
        if ran.code < 0:
            return FuseScopeError(
                "command_ended_by_signal", variant=variant.name, signal=-ran.code, lines=lines
            )
        if ran.code == 127 and self.plan.words[0] == SHELL:
            return FuseScopeError("command_not_found_by_shell", lines=lines)
        return FuseScopeError(
            "command_failed", variant=variant.name, exit_code=ran.code, lines=lines
        )

    def _last_lines(self, text: str) -> str | Said:
        """Return the last lines of what it printed, without what is private."""
        lines = [line.strip() for line in text.splitlines() if line.strip()][-LAST_LINES:]
        return (
            shown(self.redact(self.plan.secrets.hidden(" | ".join(lines))), 400)
            if lines
            else _NO_OUTPUT.of()
        )


@dataclass(frozen=True)
class CommandBlocks:
    """Blocks of the variants of a command. `wants_traces` says before a block whether those of its
    runs are to be kept: of the first one, where no runs are profiled apart."""

    runs: CommandRuns
    lanes: tuple[Lane, ...]
    seed: int
    wants_traces: Callable[[], bool]

    def measure(self, folder: Path, attempt: int, rounds: int) -> BlockMeasured:
        """Return what ran in the block of that attempt: every lane once a round, in drawn order."""
        begun = time.monotonic()
        variants = {one.name: one for one in self.runs.plan.variants}
        found = {lane: LaneRuns(lane.variant, lane.copy, [], []) for lane in self.lanes}
        keeps = self.wants_traces()
        kept: dict[str, Path] = {}
        plan = plan_block(self.lanes, seed=self.seed, attempt=attempt, rounds=rounds)
        for order in plan.rounds:
            for lane in order:
                keep = None
                if keeps and lane.copy == 1 and lane.variant not in kept:
                    keep = kept[lane.variant] = folder / str(len(kept))
                times, cpu_ns = self.runs.timed(variants[lane.variant], keep)
                found[lane].wall_ns.extend(times)
                found[lane].cpu_ns.extend([cpu_ns] * len(times))
        profiles = [profile_of(name, kept[name]) for name in kept]
        took_s = time.monotonic() - begun
        return BlockMeasured(list(found.values()), profiles, rounds_s=took_s)


def profile_of(variant: str, folder: Path) -> ProfiledRuns:
    """The profile of a variant whose files lie in that folder."""
    first = min(file for file in folder.rglob("*") if file.is_file())
    return ProfiledRuns(variant, str(first), folder=str(folder))


def _environment(
    settings: Mapping[str, str | None], profiling: Mapping[str, str | None], folder: Path
) -> dict[str, str]:
    """The user's own with the settings, and where traces may go."""
    made = {**os.environ, traces.VARIABLE: str(folder)}
    for name, value in {**settings, **profiling}.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = value.replace(traces.FOLDER, str(folder))
    return made
