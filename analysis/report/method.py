"""How a comparison came about: assumptions, machine, settings, and the commands to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from fusescope.analysis import units, wording
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofs import Roofs
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import are_paired
from fusescope.analysis.experiment import (
    Cache,
    CommandFacts,
    DeviceFacts,
    ExperimentRecord,
    Spread,
    VariantRecord,
)
from fusescope.analysis.job import Job
from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.report.inputs import input_source
from fusescope.analysis.report.text import last_part, model_name
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Meta
from fusescope.analysis.wording.quantities import BASES

_SINCE_1970_NS = 10**18  # a start beyond it, of 2001, is one since 1970
_STAMPED = ("onnxruntime",)

Facts = tuple[tuple[str, str], ...]
# Options whose value is NAME=…, where a / belongs to the name of a model's input.
# Their values are no paths, or were cut when they were recorded.
_NAMED_VALUES = (
    "--shape", "--input-range",
    "--command", "--env", "--arg", "--names", "--trace", "--time", "--unit",
    "--profile-env", "--profile-arg",
)  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Facts under one heading."""

    title: str
    facts: Facts


@dataclass(frozen=True)
class Method:
    """Everything of the section but its definitions.

    `variants` are settings as (name, baseline, candidate); `environment` is empty unless asked for.
    """

    assumptions: Facts
    groups: tuple[Group, ...]
    variants: tuple[tuple[str, str, str], ...]
    commands: tuple[str, ...]
    environment: Facts
    paths_removed: bool


def method(comparison: Comparison, *, include_environment: bool) -> Method:
    """The facts behind a comparison; folders and redactable fields only with the environment."""
    sides = (comparison.baseline, comparison.candidate)
    groups: list[Group] = []
    commands: list[str] = []
    for record in _records(sides):
        groups += _record_groups(record, include_environment)
        if record.settings.command:
            command = record.settings.command
            commands.append(command if include_environment else without_folders(command))
    groups += [_profile_group(side) for side in sides if side.experiment is None]
    commands.append(_compare_command(*sides))
    return Method(
        assumptions=tuple(_assumptions(comparison)),
        groups=tuple(groups),
        variants=tuple(_variants(sides, include_environment)),
        commands=tuple(dict.fromkeys(commands)),
        environment=tuple(_environment(sides)) if include_environment else (),
        paths_removed=not include_environment,
    )


def without_folders(command: str) -> str:
    """A command whose paths are cut to file names; '' when it cannot be read as one."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    shown: list[str] = []
    previous = ""
    for word in words:
        option, equals, value = word.partition("=")
        if previous in _NAMED_VALUES or option in _NAMED_VALUES:
            shown.append(word)
        elif equals and option.startswith("--"):
            shown.append(f"{option}={last_part(value)}")
        else:
            shown.append(last_part(word))
        previous = word
    return shlex.join(shown)


def _records(sides: tuple[Side, Side]) -> list[ExperimentRecord]:
    """The recordings of both sides; one where they come from the same file."""
    found = {s.experiment.sha256: s.experiment.record for s in sides if s.experiment is not None}
    return list(found.values())


def _assumptions(comparison: Comparison) -> Iterator[tuple[str, str]]:
    tau = comparison.tau
    is_measured = tau.basis == "measured"
    sides = (comparison.baseline, comparison.candidate)
    known = all(side.peaks is not None and side.peaks.dispatch_ns for side in sides)
    if is_measured:
        why = say("10 × the measured dispatch cost")
    elif comparison.assumptions.tau_ns is not None:
        why = ""
    elif known:
        why = say("10 × the measured dispatch cost is less")
    else:
        why = say("dispatch cost not known")
    yield say("τ, bound of a short operator"), _with_basis(tau, why)
    has_graph = comparison.figure("cache_missed_bytes").baseline.value is not None
    size = comparison.cache_size
    if has_graph:
        is_measured = size.basis == "measured"
        why = say("last-level cache of the recording's machine") if is_measured else ""
        yield say("size of the modelled cache"), _with_basis(size, why)
    for peak, roofs, side in zip(
        comparison.peaks, comparison.roofs, _distinct(comparison), strict=False
    ):
        is_one = len(_distinct(comparison)) == 1
        name = say("arithmetic peak") if is_one else say("peak, {side:name}", side=side.name)
        if peak.value is None and peak.reason is not None:
            yield name, say("not known: {reason}", reason=wording.REASONS[peak.reason])
        else:
            why = (
                say("best float32 matrix product of ONNX Runtime")
                if side.device is None
                else say("best matrix product of the device in the data type with most time")
            )
            yield name, _with_basis(peak, why if peak.basis == "measured" else _public(roofs, peak))
    yield from _limits(comparison)


def _limits(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Bandwidth and 8-bit peak where a side knows them: nothing else rests on them."""
    first, second = comparison.roofs
    bandwidth, int8 = say("bandwidth of main memory"), say("8-bit peak")
    for name, why, pair in (
        (bandwidth, say("y = a + b over long vectors"), (first.bandwidth, second.bandwidth)),
        (int8, say("best product of 8-bit matrices of ONNX Runtime"), (first.int8, second.int8)),
    ):
        labels = (comparison.baseline.name, comparison.candidate.name)
        same = pair[0] == pair[1]
        known = list(zip(pair, labels, comparison.roofs, strict=True))
        for quantity, label, roofs in known[: 1 if same else 2]:
            if quantity.value is not None:
                yield (
                    name if same else say("{figure}, {side:name}", figure=name, side=label),
                    _with_basis(
                        quantity, why if quantity.basis == "measured" else _public(roofs, quantity)
                    ),
                )


def _public(roofs: Roofs, quantity: Quantity) -> str:
    """Of which device an assumed figure is public, by the name in the file; '' of an entered
    one."""
    device = roofs.device
    if device is None:
        return ""
    types = {rate: kind for kind, rate in device.flops_per_s.items()}
    if quantity.value == device.bytes_per_s:
        return say("{device:name}: {source:name}", device=device.name, source=device.source)
    if quantity.value not in types:
        return ""
    return say(
        "{device:name}, {data_type:name}: {source:name}",
        device=device.name,
        data_type=types[quantity.value],
        source=device.source,
    )


def _distinct(comparison: Comparison) -> tuple[Side, ...]:
    """The sides that may differ in peak: one where both come from the same machine's file."""
    sides = (comparison.baseline, comparison.candidate)
    same = comparison.peaks[0] == comparison.peaks[1]
    return sides[:1] if same else sides


def _with_basis(quantity: Quantity, why: str) -> str:
    value, basis = wording.quantity_text(quantity), BASES[quantity.basis]
    if why:
        return say("{value}, {basis} ({why})", value=value, basis=basis, why=why)
    return say("{value}, {basis}", value=value, basis=basis)


def _record_groups(record: ExperimentRecord, with_paths: bool) -> Iterator[Group]:
    model, machine, settings, outcome = (
        record.model,
        record.machine,
        record.settings,
        record.outcome,
    )
    name = model.name if with_paths else model_name(model)
    if record.command is not None:
        yield from _command_groups(record, record.command)
        return
    yield Group(
        say("Model: {model:name}", model=name),
        (
            ("SHA-256", model.sha256[:12]),
            (
                say("operators"),
                say("{n:count} in the model file, opset {opset}", n=model.nodes, opset=model.opset)
                if model.opset
                else say("{n:count} in the eager run", n=model.nodes),
            ),
            *(
                (
                    say("input"),
                    say(
                        "{input:name}: {type:name}, {source:name}",
                        input=entry.name,
                        type=f"{entry.dtype}{list(entry.shape)}",
                        source=input_source(entry.source),
                    ),
                )
                for entry in model.inputs
            ),
        ),
    )
    yield Group(say("Machine"), tuple(_machine(record)))
    threads = (
        say("{n:count}; spinning on, each variant in a process of its own", n=settings.threads)
        if settings.spin
        else say(
            "{n:count}; spinning in {variants:name} alone, each variant in a process of its own",
            n=settings.threads,
            variants=listed(record.spinning),
        )
        if record.spinning
        else say("{n:count}; spinning off", n=settings.threads)
    )
    ran = [f"{one.name} {one.version}, {one.provider}" for one in record.engines]
    looks = listed([units.count(look) for look in settings.looks])
    yield Group(
        say("Recording"),
        (
            (say("recorded"), recorded(record.created)),
            *((say("engine"), one) for one in ran),
            (say("recorder"), f"FuseScope {record.fusescope_version}"),
            (say("threads"), threads),
            (say("seed"), str(settings.seed)),
            (say("blocks"), _blocks(record)),
            (say("rounds a block"), _rounds(record)),
            (say("planned looks"), say("after {blocks} blocks", blocks=looks)),
            (say("load average"), _load(machine.load_before, machine.load_after)),
            (say("stopped"), _STOPPED[outcome.stopped].text()),
        ),
    )


def _device(device: DeviceFacts) -> Iterator[tuple[str, str]]:
    """What the recording ran on beside the processor, and the range of its clocks in it."""
    yield say("device"), clean_text(f"{device.name} ({device.kind})")
    if device.memory_bytes:
        yield say("memory of the device"), units.data_size(device.memory_bytes)
    versions = ", ".join(filter(None, (device.driver, device.runtime)))
    yield say("driver of the device"), clean_text(versions) or say("not readable")
    of_blocks = [state for state in device.states if state.block is not None]
    for name, unit, values in (
        (say("clock of the device"), "MHz", [state.clock_mhz for state in of_blocks]),
        (say("temperature of the device"), "°C", [state.temperature_c for state in of_blocks]),
    ):
        known = [value for value in values if value is not None]
        shown = f"{min(known):.0f} – {max(known):.0f} {unit}" if known else say("not readable")
        yield name, shown
    for one in device.products:
        measured = say(
            "{rate}, measured with {size} matrices, the best of all repetitions",
            rate=units.flop_rate(one.flops_per_s),
            size=f"{one.n} × {one.n}",
        )
        name = say("matrix product peak of the device, {data_type:name}", data_type=one.data_type)
        yield name, _with_quartiles(measured, one.spread, units.flop_rate)
    if device.bandwidth is not None:
        measured = say(
            "{rate}, measured over {size:bytes}, the best of all repetitions",
            rate=_bandwidth(device.bandwidth.bytes_per_s),
            size=device.bandwidth.working_set_bytes,
        )
        name = say("bandwidth of the device's memory")
        yield name, _with_quartiles(measured, device.bandwidth.spread, _bandwidth)


def _command_groups(record: ExperimentRecord, command: CommandFacts) -> Iterator[Group]:
    """Those of a command, which has no model, no engine and no threads that are known."""
    settings, outcome = record.settings, record.outcome
    yield Group(
        say("Command: {name:name}", name=record.model.name),
        (
            (say("command"), command.line),
            ("SHA-256", record.model.sha256[:12]),
            (
                say("time"),
                say("wall time of a run")
                if command.time == "wall"
                else say("printed, in {unit:name}: {place:name}",
                         unit=command.unit, place=command.found_by),
            ),
            (
                say("traces"),
                say("of runs that were not timed")
                if command.profiled == "apart"
                else say("of the runs that were timed"),
            ),
        ),
    )  # fmt: skip
    yield Group(say("Machine"), tuple(_machine(record)))
    fewest, most = record.rounds
    runs = units.count(most)
    if fewest != most:
        runs = say("{fewest:count} to {most:count}", fewest=fewest, most=most)
    load = _load(record.machine.load_before, record.machine.load_after)
    looks = listed([units.count(look) for look in settings.looks])
    yield Group(
        say("Recording"),
        (
            (say("recorded"), recorded(record.created)),
            (say("recorder"), f"FuseScope {record.fusescope_version}"),
            (say("seed"), str(settings.seed)),
            (say("blocks"), _blocks(record)),
            (say("times of a variant in a block"), runs),
            (say("planned looks"), say("after {blocks} blocks", blocks=looks)),
            (say("load average"), load),
            (say("stopped"), _STOPPED[outcome.stopped].text()),
        ),
    )


def _machine(record: ExperimentRecord) -> Iterator[tuple[str, str]]:
    machine, peaks = record.machine, record.peaks
    yield "CPU", f"{machine.cpu_model}, {machine.architecture}"
    physical, logical = machine.physical_cores, machine.logical_cores
    yield (
        say("cores"),
        say(
            "{physical:count} physical, {logical:count} logical", physical=physical, logical=logical
        )
        if physical
        else say("{logical:count} logical", logical=logical),
    )
    if machine.caches:
        yield say("caches"), listed([_cache(cache) for cache in machine.caches])
    yield say("memory"), units.data_size(machine.memory_bytes)
    yield say("system"), machine.os
    if record.device is not None:
        yield from _device(record.device)
    if machine.governor:
        yield say("frequency governor"), machine.governor
    for name, per_s, size, spread, rate in (
        (say("matrix product peak"), peaks.gemm_flops_per_s, peaks.gemm_n, peaks.gemm_spread,
         units.flop_rate),
        (say("8-bit product peak"), peaks.int8_ops_per_s, peaks.int8_n, peaks.int8_spread,
         units.op_rate),
    ):  # fmt: skip
        if per_s:
            measured = (
                say(
                    "{rate}, measured with {size} matrices, the best of all repetitions",
                    rate=rate(per_s),
                    size=f"{size} × {size}",
                )
                if size
                else say("{rate}, measured, the best of all repetitions", rate=rate(per_s))
            )
            yield name, _with_quartiles(measured, spread, rate)
    for one in peaks.bandwidths:
        name = (
            say("bandwidth, main memory")
            if one.level is None
            else say("bandwidth, L{level} cache", level=one.level)
        )
        measured = say(
            "{rate}, measured over {size:bytes}, the best of all repetitions",
            rate=_bandwidth(one.bytes_per_s),
            size=one.working_set_bytes,
        )
        yield name, _with_quartiles(measured, one.spread, _bandwidth)
    if peaks.dispatch_ns:
        cost = say("{cost:duration} an operator, measured", cost=peaks.dispatch_ns)
        yield say("dispatch cost"), cost


def _with_quartiles(measured: str, spread: Spread | None, text: Callable[[float], str]) -> str:
    """'102 GFLOP/s, measured; half of the repetitions are between 101 GFLOP/s and 112 GFLOP/s'."""
    if spread is None:
        return measured
    return say(
        "{measured}; half of them are between {low} and {high}",
        measured=measured,
        low=text(spread.low),
        high=text(spread.high),
    )


def _bandwidth(bytes_per_s: float) -> str:
    return units.bandwidth(bytes_per_s / 1e9)


def _cache(cache: Cache) -> str:
    count = f"{cache.instances} × " if cache.instances > 1 else ""
    kind = {"data": "d", "instruction": "i"}.get(cache.type.lower(), "")
    whole = cache.bytes % 2**20 == 0
    size = f"{cache.bytes // 2**20} MiB" if whole else f"{cache.bytes / 2**10:.4g} KiB"
    return f"{count}L{cache.level}{kind} {size}"


def _blocks(record: ExperimentRecord) -> str:
    outcome = record.outcome
    done, replaced = outcome.blocks, outcome.blocks_replaced
    if replaced:
        return say(
            "{done:count}, each a fresh process; {replaced:count} more replaced",
            done=done,
            replaced=replaced,
        )
    return say("{done:count}, each a fresh process", done=done)


def _rounds(record: ExperimentRecord) -> str:
    settings, (fewest, most) = record.settings, record.rounds
    rounds = units.count(most)
    if fewest != most:
        rounds = say("{fewest:count} to {most:count}", fewest=fewest, most=most)
    return say(
        "{rounds} un-profiled after {warmup:count} to warm up, {profiled:count} profiled in "
        "sessions of their own",
        rounds=rounds,
        warmup=settings.warmup_rounds,
        profiled=settings.profiled_rounds,
    )


def _load(before: float | None, after: float | None) -> str:
    if before is None:
        return say("not readable")
    if after is None:
        return say("{before} before, not readable after", before=f"{before:.1f}")
    return say("{before} before, {after} after", before=f"{before:.1f}", after=f"{after:.1f}")


_STOPPED = {
    "decided": Message("a planned look settled every comparison"),
    "blocks": Message("all planned blocks were done"),
    "seconds": Message("the time budget was spent"),
    "interrupted": Message("interrupted by the user"),
    "device": Message("the device failed"),
}


def _variants(sides: tuple[Side, Side], with_paths: bool) -> Iterator[tuple[str, str, str]]:
    """Settings of the variants, side by side."""
    columns = [dict(_settings(side.variant, with_paths)) if side.variant else {} for side in sides]
    for name in dict.fromkeys(name for column in columns for name in column):
        first, second = (column.get(name, units.MISSING) for column in columns)
        yield name, first, second


def _settings(variant: VariantRecord, with_paths: bool) -> Iterator[tuple[str, str]]:
    if variant.nodes is not None:
        yield say("operators in the graph"), units.count(variant.nodes)
    for name, value in sorted(variant.settings.items()):
        # A name in capitals is that of a variable in the environment of a command.
        shown = name if name.isupper() else name.replace("_", " ")
        yield shown, str(value) if with_paths else last_part(str(value))
    difference = variant.output_difference
    if difference is not None and difference.absolute is not None:
        yield say("output difference, absolute"), units.small_number(difference.absolute)
    agreed = variant.agreement
    if agreed is not None:
        yield say("agreement, samples"), units.count(agreed.samples)
        yield say("agreement, positions"), units.count(agreed.positions)
        yield say("agreement, classes"), units.count(agreed.classes)
        yield say("agreement, classes that the baseline chose"), units.count(agreed.distinct)


def _profile_group(side: Side) -> Group:
    meta = side.trace.meta
    return Group(
        say("Profile: {side:name}", side=side.name),
        (
            (
                say("made by"),
                f"{meta.tool} {meta.version}"
                if meta.version
                else say("{tool:name} (version not in the file)", tool=meta.tool),
            ),
            (say("device"), meta.device or say("not in the file")),
            *_rank(meta.job),
            *_not_recorded(meta),
        ),
    )


def _rank(job: Job | None) -> Iterator[tuple[str, str]]:
    """Return which rank of its job a file is of, and which stage of the pipeline, where it
    says so."""
    if job is None or job.rank is None:
        return
    rank = units.count(job.rank)
    if job.world is not None:
        rank = say("{rank:count} of {world:ranks}", rank=job.rank, world=job.world)
    yield say("rank"), rank
    if job.stage is not None:
        number, of = job.stage
        yield (
            say("stage of the pipeline"),
            say("{number:count} of {of:count}", number=number, of=of),
        )


def _not_recorded(meta: Meta) -> Iterator[tuple[str, str]]:
    """What a bare profile does not hold; most hold when they were recorded."""
    date, bare = profile_date(meta), say("not in the file: it is a bare profile")
    if date is None:
        yield say("recording date, machine, threads, input"), bare
        return
    yield say("recording date"), date
    yield say("machine, threads, input"), bare


def _compare_command(baseline: Side, candidate: Side) -> str:
    files = [side.trace.meta.file_name for side in (baseline, candidate)]
    if baseline.files or candidate.files:
        words = ["fusescope", "compare"]
        for option, side in (("--baseline", baseline), ("--candidate", candidate)):
            words += [option, *([one.name for one in side.files] or [side.trace.meta.file_name])]
        return shlex.join([*words, "--html", "report.html"])
    if are_paired(baseline, candidate):
        del files[1]
    # A name that starts with - would be read as an option.
    words = ["fusescope", "compare", *(f"./{f}" if f.startswith("-") else f for f in files)]
    for option, side in (("--baseline", baseline), ("--candidate", candidate)):
        if side.variant is not None:
            words += [option, side.variant.name]
    return shlex.join([*words, "--html", "report.html"])


def _environment(sides: tuple[Side, Side]) -> Iterator[tuple[str, str]]:
    for side in sides:
        for name, value in sorted(side.trace.meta.redactable.items()):
            yield say("{fact:name}, {side:name}", fact=name, side=side.name), value


def profile_date(meta: Meta) -> str | None:
    """When a profile was recorded; None where its clock is that of the machine, or its name tells
    a time without its zone."""
    started = meta.started_ns
    if started is None or started < _SINCE_1970_NS or meta.format in _STAMPED:
        return None
    return recorded(datetime.fromtimestamp(started // 10**9, UTC).isoformat())


def recorded(created: str) -> str:
    """ISO 8601 in UTC as '2026-11-20 10:18 UTC'; any other text as it is."""
    date, _, time = created.partition("T")
    zone = " UTC" if time.endswith(("Z", "+00:00")) else ""
    return f"{date} {time[:5]}{zone}" if len(date) == 10 and len(time) >= 5 else created
