"""Collectives of a Kineto trace: the arguments of kernels and operators that communicate.

PyTorch writes the group, the sizes and a number beside every one (torch/csrc/profiler/util.h names
the fields); the ranks of large groups only in the header.
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from fusescope.analysis.job import MAX_GROUPS, MAX_RANKS, Collectives, Group, Job, collectives_frame
from fusescope.analysis.ranks.kinds import SEND_RECEIVE, kind_of
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.pytorch.event import plain
from fusescope.analysis.readers.pytorch.spans import NONE, MessageTexts, Spans
from fusescope.analysis.text import clean_text

_DTYPE_BYTES = {
    "double": 8, "float64": 8, "long": 8, "int64": 8, "float": 4, "float32": 4, "int": 4,
    "int32": 4, "half": 2, "float16": 2, "bfloat16": 2, "short": 2, "int16": 2, "byte": 1,
    "char": 1, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip
_RANKS = re.compile(r"\d{1,7}")
_MAX_NAME = 80
_MAX_TEXT = 100_000
_MAX_DIGITS = 18


class _Group(msgspec.Struct):
    name: str | int = msgspec.field(default="", name="pg_name")
    purpose: str = msgspec.field(default="", name="pg_desc")
    ranks: list[int] = []


class _Job(msgspec.Struct):
    rank: int | None = None
    world_size: int | None = None
    pg_config: msgspec.Raw = msgspec.Raw(b"[]")


def job_of_header(info: msgspec.Raw, trace_id: msgspec.Raw) -> Job | None:
    """Return what `distributedInfo` says; None where a file has none. Files of one job that were
    started together have one trace id."""
    found = decode(info, _Job, None)
    if found is None:
        return None
    rank, world = found.rank, found.world_size
    groups = tuple(
        Group(
            clean_text(str(one.name), _MAX_NAME),
            clean_text(one.purpose, _MAX_NAME),
            tuple(rank for rank in one.ranks[:MAX_RANKS] if 0 <= rank < MAX_RANKS),
        )
        for one in decode(found.pg_config, list[_Group], [])[:MAX_GROUPS]
    )
    identity = clean_text(plain(trace_id).decode("utf-8", "replace"), _MAX_NAME)
    return Job(
        rank if rank is not None and 0 <= rank < MAX_RANKS else None,
        world if world is not None and 0 < world <= MAX_RANKS else None,
        groups,
        (identity,) if identity else (),
    )


def collectives_of(spans: Spans, job: Job | None) -> Collectives | None:
    """Return what the arguments of these events say of collectives; None without any."""
    messages = spans.more["message"]
    places = np.flatnonzero(messages != NONE)
    if not len(places):
        return None
    order = np.argsort(spans.rows[places], kind="stable")
    places = places[order]
    ranks_of = {group.name: group.ranks for group in job.groups} if job else {}
    names, texts = spans.tables.names, spans.tables.messages
    described = [
        _described(names[name], texts[message], ranks_of)
        for name, message in zip(
            spans.names[places].tolist(), messages[places].tolist(), strict=True
        )
    ]
    columns: dict[str, object] = {
        column: [one[column] for one in described] for column in described[0]
    }
    return Collectives(collectives_frame(source_row=spans.rows[places].astype("int64"), **columns))


def _described(
    kernel: str, message: MessageTexts, ranks_of: dict[str, tuple[int, ...]]
) -> dict[str, object]:
    texts, elements = message
    name, size_text, group, ranks, number, source, target, dtype = (
        text.decode("utf-8", "replace") for text in texts
    )
    size = _whole(size_text)
    kind = kind_of(name or kernel)
    group = clean_text(group, _MAX_NAME)
    members = ranks_of.get(group) or _listed(ranks, size)
    is_pair = kind == SEND_RECEIVE
    ends = (_whole(source), _whole(target))
    if is_pair and ends[0] is not None and ends[1] is not None:
        members = tuple(sorted((ends[0], ends[1])))
    text = ",".join(map(str, members))
    item = _DTYPE_BYTES.get(dtype.strip().lower())
    return {
        "group": f"{group} [{text}]" if is_pair and text else group,
        "members": text,
        "kind": kind,
        "is_pair": is_pair,
        "size": size or len(members) or None,
        "bytes": round(elements * item) if item and elements >= 0 else None,
        "number": _whole(number),
    }


def _whole(text: str) -> int | None:
    is_number = text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) if is_number else None


def _listed(text: str, size: int | None) -> tuple[int, ...]:
    """Return the ranks that the file lists; none where it leaves some of them out."""
    if "..." in text:
        return ()
    ranks = tuple(map(int, _RANKS.findall(text[:_MAX_TEXT])))
    return ranks if size is None or len(ranks) == size else ()
