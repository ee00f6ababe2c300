"""Preparation: everything before the first block. The model, what each variant runs, each variant
alone, and what the machine can do."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import FROM_FILE, DeviceFacts, Machine, OwnFusion, Peaks, Try
from fusescope.analysis.messages import Message, Said
from fusescope.collectors import variants
from fusescope.collectors.environments.catalogue import OWN, kind_of, takes_onnx
from fusescope.collectors.environments.chosen import version_of
from fusescope.collectors.files import cache
from fusescope.collectors.progress import Progress, Stage
from fusescope.collectors.recording import ablation, denials, left_out, quiet, several
from fusescope.collectors.recording.across import Across, prepared
from fusescope.collectors.recording.budget import Deadline
from fusescope.collectors.recording.refused import Refused
from fusescope.collectors.recording.request import Plan, Recording
from fusescope.collectors.recording.sharing import Sharing, sharing
from fusescope.collectors.recording.trials import Trials
from fusescope.collectors.releases import fetching, kept
from fusescope.collectors.workers import machine
from fusescope.collectors.workers.jobs import (
    BlockMeasured,
    Derived,
    DeriveJob,
    DeviceJob,
    DevicePeaks,
    DevicePeaksJob,
    Drawing,
    Fusion,
    FusionsJob,
    Lane,
    LibraryJob,
    OwnPassJob,
    PeaksJob,
    Prepared,
    ProgramJob,
    SessionSettings,
    Structure,
    StructuresJob,
    Switches,
    TranslateJob,
)
from fusescope.collectors.workers.placement import CPU
from fusescope.collectors.workers.pool import DEVICE_TASK, WorkerPool

MATCHING_SHARE = 0.2  # of a time budget, for all variants together
OWN_PASS_SHARE = 0.1  # of a time budget
AGREEMENT_SHARE = 0.1  # likewise, and of the time that one variant may take

_PREPARING = Message("Preparing {model:name}")
_PREPARING_BUSY = Message("Preparing {model:name} (the machine is busy: load {load:number})")
_FETCHING = Message("Fetching ONNX Runtime {version:name}")
_MAKING = Message("Making the model that {variant:name} runs")
_FUSES = Message("{variant:name} fuses {groups:name}")
_TRANSLATING = Message("Translating the model to {engine:name}")
_TRYING = Message("Trying {variant:name} alone")
_FOLLOWING = Message("Following the tensors of {variant:name}")
_OWN_PASS = Message("Trying FuseScope's own fusion pass")
_ALONE = Message("Releases run in processes of their own: {reason:name}")
_PEAKS = Message("Measuring what this machine can do")

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Preparation:
    """`started` is ISO 8601 in UTC, `machine` holds the load of then. `model` is the working copy,
    `plan` the variants to record, `trials` what each of them did alone. `own_fusions` is what our
    own pass would fuse, None where it was not tried or did not end in time. `tries` are those of
    the recording, with what refused them. `sharing` says whether releases run in one
    process. `seconds` is what all of this took. `device` is what the recording runs on beside the
    processor."""

    started: str
    machine: Machine
    model: Prepared
    settings: SessionSettings
    plan: Plan
    trials: Trials
    peaks: Peaks
    own_fusions: tuple[OwnFusion, ...] | None
    tries: tuple[Try, ...]
    sharing: Sharing
    seconds: float
    device: DeviceFacts | None = None

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The sessions of a block."""
        return self.sharing.lanes(self.plan)


def prepare(
    recording: Recording,
    plan: Plan,
    folder: Path,
    pool: WorkerPool,
    deadline: Deadline,
    on_progress: OnProgress,
) -> Preparation:
    """Files go into the folder. Raises FuseScopeError for what keeps a variant from running; one of
    the tries is left out in place of that."""

    def report(stage: Stage, message: Message | Said, done: int = 0, total: int = 1) -> None:
        on_progress(Progress(stage, done, total, message))

    def structures(switches: tuple[Switches, ...]) -> tuple[Structure, ...]:
        return pool.run("structures", StructuresJob(settings, switches), tuple[Structure, ...])

    begun = time.monotonic()
    refused = Refused(recording.tries)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    facts = msgspec.structs.replace(machine.facts(), load_before=machine.load())
    preparing = _PREPARING if quiet.was_calm(facts) else _PREPARING_BUSY
    report("prepare", preparing.of(model=pool.name, load=facts.load_before))
    if pool.library is not None:
        pool.run("library", LibraryJob(pool.library.path), type(None))
    for release in dict.fromkeys(one.release for one in plan.variants if one.release):
        if not kept.is_kept(release):
            report("prepare", _FETCHING.of(version=release))
        if not fetching.fetch(release, lambda said: report("prepare", said)):
            raise FuseScopeError("release_no_wheel", version=release)
    device = _device(recording, pool)
    across = _prepared(recording, plan, folder, pool)
    model = across.model
    plan = left_out.without(plan, across.lacking, recording, lambda said: report("prepare", said))
    if recording.sha256 and model.sha256 != recording.sha256:
        raise FuseScopeError("model_differs", where=Path(recording.model).name)
    settings = SessionSettings(
        model=model.model,
        inputs=model.inputs,
        input_names=tuple(fact.name for fact in model.facts),
        threads=recording.threads or machine.physical_cores(),
        spin=recording.spin,
        custom_op_library=pool.library.path if pool.library is not None else None,
        calls=model.calls,
        declared=model.declared,
        drawing=_drawing(recording, model),
        compiled=str(folder / "compiled") if _compiles(recording) else "",
        placement=recording.placement,
        given=recording.given,
        changed=model.changed,
    )
    settings = _translated(recording, settings, folder, pool, report)
    if recording.engine == OWN:
        plan = ablation.with_ablation(
            plan,
            search=recording.ablate,
            ask=structures,
            report=lambda message: report("prepare", message),
            refused=refused,
        )
    elif recording.engine == "torch":
        plan, denied = denials.with_denials(
            plan,
            search=recording.ablate,
            ask=lambda: pool.run("fusions", FusionsJob(settings), tuple[Fusion, ...]),
            report=lambda message: report("prepare", message),
            refused=refused,
        )
        settings = msgspec.structs.replace(settings, denied=denied)
    derived: dict[str, Derived] = {}
    for name in (variant.name for variant in plan.variants if variant.kind):
        report("prepare", _MAKING.of(variant=name))
        with refused.unless(name):
            made = pool.run("derive", _derive_job(recording, settings, name, folder), Derived)
            if "fused_groups" in made.settings:
                report("prepare", _FUSES.of(variant=name, groups=made.settings["fused_groups"]))
            derived[name] = made
    plan = replace(plan, variants=refused.left(plan.variants))
    settings = msgspec.structs.replace(settings, derived=derived)
    trials = Trials(
        settings,
        plan.baseline,
        Path(model.graph),
        folder,
        pool.memory_bytes,
        pool.run,
        lambda name: (
            ("matches", pool.run)
            if _engine(recording, plan, name) == OWN
            else ("openvino.boundaries", pool.at_home().run)
        ),
        "graph" if recording.engine == "mindspore" else "",
    )
    order = sorted(plan.names, key=lambda name: name != plan.baseline)
    for done, name in enumerate(order):
        report("check", _TRYING.of(variant=name), done, len(order))
        maximum = AGREEMENT_SHARE * pool.seconds
        with refused.unless(name):
            trials.check(name, _within(deadline, AGREEMENT_SHARE / len(order), maximum))
        if name not in trials.checked:
            continue
        if (reason := across.why_no_graph(name)) is not None:
            trials.drop_graph(name, reason)
        if takes_onnx(_engine(recording, plan, name)) and trials.is_optimised(name):
            report("check", _FOLLOWING.of(variant=name), done, len(order))
            trials.match(name, _within(deadline, MATCHING_SHARE / len(order), pool.seconds))
        trials.drop_dump(name)
    plan = replace(plan, variants=refused.left(plan.variants))
    plan = denials.with_refused(plan, refused, lambda message: report("check", message))
    own_fusions = None
    own_pass = recording.own_pass and recording.engine == OWN and not recording.runtimes
    if own_pass and any(one.optimization != "none" for one in plan.variants):
        report("check", _OWN_PASS)
        maximum = _within(deadline, OWN_PASS_SHARE, pool.seconds)
        own_fusions = _own_fusions(recording, settings, folder, pool, maximum)
    report("peaks", _PEAKS)
    job = PeaksJob(settings.threads, settings.spin, facts.caches, pool.memory_bytes // 4)
    peaks = pool.at_home().run("peaks", job, Peaks)
    device = _with_peaks(device, settings, pool)
    if (
        recording.runtime != OWN or recording.runtimes
    ):  # of another installation, too: what an operator costs, is a matter of the engine
        peaks = msgspec.structs.replace(peaks, dispatch_ns=None)
    together = sharing(
        recording,
        plan,
        settings,
        folder / "shared",
        lambda job: pool.run("release_block", job, BlockMeasured),
    )
    if together.why_not is not None:
        report("check", _ALONE.of(reason=together.why_not))
    took_s = time.monotonic() - begun
    return Preparation(
        started,
        facts,
        model,
        settings,
        plan,
        trials,
        peaks,
        own_fusions,
        refused.tries,
        together,
        took_s,
        device,
    )


def _prepared(recording: Recording, plan: Plan, folder: Path, pool: WorkerPool) -> Across:
    """The working copy; FuseScope makes that of an ONNX model for every engine."""
    job = recording.prepare_job(plan, folder)
    if recording.runtimes and not takes_onnx(recording.engine):
        return prepared(job, pool.engines)
    if recording.engine == OWN or not takes_onnx(recording.engine):
        model = pool.run("prepare", job, Prepared)
        return Across(model, model.lacking)
    model = pool.at_home().run("prepare", job, Prepared)
    version = version_of(recording.runtime)
    return Across(msgspec.structs.replace(model, engine_version=version))


def _device(recording: Recording, pool: WorkerPool) -> DeviceFacts | None:
    """What the recording runs on beside the processor, as the first of several environments sees
    it. Raises FuseScopeError where that is not there, in any of them."""
    if recording.placement.device == CPU:
        return None
    job, pools = DeviceJob(recording.placement), tuple(pool.engines.values()) or (pool,)
    first, *_ = [one.run(DEVICE_TASK, job, DeviceFacts) for one in pools]
    return first


def _with_peaks(
    device: DeviceFacts | None, settings: SessionSettings, pool: WorkerPool
) -> DeviceFacts | None:
    """With what the device can do, as the first of several environments reaches it."""
    if device is None:
        return None
    first = next(iter(pool.engines.values()), pool)
    found = first.run("device_peaks", DevicePeaksJob(settings), DevicePeaks)
    return msgspec.structs.replace(device, products=found.products, bandwidth=found.bandwidth)


def _translated(
    recording: Recording,
    settings: SessionSettings,
    folder: Path,
    pool: WorkerPool,
    report: Callable[[Stage, Message | Said], None],
) -> SessionSettings:
    """With the model as a program, where engines run that have no ONNX. Raises FuseScopeError for
    an operator that is not translated to one of them."""
    engines = several.translated_to(recording.runtimes)
    if not engines or not takes_onnx(recording.engine):
        return settings
    kinds = tuple(dict.fromkeys(map(kind_of, engines)))
    place = folder / "program"
    place.mkdir()
    pool.at_home().run("program", ProgramJob(settings.model, str(place), kinds), type(None))
    settings = msgspec.structs.replace(settings, program=str(place))
    for engine in engines:
        report("prepare", _TRANSLATING.of(engine=engine))
        pool.engines[engine].run("translate", TranslateJob(settings), type(None))
    return settings


def _engine(recording: Recording, plan: Plan, name: str) -> str:
    """The engine that runs the variant of that name."""
    named = (one.engine for one in plan.variants if one.name == name)
    return kind_of(next(named, "") or recording.runtime)


def _compiles(recording: Recording) -> bool:
    """Whether an engine keeps what it compiled in the recording's folder."""
    return any(kind_of(name) != OWN for name in recording.runtimes or (recording.runtime,))


def _own_fusions(
    recording: Recording, settings: SessionSettings, folder: Path, pool: WorkerPool, seconds: float
) -> tuple[OwnFusion, ...] | None:
    """What our own pass fuses; None where it fails or takes too long, which stops no recording."""
    settings = msgspec.structs.replace(settings, derived={})
    job = OwnPassJob(settings, str(folder / "own_pass"), recording.seed)
    try:
        return pool.run("own_pass", job, tuple[OwnFusion, ...], seconds)
    except FuseScopeError:
        return None


def _drawing(recording: Recording, model: Prepared) -> Drawing:
    """How further inputs are drawn: as the recorded ones were."""
    return Drawing(
        seed=recording.seed,
        batch=model.batch or 1,
        ranges=dict(recording.input_ranges),
        from_file=tuple(fact.name for fact in model.facts if fact.source == FROM_FILE),
    )


def _derive_job(
    recording: Recording, settings: SessionSettings, name: str, folder: Path
) -> DeriveJob:
    own = folder / "derived" / variants.file_name(name)
    own.mkdir(parents=True)
    file = recording.models.get(name)
    return DeriveJob(
        settings=settings,
        variant=name,
        folder=str(own),
        rules=recording.rules.get(name),
        seed=recording.seed,
        cache=str(cache.folder()),
        file="" if file is None else str(file.absolute()),
        allow_external_data=recording.allow_external_data,
    )


def _within(deadline: Deadline, share: float, maximum: float) -> float:
    """Seconds: at most that share of what is left of the budget."""
    left = deadline.left_s()
    return maximum if left is None else min(maximum, share * left)
