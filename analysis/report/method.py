"""How a comparison came about: assumptions, machine, settings, and the commands to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis import units, wording
from analysis.compare.comparison import Comparison
from analysis.compare.side import Side
from analysis.compare.timing.latency import are_paired
from analysis.experiment import Cache, ExperimentRecord, Spread, VariantRecord
from analysis.quantity import Quantity
from analysis.report.text import last_part, model_name

Facts = tuple[tuple[str, str], ...]
# Options whose value is NAME=…, where a / belongs to the name of a model's input.
_NAMED_VALUES = ("--shape", "--input-range")


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
    why = "10 × the measured dispatch cost" if tau.basis == "measured" else "no dispatch cost known"
    yield "τ, bound of a short operator", _with_basis(tau, why)
    has_graph = comparison.figure("cache_missed_bytes").baseline.value is not None
    size = comparison.cache_size
    if has_graph:
        why = "last-level cache of the recording's machine" if size.basis == "measured" else ""
        yield "size of the modelled cache", _with_basis(size, why)
    for peak, side in zip(comparison.peaks, _distinct(comparison), strict=False):
        name = "arithmetic peak" if len(_distinct(comparison)) == 1 else f"peak, {side.name}"
        if peak.value is None and peak.reason is not None:
            yield name, f"not known: {wording.REASONS[peak.reason]}"
        else:
            yield name, _with_basis(peak, "best float32 matrix product of the engine")
    yield from _limits(comparison)


def _limits(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Bandwidth and 8-bit peak where a side knows them: nothing else rests on them."""
    first, second = comparison.roofs
    for name, why, pair in (
        ("bandwidth of main memory", "y = a + b over long vectors",
         (first.bandwidth, second.bandwidth)),
        ("8-bit peak", "best product of 8-bit matrices of the engine", (first.int8, second.int8)),
    ):  # fmt: skip
        labels = (comparison.baseline.name, comparison.candidate.name)
        same = pair[0] == pair[1]
        for quantity, label in list(zip(pair, labels, strict=True))[: 1 if same else 2]:
            if quantity.value is not None:
                yield (
                    name if same else f"{name}, {label}",
                    _with_basis(quantity, why if quantity.basis == "measured" else ""),
                )


def _distinct(comparison: Comparison) -> tuple[Side, ...]:
    """The sides that may differ in peak: one where both come from the same machine's file."""
    sides = (comparison.baseline, comparison.candidate)
    same = comparison.peaks[0] == comparison.peaks[1]
    return sides[:1] if same else sides


def _with_basis(quantity: Quantity, why: str) -> str:
    shown = f"{wording.quantity_text(quantity)}, {quantity.basis}"
    return f"{shown} ({why})" if why else shown


def _record_groups(record: ExperimentRecord, with_paths: bool) -> Iterator[Group]:
    model, machine, settings, outcome = (
        record.model,
        record.machine,
        record.settings,
        record.outcome,
    )
    name = model.name if with_paths else model_name(model)
    yield Group(
        f"Model: {name}",
        (
            ("SHA-256", model.sha256[:12]),
            ("operators", f"{units.count(model.nodes)} in the model file, opset {model.opset}"),
            *(
                ("input", f"{entry.name}: {entry.dtype}{list(entry.shape)}, {entry.source}")
                for entry in model.inputs
            ),
        ),
    )
    yield Group("Machine", tuple(_machine(record)))
    spinning = "on, each variant in a process of its own" if settings.spin else "off"
    yield Group(
        "Recording",
        (
            ("recorded", recorded(record.created)),
            ("engine", f"{record.engine.name} {record.engine.version}, {record.engine.provider}"),
            ("recorder", f"FuseScope {record.fusescope_version}"),
            ("threads", f"{settings.threads}, spinning {spinning}"),
            ("seed", str(settings.seed)),
            ("blocks", _blocks(record)),
            ("rounds a block", _rounds(record)),
            ("planned looks", "after " + ", ".join(map(str, settings.looks)) + " blocks"),
            ("load average", _load(machine.load_before, machine.load_after)),
            ("stopped", _STOPPED[outcome.stopped]),
        ),
    )


def _machine(record: ExperimentRecord) -> Iterator[tuple[str, str]]:
    machine, peaks = record.machine, record.peaks
    yield "CPU", f"{machine.cpu_model}, {machine.architecture}"
    physical = f"{machine.physical_cores} physical, " if machine.physical_cores else ""
    yield "cores", f"{physical}{machine.logical_cores} logical"
    if machine.caches:
        yield "caches", ", ".join(_cache(cache) for cache in machine.caches)
    yield "memory", units.data_size(machine.memory_bytes)
    yield "system", machine.os
    if machine.governor:
        yield "frequency governor", machine.governor
    if peaks.gemm_flops_per_s:
        size = f" of {peaks.gemm_n} × {peaks.gemm_n}" if peaks.gemm_n else ""
        rate = units.flop_rate(peaks.gemm_flops_per_s)
        spread = _quartiles(peaks.gemm_spread, units.flop_rate)
        yield "matrix product peak", f"{rate}, measured{size}{spread}"
    if peaks.int8_ops_per_s:
        size = f" of {peaks.int8_n} × {peaks.int8_n}" if peaks.int8_n else ""
        rate = units.op_rate(peaks.int8_ops_per_s)
        spread = _quartiles(peaks.int8_spread, units.op_rate)
        yield "8-bit product peak", f"{rate}, measured{size}{spread}"
    for one in peaks.bandwidths:
        where = "main memory" if one.level is None else f"L{one.level} cache"
        spread = _quartiles(one.spread, _bandwidth)
        held = units.data_size(one.working_set_bytes)
        yield (
            f"bandwidth, {where}",
            f"{_bandwidth(one.bytes_per_s)}, measured over {held}{spread}",
        )
    if peaks.dispatch_ns:
        yield "dispatch cost", f"{units.duration(peaks.dispatch_ns)} an operator, measured"


def _quartiles(spread: Spread | None, text: Callable[[float], str]) -> str:
    """'; half of the repetitions between 102 GFLOP/s and 112 GFLOP/s'."""
    if spread is None:
        return ""
    return f"; half of the repetitions between {text(spread.low)} and {text(spread.high)}"


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
    replaced = f", {outcome.blocks_replaced} more replaced" if outcome.blocks_replaced else ""
    return f"{outcome.blocks}, each a fresh process{replaced}"


def _rounds(record: ExperimentRecord) -> str:
    settings = record.settings
    return (
        f"{settings.rounds} un-profiled after {settings.warmup_rounds} to warm up, "
        f"{settings.profiled_rounds} profiled in sessions of their own"
    )


def _load(before: float | None, after: float | None) -> str:
    if before is None:
        return "not readable"
    return f"{before:.1f} before, " + (
        "not readable after" if after is None else f"{after:.1f} after"
    )


_STOPPED = {
    "decided": "a planned look settled every comparison",
    "blocks": "all planned blocks were done",
    "seconds": "the time budget was spent",
    "interrupted": "interrupted by the user",
}


def _variants(sides: tuple[Side, Side], with_paths: bool) -> Iterator[tuple[str, str, str]]:
    """Settings of the variants, side by side."""
    columns = [dict(_settings(side.variant, with_paths)) if side.variant else {} for side in sides]
    for name in dict.fromkeys(name for column in columns for name in column):
        first, second = (column.get(name, units.MISSING) for column in columns)
        yield name, first, second


def _settings(variant: VariantRecord, with_paths: bool) -> Iterator[tuple[str, str]]:
    if variant.nodes is not None:
        yield "operators in the graph", units.count(variant.nodes)
    for name, value in sorted(variant.settings.items()):
        yield name.replace("_", " "), str(value) if with_paths else last_part(str(value))
    difference = variant.output_difference
    if difference is not None and difference.absolute is not None:
        yield "output difference, absolute", units.small_number(difference.absolute)
    agreed = variant.agreement
    if agreed is not None:
        yield "agreement, samples", units.count(agreed.samples)
        yield "agreement, positions", units.count(agreed.positions)
        yield "agreement, classes", units.count(agreed.classes)
        yield "agreement, classes the baseline chose", units.count(agreed.distinct)


def _profile_group(side: Side) -> Group:
    meta = side.trace.meta
    return Group(
        f"Profile: {side.name}",
        (
            ("made by", f"{meta.tool} {meta.version or '(version not in the file)'}"),
            ("device", meta.device or "not in the file"),
            ("recording date, machine, threads, input", "not in the file: it is a bare profile"),
        ),
    )


def _compare_command(baseline: Side, candidate: Side) -> str:
    files = [side.trace.meta.file_name for side in (baseline, candidate)]
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
            yield f"{name}, {side.name}", value


def recorded(created: str) -> str:
    """ISO 8601 in UTC as '2026-11-20 10:18 UTC'; any other text as it is."""
    date, _, time = created.partition("T")
    zone = " UTC" if time.endswith(("Z", "+00:00")) else ""
    return f"{date} {time[:5]}{zone}" if len(date) == 10 and len(time) >= 5 else created
