"""Remedies: what a finding can be answered with by recording another variant of the model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from fusescope.analysis.advice.finding import Finding, FindingCode, Findings, Gain
from fusescope.analysis.advice.findings import findings
from fusescope.analysis.advice.optimizers import MADE_BY
from fusescope.analysis.advice.own_kernels import (
    inside_session,
    kernel_for,
    own_kernel,
    saved_by,
)
from fusescope.analysis.advice.prediction import together
from fusescope.analysis.advice.settings import ENGINE, conditions_of, is_dynamic
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare.choice import PREFERRED
from fusescope.analysis.experiment import ExperimentRecord, PredictedPart, Try
from fusescope.analysis.graph import Graph
from fusescope.analysis.operators.classes import is_heavy

# A pattern of more operators is known by the name that our own pass has for it.
_MAX_LISTED = 3
_REWRITE = re.compile(r"[a-z]+(?:-[a-z]+)*").fullmatch  # the name of one; else a file of another
# What keeps the engine from it is how it was told to run.
_BY_SETTINGS = ("level", "disabled", "other_provider")
LAYOUT = "without:NchwcTransformer"
SPIN = "spin"


@dataclass(frozen=True)
class _Remedy:
    """A variant that answers a finding of this kind; `gain` is that of an un-profiled run, `rules`
    the text of its rule file."""

    variant: str
    code: FindingCode
    gain: Gain | None
    rules: str


def remedies(subject: Subject, found: Findings) -> tuple[Try, ...]:
    """Variants to record beside that of the subject, in the order of the findings, each once; those
    that are predicted to lose come last.

    Only for a variant that FuseScope recorded with ONNX Runtime; those that its experiment holds,
    or that it tried, are left out. One that answers several findings of a kind saves what they say
    together.
    """
    record = _record_of(subject)
    if record is None:
        return ()
    known = {*record.names, *(one.rules or one.variant for one in record.tries)}
    known |= {cut for name in known if (cut := _cut_of(name))}
    asked: dict[tuple[str, str], _Remedy] = {}
    for one in _all(subject, record, found):
        if (one.rules or one.variant) not in known:
            asked.setdefault((one.variant, one.rules), one)
    made = (Try(o.variant, o.code, _part(subject, o.gain), o.rules) for o in asked.values())
    loses = sorted(made, key=lambda one: one.predicted is not None and one.predicted.value < 0)
    return tuple(_numbered(loses))


def in_one_recording(asked: Iterable[Try]) -> tuple[Try, ...]:
    """Those that can be recorded together: threads that spin take the cores from all others, so
    every variant beside them has a process of its own, which is worse for the others. They come
    when nothing else is left."""
    every = tuple(asked)
    return tuple(one for one in every if one.variant != SPIN) or every


def without_cuts(asked: Sequence[Try]) -> tuple[Try, ...]:
    """Those of the tries that are worth a recording: no kernel outside the session, where a cut
    costs more than it saves, that is also asked for inside it."""
    names = {_cut_of(one.variant) for one in asked}
    return tuple(one for one in asked if one.variant not in names)


def _cut_of(variant: str) -> str:
    """`custom:<kernel>` for `inside:<kernel>`, '' for others."""
    kind, _, kernel = variant.partition(":")
    return f"custom:{kernel}" if kind == "inside" else ""


def held(subject: Subject, found: Findings) -> tuple[str, ...]:
    """Variants that answer the findings and stand in the subject's own recording, each once."""
    record = _record_of(subject)
    if record is None or subject.side.variant is None:
        return ()
    others = {*record.names} - {subject.side.variant.name}
    asked = (one.variant for one in _all(subject, record, found))
    return tuple(dict.fromkeys(name for name in asked if name in others))


def tried_before(subject: Subject, found: Findings) -> tuple[str, ...]:
    """Variants that answer the findings and were tried in the subject's own recording, each once,
    as they are called there; also those that could not be recorded."""
    record = _record_of(subject)
    if record is None:
        return ()
    tries = {one.rules or one.variant: one.variant for one in record.tries}
    asked = (one.rules or one.variant for one in _all(subject, record, found))
    return tuple(dict.fromkeys(tries[name] for name in asked if name in tries))


def _record_of(subject: Subject) -> ExperimentRecord | None:
    """The recording of a variant that FuseScope recorded with ONNX Runtime alone; None else."""
    side = subject.side
    if side.experiment is None or side.variant is None:
        return None
    record = side.experiment.record
    return record if {one.name for one in record.engines} == {ENGINE} else None


def _all(subject: Subject, record: ExperimentRecord, found: Findings) -> Iterator[_Remedy]:
    yield from _of(subject, record, found)
    yield from _of_most_optimised(subject, record)


def _of(subject: Subject, record: ExperimentRecord, found: Findings) -> Iterator[_Remedy]:
    """Those of the findings, each once, with what it saves of all findings of its kind."""
    asked: dict[tuple[str, str], list[_Remedy]] = {}
    for finding in found.found:
        for variant, gain, rules in _settings(subject, record, finding):
            remedy = _Remedy(variant, finding.code, gain, rules)
            asked.setdefault((variant, rules), []).append(remedy)
    for alike in asked.values():
        first = alike[0]
        gains = [one.gain for one in alike if one.code == first.code and one.gain is not None]
        # Profiling makes every operator longer: the part of one run is taken as that of the other.
        gain = together(*gains).scaled(subject.unprofiled_part) if gains else None
        kind, _, kernel = first.variant.partition(":")
        if kind == "custom":
            gain = own_kernel(subject, kernel) or gain
        elif kind == "inside" and gain is not None:
            gain = inside_session(subject, gain)
        yield replace(first, gain=gain)


def _of_most_optimised(subject: Subject, record: ExperimentRecord) -> Iterator[_Remedy]:
    """Where a variant that optimises less is faster, what the most optimised one misses, or would
    be better without, may still make that the faster one."""
    side, told = subject.side, conditions_of(subject.side)
    name = next((name for name in PREFERRED if name in record.names), None)
    if told is None or told.level == "all" or name is None or side.experiment is None:
        return
    if side.variant is None or name == side.variant.name:
        return
    most = advised(side.experiment, name)
    ahead = saved_by(subject, name)
    for remedy in _of(most, record, findings(most)):
        # What it saves of the most optimised one says nothing of the subject without both times.
        gain = None if remedy.gain is None or ahead is None else together(remedy.gain, ahead)
        yield replace(remedy, gain=gain)


def _part(subject: Subject, gain: Gain | None) -> PredictedPart | None:
    """The gain as a part of an un-profiled run (docs/findings.md)."""
    whole_ns = subject.unprofiled_ns or subject.operators_ns
    if gain is None or whole_ns <= 0:
        return None
    value, low, high = (
        max(-1e6, min(1.0, float(ns) / whole_ns)) for ns in (gain.value, gain.low, gain.high)
    )
    return PredictedPart(value, low, high)


def _numbered(found: Iterable[Try]) -> Iterator[Try]:
    """Each rule file by a name of its own."""
    place = 0
    for one in found:
        if one.rules:
            place += 1
            yield msgspec.structs.replace(one, variant=f"rules:missed-{place}.toml")
        else:
            yield one


def _settings(
    subject: Subject, record: ExperimentRecord, finding: Finding
) -> Iterator[tuple[str, Gain | None, str]]:
    graph = subject.side.graph
    told = conditions_of(subject.side)
    # Every other variant has fixed sizes, and threads as the recording says: it would change two
    # things beside one that has not.
    if is_dynamic(subject.side) and finding.code != "dynamic_dimensions":
        return
    variant = subject.side.variant
    if variant is None or record.spins(variant) != record.settings.spin:
        return
    # A variant of other threads has every optimisation on: beside less it would change two things.
    has_threads = told is not None and told.level == "all" and not told.disabled and not told.only
    match finding.code:
        case "not_optimised":
            yield "fused", finding.gain, ""
        case "dynamic_dimensions" if is_dynamic(subject.side):
            yield "fused", finding.gain, ""
        case "missed_fusion":
            yield from _fused_otherwise(finding)
        case "fused_slower":
            optimizer = _maker(subject, finding, graph)
            if optimizer:
                yield f"without:{optimizer}", finding.gain, ""
        case "costly_fusion":
            yield f"without:{finding.values['name']}", finding.gain, ""
        case "slow_kernel":
            yield f"without:{finding.values['optimizer']}", finding.gain, ""
            if kernel := kernel_for([str(finding.values["op_type"])]):
                yield f"custom:{kernel}", finding.gain, ""
        case "reorders" | "graph_growth" if _is_blocked(graph):
            yield LAYOUT, None, ""
        case "dispatch_bound" | "idle_before" | "idle_time":
            if has_threads and record.settings.threads > 1:
                yield "threads:1", None, ""
                yield from _spinning(record)
        case "low_utilisation" if finding.values.get("layout_off"):
            yield "fused", None, ""
        case "idle_threads":
            if has_threads and record.settings.threads > 1:
                yield f"threads:{record.settings.threads // 2}", None, ""
                yield from _spinning(record)
        case "memory_bound" | "low_utilisation":
            for threads in _other_threads(record) if has_threads else ():
                yield f"threads:{threads}", None, ""
            if finding.code == "low_utilisation" and _is_blocked(graph):
                yield LAYOUT, None, ""
            if not subject.side.is_quantised and any(map(is_heavy, subject.texts["op_class"])):
                yield "int8", None, ""
        case _:
            return


def _spinning(record: ExperimentRecord) -> Iterator[tuple[str, Gain | None, str]]:
    """Threads that wait without sleeping, where they slept."""
    if not record.settings.spin:
        yield SPIN, None, ""


def _fused_otherwise(finding: Finding) -> Iterator[tuple[str, Gain | None, str]]:
    """By the engine where it was told not to, by our own pass where that fuses the place, and then
    what the engine does; light operators by a kernel of our own inside the session and, where no
    kernel of the engine is for them, in a cut."""
    values = finding.values
    op_types = str(values["op_types"]).split(" + ")
    if values["blocked_by"] in ("level", "disabled"):
        yield "fused", finding.gain, ""
    if values["own_places"]:
        listed: list[object] = [op_types] if len(op_types) <= _MAX_LISTED else []
        if values["blocked_by"] == "own_only":
            listed = [name for name in str(values["rewrites"]).split(", ") if _REWRITE(name)]
        patterns = f"patterns = {json.dumps(listed)}\n" if listed else ""
        yield "rules:", finding.gain, f'level = "O3"\n{patterns}optimization = "all"\n'
    kernel = kernel_for(op_types)
    if kernel and values["blocked_by"] not in _BY_SETTINGS:
        yield f"inside:{kernel}", finding.gain, ""
    if kernel and values["blocked_by"] == "no_kernel":
        yield f"custom:{kernel}", finding.gain, ""


def _maker(subject: Subject, finding: Finding, graph: Graph | None) -> str:
    """The optimizer that made the group of the finding; '' where it is not known."""
    comparison = subject.comparison
    if comparison is None or graph is None:
        return ""
    for operator in comparison.fusion.group(int(str(finding.values["group"]))).candidate:
        node = graph.node.get(operator.name)
        if node is not None and node.domain.endswith("nchwc"):
            return LAYOUT.partition(":")[2]
        if operator.op_type in MADE_BY:
            return MADE_BY[operator.op_type]
    return ""


def _is_blocked(graph: Graph | None) -> bool:
    """Whether the engine moved something to channel blocks."""
    return graph is not None and any(node.domain.endswith("nchwc") for node in graph.nodes)


def _other_threads(record: ExperimentRecord) -> tuple[int, ...]:
    """All logical cores, and half of what was used."""
    used, cores = record.settings.threads, record.machine.logical_cores
    wanted = (cores, used // 2)
    return tuple(threads for threads in wanted if threads >= 1 and threads != used)
