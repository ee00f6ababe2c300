"""Every text of a trace or an experiment, to learn names from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pandas as pd

from fusescope.analysis.experiment import Experiment, ExperimentRecord, Samples
from fusescope.analysis.graph import Graph
from fusescope.analysis.messages import Said
from fusescope.analysis.redaction import tensors
from fusescope.analysis.redaction.code import with_spaced_products
from fusescope.analysis.releases.history import History
from fusescope.analysis.trace import CALL_COLUMNS, Diagnostic, Trace

# Columns whose texts are FuseScope's own words, and those of data types, shapes and layouts, where
# a file may write something else.
KEPT = ("op_class", "level", "flops_source", "members_source")
TENSORS = ("inputs", "outputs")


def marked(value: Trace | Experiment) -> Iterator[tuple[str, str]]:
    """Name and text of the fields that a reader marked as telling of a user or machine."""
    traces = [value] if isinstance(value, Trace) else value.traces.values()
    for trace in traces:
        yield from trace.meta.redactable.items()


def names_of_files(value: Trace | Experiment) -> Iterator[str]:
    """Name of the file, and of each file beside it, as its user chose them."""
    if isinstance(value, Trace):
        yield from (value.meta.file_name, *value.meta.files)
        yield from (part.name for part in value.meta.parts)
    else:
        yield value.file_name


def all_texts(value: Trace | Experiment) -> Iterator[str]:
    """Every text that may be exported; one may come more than once."""
    if isinstance(value, Trace):
        yield from _trace_texts(value)
        return
    yield value.file_name
    yield from texts_of(msgspec.to_builtins(without_samples(value.record)))
    for trace in value.traces.values():
        yield from _trace_texts(trace)
    for graph in filter(None, (value.model_graph, *value.graphs.values())):
        yield from _graph_texts(graph)
    yield from _note_texts(value.diagnostics)


def texts_of_history(history: History) -> Iterator[str]:
    """Every text of what releases made of a model."""
    yield from texts_of(msgspec.to_builtins(history.model))
    yield history.command
    yield from (release.said for release in history.releases)
    for graph in (history.graph, *(made.graph for made in history.made)):
        yield from _graph_texts(graph)


def _graph_texts(graph: Graph) -> Iterator[str]:
    for node in graph.nodes:
        yield from (node.name, node.domain, node.scope, *node.inputs, *node.outputs)
        yield from texts_of(node.attributes)


def _trace_texts(trace: Trace) -> Iterator[str]:
    meta = trace.meta
    plain = (meta.file_name, meta.tool, meta.version, meta.device, meta.variant)
    yield from texts_of(
        (*plain, *meta.files, *meta.redactable.values(), *(part.name for part in meta.parts))
    )
    yield from (str(column) for column in trace.calls.columns if column not in CALL_COLUMNS)
    if meta.job is not None:
        yield from meta.job.ids
        yield from (text for one in meta.job.groups for text in (one.name, one.purpose))
    beside = [part.table for part in (trace.captured, trace.collectives) if part is not None]
    for frame in (trace.operators, trace.calls, *beside):
        for column in frame.columns:
            if column not in KEPT and isinstance(frame[column].dtype, pd.CategoricalDtype):
                texts = map(str, frame[column].cat.categories.to_numpy(dtype=object))
                yield from (
                    text for text in texts if column not in TENSORS or not tensors.is_known(text)
                )
    for one in trace.originals:
        yield from (one.name, with_spaced_products(one.place))
    for part in (trace.host, trace.host_waits, trace.program, trace.stacks):
        yield from part.names if part else ()
    yield from trace.host.lane_names if trace.host else ()
    yield from _note_texts(trace.diagnostics)
    for other in trace.others:
        yield from _trace_texts(other)


def _note_texts(notes: Iterable[Diagnostic]) -> Iterator[str]:
    for note in notes:
        yield from texts_of(note.example)
        yield from texts_of(dict(note.values))


def texts_of(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from texts_of(item)
        case list() | tuple():
            for item in value:
                yield from texts_of(item)
        case Said():
            yield from texts_of(dict(value.values))


def without_samples(record: ExperimentRecord) -> ExperimentRecord:
    """The record with no samples, which are many and hold no text."""
    none = Samples([], [], [], [], [])
    bare = [msgspec.structs.replace(variant, samples=none) for variant in record.variants]
    return msgspec.structs.replace(record, variants=bare)
