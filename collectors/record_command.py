"""A command of the user's own, recorded: its variants in alternating blocks, into one file."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import (
    COMMAND,
    SCHEMA_VERSION,
    CommandFacts,
    Engine,
    ExperimentRecord,
    Machine,
    ModelFacts,
    Outcome,
    Peaks,
    Profile,
    Settings,
    VariantRecord,
)
from fusescope.analysis.messages import Message, Said
from fusescope.collectors.commands.measuring import (
    CheckTrace,
    CommandBlocks,
    CommandRuns,
    Redact,
    profile_of,
)
from fusescope.collectors.commands.private import Secrets
from fusescope.collectors.commands.request import CommandPlan, CommandRecording, recorded_value
from fusescope.collectors.files import archive, scratch
from fusescope.collectors.progress import Progress, Stage
from fusescope.collectors.recording import quiet, reporting
from fusescope.collectors.recording.blocks import LOOKS, lanes
from fusescope.collectors.recording.budget import BlockCost, Deadline
from fusescope.collectors.recording.preparation import OnProgress
from fusescope.collectors.recording.series import Series, Stopped, in_zip
from fusescope.collectors.variants import file_name
from fusescope.collectors.workers import machine
from fusescope.collectors.workers.jobs import ProfiledRuns
from fusescope.collectors.workers.worker import Cancelled

__all__ = ["CommandRecording", "record_command"]

_PREPARING = Message("Preparing {model:name}")
_PREPARING_BUSY = Message("Preparing {model:name} (the machine is busy: load {load:number})")
_TRYING = Message("Running {variant:name} for the first time")
_PROFILING = Message("Profiling {variant:name}")

Enough = Callable[[ExperimentRecord], bool]


def _never() -> bool:
    return False


def record_command(
    recording: CommandRecording,
    *,
    on_progress: OnProgress,
    check_trace: CheckTrace,
    redact: Redact,
    enough: Enough | None = None,
    cancelled: Callable[[], bool] = _never,
) -> Path:
    """Records the experiment and returns the path of its file.

    Every variant runs once before the first block, and once more where profiles are taken apart.
    `enough(record_so_far)` is asked after the 8th and the 14th block, unless the number of blocks
    is fixed. On Ctrl-C or `cancelled()` complete blocks are kept and written, and no process of the
    command is left. Raises FuseScopeError for whatever the user can act on, and then nothing was
    written.
    """
    secrets = recording.secrets
    secrets.learn(os.environ)
    try:
        return _recorded(
            recording,
            secrets,
            on_progress,
            enough,
            check_trace=check_trace,
            redact=redact,
            cancelled=cancelled,
        )
    except FuseScopeError as error:
        raise error.with_texts(secrets.hidden) from None


def _recorded(
    recording: CommandRecording,
    secrets: Secrets,
    on_progress: OnProgress,
    enough: Enough | None,
    *,
    check_trace: CheckTrace,
    redact: Redact,
    cancelled: Callable[[], bool],
) -> Path:
    plan = recording.plan(secrets)
    deadline = Deadline.after(recording.seconds)
    path = archive.destination(recording.out, plan.name, f"{datetime.now():%Y-%m-%d}")
    with scratch.folder() as folder:
        runs = CommandRuns(
            plan,
            recording.trace,
            recording.run_timeout,
            folder / "runs",
            cancelled,
            check_trace,
            redact,
        )
        recorder = _Recorder(recording, runs, folder, deadline, on_progress)
        try:
            recorder.try_variants()
            stopped = recorder.run_blocks(enough)
        except (KeyboardInterrupt, Cancelled):
            if not recorder.series.complete:
                raise FuseScopeError("interrupted_too_early") from None
            stopped = "interrupted"
        return recorder.write(path, stopped)


class _Recorder:
    """The runs of one recording, and the file that is made of them."""

    def __init__(
        self,
        recording: CommandRecording,
        runs: CommandRuns,
        folder: Path,
        deadline: Deadline,
        on_progress: OnProgress,
    ) -> None:
        self._recording = recording
        self._plan: CommandPlan = runs.plan
        self._runs = runs
        self._folder = folder
        self._on_progress = on_progress
        self._begun = time.monotonic()
        self._took_s: float | None = None
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._machine: Machine = msgspec.structs.replace(
            machine.facts(), load_before=machine.load()
        )
        self._sha256 = self._plan.sha256
        self._profiles: dict[str, ProfiledRuns] = {}
        self._key = quiet.key(
            {
                "cpu": self._machine.cpu_model,
                "cores": self._machine.logical_cores,
                "command": self._sha256,
                "variants": [str(one) for one in self._plan.variants],
                "time": self._plan.reading.text,
            }
        )
        self.series = self._series(deadline)

    def try_variants(self) -> None:
        """Every variant once, the baseline first: what fails, fails here."""
        calm = quiet.was_calm(self._machine)
        preparing = _PREPARING if calm else _PREPARING_BUSY
        told = preparing.of(model=self._plan.name, load=self._machine.load_before)
        self._report("prepare", told, 0)
        order = sorted(self._plan.variants, key=lambda one: one.name != self._plan.baseline)
        apart = self._plan.is_profiled_apart
        round_s = 0.0
        for done, variant in enumerate(order):
            self._report("check", _TRYING.of(variant=variant.name), done)
            first = self._folder / "tried" / str(done)
            took_s = self._runs.tried(variant, None if apart else first)
            round_s += took_s * (2 if variant.name == self._plan.baseline else 1)
            if apart:
                self._report("check", _PROFILING.of(variant=variant.name), done)
                own = self._folder / "profiled" / str(done)
                self._runs.profiled(variant, own)
                self._profiles[variant.name] = profile_of(variant.name, own)
        self.series.cost = BlockCost(0.0, round_s)
        self._took_s = time.monotonic() - self._begun

    def run_blocks(self, enough: Enough | None) -> Stopped:
        """Until it is enough; a fixed number of blocks asks nothing."""
        if enough is None or self._recording.blocks is not None:
            return self.series.run(lambda: False, self._report_block)
        return self.series.run(lambda: enough(self._record("blocks")), self._report_block)

    def write(self, path: Path, stopped: Stopped) -> Path:
        """Writes the experiment file and returns where it is."""
        self._on_progress(reporting.OF_WRITING)
        result = self._record(stopped, load_after=machine.load())
        self._remember_quiet(stopped)
        members: dict[str, Path | bytes] = {}
        for variant in self._plan.variants:
            members |= in_zip(self._profile(variant.name), _place(variant.name))[1]
        place = archive.write(path, result, members)
        self._on_progress(reporting.of_end(stopped, self.series, path, place))
        return place

    def _series(self, deadline: Deadline) -> Series:
        recording, folder = self._recording, self._folder / "blocks"
        folder.mkdir()
        blocks = CommandBlocks(
            self._runs,
            lanes(self._plan.names, self._plan.baseline),
            recording.seed,
            lambda: not self._plan.is_profiled_apart and not self.series.complete,
        )
        return Series(
            rounds=recording.rounds or 1,
            looks=(recording.blocks,) if recording.blocks else LOOKS,
            folder=folder,
            cost=BlockCost(0.0, 0.0),
            deadline=deadline,
            quiet_reference=quiet.stored(self._key),
            measure=blocks.measure,
        )

    def _record(self, stopped: Stopped, load_after: float | None = None) -> ExperimentRecord:
        """experiment.json as it stands now."""
        recording, plan, series = self._recording, self._plan, self.series
        unit = plan.reading.unit
        return ExperimentRecord(
            schema_version=SCHEMA_VERSION,
            fusescope_version=reporting.version(),
            created=self._started,
            model=ModelFacts(
                name=plan.name,
                source="command",
                sha256=self._sha256,
                nodes=0,
                opset=None,
                inputs=(),
                batch=None if self._runs.scale == 1 else self._runs.scale,
            ),
            machine=msgspec.structs.replace(self._machine, load_after=load_after),
            engine=Engine(COMMAND, "", ""),
            settings=Settings(
                baseline=plan.baseline,
                threads=1,
                spin=False,
                seed=recording.seed,
                rounds=recording.rounds or 1,
                profiled_rounds=1,
                warmup_rounds=0,
                looks=series.looks,
                command=plan.secrets.hidden(recording.typed),
            ),
            outcome=Outcome(
                blocks=len(series.complete),
                blocks_replaced=series.replaced,
                stopped=stopped,
                quiet_reference=series.quiet_reference,
                blocks_loaded=series.loaded,
                preparation_s=self._took_s,
                block_s=series.block_s,
            ),
            peaks=Peaks(),
            variants=[self._variant_record(name) for name in plan.names],
            command=CommandFacts(
                line=plan.secrets.line(recording.command),
                time="wall" if unit is None else "printed",
                found_by=plan.secrets.hidden(plan.reading.text),
                unit="" if unit is None else unit.text,
                samples_of=self._runs.scale,
                profiled="apart" if plan.is_profiled_apart else "together",
                is_rate=unit is not None and unit.is_rate,
                shell=recording.shell,
            ),
        )

    def _variant_record(self, name: str) -> VariantRecord:
        variant = next(one for one in self._plan.variants if one.name == name)
        settings: dict[str, str | int | float | bool] = {
            variable: recorded_value(self._plan.secrets, variable, value)
            for variable, value in variant.environment.items()
        }
        if variant.arguments:
            settings["arguments"] = self._plan.secrets.line(shlex.join(variant.arguments))
        own = self._profile(name)
        return VariantRecord(
            name=name,
            settings=settings,
            samples=self.series.samples(name),
            profiles=[Profile(0, in_zip(own, _place(name))[0], 0)],
            graph=None,
        )

    def _profile(self, name: str) -> ProfiledRuns:
        """That of the runs that are profiled apart, else of the first complete block."""
        of_block = self.series.complete[0].profiles if self.series.complete else []
        found = {one.variant: one for one in of_block}
        return self._profiles[name] if name in self._profiles else found[name]

    def _remember_quiet(self, stopped: Stopped) -> None:
        """A calm recording leaves a reference for the next ones."""
        calm = self._machine.load_before is not None and quiet.was_calm(self._machine)
        if calm and stopped != "interrupted" and len(self.series.complete) >= quiet.MIN_BLOCKS:
            quiet.store(self._key, self.series.levels())

    def _report(self, stage: Stage, message: Message | Said, done: int) -> None:
        self._on_progress(Progress(stage, done, len(self._plan.variants), message))

    def _report_block(self) -> None:
        self._on_progress(reporting.of_blocks(self.series))


def _place(variant: str) -> str:
    return f"profiles/{file_name(variant)}/0"
