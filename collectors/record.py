"""One experiment from start to finish. Imports no engine: workers do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import (
    SCHEMA_VERSION,
    DeviceFacts,
    Engine,
    ExperimentRecord,
    Outcome,
    OutputDifference,
    Settings,
    Try,
    VariantRecord,
)
from fusescope.analysis.graph import graph_json
from fusescope.analysis.messages import Message, Said
from fusescope.collectors import kernels, variants, zoo
from fusescope.collectors.environments import chosen
from fusescope.collectors.environments.catalogue import ENGINES, OWN, is_named, kind_of, takes_onnx
from fusescope.collectors.files import archive, scratch
from fusescope.collectors.fusion import rules
from fusescope.collectors.jax import names as jax_names
from fusescope.collectors.kernels.native import compiler
from fusescope.collectors.mindspore import names as mindspore_names
from fusescope.collectors.models import custom_ops
from fusescope.collectors.recording import placing, quiet, reporting, several
from fusescope.collectors.recording.blocks import LOOKS, ROUNDS, WARMUP_ROUNDS
from fusescope.collectors.recording.budget import Deadline
from fusescope.collectors.recording.facts import model_facts
from fusescope.collectors.recording.model_blocks import ModelBlocks
from fusescope.collectors.recording.preparation import OnProgress, Preparation, prepare
from fusescope.collectors.recording.refused import NothingTried
from fusescope.collectors.recording.request import MAX_THREADS_PER_CORE, Recording
from fusescope.collectors.recording.series import Series, Stopped, expected_cost
from fusescope.collectors.releases import kept
from fusescope.collectors.runtimes import optimizers, providers
from fusescope.collectors.torch import names as torch_names
from fusescope.collectors.workers import addressing, machine, worker
from fusescope.collectors.workers.drawn import DTYPES, GivenInput
from fusescope.collectors.workers.jobs import BlockJob, BlockMeasured
from fusescope.collectors.workers.placement import CPU, Placement
from fusescope.collectors.workers.pool import WorkerPool

__all__ = [
    "DTYPES",
    "OWN",
    "GivenInput",
    "NothingTried",
    "Placement",
    "Recording",
    "is_named",
    "kind_of",
    "record",
    "zoo_models",
]

_OWN_FUSIONS = "own_fusions.json"
_OF_DEVICE = ("device_failed", "device_out_of_memory")
Enough = Callable[[ExperimentRecord], bool]


def _never() -> bool:
    return False


def zoo_models() -> dict[str, Message]:
    """Name -> one-line description of every model that is built in."""
    return {model.name: model.description for model in zoo.MODELS}


def engine_models() -> dict[str, Message]:
    """Name ('torch:mlp') -> one-line description of every model that is built in for an engine with
    an environment of its own."""
    return {
        f"{names.PREFIX}{name}": text
        for names in (torch_names, jax_names, mindspore_names)
        for name, text in names.BUILT_IN.items()
    }


def runtime_of(model: str) -> str:
    """The engine of a built-in model by its name; that of all others is OWN."""
    return model.partition(":")[0] if model in engine_models() else OWN


def runtimes_of(model: str) -> tuple[str, ...]:
    """The engines that can run a model of that name or file, the usual one first, environments of
    the user's last."""
    usual = runtime_of(model)
    others = [name for name in ENGINES if takes_onnx(name)] if usual == OWN else []
    named = [name for one in (usual, *others) for name in chosen.environments_of(one)]
    return usual, *others, *named


def devices_of(runtime: str) -> dict[str, str]:
    """Return the devices beside the processor that an engine is known to see, as a recording names
    them, with what their makers call them; starts nothing."""
    return chosen.devices_of(runtime) if is_ready(runtime) else {}


def engines_beside(model: str = "") -> tuple[str, ...]:
    """Those that can run a model in one recording, the usual one first, environments of the user's
    last: of an ONNX model those that read it or have it translated, of another one those of its
    engine."""
    if runtime_of(model) != OWN:
        return runtimes_of(model)
    engines = several.engines_beside()
    return *engines, *(name for one in engines for name in chosen.environments_of(one))


def why_not_ready(runtime: str) -> FuseScopeError | None:
    """Why an engine, or an environment of the user's, cannot be used; None for one that can."""
    try:
        chosen.python_of(runtime)
    except FuseScopeError as error:
        return error
    return None


def is_ready(runtime: str) -> bool:
    """Whether the environment of an engine is there; starts nothing."""
    return chosen.is_ready(runtime)


def variant_names(runtime: str = OWN, device: str = CPU) -> dict[str, Message | Said]:
    """Name -> what runs, of every variant that this machine can record with the engine, there on
    that device."""
    if kind_of(runtime) != OWN:
        return {
            one.name: one.summary
            for one in variants.all_of_engine(kind_of(runtime))
            if placing.has_variant(Placement(device=device), one.name)
        }
    names = [variant.name for variant in variants.VARIANTS]
    names += [f"rules:{name}" for name in rules.built_in() if name != "O0"]
    if kernels.is_compiler_there():
        names += [f"custom:{kernel.name}" for kernel in kernels.KERNELS]
    if compiler.path() is not None:
        names += [f"inside:{kernel.name}" for kernel in kernels.KERNELS if kernel.fuses]
    names += [f"provider:{provider.name}" for provider in providers.installed()]
    return {name: variants.find(name).summary for name in names}


def variant_names_beside(engines: Sequence[str]) -> dict[str, Message | Said]:
    """Name -> what runs, of every variant of a recording of several engines: `fused` of each in
    front."""
    return {one.name: one.summary for one in several.offered(engines)}


def summary_of(name: str) -> Message | Said | None:
    """What runs as the variant of that name, also where it is of no list: an ablation, other
    threads; None for names that cannot be recorded by the name alone."""
    listed = variant_names()
    if name in listed:
        return listed[name]
    try:
        variant = variants.find(name)
    except FuseScopeError:
        return None
    return variant.summary if variant.optimizer or variant.threads else None


def can_try(variant: str) -> bool:
    """Whether this machine has what that variant needs: a compiler, so many cores."""
    if variant.startswith("custom:") and not kernels.is_compiler_there():
        return False
    if variant.startswith("inside:") and compiler.path() is None:
        return False
    return variants.find(variant).threads <= MAX_THREADS_PER_CORE * machine.logical_cores()


def to_try(recording: Recording, best: str, asked: Sequence[Try]) -> Recording:
    """The recording of what findings ask for beside the best variant, which is its baseline."""
    return replace(
        recording,
        variants=(best, *(one.variant for one in asked)),
        baseline=best,
        rules={one.variant: one.rules for one in asked if one.rules},
        tries=tuple(asked),
        own_pass=False,
    )


def listed_optimizers() -> tuple[str, ...]:
    """Names of all optimizers of the engine that an ablation knows."""
    return optimizers.NAMES


def first_of_several(runtimes: Sequence[str]) -> tuple[str, ...]:
    """What shows the point of a recording of several engines: what each makes of the model."""
    return tuple(addressing.named(one, several.FIRST) for one in runtimes)


def first_variants(model: str, runtime: str = OWN) -> tuple[str, ...]:
    """What shows the point of a model: of one that is there for a kernel of our own, that kernel,
    which brings its cut; else what the engine does, node by node, as a graph, and fused."""
    engine = kind_of(runtime)
    if engine == "jax":
        return "eager", "unfused", "fused"
    if engine == "openvino":
        return "marked", "fused"
    if engine == "mindspore":
        return "eager", "unfused", "generated", "fused"
    if engine != OWN:
        return "eager", "captured", "unfused", "fused"
    known = zoo.find(model)
    if known is not None and known.kernel and kernels.is_compiler_there():
        return "unfused", f"custom:{known.kernel}", "fused"
    return "eager", "unfused", "fused"


def record(
    recording: Recording,
    *,
    on_progress: OnProgress,
    enough: Enough | None = None,
    cancelled: Callable[[], bool] = _never,
) -> Path:
    """Records the experiment and returns the path of its file.

    `enough(record_so_far)` is asked after the 8th and the 14th block, unless the number
    of blocks is fixed. On Ctrl-C or `cancelled()` complete blocks are kept and written; the
    outcome says so. Raises FuseScopeError for whatever the user can act on, and then nothing
    was written.
    """
    plan = recording.plan()
    deadline = Deadline.after(recording.seconds)
    path = archive.destination(recording.out, plan.model, f"{datetime.now():%Y-%m-%d}")
    library = recording.custom_op_library
    home = recording.runtime == OWN or bool(recording.runtimes)
    pool = WorkerPool(
        plan.model,
        recording.memory_bytes or machine.memory_limit_bytes(),
        recording.run_timeout,
        custom_ops.read(library) if library is not None else None,
        cancelled,
        None if home else chosen.python_of(recording.runtime),
        "" if home or recording.engine == OWN else f"{recording.engine}.",
        releases={
            one.name: kept.folder_to_import(one.release) for one in plan.variants if one.release
        },
        has_device=any(variants.uses_device(one.name) for one in plan.variants),
        placement=recording.placement,
        brought=() if home else chosen.brought_to(recording.runtime),
    )
    if recording.runtimes:
        pool = several.with_engines(pool, recording.runtimes)
    with scratch.folder() as folder:
        recorder = None
        try:
            prepared = prepare(recording, plan, folder, pool, deadline, on_progress)
            recorder = _Recorder(recording, prepared, folder, pool, deadline, on_progress)
            stopped = recorder.run_blocks(enough)
        except FuseScopeError as error:
            if error.code not in _OF_DEVICE or recorder is None or not recorder.series.complete:
                raise
            recorder.failure = error
            stopped = "device"
        except (KeyboardInterrupt, worker.Cancelled):
            if recorder is None or not recorder.series.complete:
                raise FuseScopeError("interrupted_too_early") from None
            stopped = "interrupted"
        return recorder.write(path, stopped)


class _Recorder:
    """The blocks of one recording, and the file that is made of them."""

    def __init__(
        self,
        recording: Recording,
        prepared: Preparation,
        folder: Path,
        pool: WorkerPool,
        deadline: Deadline,
        on_progress: OnProgress,
    ) -> None:
        self._recording = recording
        self._prepared = prepared
        self._crew = pool
        self._on_progress = on_progress
        version = prepared.model.engine_version
        self._engines = {one: several.facts_of(one, version) for one in recording.runtimes}
        # As it was before the first block: a later change of the environment is not its.
        self._environments = {
            one: chosen.settings_of(one) for one in recording.runtimes or (recording.runtime,)
        }
        self._quiet_key = self._key()
        self.series = self._series(folder / "blocks", deadline)
        self.failure: FuseScopeError | None = None

    def run_blocks(self, enough: Enough | None) -> Stopped:
        """Until it is enough; a fixed number of blocks asks nothing."""
        if enough is None or self._recording.blocks is not None:
            return self.series.run(lambda: False, self._report)
        return self.series.run(lambda: enough(self._record("blocks")), self._report)

    def write(self, path: Path, stopped: Stopped) -> Path:
        """Writes the experiment file and returns where it is."""
        series, trials = self.series, self._prepared.trials
        self._on_progress(reporting.OF_WRITING)
        result = self._record(stopped, load_after=machine.load())
        self._remember_quiet(stopped)
        model_graph = graph_json(trials.model_graph())
        members: dict[str, Path | bytes] = {"graphs/model.json": model_graph}
        if self._prepared.own_fusions is not None:
            members[_OWN_FUSIONS] = msgspec.json.encode(self._prepared.own_fusions)
        for variant in result.variants:
            files = trials.files(variant.name)
            if variant.graph is not None:
                members[variant.graph] = files["graph"]
            if variant.matches is not None:
                members[variant.matches] = files["matches"]
            if variant.not_fused is not None:
                members[variant.not_fused] = files["not_fused"]
            members |= series.profiles(variant.name)[1]
        written = archive.write(path, result, members)
        self._on_progress(reporting.of_end(stopped, series, path, written, self.failure))
        return written

    def _key(self) -> str:
        """Of the quiet reference: what the time of a block depends on."""
        prepared, library = self._prepared, self._crew.library
        return quiet.key(
            {
                "cpu": prepared.machine.cpu_model,
                "cores": prepared.machine.logical_cores,
                "model": prepared.model.sha256,
                "inputs": [(fact.name, fact.shape) for fact in prepared.model.facts],
                "engine": prepared.model.engine_version,
                **({"runtime": self._recording.runtime} if self._recording.runtime != OWN else {}),
                **({"engines": [*map(str, self._engines.values())]} if self._engines else {}),
                "threads": prepared.settings.threads,
                "spin": prepared.settings.spin,
                "variants": sorted(prepared.plan.names),
                **({"library": library.sha256} if library is not None else {}),
                **({"rules": dict(self._recording.rules)} if self._recording.rules else {}),
                **({"shared": True} if prepared.sharing.libraries else {}),
                **({"device": prepared.device.name} if prepared.device is not None else {}),
                **({"models": self._other_models()} if self._recording.models else {}),
            }
        )

    def _other_models(self) -> list[str]:
        derived = self._prepared.settings.derived.values()
        return sorted(str(one.settings["model_sha256"]) for one in derived
                      if "model_sha256" in one.settings)  # fmt: skip

    def _series(self, folder: Path, deadline: Deadline) -> Series:
        recording, prepared = self._recording, self._prepared
        checked = prepared.trials.checked
        folder.mkdir()
        cost = expected_cost(
            prepared.lanes,
            {name: alone.setup_ns / 1e9 for name, alone in checked.items()},
            {name: alone.run_ns / 1e9 for name, alone in checked.items()},
            recording.profiled_rounds,
        )

        def run_block(job: BlockJob) -> BlockMeasured:
            longest_s = recording.run_timeout + 10 * cost.seconds(job.rounds)
            task = "release_block" if job.libraries else "block"
            return self._crew.run(task, job, BlockMeasured, longest_s)

        blocks = ModelBlocks(
            settings=prepared.settings,
            lanes=prepared.lanes,
            seed=recording.seed,
            profiled_rounds=recording.profiled_rounds,
            run_worker=run_block,
            libraries=prepared.sharing.libraries,
            are_several=bool(recording.runtimes),
        )
        return Series(
            rounds=recording.rounds or ROUNDS,
            looks=(recording.blocks,) if recording.blocks else LOOKS,
            folder=folder,
            cost=cost,
            deadline=deadline,
            quiet_reference=quiet.stored(self._quiet_key),
            measure=blocks.measure,
        )

    def _record(self, stopped: Stopped, load_after: float | None = None) -> ExperimentRecord:
        """experiment.json as it stands now."""
        recording, prepared, series = self._recording, self._prepared, self.series
        model = prepared.model
        return ExperimentRecord(
            schema_version=SCHEMA_VERSION,
            fusescope_version=reporting.version(),
            created=prepared.started,
            model=model_facts(self._crew.name, model, is_built_in=prepared.plan.path is None),
            machine=msgspec.structs.replace(prepared.machine, load_after=load_after),
            engine=self._engine,
            settings=Settings(
                baseline=prepared.plan.baseline,
                threads=prepared.settings.threads,
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
                preparation_s=prepared.seconds,
                block_s=series.block_s,
            ),
            peaks=prepared.peaks,
            variants=[self._variant_record(name) for name in prepared.plan.names],
            model_graph="graphs/model.json",
            own_fusions=None if prepared.own_fusions is None else _OWN_FUSIONS,
            tries=prepared.tries,
            device=self._device,
        )

    @property
    def _device(self) -> DeviceFacts | None:
        """What it ran on beside the processor, with what was said of it before and after blocks."""
        found = self._prepared.device
        if found is None:
            return None
        return msgspec.structs.replace(found, states=(*found.states, *self.series.states()))

    @property
    def _engine(self) -> Engine:
        """What runs the baseline."""
        return self._run_by(self._prepared.plan.baseline)

    def _engine_of(self, variant: str) -> Engine | None:
        """What runs a variant, None where that is what runs the baseline."""
        engine = self._run_by(variant)
        return None if engine == self._engine else engine

    def _runtime_of(self, variant: str) -> str:
        """The engine or the environment of a variant, as the recording names it."""
        if not self._recording.runtimes:
            return self._recording.runtime
        return addressing.engine_of(variant)

    def _run_by(self, variant: str) -> Engine:
        runtime, version = self._recording.engine, self._prepared.model.engine_version
        usual = Engine(runtime, version, "CPUExecutionProvider" if runtime == OWN else "CPU")
        engine = self._engines.get(addressing.engine_of(variant)) or usual
        provider = self._prepared.trials.checked[variant].settings.get("provider")
        if provider is None:
            return engine
        return msgspec.structs.replace(engine, provider=str(provider))

    def _variant_record(self, name: str) -> VariantRecord:
        prepared, library = self._prepared, self._crew.library
        checked = prepared.trials.checked[name]
        files = prepared.trials.files(name)
        file_name = variants.file_name(name)
        return VariantRecord(
            name=name,
            settings={
                **prepared.trials.settings(name),
                **self._environments[self._runtime_of(name)],
                **prepared.plan.settings.get(name, {}),
                **prepared.sharing.settings,
                **(library.settings if library is not None else {}),
            },
            samples=self.series.samples(name),
            profiles=self.series.profiles(name)[0],
            graph=f"graphs/{file_name}.json" if "graph" in files else None,
            nodes=checked.nodes,
            output_difference=(
                OutputDifference(*checked.difference) if checked.difference else None
            ),
            dtype_difference=(
                OutputDifference(*checked.dtype_difference) if checked.dtype_difference else None
            ),
            agreement=checked.agreement,
            peak_memory_bytes=checked.peak_memory_bytes,
            matches=f"matches/{file_name}.json" if "matches" in files else None,
            not_fused=f"not_fused/{file_name}.json" if "not_fused" in files else None,
            engine=self._engine_of(name),
        )

    def _remember_quiet(self, stopped: Stopped) -> None:
        """A calm recording leaves a reference for the next ones."""
        facts = self._prepared.machine
        calm = facts.load_before is not None and quiet.was_calm(facts)
        if calm and stopped != "interrupted" and len(self.series.complete) >= quiet.MIN_BLOCKS:
            quiet.store(self._quiet_key, self.series.levels())

    def _report(self) -> None:
        """Between blocks only: a report while one runs would disturb it."""
        self._on_progress(reporting.of_blocks(self.series))
