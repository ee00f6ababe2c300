"""What a window of time shows of a side: calls as they are, and bins of the short ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fusescope.analysis.operators.classes import OP_CLASSES
from fusescope.analysis.timeline.host_lane import HostLane
from fusescope.analysis.timeline.levels import MAX_LEVEL, Row, View, kinds, shares

# The classes as the script numbers them.
KINDS = (*OP_CLASSES[:-1], "other", OP_CLASSES[-1])
# Calls and bins that one answer may have: packed, each takes 10 to 12 bytes.
MOST_ITEMS = 20_000
# Characters of names and shapes in one answer, shared by its sides; beyond it operators have their
# type only.
MOST_CHARS = 60_000
_TEXTS = ("name", "inputs", "outputs", "provider")
_SHORT_TEXTS = ("op_type", "op_class")


@dataclass(frozen=True)
class Levels:
    """The rows of one side; `calls` are the places of a row's calls in the payload, `ops` their
    operators, and `kinds` the numbers in KINDS of the classes that its rows count by."""

    side: Mapping[str, Any]
    rows: tuple[Row, ...]
    calls: tuple[np.ndarray, ...]
    ops: tuple[np.ndarray, ...]
    kinds: np.ndarray

    @classmethod
    def of(cls, side: Mapping[str, Any]) -> Levels:
        """The rows of a side of a payload (analysis.timeline.payload)."""
        calls = {name: np.asarray(column) for name, column in side["calls"].items()}
        numbers = {name: number for number, name in enumerate(KINDS)}
        kind = [numbers.get(name, numbers["unknown"]) for name in side["ops"]["op_class"]]
        known, classes = np.unique(np.array(kind, dtype="int64"), return_inverse=True)
        order = np.argsort(calls["lane"], kind="stable")
        edges = np.searchsorted(calls["lane"][order], np.arange(len(side["lanes"]) + 1))
        members = tuple(order[first:last] for first, last in pairwise(edges.tolist()))
        rows = tuple(
            Row(
                calls["start_ns"][of].astype("int64"),
                calls["dur_ns"][of].astype("int64"),
                classes[calls["op"][of].astype("int64")],
                max(1, len(known)),
            )
            for of in members
        )
        ops = tuple(calls["op"][of].astype("int64") for of in members)
        return cls(side, rows, members, ops, known)

    def items(self, start: int, end: int, level: int) -> int:
        """How many calls and bins a window has at most."""
        return sum(row.items(start, end, level) for row in self.rows)


def level_of(
    sides: Sequence[Levels], windows: Sequence[tuple[int, int]], pixels: int, items: int
) -> int:
    """The finest level whose bins are at least as wide as `pixels` of them in the longest window,
    and of which the windows have at most so many items; the coarsest where none has so few."""
    longest = max((end - start for start, end in windows), default=1)
    level = max(0, (max(1, longest) // max(1, pixels)).bit_length())
    while level < MAX_LEVEL and items < sum(
        side.items(start, end, level) for side, (start, end) in zip(sides, windows, strict=True)
    ):
        level += 1
    return level


def shown(
    levels: Levels,
    start: int,
    end: int,
    level: int,
    elsewhere: Sequence[Mapping[int, tuple[int, int]]],
) -> dict[str, Any]:
    """One side of an answer: `lanes` with their calls and bins, and the `ops` that they name.

    `op` of a call or of a bin's longest call is a place in `ops`, whose `id` is that in the side's
    payload. Of a bin `at` counts 2**level ns, `busy` is the share of it in which something short
    ran, in parts of levels.SHARES, `kind` the number of a class: which one of those that ran is
    decided by their shares and a fixed noise, so that colours keep the proportions of time.
    `elsewhere` says for each side how often and how long what is in a row ran. `host` is the lane
    of the host there.
    """
    lanes, used = [], []
    for number, (row, op) in enumerate(zip(levels.rows, levels.ops, strict=True)):
        view = row.view(start, end, level)
        if not len(view.calls) and not len(view.bins):
            continue
        lanes.append((number, view))
        for each in (view.calls, view.bins.longest):
            used.append((op[each], row.durs[each]))
    ids, place = _operators(used, len(levels.side["ops"]["name"]))
    host: HostLane | None = levels.side.get("host")
    return {
        "from": start,
        "to": end,
        "lanes": [
            {"lane": number, **_lane(levels, number, view, place, level)} for number, view in lanes
        ],
        "ops": facts(levels.side["ops"], ids, elsewhere),
        **({} if host is None else {"host": host.shown(start, end)}),
    }


def _waiting(calls: Mapping[str, Any], chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Return the column of how long these calls wait for other ranks, where a side has it."""
    waiting = calls.get("waiting_ns")
    return {} if waiting is None else {"waiting_ns": np.asarray(waiting)[chosen]}


def _lane(levels: Levels, number: int, view: View, place: np.ndarray, level: int) -> dict[str, Any]:
    row, op, calls = levels.rows[number], levels.ops[number], levels.calls[number]
    bins = view.bins
    kind = kinds(bins.at, bins.times, row.kinds[bins.longest])
    return {
        "calls": {
            "op": place[op[view.calls]],
            "start_ns": row.starts[view.calls],
            "dur_ns": row.durs[view.calls],
            **_waiting(levels.side["calls"], calls[view.calls]),
        },
        "bins": {
            "at": bins.at,
            "busy": shares(bins, level),
            "kind": levels.kinds[kind] if len(bins) else kind,
            "count": bins.count,
            "op": place[op[bins.longest]],
            "longest_ns": row.durs[bins.longest],
        },
    }


def _operators(
    used: Sequence[tuple[np.ndarray, np.ndarray]], count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The operators in use, those of the longest calls first, and the place of each among them."""
    longest = np.full(count, -1, dtype="int64")
    for ops, durs in used:
        np.maximum.at(longest, ops, durs)
    ids = np.flatnonzero(longest >= 0)
    ids = ids[np.argsort(-longest[ids], kind="stable")]
    place = np.zeros(count, dtype="int64")
    place[ids] = np.arange(len(ids))
    return ids, place


def facts(
    ops: Mapping[str, list[Any]], ids: np.ndarray, elsewhere: Sequence[Mapping[int, Any]]
) -> dict[str, Any]:
    """What is known of operators; names and shapes of the first ones that fit a side's share of
    MOST_CHARS."""
    chosen = ids.tolist()
    told, chars, most = 0, 0, MOST_CHARS // max(1, len(elsewhere))
    for id_ in chosen:
        chars += sum(len(ops[name][id_] or "") for name in _TEXTS)
        if chars > most:
            break
        told += 1
    named = chosen[:told]
    rows = [ops["row"][id_] for id_ in named]
    return {
        "id": ids,
        "told": told,
        **{name: [ops[name][id_] for id_ in chosen] for name in _SHORT_TEXTS},
        **{name: [ops[name][id_] for id_ in named] for name in _TEXTS},
        **{name: [ops[name][id_] for id_ in chosen] for name in ("row", "group")},
        "elsewhere": [
            {
                "count": [side.get(row, (0, 0))[0] for row in rows],
                "ns": [side.get(row, (0, 0))[1] for row in rows],
            }
            for side in elsewhere
        ],
    }
