"""Experiment files: the zip that FuseScope itself records."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import (
    RECORD_NAME,
    RELEASES_NAME,
    Experiment,
    ExperimentRecord,
    NotFused,
    OwnFusion,
    Profile,
    Samples,
    TensorMatch,
    VariantRecord,
    parse_matches,
    parse_not_fused,
    parse_own_fusions,
    parse_record,
)
from fusescope.analysis.graph import Graph, parse_graph
from fusescope.analysis.limits import Limits
from fusescope.analysis.messages import Message, mark
from fusescope.analysis.operators import flops
from fusescope.analysis.operators.devices import runs_on_device
from fusescope.analysis.readers.input.folder import ZIP_ERRORS, check_size, damaged_zip
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.onnxruntime.profile import ProfileTables
from fusescope.analysis.readers.packed.tables import parse_trace
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.readers.written import trace_of
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Meta, Trace, Value, runs_frame

if TYPE_CHECKING:
    from fusescope.analysis.readers.mindspore.recorded import RecordedExecutions
    from fusescope.analysis.readers.openvino.recorded import RecordedCounters
    from fusescope.analysis.readers.pytorch.recorded import RecordedCalls
    from fusescope.analysis.readers.xla.recorded import RecordedSteps

# As experiment.json names the engines.
TORCH, JAX, OPENVINO, MINDSPORE = "torch", "jax", "openvino", "mindspore"
_PARTS_OF_PLACE = 3  # profiles/<variant>/<block>, below which lie the files of one profile
_NO_SAMPLES = Samples([], [], [], [], [])
_REASON = Message("{reason:name}")
_Part = TypeVar("_Part")
Wanted = Callable[[ExperimentRecord], Container[str]]  # names of variants, by the record


def holds_experiment(source: Source) -> bool:
    """True for a zip with the record of an experiment, also for what is left of one."""
    names = _members(source)
    if names is None:
        return True
    return RECORD_NAME in names or any(name.startswith("profiles/") for name in names)


def _members(source: Source) -> list[str] | None:
    """Names of the members of a zip; None where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return archive.namelist()
    except ZIP_ERRORS:
        return None


def refuse_releases(source: Source) -> None:
    """Raises FuseScopeError for a file of `fusescope bisect`, which another page shows."""
    names = _members(source) or ()
    if RELEASES_NAME in names and RECORD_NAME not in names:
        raise FuseScopeError("releases_instead_of_recording", where=source.name, file=source.name)


def _sniff(head: bytes) -> bool:
    """Any zip: what it must hold is said on reading."""
    return head.startswith(b"PK") and not head.startswith(b"PK\x07\x08")  # one part of several


def read_variants(source: Source, wanted: Wanted) -> Experiment:
    """The experiment with the traces, graphs and matches of those variants. Raises FuseScopeError
    for a zip that is not one, or is damaged."""
    refuse_releases(source)
    with _guarded(source):
        archive = _Archive(source)
        record = _cleaned(parse_record(archive.read(RECORD_NAME)))
        model_graph = archive.part(record.model_graph, parse_graph)
        own_fusions = archive.part(record.own_fusions, archive.own_fusions)
        notes = archive.taken_notes()
        graphs, matches, traces, not_fused = {}, {}, {}, {}
        names = wanted(record)
        for variant in (one for one in record.variants if one.name in names):
            graph = archive.part(variant.graph, parse_graph)
            if graph is not None:
                graphs[variant.name] = graph
            rows = archive.part(variant.matches, archive.matches)
            if rows is not None:
                matches[variant.name] = rows
            apart = archive.part(variant.not_fused, archive.not_fused)
            if apart is not None:
                not_fused[variant.name] = apart
            trace = _trace(archive, record, variant, graph, model_graph, source)
            engine = record.engine_of(variant.name).name
            if graph is not None and engine == JAX:
                trace = _typed_as_graph(trace, graph)
            elif graph is not None and engine == OPENVINO:
                graphs[variant.name] = _typed_as_counted(graph, trace)
            traces[variant.name] = trace
    # Tables of a report tell of the file that they were made of.
    packed = (one.name for one in record.variants if one.tables is not None)
    origin = next((traces[name].meta for name in packed if name in traces), None)
    return Experiment(
        record=record,
        traces=traces,
        graphs=graphs,
        model_graph=model_graph,
        file_name=origin.file_name if origin else source.name,
        sha256=origin.sha256 if origin else source.sha256,
        diagnostics=notes,
        matches=matches,
        own_fusions=own_fusions,
        not_fused=not_fused,
    )


def _read(source: Source) -> Experiment:
    return read_variants(source, lambda record: record.names)


def _trace(
    archive: _Archive,
    record: ExperimentRecord,
    variant: VariantRecord,
    graph: Graph | None,
    model_graph: Graph | None,
    source: Source,
) -> Trace:
    if variant.tables is not None:
        is_of_command = record.command is not None
        return _of_tables(archive, variant, variant.tables, is_of_command=is_of_command)
    if not variant.profiles:
        raise FuseScopeError(
            "variant_unprofiled", where=RECORD_NAME, variant=clean_text(variant.name, 60)
        )
    if record.command is not None:
        return _command_trace(archive, variant, source)
    engine = record.engine_of(variant.name)
    meta = Meta(
        format=EXPERIMENT.name,
        tool=engine.name,
        version=engine.version,
        device=_device(record, variant),
        file_name=source.name,
        sha256=source.sha256,
        variant=variant.name,
    )
    if engine.name == TORCH:
        trace = _compiled_trace(archive, variant, meta, _torch_calls(variant, meta, graph, archive))
    elif engine.name == JAX:
        from fusescope.analysis.readers.xla.recorded import RecordedSteps

        trace = _compiled_trace(archive, variant, meta, RecordedSteps(graph, archive.limits))
    elif engine.name == OPENVINO:
        from fusescope.analysis.readers.openvino.recorded import RecordedCounters

        trace = _compiled_trace(archive, variant, meta, RecordedCounters(graph, archive.limits))
    elif engine.name == MINDSPORE:
        from fusescope.analysis.readers.mindspore.recorded import RecordedExecutions

        trace = _mindspore_trace(archive, variant, meta, RecordedExecutions(graph, archive.limits))
    else:
        trace = _onnxruntime_trace(archive, variant, meta)
    return Trace(
        meta=trace.meta,
        runs=_with_samples(trace.runs, variant),
        operators=_with_graph_flops(trace.operators, graph, model_graph),
        calls=trace.calls,
        diagnostics=(*archive.taken_notes(), *trace.diagnostics),
    )


def _torch_calls(
    variant: VariantRecord, meta: Meta, graph: Graph | None, archive: _Archive
) -> RecordedCalls:
    from fusescope.analysis.readers.pytorch.recorded import RecordedCalls

    provider = clean_text(str(variant.settings.get("provider") or "CPU"), 40)
    device = meta.device if runs_on_device(provider) else "CPU"
    return RecordedCalls(graph, archive.limits, provider, device or provider)


def _command_trace(archive: _Archive, variant: VariantRecord, source: Source) -> Trace:
    """The trace that a command wrote, by the reader of its format, under the name of the variant.
    The times of its other runs are not in it: they need not be of what the trace calls a run."""
    place = "/".join(variant.profiles[0].file.split("/")[:_PARTS_OF_PLACE]) + "/"
    trace = trace_of(
        [
            Source(name.rpartition("/")[2], archive.read(name), archive.limits, path=name)
            for name in archive.names(place)
        ],
        clean_text(place, 80),
    )
    meta = replace(
        trace.meta, file_name=source.name, sha256=source.sha256, variant=variant.name, files=()
    )
    return replace(trace, meta=meta, others=())


def _device(record: ExperimentRecord, variant: VariantRecord) -> str | None:
    """What ran the variant: a device where an execution provider has one, else the processor."""
    told = variant.settings.get("device")
    return clean_text(told, 80) if isinstance(told, str) and told else record.machine.cpu_model


def _typed_as_graph(trace: Trace, graph: Graph) -> Trace:
    """XLA names a fusion of one operator after itself (`wrapped_add`, `ynn_fusion`), and the graph
    after what it computes (`add`, `dot_general`); each operator has one op type."""
    told = zip(trace.texts("name"), trace.texts("op_type"), strict=True)
    types = [graph.node[name].op_type if name in graph.node else own for name, own in told]
    operators = trace.operators.assign(op_type=pd.Categorical([one or None for one in types]))
    return replace(trace, operators=operators)


def _typed_as_counted(graph: Graph, trace: Trace) -> Graph:
    """OpenVINO's counters tell a GroupConvolution and a ReduceMean where its graph has Convolution
    and Reduce, and each operator has one op type."""
    told = zip(trace.texts("name"), trace.texts("op_type"), strict=True)
    return graph.with_types({name: op_type for name, op_type in told if op_type})


def _compiled_trace(
    archive: _Archive,
    variant: VariantRecord,
    meta: Meta,
    runs: RecordedCalls | RecordedSteps | RecordedCounters,
) -> Trace:
    """That of an engine whose own profiles mark the runs."""
    for profile in variant.profiles:
        runs.add(
            archive.read(profile.file),
            clean_text(profile.file, 80),
            block=profile.block,
            warmup_runs=profile.warmup_runs,
        )
    return runs.trace(meta)


def _mindspore_trace(
    archive: _Archive, variant: VariantRecord, meta: Meta, runs: RecordedExecutions
) -> Trace:
    for profile in variant.profiles:
        runs.add(
            archive.read(profile.file),
            clean_text(profile.file, 80),
            block=profile.block,
            warmup_runs=profile.warmup_runs,
            spans=_spans(profile) or [],
        )
    return runs.trace(meta)


def _spans(profile: Profile) -> list[tuple[int, int]] | None:
    """Start and duration of the runs, where the recording says them."""
    if profile.run_start_ns is None or profile.run_dur_ns is None:
        return None
    return list(zip(profile.run_start_ns, profile.run_dur_ns, strict=True))


def _onnxruntime_trace(archive: _Archive, variant: VariantRecord, meta: Meta) -> Trace:
    told = variant.settings.get("kernel_times")
    tables = ProfileTables(archive.limits, kernel_times=told if isinstance(told, str) else "")
    for profile in variant.profiles:
        tables.add(
            archive.read(profile.file),
            clean_text(profile.file, 80),
            block=profile.block,
            warmup_runs=profile.warmup_runs,
            spans=_spans(profile),
        )
    return tables.trace(meta)


def _of_tables(
    archive: _Archive, variant: VariantRecord, name: str, *, is_of_command: bool
) -> Trace:
    """The trace of a variant in a report: FLOPs and samples are in its tables."""
    trace = parse_trace(archive.read(name), clean_text(name, 80), archive.limits)
    is_ours = trace.meta.format == EXPERIMENT.name or is_of_command
    if not is_ours or trace.meta.variant != variant.name:
        raise ValueError(f"{clean_text(name, 80)} is of another variant")
    return trace


EXPERIMENT = Reader(
    name="experiment",
    title=mark("FuseScope experiment"),
    fields=dict.fromkeys(
        (
            "start",
            "runs",
            "samples",
            "types",
            "shapes",
            "dtypes",
            "flops",
            "members",
            "stream",
            "sizes",
            "peak_memory",
            "graph",
        ),
        ALWAYS,
    ),
    recording="`fusescope collect MODEL.onnx` records every variant in interleaved blocks.",
    sniff=_sniff,
    read=_read,
)


class _Archive:
    """Members of a zip by name, read in memory under the limits: headers are not believed."""

    def __init__(self, source: Source) -> None:
        self.limits: Limits = source.limits
        self._notes: list[Diagnostic] = []
        self._left = self.limits.unpacked_bytes
        self._zip = zipfile.ZipFile(io.BytesIO(source.data))
        infos = self._zip.infolist()
        if len(infos) > self.limits.zip_members:
            raise FuseScopeError(
                "too_many_zip_members",
                n=len(infos),
                limit=self.limits.zip_members,
                raised=self.limits.raised("zip_members", len(infos)),
            )
        check_size(sum(info.file_size for info in infos), len(source.data), self.limits)
        self._infos = {info.filename: info for info in infos}
        if RECORD_NAME not in self._infos:
            raise FuseScopeError("not_an_experiment", file=RECORD_NAME)

    def read(self, name: str) -> bytes:
        """The bytes of one member."""
        info = self._infos.get(name)
        if info is None:
            raise FuseScopeError("experiment_file_missing", file=clean_text(name, 80))
        with self._zip.open(info) as member:
            data = member.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise FuseScopeError("zip_understated")
        return data

    def names(self, place: str) -> list[str]:
        """Members below that place, in order."""
        return sorted(name for name in self._infos if name.startswith(place) and name != place)

    def part(self, name: str | None, parse: Callable[[bytes, str], _Part]) -> _Part | None:
        """Member `name` as `parse` reads it; None with a note where it is missing or damaged.

        For what explains a measurement (graphs, matches): the measurement stands without it.
        """
        if name is None:
            return None
        shown = clean_text(name, 80)
        if name not in self._infos:
            self._notes.append(Diagnostic("warning", "part_missing", 1, "", {"file": shown}))
            return None
        try:
            return parse(self.read(name), shown)
        except FuseScopeError as error:
            if self._left < 0:
                raise
            why = error.values.get("reason")
            reason = _REASON.of(reason=why) if why is not None else error.said
            values: dict[str, Value] = {"file": shown, "reason": reason}
            self._notes.append(Diagnostic("warning", "part_unreadable", 1, "", values))
            return None

    def taken_notes(self) -> tuple[Diagnostic, ...]:
        """What `part` noted since the last call."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def matches(self, data: bytes, where: str) -> tuple[TensorMatch, ...]:
        """Tensor matches from their JSON; names stay as they are, for those of the graphs do."""
        return self._bounded(parse_matches(data, where), "too_many_matches", where)

    def own_fusions(self, data: bytes, where: str) -> tuple[OwnFusion, ...]:
        """What our own pass fuses; names stay as they are, for those of the graphs do."""
        return self._bounded(parse_own_fusions(data, where), "too_many_own_fusions", where)

    def not_fused(self, data: bytes, where: str) -> tuple[NotFused, ...]:
        """Why operators were left apart, what the engine said made fit to be shown; names stay as
        they are, for those of the graphs do."""
        rows = self._bounded(parse_not_fused(data, where), "too_many_not_fused", where)
        return tuple(
            msgspec.structs.replace(row, reason=clean_text(row.reason, 200)) for row in rows
        )

    def _bounded(
        self,
        rows: tuple[_Part, ...],
        code: Literal["too_many_matches", "too_many_not_fused", "too_many_own_fusions"],
        where: str,
    ) -> tuple[_Part, ...]:
        if len(rows) > self.limits.events:
            raise FuseScopeError(
                code,
                where=where,
                n=len(rows),
                limit=self.limits.events,
                raised=self.limits.raised("events", len(rows)),
            )
        return rows


def _cleaned(record: ExperimentRecord) -> ExperimentRecord:
    """The record with its texts made fit to be shown: it is as foreign as a trace.

    Names of members of the zip stay as they are: they are looked up, not shown.
    """

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return clean_text(value)
        if isinstance(value, dict):
            return {clean_text(str(key)): clean(item) for key, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list | tuple) else value

    # Samples are numbers only: cleaning them one by one would cost most of the reading time.
    variants = [
        msgspec.structs.replace(
            msgspec.convert(
                clean(msgspec.to_builtins(msgspec.structs.replace(v, samples=_NO_SAMPLES))),
                VariantRecord,
            ),
            samples=v.samples,
            profiles=v.profiles,
            graph=v.graph,
            matches=v.matches,
            not_fused=v.not_fused,
            tables=v.tables,
        )
        for v in record.variants
    ]
    bare = clean(msgspec.to_builtins(msgspec.structs.replace(record, variants=variants[:1])))
    facts = msgspec.convert(bare, ExperimentRecord)
    return msgspec.structs.replace(
        facts,
        variants=variants,
        model_graph=record.model_graph,
        own_fusions=record.own_fusions,
        tries=tuple(
            msgspec.structs.replace(one, rules="\n".join(map(clean_text, raw.rules.split("\n"))))
            for one, raw in zip(facts.tries, record.tries, strict=True)
        ),
    )


def _with_samples(profiled: pd.DataFrame, variant: VariantRecord) -> pd.DataFrame:
    """Runs of the profiles followed by the un-profiled samples of the same variant."""
    samples = variant.samples
    first = len(profiled)
    sampled = runs_frame(
        run=range(first, first + len(samples.wall_ns)),
        dur_ns=samples.wall_ns,
        cpu_ns=samples.cpu_ns,
        block=samples.block,
        round=samples.round,
        copy=samples.copy,
    )
    runs = pd.concat([profiled, sampled], ignore_index=True)
    return runs_frame(**{str(name): runs[name].array for name in runs.columns})


def _with_graph_flops(
    operators: pd.DataFrame, graph: Graph | None, model_graph: Graph | None
) -> pd.DataFrame:
    """FLOPs by the graph where it has the operator, with padded taps left out."""
    if graph is None:
        return operators
    counts, origins = [], []
    for name, known, origin in zip(
        operators["name"], operators["flops"], operators["flops_source"], strict=True
    ):
        node = graph.node.get(name)
        count = None
        if node is not None:
            original = flops.logical_conv(node, graph, model_graph) if model_graph else None
            if original is not None and model_graph is not None:
                count = flops.from_graph(original, model_graph)
            elif node.domain == flops.NCHWC_DOMAIN:
                origin = flops.FROM_BLOCKED_SHAPES if known is not pd.NA else None
            else:
                count = flops.from_graph(node, graph)
        counts.append(known if count is None else count)
        origins.append(origin if count is None else flops.FROM_GRAPH)
    out = operators.copy()
    out["flops"] = pd.array(counts, dtype="Int64")
    out["flops_source"] = pd.Categorical(origins)
    return out


@contextmanager
def _guarded(source: Source) -> Iterator[None]:
    """Every failure to unpack as FuseScopeError that names the file."""
    try:
        yield
    except FuseScopeError as error:
        raise error.at(source.name) from error
    except (ValueError, KeyError, OverflowError) as error:  # of our own values, not of the zip's
        raise FuseScopeError(
            "experiment_contradiction", where=source.name, reason=clean_text(str(error), 160)
        ) from error
    except ZIP_ERRORS as error:
        raise damaged_zip(source.name, error, source.load(4)) from error
