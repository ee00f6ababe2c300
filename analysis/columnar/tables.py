"""A Trace as Arrow tables and a header, and back: every column, dtype, category and note.

The tables have texts where the Trace has categories, so that anything that reads Parquet can read
them; the header and the table `texts` have what Arrow lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow as pa

from fusescope.analysis.columnar.columns import read, stored
from fusescope.analysis.columnar.header import (
    CALLS,
    MAIN,
    NAMES,
    OPERATORS,
    RUNS,
    TEXTS,
    Column,
    Header,
)
from fusescope.analysis.readers.packed.context import SCHEMAS, context_of, frames_of
from fusescope.analysis.readers.packed.notes import diagnostics_of, note_of
from fusescope.analysis.readers.packed.tables import OfJob, Origin, Recording
from fusescope.analysis.trace import Meta, Part, Trace


@dataclass(frozen=True, eq=False)
class Columnar:
    """A trace as `trace_of` reads it."""

    header: Header
    tables: dict[str, pa.Table]


def columnar(trace: Trace) -> Columnar:
    """The trace as tables. Raises ValueError where it holds what no reader makes."""
    frames = {RUNS: trace.runs, OPERATORS: trace.operators, CALLS: trace.calls, **frames_of(trace)}
    described: dict[str, list[Column]] = {}
    tables: dict[str, pa.Table] = {}
    texts: list[pa.Array] = []
    for name, frame in frames.items():
        columns, arrays = [], []
        for label in frame.columns:
            column, cells, own = stored(str(label), frame[label])
            columns.append(column)
            arrays.append(cells)
            texts += [] if own is None else [own]
        described[name] = columns
        tables[name] = pa.table(arrays, names=[column.name for column in columns])
    whole = pa.concat_arrays(texts) if texts else pa.array([], pa.string())
    tables[TEXTS] = pa.table([whole], names=["text"])
    notes = [note_of(note) for note in trace.diagnostics]
    return Columnar(Header(_origin(trace.meta), notes, described), tables)


def trace_of(kept: Columnar) -> Trace:
    """The trace that `columnar` made these tables of. Raises ValueError for other tables."""
    described = kept.header.tables
    if set(kept.tables) != {*described, TEXTS} or not set(MAIN) <= set(described) <= set(NAMES):
        raise ValueError("other tables than it says")
    texts = kept.tables[TEXTS].column("text").combine_chunks()
    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], pa.string())
    at = 0
    frames: dict[str, pd.DataFrame] = {}
    for name, columns in described.items():
        table = kept.tables[name]
        if table.column_names != [column.name for column in columns]:
            raise ValueError(f"{name}: other columns than it says")
        made: dict[str, Any] = {}
        for column in columns:
            cells = table.column(column.name)
            made[column.name] = read(column, cells, texts.slice(at, column.texts))
            at += column.texts
        frames[name] = pd.DataFrame(made, index=pd.RangeIndex(len(table)), copy=False)
    if at != len(texts):
        raise ValueError("other texts than it says")
    beside = context_of({name: frames[name] for name in SCHEMAS if name in frames})
    return Trace(
        _meta(kept.header.meta),
        frames[RUNS],
        frames[OPERATORS],
        frames[CALLS],
        diagnostics_of(kept.header.notes),
        **beside,
    )


def _origin(meta: Meta) -> Origin:
    return Origin(
        meta.format,
        meta.tool,
        meta.version,
        meta.device,
        meta.file_name,
        meta.sha256,
        meta.variant,
        list(meta.files),
        dict(meta.redactable),
        meta.started_ns,
        [Recording(part.name, part.sha256, part.started_ns) for part in meta.parts],
        OfJob.of(meta.job),
    )


def _meta(origin: Origin) -> Meta:
    return Meta(
        origin.format,
        origin.tool,
        origin.version,
        origin.device,
        origin.file_name,
        origin.sha256,
        origin.variant,
        tuple(origin.files),
        MappingProxyType(dict(origin.redactable)),
        origin.started_ns,
        tuple(Part(part.name, part.sha256, part.started_ns) for part in origin.parts),
        origin.job.job() if isinstance(origin.job, OfJob) else None,
    )
