"""Operators of two traces that ran, described by numbers that both sides share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.compare.joining.agreement import (
    kinds,
    lasting_name,
    sizes,
    without_out_tensors,
)
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.kernel_types import kernel_types
from fusescope.analysis.trace import Trace

_COLUMNS = ("name", "op_type", "op_class", "inputs", "outputs", "launched_by")


class Ran(msgspec.Struct, frozen=True, eq=False):
    """The operators of a side that ran: rows of `by_operator` in the order in which they first
    ran, and some of their columns as codes of texts, which both sides share; 0 is '' and null.
    `proven` is the baseline's name as `counterparts` gives it, `origin` that or the own one without
    the numbers of a compilation, `sizes` the inputs without types, `shorter_inputs` those
    without a tensor that is written into, `function` that of a kernel, `executions` those of a
    run."""

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


def both_ran(baseline: Trace, candidate: Trace, counterparts: Mapping[str, str]) -> tuple[Ran, Ran]:
    traces = (baseline, candidate)
    tables = [in_order(trace) for trace in traces]
    rows = [table["operator"].to_numpy() for table in tables]
    codes: list[dict[str, np.ndarray]] = [{}, {}]
    numbered: list[tuple[list[list[str]], list[np.ndarray]]] = []

    def add(column: str, cells: Sequence[pd.Categorical], texts: list[list[str]]) -> None:
        # Most names are their own lasting name and function: texts are numbered once.
        if not numbered or numbered[-1][0] != texts:
            numbered.append((texts, _shared_numbers(texts)))
        for of_side, of, ran, number in zip(codes, cells, rows, numbered[-1][1], strict=True):
            of_side[column] = number[of.codes[ran]]

    for column in _COLUMNS:
        cells = [trace.operators[column].array for trace in traces]
        texts = [of.categories.to_numpy(dtype=object).tolist() for of in cells]
        add(column, cells, texts)
        if column == "name":
            renamed = [counterparts.get(name, name) for name in texts[1]]
            add("proven", cells, [texts[0], renamed])
            add("origin", cells, [[*map(lasting_name, of)] for of in (texts[0], renamed)])
            add("function", cells, [list(kernel_types(trace)) for trace in traces])
        if column == "inputs":
            add("sizes", cells, [[*map(sizes, of)] for of in texts])
            one, other = texts
            shorter = [without_out_tensors(one, other), without_out_tensors(other, one)]
            add("shorter_inputs", cells, shorter)
    every = [
        np.array(kinds(trace), dtype=object)[ran] for trace, ran in zip(traces, rows, strict=True)
    ]
    numbers, _ = pd.factorize(np.concatenate(every))
    for of_side, number in zip(codes, np.split(numbers + 1, [len(rows[0])]), strict=True):
        of_side["kind"] = number
    counted = [table["count"].round().to_numpy("int64") + 1 for table in tables]
    for of_side, number in zip(codes, counted, strict=True):
        of_side["executions"] = number
    first, second = (Ran(table, of) for table, of in zip(tables, codes, strict=True))
    return first, second


def _shared_numbers(texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """A number for each text, the same for the same text of the other side; 0 for '', and at -1."""
    numbers, known = pd.factorize(np.array([text for of in texts for text in of], dtype=object))
    numbers = np.where(known == "", 0, np.arange(1, len(known) + 1))[numbers]
    split = len(texts[0])
    return [np.append(of, 0) for of in (numbers[:split], numbers[split:])]


def in_order(trace: Trace) -> pd.DataFrame:
    """Return the operators that ran, as `by_operator` has them, in the order in which they first
    ran."""
    table = by_operator(trace)
    first = pd.unique(trace.calls["operator"].to_numpy())
    rank = np.zeros(len(trace.operators), dtype="int64")
    rank[first] = np.arange(len(first))
    return table.take(np.argsort(rank[table["operator"].to_numpy()])).reset_index(drop=True)


def codes_of(sides: Sequence[Ran], keys: Sequence[str]) -> list[np.ndarray]:
    """A code for each operator of both sides: equal where all of the columns `keys` are."""
    whole = together([np.concatenate([side.codes[key] for side in sides]) for key in keys])
    return np.split(whole, [len(sides[0].table)])


def numbers_of(
    codes: Sequence[np.ndarray], among: Sequence[np.ndarray] | None = None
) -> list[np.ndarray]:
    """How many of each code either side has, of those `among` which are asked for."""
    size = 1 + max(int(of.max(initial=0)) for of in codes)
    counted = codes if among is None else [of[mask] for of, mask in zip(codes, among, strict=True)]
    return [np.bincount(of, minlength=size) for of in counted]


def nth_with_nth(codes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the n-th of each code on both sides, in the order of the first."""
    span = 1 + max(len(of) for of in codes)
    first, second = (of.astype("int64") * span + _occurrence(of) for of in codes)
    place = pd.Index(second).get_indexer(pd.Index(first))
    return np.flatnonzero(place >= 0), place[place >= 0]


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
