"""A trace or an experiment with all of its texts replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.experiment import Experiment, ExperimentRecord, ModelFacts
from fusescope.analysis.graph import Attribute, Graph
from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.host_waits import HostWaits
from fusescope.analysis.job import Collectives, Job
from fusescope.analysis.messages import Said, Shown
from fusescope.analysis.program import Captured, Program
from fusescope.analysis.redaction.code import with_spaced_products
from fusescope.analysis.redaction.replacement import Replacement
from fusescope.analysis.redaction.texts import KEPT, TENSORS, without_samples
from fusescope.analysis.releases.history import History
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import CALL_COLUMNS, Diagnostic, Trace

Texts = Callable[[str], str]
ShownT = TypeVar("ShownT", bound=Shown)
NamedT = TypeVar("NamedT", HostWaits, Program, Stacks)
_FREE = (
    ("model", "name"),
    ("tries", "refused"),
    ("command", "found_by"),
    ("command", "unit"),
)  # texts that are not names


def replaced(value: Trace | Experiment, redaction: Replacement) -> Trace | Experiment:
    """The same value with placeholders."""
    if isinstance(value, Trace):
        return _trace(value, redaction)
    return _experiment(value, redaction)


def _trace(trace: Trace, redaction: Replacement) -> Trace:
    """The same trace where there is nothing to replace: so what is known of it need not be found
    again."""
    meta = trace.meta
    made = replace(
        trace,
        meta=replace(
            meta,
            tool=redaction.name(meta.tool),
            version=None if meta.version is None else redaction.name(meta.version),
            device=None if meta.device is None else redaction.name(meta.device),
            file_name=redaction.name(meta.file_name),
            variant=None if meta.variant is None else redaction.name(meta.variant),
            files=tuple(redaction.name(path) for path in meta.files),
            parts=tuple(replace(part, name=redaction.name(part.name)) for part in meta.parts),
            redactable={key: redaction.text(text) for key, text in meta.redactable.items()},
            job=meta.job and _job(meta.job, redaction),
        ),
        operators=_mapped(trace.operators, redaction),
        calls=_counters(_mapped(trace.calls, redaction), redaction),
        diagnostics=tuple(_note(note, redaction) for note in trace.diagnostics),
        memory=tuple(
            replace(use, device=redaction.name(use.device), peak_in=redaction.name(use.peak_in))
            for use in trace.memory
        ),
        originals=tuple(
            replace(
                one,
                name=redaction.name(one.name),
                place=redaction.name(with_spaced_products(one.place)),
            )
            for one in trace.originals
        ),
        host=trace.host and _renamed_host(trace.host, redaction),
        host_waits=trace.host_waits and _renamed(trace.host_waits, redaction),
        program=trace.program and _renamed(trace.program, redaction),
        stacks=trace.stacks and _renamed(trace.stacks, redaction),
        captured=trace.captured and _captured(trace.captured, redaction),
        collectives=trace.collectives and _collectives(trace.collectives, redaction),
        others=tuple(_trace(other, redaction) for other in trace.others),
    )
    values = ((getattr(made, of.name), getattr(trace, of.name)) for of in fields(Trace))
    return trace if all(_is_same(new, old) for new, old in values) else made


def _is_same(new: object, old: object) -> bool:
    if isinstance(new, pd.DataFrame):
        return new is old
    return bool(new == old)


def _captured(captured: Captured, redaction: Replacement) -> Captured:
    table = _mapped(captured.table, redaction)
    return captured if table is captured.table else Captured(table)


def _collectives(collectives: Collectives, redaction: Replacement) -> Collectives:
    table = _mapped(collectives.table, redaction)
    return collectives if table is collectives.table else Collectives(table)


def _job(job: Job, redaction: Replacement) -> Job:
    groups = (
        replace(one, name=redaction.name(one.name), purpose=redaction.name(one.purpose))
        for one in job.groups
    )
    return replace(job, groups=tuple(groups), ids=tuple(map(redaction.name, job.ids)))


def _renamed(part: NamedT, redaction: Replacement) -> NamedT:
    names = tuple(redaction.names(part.names))
    return part if names == part.names else replace(part, names=names)


def _renamed_host(host: HostActivity, redaction: Replacement) -> HostActivity:
    names, lanes = (tuple(redaction.names(texts)) for texts in (host.names, host.lane_names))
    is_same = names == host.names and lanes == host.lane_names
    return host if is_same else host.renamed(names, lanes)


def _counters(calls: pd.DataFrame, redaction: Replacement) -> pd.DataFrame:
    """The calls with no path in the name of a counter.

    Names of persons stay: 'mac' is a unit of the device, and figures go by these names.
    """
    changed: dict[str, str] = {}
    taken = set(map(str, calls.columns))
    for name in map(str, calls.columns.difference(list(CALL_COLUMNS), sort=False)):
        new = redaction.paths(name)
        if new != name:
            ends = ("", *(f" {n}" for n in range(2, len(taken) + 2)))  # no two alike
            changed[name] = next(new + end for end in ends if new + end not in taken)
            taken.add(changed[name])
    return calls.rename(columns=changed) if changed else calls


def _note(note: Diagnostic, redaction: Replacement) -> Diagnostic:
    values = {key: _value(value, redaction) for key, value in note.values.items()}
    example = note.example
    changed = redaction.name(example) if isinstance(example, str) else _value(example, redaction)
    return replace(note, example=changed, values=values)


def _value(value: ShownT, redaction: Replacement) -> ShownT | str | Said:
    if isinstance(value, str):
        return redaction.text(value)
    if isinstance(value, Said):
        return value.message.of(**{k: _value(v, redaction) for k, v in value.values.items()})
    return value


def _experiment(value: Experiment, redaction: Replacement) -> Experiment:
    return replace(
        value,
        record=_record(value.record, redaction),
        traces={redaction.name(k): _trace(trace, redaction) for k, trace in value.traces.items()},
        graphs={
            redaction.name(k): _graph(graph, redaction.name) for k, graph in value.graphs.items()
        },
        model_graph=value.model_graph and _graph(value.model_graph, redaction.name),
        file_name=redaction.name(value.file_name),
        diagnostics=tuple(_note(note, redaction) for note in value.diagnostics),
        matches={
            redaction.name(k): tuple(
                msgspec.structs.replace(
                    row,
                    original=redaction.name(row.original),
                    optimised=redaction.name(row.optimised),
                )
                for row in rows
            )
            for k, rows in value.matches.items()
        },
        own_fusions=value.own_fusions
        and tuple(
            msgspec.structs.replace(one, operators=tuple(map(redaction.name, one.operators)))
            for one in value.own_fusions
        ),
        not_fused={
            redaction.name(k): tuple(
                msgspec.structs.replace(
                    row,
                    first=redaction.name(row.first),
                    second=redaction.name(row.second),
                    reason=redaction.text(row.reason) if row.by == "engine" else row.reason,
                )
                for row in rows
            )
            for k, rows in value.not_fused.items()
        },
    )


def history_replaced(history: History, redaction: Replacement) -> History:
    """What releases made of a model, with placeholders."""
    name = redaction.name
    return msgspec.structs.replace(
        history,
        model=msgspec.convert(
            _walked(msgspec.to_builtins(history.model), redaction, ("model",)), ModelFacts
        ),
        graph=_graph(history.graph, name),
        releases=tuple(
            msgspec.structs.replace(one, said=redaction.text(one.said)) for one in history.releases
        ),
        made=tuple(
            msgspec.structs.replace(
                one,
                graph=_graph(one.graph, name),
                matches=tuple(
                    msgspec.structs.replace(
                        row, original=name(row.original), optimised=name(row.optimised)
                    )
                    for row in one.matches
                ),
            )
            for one in history.made
        ),
        command=redaction.command(history.command),
    )


def _mapped(frame: pd.DataFrame, redaction: Replacement) -> pd.DataFrame:
    """The frame with every category of a text column changed; equal ones become one. The same frame
    where none is."""
    changed: dict[str, pd.Categorical] = {}
    for column in frame.columns:
        if column in KEPT or not isinstance(frame[column].dtype, pd.CategoricalDtype):
            continue
        old = [*map(str, frame[column].cat.categories.to_numpy(dtype=object))]
        new = redaction.tensors(old) if column in TENSORS else redaction.names(old)
        if new != old:
            distinct = list(dict.fromkeys(new))
            index = {text: number for number, text in enumerate(distinct)}
            numbers = np.array([*(index[text] for text in new), -1])
            codes = numbers[frame[column].cat.codes.to_numpy()]
            index_of_texts = pd.Index(distinct, dtype="object")
            changed[column] = pd.Categorical.from_codes(codes, index_of_texts)
    return frame.assign(**changed) if changed else frame


def _record(record: ExperimentRecord, redaction: Replacement) -> ExperimentRecord:
    """The record without samples is changed text by text; the samples hold none."""
    walked = _walked(msgspec.to_builtins(without_samples(record)), redaction, ())
    changed = msgspec.convert(walked, ExperimentRecord)
    variants = [
        msgspec.structs.replace(new, samples=old.samples)
        for new, old in zip(changed.variants, record.variants, strict=True)
    ]
    return msgspec.structs.replace(changed, variants=variants)


def _walked(value: Any, redaction: Replacement, keys: tuple[str, ...]) -> Any:
    match value:
        case str():
            if keys in (("settings", "command"), ("command", "line")):
                return redaction.command(value)
            free = keys in _FREE or keys[:2] == ("variants", "settings")
            return redaction.text(value) if free else redaction.name(value)
        case dict():
            return {key: _walked(item, redaction, (*keys, key)) for key, item in value.items()}
        case list() | tuple():
            return [_walked(item, redaction, keys) for item in value]
    return value


def _attribute(value: Attribute, name: Texts) -> Attribute:
    if isinstance(value, list):
        return [name(one) if isinstance(one, str) else one for one in value]
    return name(value) if isinstance(value, str) else value


def _graph(graph: Graph, name: Texts) -> Graph:
    def names(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name(text) for text in texts)

    return Graph(
        nodes=tuple(
            msgspec.structs.replace(
                node,
                name=name(node.name),
                op_type=name(node.op_type),
                domain=name(node.domain),
                inputs=names(node.inputs),
                outputs=names(node.outputs),
                attributes={key: _attribute(value, name) for key, value in node.attributes.items()},
                scope=name(node.scope),
                captured=names(node.captured),
            )
            for node in graph.nodes
        ),
        tensors=tuple(
            msgspec.structs.replace(
                tensor, name=name(tensor.name), dtype=tensor.dtype and name(tensor.dtype)
            )
            for tensor in graph.tensors
        ),
        inputs=names(graph.inputs),
        outputs=names(graph.outputs),
    )
