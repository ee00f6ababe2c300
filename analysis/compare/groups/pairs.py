"""Pairs: which operator of one trace is which of the other, by name, shapes, launcher or order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from analysis.metrics.breakdown import by_operator
from analysis.trace import Trace

# Positions in the tables of both sides, -1 for none, and what joined them, '' for nothing.
Pair = tuple[int, int, str]


@dataclass(frozen=True, eq=False)
class Ran:
    """The operators of a side that ran: rows of `by_operator` in the order in which they first
    ran, and some of their columns as texts, '' for null; `origin` is the original name."""

    table: pd.DataFrame
    texts: Mapping[str, Sequence[str]]

    def where(self, mask: pd.Series) -> list[int]:
        """The positions for which `mask` is true."""
        return [int(at) for at in np.flatnonzero(mask.to_numpy(dtype=bool))]


def paired_operators(
    baseline: Trace,
    candidate: Trace,
    counterparts: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Ran, Ran, list[Pair]]:
    """Both sides' operators and their pairs, those of one side alone last.

    Operators join on (name, n-th operator of that name), where `counterparts` gives the baseline's
    name of the candidate's renamed operators and both sides tell them apart; the rest on
    (op type, shapes, dtypes, n-th of those; inputs alone where neither side tells outputs), then on
    (launcher, its inputs, n-th of those);
    communication that is left on (op type, n-th of those). One whose name `counterparts` gives as
    '' has no partner: its group tells of none, and shapes would find one of another group.
    """
    sides = (_ran(baseline, {}), _ran(candidate, counterparts))
    every = [range(len(side.table)) for side in sides]
    # Frameworks that tell no outputs: type and inputs say what they are. Of a kernel they do not.
    untold = [
        side.where(side.table["outputs"].isna() & (side.table["level"] != "device_kernel"))
        for side in sides
    ]
    alone = (
        {at for at, name in enumerate(sides[1].texts["origin"]) if not name}
        if counterparts
        else set()
    )
    communication = [side.where(side.table["is_communication"]) for side in sides]
    names = [side.texts["name"] for side in sides]
    pairs: list[Pair] = [
        (b, c, "name" if names[0][b] == names[1][c] else "graph")
        for b, c in _join(sides, ["origin"], every, taken=_told_apart_once(sides))
    ]
    for among, keys, label in (
        (every, ["op_type", "inputs", "outputs"], "shape"),
        (untold, ["op_type", "inputs"], "shape"),
        # Another GPU or library names its kernels otherwise: what launched them is the same.
        (every, ["launched_by", "inputs"], "launcher"),
        # Names of communication hold numbers of the recording's groups, and it tells no shapes.
        (communication, ["op_type"], "order"),
    ):
        taken = ({b for b, _, _ in pairs}, {c for _, c, _ in pairs} | alone)
        pairs += [(b, c, label) for b, c in _join(sides, keys, among, taken)]
    taken = ({b for b, _, _ in pairs}, {c for _, c, _ in pairs})
    pairs += [(b, -1, "") for b in every[0] if b not in taken[0]]
    pairs += [(-1, c, "") for c in every[1] if c not in taken[1]]
    return *sides, pairs


def _ran(trace: Trace, origins: Mapping[str, str]) -> Ran:
    table = by_operator(trace)
    first = pd.unique(trace.calls["operator"].to_numpy())
    rank = np.zeros(len(trace.operators), dtype="int64")
    rank[first] = np.arange(len(first))
    table = table.take(np.argsort(rank[table["operator"].to_numpy()])).reset_index(drop=True)
    texts = {}
    for column in ("name", "op_type", "inputs", "outputs", "launched_by"):
        told = trace.texts(column)
        texts[column] = [told[operator] for operator in table["operator"].to_numpy()]
    texts["origin"] = [origins.get(name, name) if name else "" for name in texts["name"]]
    return Ran(table, texts)


def _join(
    sides: tuple[Ran, Ran],
    keys: Sequence[str],
    among: Sequence[Iterable[int]],
    taken: tuple[set[int], set[int]],
) -> list[tuple[int, int]]:
    """Positions that share `keys` and the n-th occurrence of them, without those taken."""
    found: list[dict[tuple[object, ...], int]] = []
    for side, positions, used in zip(sides, among, taken, strict=True):
        values = list(zip(*(side.texts[key] for key in keys), strict=True))
        seen: Counter[tuple[str, ...]] = Counter()
        keyed: dict[tuple[object, ...], int] = {}
        for position in positions:
            key = values[position]
            # Without shapes the second key says nothing.
            if position in used or "" in key:
                continue
            keyed[(*key, seen[key])] = position
            seen[key] += 1
        found.append(keyed)
    left, right = found
    return [(position, right[key]) for key, position in left.items() if key in right]


def _told_apart_once(sides: tuple[Ran, Ran]) -> tuple[set[int], set[int]]:
    """Positions of names that one side tells apart by shape and the other, without shapes, cannot:
    all calls of a name are no partner of some of them."""
    origins = [side.texts["origin"] for side in sides]
    counts = [Counter(names) for names in origins]
    told = [
        {names[at] for at in side.where(side.table["inputs"].notna())}
        for side, names in zip(sides, origins, strict=True)
    ]
    differ = {
        name
        for name in counts[0].keys() & counts[1].keys()
        if counts[0][name] != counts[1][name] and (name in told[0]) != (name in told[1])
    }
    first, second = ({at for at, name in enumerate(names) if name in differ} for names in origins)
    return first, second
