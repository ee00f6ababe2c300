"""Pairs: which operator of one trace is which of the other, by name, shapes, launcher or order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.metrics.breakdown import by_operator
from analysis.trace import Trace

_COLUMNS = ("name", "op_type", "inputs", "outputs", "launched_by")


class Pairs(NamedTuple):
    """Positions in the tables of both sides, -1 for none, and what joined them, '' for nothing."""

    before: np.ndarray
    after: np.ndarray
    by: np.ndarray


@dataclass(frozen=True, eq=False)
class Ran:
    """The operators of a side that ran: rows of `by_operator` in the order in which they first
    ran, and some of their columns as codes of texts, which both sides share; 0 is '' and null.
    `origin` is the original name."""

    table: pd.DataFrame
    codes: Mapping[str, np.ndarray]

    def where(self, column: str) -> np.ndarray:
        """For which positions a column of the table is true."""
        mask: np.ndarray = self.table[column].to_numpy(dtype=bool)
        return mask

    def is_null(self, column: str) -> np.ndarray:
        """For which positions a column of the table has no value."""
        mask: np.ndarray = self.table[column].isna().to_numpy(dtype=bool)
        return mask


def paired_operators(
    baseline: Trace,
    candidate: Trace,
    counterparts: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Ran, Ran, Pairs]:
    """Both sides' operators and their pairs, those of one side alone last.

    Operators join on (name, n-th operator of that name), where `counterparts` gives the baseline's
    name of the candidate's renamed operators and both sides tell them apart; the rest on
    (op type, shapes, dtypes, n-th of those; inputs alone where neither side tells outputs), then on
    (launcher, its inputs, n-th of those);
    communication that is left on (op type, n-th of those). One whose name `counterparts` gives as
    '' has no partner: its group tells of none, and shapes would find one of another group.
    """
    sides = _both_ran(baseline, candidate, counterparts)
    every = [np.ones(len(side.table), dtype=bool) for side in sides]
    # Frameworks that tell no outputs: type and inputs say what they are. Of a kernel they do not.
    untold = [
        side.is_null("outputs") & (side.table["level"] != "device_kernel").to_numpy(dtype=bool)
        for side in sides
    ]
    communication = [side.where("is_communication") for side in sides]
    found: list[Pairs] = []
    free = [~taken for taken in _told_apart_once(sides)]
    by_name = _join(sides, ["origin"], free)
    same = sides[0].codes["name"][by_name[0]] == sides[1].codes["name"][by_name[1]]
    found.append(Pairs(*by_name, np.where(same, "name", "graph").astype(object)))
    free = [mask.copy() for mask in every]
    if counterparts:
        free[1] = sides[1].codes["origin"] != 0
    for among, keys, label in (
        (every, ["op_type", "inputs", "outputs"], "shape"),
        (untold, ["op_type", "inputs"], "shape"),
        # Another GPU or library names its kernels otherwise: what launched them is the same.
        (every, ["launched_by", "inputs"], "launcher"),
        # Names of communication hold numbers of the recording's groups, and it tells no shapes.
        (communication, ["op_type"], "order"),
    ):
        free[0][found[-1].before] = False
        free[1][found[-1].after] = False
        pairs = _join(sides, keys, [mask & left for mask, left in zip(among, free, strict=True)])
        found.append(Pairs(*pairs, np.full(len(pairs[0]), label, dtype=object)))
    joined = [np.concatenate([pair[side] for pair in found]) for side in (0, 1)]
    for mask, at, left in zip(every, joined, free, strict=True):
        left[:] = mask
        left[at] = False
    alone = [np.flatnonzero(left) for left in free]
    nothing = [np.full(len(at), -1) for at in alone]
    return *sides, Pairs(
        np.concatenate([joined[0], alone[0], nothing[1]]),
        np.concatenate([joined[1], nothing[0], alone[1]]),
        np.concatenate(
            [*(pair.by for pair in found), *(np.full(len(at), "", object) for at in alone)]
        ),
    )


def _both_ran(
    baseline: Trace, candidate: Trace, counterparts: Mapping[str, str]
) -> tuple[Ran, Ran]:
    traces = (baseline, candidate)
    tables = [_in_order(trace) for trace in traces]
    rows = [table["operator"].to_numpy() for table in tables]
    codes: list[dict[str, np.ndarray]] = [{}, {}]
    for column in (*_COLUMNS, "origin"):
        cells = [
            trace.operators[column if column != "origin" else "name"].array for trace in traces
        ]
        texts = [of.categories for of in cells]
        if column == "origin" and counterparts:
            renamed = [counterparts.get(name, name) if name else "" for name in texts[1]]
            texts[1] = pd.Index(renamed, dtype="str")
        for of_side, of, ran, numbers in zip(codes, cells, rows, _numbered(texts), strict=True):
            of_side[column] = numbers[of.codes[ran]]
    first, second = (Ran(table, of) for table, of in zip(tables, codes, strict=True))
    return first, second


def _numbered(texts: Sequence[pd.Index]) -> list[np.ndarray]:
    """A number for each text, the same for the same text of the other side; 0 for '', and at -1."""
    every = texts[0].astype("str").append(texts[1].astype("str"))
    numbers, _ = pd.factorize(every)
    numbers = np.where(every == "", 0, numbers + 1)
    split = len(texts[0])
    return [np.append(of, 0) for of in (numbers[:split], numbers[split:])]


def _in_order(trace: Trace) -> pd.DataFrame:
    table = by_operator(trace)
    first = pd.unique(trace.calls["operator"].to_numpy())
    rank = np.zeros(len(trace.operators), dtype="int64")
    rank[first] = np.arange(len(first))
    return table.take(np.argsort(rank[table["operator"].to_numpy()])).reset_index(drop=True)


def _join(
    sides: tuple[Ran, Ran], keys: Sequence[str], among: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Positions that share `keys` and the n-th occurrence of them, in the order of the first side;
    only those `among` which are looked for. Without shapes a key says nothing."""
    at = [
        np.flatnonzero(mask & np.all([side.codes[key] != 0 for key in keys], axis=0))
        for side, mask in zip(sides, among, strict=True)
    ]
    alike = together(
        [
            np.concatenate([side.codes[key][of] for side, of in zip(sides, at, strict=True)])
            for key in keys
        ]
    )
    split = len(at[0])
    numbered = [
        _occurrence(alike[:split]) + alike[:split] * len(alike),
        _occurrence(alike[split:]) + alike[split:] * len(alike),
    ]
    place = pd.Index(numbered[1]).get_indexer(pd.Index(numbered[0]))
    return at[0][place >= 0], at[1][place[place >= 0]]


def together(codes: Sequence[np.ndarray]) -> np.ndarray:
    """One code for the codes of several columns: equal where all of them are."""
    whole = codes[0]
    for more in codes[1:]:
        whole, _ = pd.factorize(whole * (int(more.max(initial=0)) + 1) + more)
    return whole


def _occurrence(codes: np.ndarray) -> np.ndarray:
    """How many of the same code stand before each."""
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    is_first = np.ones(len(codes), dtype=bool)
    is_first[1:] = ranked[1:] != ranked[:-1]
    place = np.arange(len(codes))
    found = np.empty(len(codes), dtype="int64")
    found[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return found


def _told_apart_once(sides: tuple[Ran, Ran]) -> list[np.ndarray]:
    """Operators whose name one side tells apart by shape and the other, without shapes, cannot:
    all calls of a name are not the partner of some of them."""
    origins = [side.codes["origin"] for side in sides]
    size = 1 + max(int(codes.max(initial=0)) for codes in origins)
    counts = [np.bincount(codes, minlength=size) for codes in origins]
    told = [
        np.bincount(codes[~side.is_null("inputs")], minlength=size) > 0
        for side, codes in zip(sides, origins, strict=True)
    ]
    differ = (counts[0] > 0) & (counts[1] > 0) & (counts[0] != counts[1]) & (told[0] != told[1])
    return [differ[codes] for codes in origins]
