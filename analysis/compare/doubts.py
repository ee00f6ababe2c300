"""What speaks for and against a comparison: shown beside the claim, not in a footnote.

Each doubt is a Diagnostic with a code and named values; analysis/wording makes the sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from statistics import median
from typing import TYPE_CHECKING

import pandas as pd

from fusescope.analysis.compare.causes import Cause, causes, engine_names
from fusescope.analysis.compare.choice import same_cut
from fusescope.analysis.compare.comparability import comparability
from fusescope.analysis.compare.comparison import Figure
from fusescope.analysis.compare.files.pooled import unlike_files
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.ledger.reconciliation import WEAK_SHARE
from fusescope.analysis.compare.side import Side, computing_units, engines_differ, units_of
from fusescope.analysis.compare.timing.file_order import FileOrder
from fusescope.analysis.compare.timing.latency import are_paired, mixes_runs, order_of
from fusescope.analysis.compare.timing.verdict import (
    DRIFT_SPREAD,
    ONE_JOB,
    OTHER_WORK,
    TIMED,
    Verdict,
    paired_verdict,
)
from fusescope.analysis.experiment import (
    MAX_DIFFERENCE,
    DeviceFacts,
    ExperimentRecord,
    ModelFacts,
)
from fusescope.analysis.metrics.cache_use import compiled_nodes, subgraph_nodes, unsized_tensors
from fusescope.analysis.metrics.small_ops import runs_nothing, short_ops
from fusescope.analysis.metrics.utilisation import MAX_UNKNOWN
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Severity, Trace, Value

if TYPE_CHECKING:
    from fusescope.analysis.compare.explanation.explanation import Explanation
    from fusescope.analysis.ranks.pair import RankPair

# The ONNX Runtime profiler charges 2 to 6 µs a node; below this it is a large part of a row.
BIASED_BELOW_NS = 20_000
MUCH_BIAS = 0.25
FEW_CLASSES = 2  # that a baseline has to choose at least for agreement to say anything
_TRANSLATED = ("torch", "jax")  # engines that run ONNX models as code that FuseScope writes
_OF_NOBODY_BYTES = 1 << 30  # of a device that nobody uses: a driver keeps some hundred MB at most
_OF_NOBODY_BUSY = 0.05
_REQUESTS = "requests_at_once"  # a setting of variants
_LOW_LOAD_PER_CORE = 0.5
_MUCH_APART = 0.25
_MANY_APART = 0.02
_LITTLE_REST = 0.01  # of a unit of work


def doubts(
    baseline: Side,
    candidate: Side,
    verdict: Verdict,
    figures: dict[str, Figure],
    operators: pd.DataFrame,
    fusion: Fusion,
    ledger: Ledger,
    ranks: RankPair | None = None,
    explained: Explanation | None = None,
) -> tuple[Diagnostic, ...]:
    """Everything worth knowing before believing verdict and ledger, most serious first. `explained`
    is what changed from trace to trace, where that is known."""
    notes = [
        *_pairing(baseline, candidate, verdict, ranks),
        *_engines(baseline, candidate),
        *comparability(baseline, candidate, ranks),
        *_recording(baseline, candidate, verdict),
        *_command(baseline, candidate),
        *_profiler(baseline, candidate, verdict, figures),
        *_profiled_headline(baseline, candidate, verdict, operators, fusion, ledger),
        *_accuracy(baseline, candidate, figures),
        *_training(candidate),
        *_data_types(baseline, candidate),
        *_device_figures(baseline, candidate),
        *_requests(baseline, candidate),
        *_cut(baseline, candidate),
        *_coverage((baseline, candidate), figures, operators),
        *_model(baseline, candidate),
        *fusion.diagnostics,
        *_in_no_group(fusion, ledger),
        *_groups(baseline, candidate, fusion),
        *_attribution(baseline, candidate, verdict, ledger, explained),
    ]
    experiments = (side.experiment for side in (baseline, candidate) if side.experiment)
    for experiment in {one.sha256: one for one in experiments}.values():
        notes += experiment.diagnostics
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        notes += [
            Diagnostic(d.severity, d.code, d.count, d.example, {**d.values, "side": name})
            for d in side.trace.diagnostics
        ]
    rank = {"error": 0, "warning": 1, "info": 2}
    return tuple(sorted(notes, key=lambda note: rank[note.severity]))


def _in_no_group(fusion: Fusion, ledger: Ledger) -> Iterator[Diagnostic]:
    """Return how many operators have no group where groups are inferred, by name, as the ledger has
    them; those of communication are a line of their own."""
    left = int((ledger.ungrouped["reason"] != "communication").sum())
    if fusion.source == "inferred" and left:
        yield Diagnostic("info", "inferred_without_partner", left)


def _note(severity: Severity, code: DiagnosticCode, **values: Value) -> Diagnostic:
    return Diagnostic(severity, code, 1, "", values)


def _pairing(
    baseline: Side, candidate: Side, verdict: Verdict, ranks: RankPair | None
) -> Iterator[Diagnostic]:
    first = baseline.experiment.record if baseline.experiment else None
    second = candidate.experiment.record if candidate.experiment else None
    if are_paired(baseline, candidate) and first is not None:
        if baseline.label == candidate.label:
            yield _note("warning", "same_variant")
        are_apart = first.releases and not first.releases_share_process
        code: DiagnosticCode = "paired_releases" if are_apart else "paired"
        code = "paired_spin" if first.spinning else code
        code = "paired_providers" if first.providers else code
        if len({first.environment_of(name) for name in first.names}) > 1:
            code = "paired_engines"
        if first.command is not None:
            code = "paired_command"
        fewest, most = first.rounds
        yield _note("info", code, blocks=verdict.samples[0], fewest=fewest, rounds=most)
        return
    if _same_file(baseline, candidate):
        yield _note("warning", "same_file")
        return
    if ranks is not None:
        yield _of_ranks(ranks)
        if ranks.is_one_job:
            yield from _unit_counts(baseline, candidate)
            return
    is_one = _are_of_one_file(baseline, candidate)
    order = order_of(baseline, candidate)
    if is_one:
        yield _note("info", "one_recording")
    elif order is None:
        yield _note("warning", "unpaired", of=verdict.of)
    else:
        severity, code = _ORDERS[order]
        yield _note(severity, code)
    yield from _unlike(baseline, candidate)
    if verdict.pairing == "unpaired_runs" and not is_one and verdict.reason not in OTHER_WORK:
        yield _note("warning", "one_process_each")
    if mixes_runs(baseline, candidate):
        yield _note("warning", "runs_unknown")
    if first is not None and second is not None:
        yield from _different_recordings(baseline, candidate, first, second)
    elif first is not None or second is not None:
        yield _note("warning", "one_side_unknown")
    elif not is_one:
        devices = all(side.trace.meta.device for side in (baseline, candidate))
        yield _note("warning", "machines_unknown", **({"devices": 1} if devices else {}))
    yield from _unit_counts(baseline, candidate)


def _of_ranks(ranks: RankPair) -> Diagnostic:
    """Return how two files of ranks belong together."""
    if ranks.relation == "other_sizes":
        return _note("warning", "worlds_differ", before=ranks.worlds[0], after=ranks.worlds[1])
    values: dict[str, Value] = {"before": ranks.ranks[0], "after": ranks.ranks[1]}
    if not ranks.is_one_job:
        apart = {"apart": 1} if ranks.relation == "other_jobs" else {}
        return _note("warning", "ranks_apart", **values, **apart)
    named = {"named": 1} if ranks.is_named else {}
    return _note("info", "ranks_of_one_job", **values, world=ranks.world, **named)


def _same_file(baseline: Side, candidate: Side) -> bool:
    """Return True if both sides are one profile, so that nothing of two recordings applies."""
    is_recorded_here = baseline.experiment or candidate.experiment
    first, second = baseline.trace.meta, candidate.trace.meta
    is_one = (first.sha256, first.variant) == (second.sha256, second.variant)
    return not is_recorded_here and is_one


def _are_of_one_file(baseline: Side, candidate: Side) -> bool:
    """True for two processes or devices that one profiler recorded at the same time."""
    first, second = baseline.trace.meta, candidate.trace.meta
    are_units = all(units_of(side.trace) is not None for side in (baseline, candidate))
    return are_units and first.sha256 == second.sha256 and first.variant != second.variant


def _unit_counts(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """Files of different numbers of processes, or of devices that do not only copy: the figures are
    of one on each side."""
    found = [units_of(side.trace) for side in (baseline, candidate)]
    counts = [computing_units(note) for note in found]
    if counts[0] != counts[1]:
        processes = any(note is not None and note.code == "one_of_processes" for note in found)
        of = "processes" if processes else "devices"
        yield _note("warning", "device_counts_differ", before=counts[0], after=counts[1], units=of)


_ORDERS: Mapping[FileOrder, tuple[Severity, DiagnosticCode]] = {
    "pairs": ("info", "files_paired"),
    "alternating": ("info", "files_alternate"),
    "one_after_other": ("warning", "files_in_turn"),
    "unknown": ("warning", "files_undated"),
}


def _unlike(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """Files of a side whose operators are not those of its first one."""
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        if found := unlike_files(side):
            values: dict[str, Value] = {"side": name}
            example = clean_text(found[0].name, 80)
            yield Diagnostic("warning", "files_unlike", len(found), example, values)


def _engines(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """What two engines make of the change, and of the times of operators."""
    one, other = baseline.engine, candidate.engine
    if one is None or other is None:
        return
    if not engines_differ(baseline, candidate):
        if baseline.experiment is candidate.experiment and one.version != other.version:
            before, after = (clean_text(f"{of.name} {of.version}", 80) for of in (one, other))
            yield _note("warning", "engine_versions_differ", before=before, after=after)
        return
    names = engine_names(baseline, candidate)
    if one.name == other.name:
        yield _note("warning", "providers_differ", before=names[0], after=names[1])
        return
    before, after = (clean_text(f"{of.name} {of.version}", 80) for of in (one, other))
    yield _note("warning", "engines_differ", before=before, after=after)
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        model = side.experiment.record.model if side.experiment else None
        engine = side.engine
        if engine is not None and engine.name in _TRANSLATED and model and model.opset is not None:
            yield _note("warning", "translated", side=name, engine=clean_text(engine.name, 60))
    yield _note("warning", "engine_profiles_differ", before=names[0], after=names[1])


def _different_recordings(
    baseline: Side, candidate: Side, first: ExperimentRecord, second: ExperimentRecord
) -> Iterator[Diagnostic]:
    one, other = baseline.engine or first.engine, candidate.engine or second.engine
    engines: tuple[tuple[str, Value, Value], ...] = (
        ("engine", f"{one.name} {one.version}", f"{other.name} {other.version}"),
    )
    pairs: tuple[tuple[str, Value, Value], ...] = (
        ("model", *_models(first.model, second.model)),
        ("batch", first.model.batch, second.model.batch),
        ("CPU", first.machine.cpu_model, second.machine.cpu_model),
        ("logical cores", first.machine.logical_cores, second.machine.logical_cores),
        *(engines if one.name == other.name else ()),  # `_engines` says so of two
        ("threads", first.settings.threads, second.settings.threads),
        ("spinning", str(first.settings.spin), str(second.settings.spin)),
        ("seed", first.settings.seed, second.settings.seed),
    )
    for what, before, after in pairs:
        if before != after:
            yield _note("warning", "recordings_differ", what=what, baseline=before, candidate=after)


def _models(first: ModelFacts, second: ModelFacts) -> tuple[str, str]:
    """Return what two models are called: by their names, by their content where these are alike;
    the same for one model."""
    if first.sha256 == second.sha256:
        return first.name, first.name
    if first.name != second.name:
        return first.name, second.name
    return f"{first.name} ({first.sha256[:12]})", f"{second.name} ({second.sha256[:12]})"


def _of_device(device: DeviceFacts, whose: dict[str, Value]) -> Iterator[Diagnostic]:
    """Whether other work used the device, as far as anything tells."""
    if not device.states:
        yield _note("info", "device_state_unknown", device=device.name, **whose)
    for state in device.states:
        used, busy = state.used_bytes or 0, state.busy or 0.0
        if state.block is None and (used > _OF_NOBODY_BYTES or busy > _OF_NOBODY_BUSY):
            yield _note("warning", "device_busy", used_bytes=used, busy=busy, **whose)


def _recording(baseline: Side, candidate: Side, verdict: Verdict) -> Iterator[Diagnostic]:
    recorded = [
        (side.experiment, name)
        for side, name in ((baseline, "baseline"), (candidate, "candidate"))
        if side.experiment
    ]
    one_file = len({experiment.sha256 for experiment, _ in recorded}) == 1
    for experiment, name in recorded[:1] if one_file else recorded:
        record = experiment.record
        whose: dict[str, Value] = {} if one_file else {"side": name}
        outcome, machine = record.outcome, record.machine
        if outcome.stopped == "interrupted":
            yield _note("warning", "stopped_interrupted", blocks=outcome.blocks, **whose)
        elif outcome.stopped == "device":
            yield _note("warning", "stopped_device", blocks=outcome.blocks, **whose)
        elif outcome.stopped == "seconds":
            yield _note("warning", "stopped_seconds", blocks=outcome.blocks, **whose)
        if record.device is not None:
            yield from _of_device(record.device, whose)
        loaded = outcome.blocks_replaced + outcome.blocks_loaded
        before = machine.load_before
        is_busy = before is not None and before > _LOW_LOAD_PER_CORE * machine.logical_cores
        is_known = outcome.quiet_reference is not None
        # Without a reference a high load average says it alone.
        if loaded > outcome.blocks / 5 if is_known else not is_busy:
            yield _note(
                "warning" if is_known else "info",
                "load_seen",
                replaced=outcome.blocks_replaced,
                loaded=outcome.blocks_loaded,
                blocks=outcome.blocks,
                **({} if verdict.is_decided else {"undecided": 1}),
                **({} if is_known else {"no_reference": 1}),
                **whose,
            )
        elif is_known and loaded:
            yield _note(
                "info",
                "blocks_loaded",
                replaced=outcome.blocks_replaced,
                loaded=outcome.blocks_loaded,
                **whose,
            )
        if before is not None:
            yield _note(
                "warning" if is_busy else "info",
                "load",
                before=before,
                after=machine.load_after,
                cores=machine.logical_cores,
                **whose,
            )
        if machine.governor not in (None, "performance"):
            yield _note("info", "governor", governor=machine.governor, **whose)
        if baseline.label != record.settings.baseline and are_paired(baseline, candidate):
            yield _note("info", "other_baseline", baseline=record.settings.baseline)
    control = _control(verdict)
    if control is not None:
        yield control
    if verdict.decided_at is not None:
        yield _note("info", "decided_at", look=verdict.decided_at, alpha=verdict.alpha)


def control_doubt(side: Side) -> Diagnostic | None:
    """Return the doubt that two copies of the baseline of a recording differ much; None where they
    do not, and of other files."""
    if side.experiment is None:
        return None
    record = side.experiment.record
    baseline = record.settings.baseline
    others = [variant.name for variant in record.variants if variant.name != baseline]
    note = _control(paired_verdict(record, baseline, others[0])) if others else None
    return note if note is not None and note.severity == "warning" else None


def _control(verdict: Verdict) -> Diagnostic | None:
    noise = verdict.noise_floor
    if noise is None:
        return None
    differs = not noise.low <= 1 <= noise.high
    apart = verdict.control_change or 0.0
    is_doubt = differs or apart > math.expm1(DRIFT_SPREAD)
    return _note("warning" if is_doubt else "info", "control", low=noise.low, high=noise.high)


def _command(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """What the times of a recorded command are, and of which runs its traces."""
    records = [side.experiment.record for side in (baseline, candidate) if side.experiment]
    for command in dict.fromkeys(one.command for one in records if one.command is not None):
        yield _note(
            "info",
            "command_time",
            is_wall=command.time == "wall",
            place=clean_text(command.found_by, 80),
            unit=clean_text(command.unit, 40),
            is_rate=command.is_rate,
            samples_of=command.samples_of,
        )
        is_together = command.profiled == "together"
        yield _note(
            "warning" if is_together else "info",
            "command_profiled" if is_together else "command_traced",
        )


def _profiler(
    baseline: Side, candidate: Side, verdict: Verdict, figures: dict[str, Figure]
) -> Iterator[Diagnostic]:
    inflation = figures["profiler_inflation"]
    if inflation.baseline.value is not None and inflation.candidate.value is not None:
        values = (inflation.baseline.value, inflation.candidate.value)
        much = max(values) > 1 + MUCH_BIAS or min(values) < 1 - MUCH_BIAS
        yield _note(
            "warning" if much else "info",
            "profiler_inflation",
            baseline=inflation.baseline.value,
            candidate=inflation.candidate.value,
        )
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        steady = steady_runs(side.trace)
        if steady.slow:
            yield _note("info", "slow_first_runs", side=name, runs=steady.slow)


def _profiled_headline(
    baseline: Side,
    candidate: Side,
    verdict: Verdict,
    operators: pd.DataFrame,
    fusion: Fusion,
    ledger: Ledger,
) -> Iterator[Diagnostic]:
    """Return which side the profiler's charge for every operator favours: the one that runs fewer.

    Two profilers do not charge alike, so of them nothing is said; nor of kernels of a device, whose
    host is charged for its calls; nor where runs are not known, nor of one file on both sides, nor
    of two ranks of one job.
    """
    if verdict.of in TIMED or verdict.reason in (*OTHER_WORK, *ONE_JOB):
        return
    if _same_file(baseline, candidate):
        return
    values: dict[str, Value] = {"of": verdict.of}
    executions = [
        round(float(operators[f"count_{role}"][~runs_nothing(side.trace, times)].sum()))
        for role, side in (("baseline", baseline), ("candidate", candidate))
        for times in [operators[f"per_run_ns_{role}"].to_numpy("float64")]
    ]
    alike = baseline.trace.meta.tool == candidate.trace.meta.tool
    alike = alike and not any(_runs_kernels(side.trace) for side in (baseline, candidate))
    differ = abs(executions[1] - executions[0]) > _MANY_APART * max(executions)
    if alike and differ and verdict.reason != "runs_unknown":
        found = causes(baseline, candidate, fusion, ledger)
        is_fusion = executions[1] < executions[0] and found[:1] == (Cause("fusion"),)
        values |= {"before": executions[0], "after": executions[1], "is_fusion": is_fusion}
    yield _note("warning", "profiled_headline", **values)


def _runs_kernels(trace: Trace) -> bool:
    return bool((trace.operators["level"] == "device_kernel").any())


def _accuracy(baseline: Side, candidate: Side, figures: dict[str, Figure]) -> Iterator[Diagnostic]:
    """Whether both sides compute the same, each against the recording's baseline."""
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        difference = getattr(figures["output_difference"], name).value
        found = side.variant.output_difference if side.variant else None
        if difference is None and found is not None:
            yield _note("warning", "outputs_not_compared", side=name, absolute=found.absolute)
        if side.is_quantised:
            yield _note("warning", "quantised", side=name, relative=difference)
        elif difference is not None and difference > MAX_DIFFERENCE and not _is_rounding(side):
            yield _note("warning", "large_output_difference", side=name, relative=difference)
        agreement = side.variant.agreement if side.variant else None
        if agreement is not None and agreement.distinct < FEW_CLASSES:
            yield _note("warning", "one_class", side=name, samples=agreement.samples)


def _is_rounding(side: Side) -> bool:
    """Whether the data type of a recording explains the difference from its baseline."""
    if side.variant is None or side.experiment is None:
        return False
    record = side.experiment.record
    return side.variant.rounds_like(record.variant(record.settings.baseline))


def _training(side: Side) -> Iterator[Diagnostic]:
    """Yield a note where a run of a recording is a training step, not an inference."""
    parts = side.variant.settings.get("training_step") if side.variant else None
    if isinstance(parts, str):
        yield _note("info", "training_step", parts=clean_text(parts))


def _data_types(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """What converting the model to another data type did to its outputs."""
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        found = side.variant.dtype_difference if side.variant else None
        if side.variant is not None and found is not None and found.relative is not None:
            values: dict[str, Value] = {"dtype": side.variant.dtype, "relative": found.relative}
            yield _note("info", "dtype_converted", side=name, **values)


def _device_figures(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """The time of a run by the device's own clock, and the peaks of its memory."""
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        if side.variant is None:
            continue
        samples, settings = side.variant.samples, side.variant.settings
        if samples.device_ns:
            yield _note(
                "info",
                "device_events",
                side=name,
                device_ns=round(median(samples.device_ns)),
                wall_ns=round(median(samples.wall_ns)),
            )
        peaks = [settings.get(f"device_{what}_bytes") for what in ("allocated", "reserved")]
        if all(isinstance(peak, int) for peak in peaks):
            allocated, reserved = (int(peak or 0) / 1e6 for peak in peaks)
            values: dict[str, Value] = {"allocated_mb": allocated, "reserved_mb": reserved}
            yield _note("info", "device_memory", side=name, **values)


def _requests(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """A side that runs several requests at once, whose time is divided by their number."""
    told = [side.variant.settings.get(_REQUESTS) if side.variant else None
            for side in (baseline, candidate)]  # fmt: skip
    counts = [number if isinstance(number, int) else 1 for number in told]
    if counts[0] == counts[1]:
        return
    for name, requests in zip(("baseline", "candidate"), counts, strict=True):
        if requests > 1:
            yield _note("warning", "requests_at_once", side=name, requests=requests)


def _cut(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """A side that runs in pieces while the other one has no boundaries there."""
    kernels = [_kernel_of(side) for side in (baseline, candidate)]
    if kernels[0] == kernels[1]:
        return
    for side, kernel, name in zip(
        (baseline, candidate), kernels, ("baseline", "candidate"), strict=True
    ):
        if kernel is None or side.experiment is None or side.variant is None:
            continue
        twin = same_cut(side.label, side.experiment.record.names)
        pieces = side.variant.settings.get("pieces")
        if pieces == 1 and pieces is not True:  # the whole model, so it has no boundaries
            continue
        yield _note(
            "warning",
            "boundaries_included",
            side=name,
            pieces=pieces if isinstance(pieces, int) else None,
            same_cut=None if twin is None else clean_text(twin, 80),
        )


def _kernel_of(side: Side) -> str | None:
    """The kernel that a variant was cut around; None for one that runs whole."""
    kind, _, kernel = side.own_name.partition(":")
    if side.variant is None or side.variant.settings.get("execution") == "one session":
        return None
    return kernel if kind in ("custom", "segments") else None


def _model(baseline: Side, candidate: Side) -> Iterator[Diagnostic]:
    """What the modelled figures leave out."""
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        if side.graph is None:
            continue
        if nodes := compiled_nodes(side.graph):
            yield _note("warning", "compiled_subgraphs", side=name, n=nodes)
        if nodes := subgraph_nodes(side.graph):
            yield _note("warning", "subgraphs", side=name, nodes=nodes)
        if tensors := unsized_tensors(side.graph):
            yield _note("warning", "unsized_tensors", side=name, tensors=tensors)


def _coverage(
    sides: tuple[Side, Side], figures: dict[str, Figure], operators: pd.DataFrame
) -> Iterator[Diagnostic]:
    for side, of in zip(("baseline", "candidate"), sides, strict=True):
        per_run = operators[f"per_run_ns_{side}"]
        total = float(per_run.sum())
        if not total:
            continue
        # Of single executions: rows of operators are others beside another file.
        biased = short_ops(of.trace, BIASED_BELOW_NS).time or 0.0
        if biased > MUCH_BIAS and not of.times_kernels:
            yield _note("warning", "biased_rows", side=side, share=biased)
        unknown = float(per_run[operators["op_class"] == "unknown"].sum()) / total
        if unknown > 0.01:
            code: DiagnosticCode = (
                "classes_unknown" if unknown > MAX_UNKNOWN else "unknown_operators"
            )
            yield _note("warning", code, side=side, share=unknown)
        value = getattr(figures["compute_utilisation"], side).value
        if value is not None and value > 1:
            yield _note("warning", "utilisation_over_one", side=side, value=value)
        over = int((operators[f"utilisation_{side}"].fillna(0) > 1).sum())
        if over:
            yield _note("info", "operators_over_one", side=side, operators=over)


def _groups(baseline: Side, candidate: Side, fusion: Fusion) -> Iterator[Diagnostic]:
    """What the fusion groups leave out."""
    if fusion.source in ("graphs", "members") and fusion.mapped_nodes < fusion.original_nodes:
        lost = fusion.original_nodes - fusion.mapped_nodes
        yield Diagnostic("warning", "unmapped_originals", lost)
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        ran = set(side.trace.texts("name"))
        views = (
            {node.name for node in side.graph.nodes if "view" in node.attributes}
            if (side.graph is not None)
            else set()
        )
        # A Constant is read when the model is loaded: no run executes it. Nor does one execute what
        # only shows memory in another shape.
        timed = [
            operator
            for group in fusion.groups
            for operator in (group.baseline if name == "baseline" else group.candidate)
        ]
        named = {of.name for of in timed} - views - ran
        unknown = {one for one in named if clean_text(one) not in ran}
        untimed = (
            [of.name for of in timed if of.name in unknown and of.op_type != "Constant"]
            if unknown
            else []
        )
        if untimed:
            example = clean_text(untimed[0], 80)
            values: dict[str, Value] = {"side": name}
            yield Diagnostic("warning", "untimed_operators", len(untimed), example, values)


def _unexplained(explained: Explanation) -> Iterator[Diagnostic]:
    """Return what no change of an explanation accounts for, where that is much of the change and
    not next to nothing of a unit of work; nothing where no change is shown."""
    if explained.outcome not in ("changed", "clock"):
        return
    rest_ns, unit = explained.rest_ns, explained.unit
    is_much = abs(rest_ns) > WEAK_SHARE * abs(unit.change_ns)
    if is_much and abs(rest_ns) > _LITTLE_REST * unit.before_ns:
        yield _note("info", "change_unexplained", rest_ns=rest_ns, change_ns=unit.change_ns)


def _attribution(
    baseline: Side,
    candidate: Side,
    verdict: Verdict,
    ledger: Ledger,
    explained: Explanation | None = None,
) -> Iterator[Diagnostic]:
    """Why the ledger may not show where the change came from. Of two traces that is no doubt, as
    their explanation goes beyond operators, to what the device waited for: of what it accounts
    for, and where it shows no change, nothing is said."""
    total = ledger.reconciliation
    sides = (baseline, candidate)
    is_explained = not any(side.has_model or side.files for side in sides)
    is_of_profiled = total.of != "unprofiled_wall"  # as explanations are
    if explained is not None and explained.outcome != "not_comparable" and is_of_profiled:
        yield from _unexplained(explained)
    elif total.weak and verdict.reason != "marked":  # their runs are not compared
        yield _note(
            "info" if is_explained else "warning",
            "weak_attribution",
            of=total.of,
            beside_ns=total.beside_ns,
            delta_ns=total.delta_ns,
            whole_ns=total.whole_ns,
            has_starts=total.has_starts,
            communication_ns=total.communication_ns,
            slow_ns=total.slow_ns,
            dispatch_ns=total.dispatch_ns,
            profiler_bias_ns=total.profiler_bias_ns,
            has_shares=ledger.no_shares is None,
        )
    if (
        total.of == verdict.of
        and total.delta_ns is not None
        and total.baseline_ns
        and verdict.latency_change is not None
    ):
        mean, typical = total.delta_ns / total.baseline_ns, verdict.latency_change
        if verdict.outcome != "cannot_tell" and abs(mean - typical) > _MUCH_APART * abs(typical):
            yield _note("warning", "mean_differs", mean=mean, typical=typical)
    dominated = ledger.rows[ledger.dominated]
    if len(dominated):
        example = clean_text(str(dominated["pattern"].iloc[0]), 80)
        yield Diagnostic("warning", "slow_executions", len(dominated), example)
    foreign = ledger.ungrouped[ledger.ungrouped["reason"] == "not_in_graph"]
    for side, rows in foreign.groupby("side"):
        values: dict[str, Value] = {
            "side": str(side),
            "per_run_ns": float(rows["per_run_ns"].sum()),
        }
        yield Diagnostic(
            "warning", "not_in_graph", len(rows), clean_text(str(rows["name"].iloc[0]), 80), values
        )
