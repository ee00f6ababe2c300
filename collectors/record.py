"""One experiment from start to finish. Imports no engine: workers do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import msgspec

from analysis.errors import FuseScopeError
from analysis.experiment import (
    SCHEMA_VERSION,
    Engine,
    ExperimentRecord,
    Machine,
    ModelFacts,
    ModelInput,
    Outcome,
    OutputDifference,
    Peaks,
    Settings,
    VariantRecord,
)
from analysis.graph import graph_json
from collectors import (
    ablation,
    archive,
    cache,
    custom_ops,
    kernels,
    machine,
    quiet,
    scratch,
    variants,
    worker,
    zoo,
)
from collectors.blocks import LOOKS, ROUNDS, WARMUP_ROUNDS, lanes
from collectors.budget import Deadline
from collectors.fusion import rules
from collectors.jobs import (
    Bench,
    BlockJob,
    BlockMeasured,
    Derived,
    DeriveJob,
    Drawing,
    LibraryJob,
    LibraryLoaded,
    PeaksJob,
    Prepared,
    PrepareJob,
    Structure,
    Structures,
    StructuresJob,
    Switches,
)
from collectors.progress import Progress, Stage
from collectors.recording import Recording
from collectors.series import Series, Stopped, expected_cost
from collectors.trials import Trials

__all__ = ["Recording", "record", "zoo_models"]

MEMORY_SHARE = 0.8
MATCHING_SHARE = 0.2  # of a time budget, for all variants together
AGREEMENT_SHARE = 0.1  # likewise, and of the time that one variant may take

Answer = TypeVar("Answer")
OnProgress = Callable[[Progress], None]
Enough = Callable[[ExperimentRecord, int], bool]


def _never() -> bool:
    return False


def zoo_models() -> dict[str, str]:
    """Name -> one-line description of every model that is built in."""
    return {model.name: model.description for model in zoo.MODELS}


def variant_names() -> dict[str, str]:
    """Name -> what runs, of every variant that this machine can record."""
    names = [variant.name for variant in variants.VARIANTS]
    names += [f"rules:{name}" for name in rules.built_in() if name != "O0"]
    if kernels.is_compiler_there():
        names += [f"custom:{kernel.name}" for kernel in kernels.KERNELS]
    return {name: variants.find(name).summary for name in names}


def record(
    recording: Recording,
    *,
    on_progress: OnProgress,
    enough: Enough | None = None,
    cancelled: Callable[[], bool] = _never,
) -> Path:
    """Records the experiment and returns the path of its file.

    `enough(record_so_far, blocks)` is asked after the 8th and the 14th block, unless the number
    of blocks is fixed. On Ctrl-C or `cancelled()` complete blocks are kept and written; the
    outcome says so. Raises FuseScopeError for whatever the user can act on, and then nothing
    was written.
    """
    recording.check()
    deadline = Deadline.after(recording.seconds)
    name = recording.model if zoo.find(recording.model) else Path(recording.model).stem
    path = archive.destination(recording.out, name, f"{datetime.now():%Y-%m-%d}")
    with scratch.folder() as folder:
        recorder = _Recorder(recording, name, folder, deadline, on_progress, cancelled)
        try:
            recorder.set_up()
            stopped = recorder.series.run(recorder.ask(enough), recorder.report_blocks)
        except (KeyboardInterrupt, worker.Cancelled):
            if not recorder.blocks_done:
                raise FuseScopeError(
                    "The recording was interrupted before its first block was complete",
                    hint="Nothing was written; start it again.",
                ) from None
            stopped = "interrupted"
        return recorder.write(path, stopped)


class _Recorder:
    """The state of one recording; `set_up` comes first."""

    series: Series
    _trials: Trials

    def __init__(
        self,
        recording: Recording,
        name: str,
        folder: Path,
        deadline: Deadline,
        on_progress: OnProgress,
        cancelled: Callable[[], bool],
    ) -> None:
        self._recording = recording
        self._name = name
        self._folder = folder
        self._deadline = deadline
        self._on_progress = on_progress
        self._cancelled = cancelled
        self._created = datetime.now(UTC).isoformat(timespec="seconds")
        self._memory_bytes = recording.memory_bytes or int(
            MEMORY_SHARE * machine.available_memory_bytes()
        )
        self._threads = recording.threads or machine.physical_cores()
        given = recording.custom_op_library
        self._library = custom_ops.read(given) if given is not None else None
        self._baseline = recording.baseline or (
            "unfused" if "unfused" in recording.asked else recording.asked[0]
        )
        self._quiet_key = ""

    @property
    def blocks_done(self) -> int:
        """Complete blocks, 0 before the first."""
        return len(self.series.complete) if hasattr(self, "series") else 0

    def set_up(self) -> None:
        """Everything before the first block: the model, each variant alone, the peaks."""
        self._machine = machine.facts()
        self._load_before = machine.load()
        message = f"Preparing {self._name}"
        if not self._is_calm():
            message += f" (the machine is busy: load {self._load_before})"
        self._report("prepare", 0, 1, message)
        if self._library is not None:
            self._run("library", LibraryJob(self._library.path), LibraryLoaded)
        self._prepared = self._prepare()
        self._bench = Bench(
            model=self._prepared.model,
            inputs=self._prepared.inputs,
            input_names=tuple(fact.name for fact in self._prepared.facts),
            threads=self._threads,
            spin=self._recording.spin,
            custom_op_library=self._library.path if self._library is not None else None,
            calls=self._prepared.calls,
            drawing=self._drawing(),
        )
        self._plan = ablation.plan(
            self._recording.asked,
            search=self._recording.ablate,
            ask=self._structures,
            report=lambda message: self._report("prepare", 0, 1, message),
        )
        self._bench = msgspec.structs.replace(self._bench, derived=self._derive())
        self._lanes = lanes(self._plan.variants, self._baseline)
        self._trials = Trials(
            self._bench,
            self._baseline,
            Path(self._prepared.graph),
            self._folder,
            self._memory_bytes,
            self._run,
        )
        order = sorted(self._plan.variants, key=lambda name: name != self._baseline)
        for done, variant in enumerate(order):
            self._report("check", done, len(order), f"Trying {variant} alone")
            self._trials.check(variant, self._agreement_seconds(len(order)))
            if self._trials.is_optimised(variant):
                self._report("check", done, len(order), f"Following the tensors of {variant}")
                self._trials.match(variant, self._matching_seconds(len(order)))
            self._trials.drop_dump(variant)
        self._report("peaks", 0, 1, "Measuring what this machine can do")
        job = PeaksJob(
            self._threads, self._recording.spin, self._machine.caches, self._memory_bytes // 4
        )
        self._peaks = self._run("peaks", job, Peaks)
        self.series = self._series()

    def ask(self, enough: Enough | None) -> Callable[[int], bool]:
        """The question at a look; a fixed number of blocks asks nothing."""
        if enough is None or self._recording.blocks is not None:
            return lambda _: False
        question = enough
        return lambda look: question(self._record("blocks"), look)

    def report_blocks(self) -> None:
        """Between blocks only: a report while one runs would disturb it."""
        series, done = self.series, len(self.series.complete)
        message = f"Block {done + 1} of {series.look}"
        if series.look < series.looks[-1]:
            message += f" (at most {series.looks[-1]})"
        if series.replaced:
            message += f", {series.replaced} replaced because the machine was busy"
        self._report("blocks", done, series.look, message, series.seconds_left())

    def write(self, path: Path, stopped: Stopped) -> Path:
        """Writes the experiment file and returns where it is."""
        series = self.series
        self._report("write", 0, 1, "Writing the experiment file", 0.0)
        result = self._record(stopped, load_after=machine.load())
        self._remember_quiet(stopped)
        model_graph = graph_json(self._trials.model_graph())
        members: dict[str, Path | bytes] = {"graphs/model.json": model_graph}
        for variant in result.variants:
            files = self._trials.files(variant.name)
            if variant.graph is not None:
                members[variant.graph] = files["graph"]
            if variant.matches is not None:
                members[variant.matches] = files["matches"]
            members |= series.profiles(variant.name)[1]
        written = archive.write(path, result, members)
        done = len(series.complete)
        complete = f"{done} block" if done == 1 else f"{done} blocks"
        messages = {
            "decided": f"Decided after {complete}",
            "blocks": f"Recorded {complete}",
            "seconds": f"The time budget ended after {complete}",
            "interrupted": f"Interrupted; kept {complete}",
        }
        message = messages[stopped]
        if series.loaded:
            message += f", {series.loaded} of them while the machine was busy"
        if written != path:
            message += f"; {path.name} exists already, so this is {written.name}"
        self._on_progress(Progress("done", done, done, message, 0.0, str(written)))
        return written

    def _prepare(self) -> Prepared:
        recording = self._recording
        is_zoo = zoo.find(recording.model) is not None
        job = PrepareJob(
            model=recording.model if is_zoo else str(Path(recording.model).absolute()),
            folder=str(self._folder),
            zoo=is_zoo,
            cache=str(cache.folder()),
            seed=recording.seed,
            batch=recording.batch,
            shapes=dict(recording.shapes),
            inputs=str(recording.inputs.absolute()) if recording.inputs else None,
            input_ranges=dict(recording.input_ranges),
            allow_external_data=recording.allow_external_data,
            expand_functions=variants.LIBRARY.name in recording.variants,
        )
        return self._run("prepare", job, Prepared)

    def _drawing(self) -> Drawing:
        """How further inputs are drawn: as the recorded ones were."""
        from_file = [fact.name for fact in self._prepared.facts if fact.source == "file"]
        return Drawing(
            seed=self._recording.seed,
            batch=self._prepared.batch or 1,
            ranges=dict(self._recording.input_ranges),
            from_file=tuple(from_file),
        )

    def _derive(self) -> dict[str, Derived]:
        """What variants run in place of the model, by name."""
        derived = {}
        for name in self._plan.variants:
            if variants.find(name).kind:
                self._report("prepare", 0, 1, f"Making what {name} runs")
                folder = self._folder / "derived" / variants.file_name(name)
                folder.mkdir(parents=True)
                job = DeriveJob(
                    bench=self._bench,
                    variant=name,
                    folder=str(folder),
                    rules=self._recording.rules.get(name),
                    seed=self._recording.seed,
                    cache=str(cache.folder()),
                )
                derived[name] = self._run("derive", job, Derived)
        return derived

    def _structures(self, switches: tuple[Switches, ...]) -> tuple[Structure, ...]:
        return self._run("structures", StructuresJob(self._bench, switches), Structures).structures

    def _matching_seconds(self, variants: int) -> float:
        left = self._deadline.left_s()
        seconds = self._recording.run_timeout
        return seconds if left is None else min(seconds, MATCHING_SHARE * left / variants)

    def _agreement_seconds(self, variants: int) -> float:
        left = self._deadline.left_s()
        seconds = AGREEMENT_SHARE * self._recording.run_timeout
        return seconds if left is None else min(seconds, AGREEMENT_SHARE * left / variants)

    def _series(self) -> Series:
        recording = self._recording
        folder = self._folder / "blocks"
        folder.mkdir()
        self._quiet_key = quiet.key(
            {
                "cpu": self._machine.cpu_model,
                "cores": self._machine.logical_cores,
                "model": self._prepared.sha256,
                "inputs": [(fact.name, fact.shape) for fact in self._prepared.facts],
                "engine": self._prepared.engine_version,
                "threads": self._threads,
                "spin": recording.spin,
                "variants": sorted(self._plan.variants),
                **({"library": self._library.sha256} if self._library is not None else {}),
                **({"rules": dict(recording.rules)} if recording.rules else {}),
            }
        )
        cost = expected_cost(
            self._lanes,
            {name: checked.setup_ns / 1e9 for name, checked in self._trials.checked.items()},
            {name: checked.run_ns / 1e9 for name, checked in self._trials.checked.items()},
            recording.profiled_rounds,
        )

        def run_block(job: BlockJob) -> BlockMeasured:
            longest_s = recording.run_timeout + 10 * series.cost.seconds(job.rounds)
            return self._run("block", job, BlockMeasured, seconds=longest_s)

        series = Series(
            bench=self._bench,
            lanes=self._lanes,
            seed=recording.seed,
            rounds=recording.rounds or ROUNDS,
            profiled_rounds=recording.profiled_rounds,
            looks=(recording.blocks,) if recording.blocks else LOOKS,
            folder=folder,
            cost=cost,
            deadline=self._deadline,
            quiet_reference=quiet.stored(self._quiet_key),
            run_worker=run_block,
        )
        return series

    def _record(self, stopped: Stopped, load_after: float | None = None) -> ExperimentRecord:
        """experiment.json as it stands now."""
        recording, prepared, series = self._recording, self._prepared, self.series
        return ExperimentRecord(
            schema_version=SCHEMA_VERSION,
            fusescope_version=_version(),
            created=self._created,
            model=ModelFacts(
                name=self._name,
                source="zoo" if zoo.find(recording.model) else "file",
                sha256=prepared.sha256,
                nodes=prepared.nodes,
                opset=prepared.opset,
                inputs=tuple(
                    ModelInput(fact.name, fact.dtype, fact.shape, fact.source)
                    for fact in prepared.facts
                ),
                batch=prepared.batch,
            ),
            machine=self._machine_with_loads(load_after),
            engine=Engine("onnxruntime", prepared.engine_version, "CPUExecutionProvider"),
            settings=Settings(
                baseline=self._baseline,
                threads=self._threads,
                spin=recording.spin,
                seed=recording.seed,
                rounds=series.kept_rounds,
                profiled_rounds=recording.profiled_rounds,
                warmup_rounds=WARMUP_ROUNDS,
                looks=series.looks,
                command=recording.command,
            ),
            outcome=Outcome(
                blocks=len(series.complete),
                blocks_replaced=series.replaced,
                stopped=stopped,
                quiet_reference=series.quiet_reference,
                blocks_loaded=series.loaded,
            ),
            peaks=self._peaks,
            variants=[self._variant_record(name) for name in self._plan.variants],
            model_graph="graphs/model.json",
        )

    def _variant_record(self, name: str) -> VariantRecord:
        checked = self._trials.checked[name]
        files = self._trials.files(name)
        file_name = variants.file_name(name)
        return VariantRecord(
            name=name,
            settings={
                **self._trials.settings(name),
                **self._plan.settings.get(name, {}),
                **(self._library.settings if self._library is not None else {}),
            },
            samples=self.series.samples(name),
            profiles=self.series.profiles(name)[0],
            graph=f"graphs/{file_name}.json" if "graph" in files else None,
            nodes=checked.nodes,
            output_difference=(
                OutputDifference(*checked.difference) if checked.difference else None
            ),
            agreement=checked.agreement,
            peak_memory_bytes=checked.peak_memory_bytes,
            matches=f"matches/{file_name}.json" if "matches" in files else None,
        )

    def _machine_with_loads(self, load_after: float | None) -> Machine:
        return msgspec.structs.replace(
            self._machine, load_before=self._load_before, load_after=load_after
        )

    def _remember_quiet(self, stopped: Stopped) -> None:
        """A calm recording leaves a reference for the next ones."""
        calm = self._load_before is not None and self._is_calm()
        if calm and stopped != "interrupted" and len(self.series.complete) >= quiet.MIN_BLOCKS:
            quiet.store(self._quiet_key, self.series.levels())

    def _is_calm(self) -> bool:
        """Whether little else ran before the recording, as far as that is known."""
        most = quiet.QUIET_LOAD_PER_CORE * self._machine.logical_cores
        return self._load_before is None or self._load_before < most

    def _report(
        self, stage: Stage, done: int, total: int, message: str, left: float | None = None
    ) -> None:
        self._on_progress(Progress(stage, done, total, message, left))

    def _run(
        self, task: str, job: msgspec.Struct, answer: type[Answer], seconds: float | None = None
    ) -> Answer:
        library = self._library
        limits = worker.Limits(self._memory_bytes, seconds or self._recording.run_timeout)
        result = worker.run(
            task,
            job,
            answer,
            limits=limits,
            where=self._name if library is None or task != "library" else library.name,
            cancelled=self._cancelled,
            library=library.name if library is not None else "",
        )
        if library is not None:
            library.check_unchanged()
        return result


def _version() -> str:
    try:
        return metadata.version("fusescope")
    except metadata.PackageNotFoundError:
        return "source"
