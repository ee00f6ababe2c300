"""Collectives of one rank: which group communicated, how much, and what came before each.

PyTorch's profiler writes the group, the sizes and a sequence number beside every kernel of NCCL
(torch/csrc/profiler/util.h names the fields), Ascend's has group and index in the name of a task.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from analysis.errors import FuseScopeError
from analysis.fleet.identity import Identity
from analysis.fleet.sweep import union_between
from analysis.readers.input.event_windows import collect_events
from analysis.readers.input.json_events import EventFile
from analysis.readers.input.json_value import decode
from analysis.readers.input.source import Source
from analysis.readers.pytorch.event import Event
from analysis.text import clean_text
from analysis.trace import Trace

_KINDS = (
    ("reduce_scatter", re.compile(r"reduce_?scatter", re.IGNORECASE)),
    ("all_gather", re.compile(r"all_?gather", re.IGNORECASE)),
    ("all_reduce", re.compile(r"all_?reduce", re.IGNORECASE)),
    ("all_to_all", re.compile(r"all_?to_?all", re.IGNORECASE)),
    ("broadcast", re.compile(r"broadcast", re.IGNORECASE)),
    ("send_receive", re.compile(r"send|recv|receive", re.IGNORECASE)),
    ("reduce", re.compile(r"reduce", re.IGNORECASE)),
    ("barrier", re.compile(r"barrier", re.IGNORECASE)),
)
# Of the host's own operators those of a library that communicates; others only ask for it.
_OF_LIBRARY = ("gloo:", "mpi:", "ucc:", "nccl:", "hccl:", "xccl:")
_ASCEND = re.compile(r"hcom_(\w+?)__(\d{1,20})_(\d{1,9})(?:_\d+)?$", re.IGNORECASE)
_DTYPE_BYTES = {
    "double": 8, "float64": 8, "long": 8, "int64": 8, "float": 4, "float32": 4, "int": 4,
    "int32": 4, "half": 2, "float16": 2, "bfloat16": 2, "short": 2, "int16": 2, "byte": 1,
    "char": 1, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d{1,18})")
_RANKS = re.compile(r"\d{1,7}")
_MAX_NAME = 80
_MAX_BYTES = 2**60


class _Args(msgspec.Struct, gc=False):
    name: str = msgspec.field(default="", name="Collective name")
    sent: int | None = msgspec.field(default=None, name="In msg nelems")
    received: int | None = msgspec.field(default=None, name="Out msg nelems")
    size: int | None = msgspec.field(default=None, name="Group size")
    dtype: str = ""
    group: str | int = msgspec.field(default="", name="Process Group Name")
    ranks: str = msgspec.field(default="", name="Process Group Ranks")
    sequence: int | None = msgspec.field(default=None, name="Seq")
    source: int | None = msgspec.field(default=None, name="Src Rank")
    target: int | None = msgspec.field(default=None, name="Dst Rank")


@dataclass(frozen=True)
class Said:
    """What the file says beside its rows: arguments of collectives by row, numbers of steps."""

    collectives: Mapping[int, _Args]
    steps: tuple[int, ...]


def said_of(source: Source, trace: Trace) -> Said:
    """What a Kineto trace says that no Trace carries; nothing of other formats."""
    if trace.meta.format != "kineto" or not trace.operators["is_communication"].any():
        return Said({}, ())
    talks = trace.operators["is_communication"].to_numpy()[trace.calls["operator"].to_numpy()]
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)[talks]
    wanted = frozenset(rows.tolist())
    try:
        found, _, _ = collect_events(source, Event, EventFile, lambda: _Collected(wanted))
    except FuseScopeError:
        return Said({}, ())
    return Said(found.collectives, tuple(sorted(found.steps)))


class _Collected:
    """Arguments of the events in these rows of a file, and numbers of steps, part by part."""

    plain = None

    def __init__(self, wanted: frozenset[int]) -> None:
        self.count = 0
        self.collectives: dict[int, _Args] = {}
        self.steps: set[int] = set()
        self._wanted = wanted

    def add(self, events: Sequence[Event], *, escaped: bool = False) -> None:
        """The next events of the file."""
        for row, event in enumerate(events, start=self.count):
            if row in self._wanted:
                self.collectives[row] = decode(event.args, _Args, _Args())
            elif event.cat == "user_annotation" and (match := _STEP.match(event.name or "")):
                self.steps.add(int(match[1]))
        self.count += len(events)

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""


def collectives(trace: Trace, said: Said, identity: Identity) -> pd.DataFrame:
    """The table `collectives` of `RankTables`; empty where calls have no start."""
    rows = _talking(trace)
    starts = rows["start_ns"].to_numpy("int64")
    rows = rows.iloc[np.argsort(starts, kind="stable")]
    names = trace.texts("name")
    seen: Counter[tuple[str, str]] = Counter()
    columns: dict[str, list[object]] = {name: [] for name in _TEXTS}
    for operator, row in zip(
        rows["operator"].to_numpy(),
        rows["source_row"].to_numpy("int64", na_value=-1),
        strict=True,
    ):
        one = _described(names[operator], said.collectives.get(int(row)), identity)
        key = (str(one["group"]), "" if one["index"] is not None else str(one["kind"]))
        if one["index"] is None:
            one["index"] = seen[key]
            seen[key] += 1
        for name, value in one.items():
            columns[name].append(value)
    starts, lasts = rows["start_ns"].to_numpy("int64"), _lasts(rows)
    ends = np.maximum.accumulate(starts + lasts) if len(rows) else starts
    before_ns = np.maximum(0, starts[1:] - ends[:-1])
    is_first = np.arange(len(rows)) == 0
    busy = union_between(*computing(trace), ends[:-1], np.maximum(ends[:-1], starts[1:]))
    table = {name: pd.Series(columns[name], dtype=kind).array for name, kind in _TEXTS.items()}
    return pd.DataFrame(
        {
            **table,
            "place": np.arange(len(rows)),
            "step": rows["run"].to_numpy("int64", na_value=-1),
            "start_ns": starts,
            "dur_ns": lasts,
            "before_ns": pd.arrays.IntegerArray(np.r_[0, before_ns][: len(rows)], is_first),
            "before_busy_ns": pd.arrays.IntegerArray(np.r_[0, busy][: len(rows)], is_first),
        }
    )


_TEXTS: Mapping[str, Any] = {
    "group": "str", "members": "str", "size": "Int64", "kind": "str", "bytes": "Int64",
    "index": "int64", "is_pair": "bool",
}  # fmt: skip


def computing(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of what is not communication, where both are known."""
    talks = trace.operators["is_communication"].to_numpy()[trace.calls["operator"].to_numpy()]
    known = trace.calls["start_ns"].notna().to_numpy() & ~talks
    calls = trace.calls[known]
    starts = calls["start_ns"].to_numpy("int64")
    return starts, starts + _lasts(calls)


def _lasts(calls: pd.DataFrame) -> np.ndarray:
    own, span = calls["dur_ns"].to_numpy("int64"), calls["span_ns"]
    return np.where(span.isna().to_numpy(), own, span.to_numpy("int64", na_value=0))


def _talking(trace: Trace) -> pd.DataFrame:
    """Calls that communicate: of the device where there are such, else of the library's own."""
    operators = trace.operators
    talks = operators["is_communication"].to_numpy()
    on_device = talks & (operators["level"] == "device_kernel").to_numpy()
    if on_device.any():
        talks = on_device
    else:
        own = np.array([name.startswith(_OF_LIBRARY) for name in trace.texts("name")], dtype=bool)
        talks = talks & own if (talks & own).any() else talks
    calls = trace.calls
    kept = talks[calls["operator"].to_numpy()] & calls["start_ns"].notna().to_numpy()
    return calls.iloc[np.flatnonzero(kept)]


def _described(name: str, args: _Args | None, identity: Identity) -> dict[str, object]:
    ascend = _ASCEND.fullmatch(name)
    if ascend is not None:
        kind = kind_of(ascend[1])
        return {
            "group": ascend[2], "members": "", "size": None, "kind": kind, "bytes": None,
            "index": int(ascend[3]), "is_pair": kind == "send_receive",
        }  # fmt: skip
    if args is None or not (args.name or args.size):
        kind = kind_of(name)
        return {
            "group": "", "members": "", "size": None, "kind": kind, "bytes": None, "index": None,
            "is_pair": kind == "send_receive",
        }  # fmt: skip
    kind = kind_of(args.name or name)
    group = clean_text(str(args.group), _MAX_NAME)
    members = identity.groups.get(str(args.group)) or _listed(args.ranks, args.size)
    is_pair = kind == "send_receive"
    if is_pair and args.source is not None and args.target is not None:
        members = tuple(sorted((args.source, args.target)))
    text = ",".join(map(str, members))
    return {
        "group": f"{group} [{text}]" if is_pair and text else group,
        "members": text,
        "size": args.size if args.size and 0 < args.size < _MAX_BYTES else len(members) or None,
        "kind": kind,
        "bytes": _bytes(kind, args),
        "index": args.sequence if args.sequence is not None and args.sequence >= 0 else None,
        "is_pair": is_pair,
    }


def kind_of(name: str) -> str:
    """'all_reduce', 'send_receive', … by a kernel's or a collective's name; else 'other'."""
    return next((kind for kind, pattern in _KINDS if pattern.search(name[:200])), "other")


def _listed(text: str, size: int | None) -> tuple[int, ...]:
    """The ranks that the file lists; none where it leaves some of them out."""
    if "..." in text:
        return ()
    ranks = tuple(map(int, _RANKS.findall(text[:100_000])))
    return ranks if size is None or len(ranks) == size else ()


def _bytes(kind: str, args: _Args) -> int | None:
    """The data that the group moves as a whole: the larger of what goes in and comes out."""
    item = _DTYPE_BYTES.get(args.dtype.strip().lower())
    counts = [n for n in (args.sent, args.received) if n is not None and 0 <= n < _MAX_BYTES]
    return max(counts) * item if item and counts else None
