"""Pairs: which operator of one trace is which of the other.

By name, shapes, launcher or order; operators of different kinds are never a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from fusescope.analysis.compare.joining.agreement import (
    classes_agree,
    factor,
    is_beyond,
    shapes_contradict,
)
from fusescope.analysis.compare.joining.described import (
    Ran,
    both_ran,
    codes_of,
    in_order,
    nth_with_nth,
    numbers_of,
)
from fusescope.analysis.metrics.memo import once_of_two
from fusescope.analysis.operators.classes import HEAVY
from fusescope.analysis.trace import Trace

# A compiled graph launches as one: its name says nothing about the operator.
REGIONS = ("Torch-Compiled Region", "CompiledFxGraph", "CompiledFunction", "## Call Compiled")

# Of positions on both sides, pair by pair: what keeps one whose times are far apart, and what fits.
Stands = Callable[[np.ndarray, np.ndarray], np.ndarray]
Fits = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Pairs(NamedTuple):
    """Positions in the tables of both sides, -1 for none, and what joined them, '' for nothing."""

    before: np.ndarray
    after: np.ndarray
    by: np.ndarray


def paired_operators(
    baseline: Trace,
    candidate: Trace,
    counterparts: Mapping[str, str] = MappingProxyType({}),
) -> tuple[pd.DataFrame, pd.DataFrame, Pairs]:
    """Return the operators of both sides in the order in which they first ran, as rows of
    `by_operator`, and their pairs, those of one side alone last.

    `counterparts` gives the baseline's name of the candidate's renamed operators; one that it gives
    as '' has no partner by its name or shapes: its group names none. Operators join in this order,
    the n-th of a description with the n-th, and only of one kind and class (`agreement`):

    1. name, launcher, inputs and outputs; where no shapes are there, as many of them on both sides;
    2. name, inputs and outputs, of which either side has one;
    3. name and inputs but for a tensor that is written into, then name and sizes, as many on both
       sides;
    4. name and sizes but for one factor, where more operators differ by it than are the same;
    5. name alone, as many on both sides, where neither shapes nor launchers contradict;
    6. type, inputs, outputs, and the function where they are kernels; inputs alone where neither
       side has outputs;
    7. launcher, its inputs and class, as many on both sides;
    8. communication by type, as many on both sides.

    A pair of which one time is more than three times the other stays only where both have the same
    sizes, where each is the only one of its name and runs as often, or takes as long each time,
    where graphs prove it, where its launcher ran nothing else on either side, or of communication,
    most of which is waiting. The order of the sides makes no difference.
    """
    found = (
        _search(baseline, candidate, counterparts) if counterparts else _own(baseline, candidate)
    )
    return in_order(baseline), in_order(candidate), found


@once_of_two
def _own(baseline: Trace, candidate: Trace) -> Pairs:
    """Return the pairs of two traces without counterparts, which groups and rows rest on."""
    return _search(baseline, candidate, {})


def _search(baseline: Trace, candidate: Trace, counterparts: Mapping[str, str]) -> Pairs:
    found = _Search(both_ran(baseline, candidate, counterparts), bool(counterparts))
    found.by_name()
    found.by_shapes()
    found.by_launcher()
    found.by_order()
    return found.pairs()


class _Search:
    """Operators of both sides without a partner so far, and the pairs so far."""

    def __init__(self, sides: tuple[Ran, Ran], renamed: bool) -> None:
        self._sides = sides
        self._renamed = renamed
        self._free = [np.ones(len(side.table), dtype=bool) for side in sides]
        self._found: list[Pairs] = []

    def by_name(self) -> None:
        """Joins operators of one name."""
        told = [side.codes["inputs"] != 0 for side in self._sides]
        untold = [~mask for mask in told]
        apart = _told_apart_once(self._sides)
        named = [
            ~mask & (side.codes["origin"] != 0)
            for mask, side in zip(apart, self._sides, strict=True)
        ]
        if self._renamed:
            self._join("graph", ["proven", "kind"], named, lone=True, stands=_always)
        exact = ["origin", "kind", "launched_by", "inputs", "outputs"]
        self._join("name", exact, _both(named, told), stands=_always)
        as_often = [*exact, "executions"]
        self._join(
            "name", as_often, _both(named, untold), even=True, stands=self._is_only_launched(exact)
        )
        self._join("name", exact, _both(named, untold), even=True, stands=self._is_only_as_long())
        self._join(
            "name",
            ["origin", "kind", "inputs", "outputs"],
            _both(named, told),
            lone=True,
            stands=_always,
        )
        shorter = ["origin", "kind", "shorter_inputs"]
        self._join("name", shorter, _both(named, told), even=True, stands=_always)
        lone = self._is_only_one(["origin", "kind"])
        self._join("name", ["origin", "kind", "sizes"], _both(named, told), even=True, stands=lone)
        self._join(
            "name",
            ["origin", "kind"],
            _both(named, told),
            even=True,
            stands=_always,
            fits=self._common_factor(),
        )
        self._join(
            "name", ["origin", "kind"], named, even=True, stands=lone, fits=self._is_consistent
        )

    def by_shapes(self) -> None:
        """Joins operators of one type and one description of their tensors."""
        free = [np.ones(len(side.table), dtype=bool) for side in self._sides]
        if self._renamed:
            free[1] = self._sides[1].codes["proven"] != 0
        kernels = [
            (side.table["level"] == "device_kernel").to_numpy(dtype=bool) for side in self._sides
        ]
        # Where frameworks record no outputs, type and inputs say what they are; not of a kernel.
        untold = [
            side.is_null("outputs") & ~of & mask
            for side, of, mask in zip(self._sides, kernels, free, strict=True)
        ]
        others = [mask & ~of for mask, of in zip(free, kernels, strict=True)]
        whole = ["op_type", "kind", "inputs", "outputs"]
        self._join(
            "shape", [*whole, "function"], _both(free, kernels), stands=_always, needed=whole
        )
        self._join("shape", whole, others, stands=_always, needed=whole)
        self._join(
            "shape",
            ["op_type", "kind", "inputs"],
            untold,
            stands=_always,
            needed=["op_type", "inputs"],
        )

    def by_launcher(self) -> None:
        """Joins kernels under other names, as of another GPU or library, by what launched them."""
        free = [np.ones(len(side.table), dtype=bool) for side in self._sides]
        if self._renamed:
            free[1] = self._sides[1].codes["proven"] != 0
        launched = ["launched_by", "inputs", "kind"]
        alone = self._is_only_one(launched)
        self._join(
            "launcher",
            [*launched, "op_class"],
            free,
            even=True,
            stands=alone,
            needed=launched,
            whole=True,
        )

    def by_order(self) -> None:
        """Joins communication, whose names hold numbers of the recording's groups, and which tells
        no shapes."""
        talks = [side.where("is_communication") for side in self._sides]
        self._join(
            "order", ["op_type", "kind"], talks, even=True, stands=_always, needed=["op_type"]
        )

    def pairs(self) -> Pairs:
        """All pairs, then what is of one side alone."""
        alone = [np.flatnonzero(left) for left in self._free]
        nothing = [np.full(len(at), -1) for at in alone]
        return Pairs(
            np.concatenate([*(pair.before for pair in self._found), alone[0], nothing[1]]),
            np.concatenate([*(pair.after for pair in self._found), nothing[0], alone[1]]),
            np.concatenate(
                [
                    *(pair.by for pair in self._found),
                    *(np.full(len(at), "", object) for at in alone),
                ]
            ),
        )

    def _join(
        self,
        label: str,
        keys: Sequence[str],
        among: Sequence[np.ndarray],
        *,
        stands: Stands,
        fits: Fits | None = None,
        needed: Sequence[str] = ("origin",),
        even: bool = False,
        lone: bool = False,
        whole: bool = False,
    ) -> None:
        """Joins the n-th operator of a key with the n-th of the other side, of free ones `among`
        which the columns `needed` are told: only keys of `even` numbers on both sides, or `lone` on
        both, counted over all operators where `whole`. A pair of other classes, one that does not
        fit, and one of times far apart that nothing `stands` for, is none."""
        free = [
            mask & left & np.all([side.codes[key] != 0 for key in needed], axis=0)
            for mask, left, side in zip(among, self._free, self._sides, strict=True)
        ]
        if not free[0].any() or not free[1].any():
            return
        codes = codes_of(self._sides, keys)
        if even or lone:
            numbers = numbers_of(codes, None if lone else free)
            good = numbers[0] == numbers[1]
            if lone:
                good &= numbers[0] == 1
            if whole:
                every = numbers_of(codes)
                good &= every[0] == every[1]
            free = [mask & good[of] for mask, of in zip(free, codes, strict=True)]
        at = [np.flatnonzero(mask) for mask in free]
        first, second = nth_with_nth([of[where] for of, where in zip(codes, at, strict=True)])
        b, c = at[0][first], at[1][second]
        tables = [side.table for side in self._sides]
        keep = classes_agree(tables[0]["op_class"].iloc[b], tables[1]["op_class"].iloc[c])
        if fits is not None:
            keep &= fits(b, c)
        b, c = b[keep], c[keep]
        times = [
            table["per_run_ns"].to_numpy("float64")[of]
            for table, of in zip(tables, (b, c), strict=True)
        ]
        keep = ~is_beyond(*times) | stands(b, c)
        b, c = b[keep], c[keep]
        labels = np.full(len(b), label, dtype=object)
        if label == "graph":
            labels[self._has_same("name", b, c)] = "name"
        elif label == "name":
            labels[~self._has_same("name", b, c)] = "order"
            labels[
                (labels == "order")
                & self._has_same("inputs", b, c)
                & (self._sides[0].codes["inputs"][b] != 0)
            ] = "shape"
            labels[self._sides[1].codes["proven"][c] != self._sides[1].codes["name"][c]] = "graph"
        self._free[0][b] = False
        self._free[1][c] = False
        self._found.append(Pairs(b, c, labels))

    def _has_same(self, column: str, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        same: np.ndarray = self._sides[0].codes[column][b] == self._sides[1].codes[column][c]
        return same

    def _is_only_one(self, keys: Sequence[str]) -> Stands:
        """For pairs whether each of both is the only one of its key and runs as often."""
        codes = codes_of(self._sides, keys)
        numbers = numbers_of(codes)
        executions = [side.codes["executions"] for side in self._sides]

        def stands(b: np.ndarray, c: np.ndarray) -> np.ndarray:
            only: np.ndarray = (
                (numbers[0][codes[0][b]] == 1)
                & (numbers[1][codes[1][c]] == 1)
                & (executions[0][b] == executions[1][c])
            )
            return only

        return stands

    def _is_only_launched(self, keys: Sequence[str]) -> Stands:
        """Return for pairs whether each of both is the only one of its key and runs as often, where
        the key has a launcher. Without one it says no more than the name, which others may have
        too."""
        of_key, of_name = self._is_only_one(keys), self._is_only_one(["origin", "kind"])
        launchers = self._sides[0].codes["launched_by"]
        return lambda b, c: (of_key(b, c) & (launchers[b] != 0)) | of_name(b, c)

    def _is_only_as_long(self) -> Stands:
        """Return for pairs whether each of both is the only one of its name and one execution takes
        about as long: one side runs it more often."""
        codes = codes_of(self._sides, ["origin", "kind"])
        numbers = numbers_of(codes)
        each_ns = [
            side.table["per_run_ns"].to_numpy("float64") / side.table["count"].to_numpy("float64")
            for side in self._sides
        ]
        return lambda b, c: (
            (numbers[0][codes[0][b]] == 1)
            & (numbers[1][codes[1][c]] == 1)
            & ~is_beyond(each_ns[0][b], each_ns[1][c])
        )

    def _common_factor(self) -> Fits:
        """For pairs whether their sizes differ by the factor that most pairs of a name differ by,
        as of another batch; nothing fits where more operators have the same sizes."""
        same = sum(len(pair.before) for pair in self._found)
        at = [
            np.flatnonzero(free & (side.codes["origin"] != 0) & (side.codes["inputs"] != 0))
            for free, side in zip(self._free, self._sides, strict=True)
        ]
        codes = codes_of(self._sides, ["origin", "kind"])
        first, second = nth_with_nth([of[where] for of, where in zip(codes, at, strict=True)])
        factors = self._factors(at[0][first], at[1][second])
        known = factors[np.isfinite(factors) & (factors > 0) & (factors != 1)]
        values, counts = np.unique(known, return_counts=True)
        if not len(values) or counts.max() <= same:
            return lambda b, c: np.zeros(len(b), dtype=bool)
        usual = values[counts == counts.max()]
        return lambda b, c: np.isin(self._factors(b, c), usual if len(usual) == 1 else [])

    def _factors(self, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        texts = [
            side.table["inputs"].astype(object).to_numpy()[of]
            for side, of in zip(self._sides, (b, c), strict=True)
        ]
        found = [factor(*pair) for pair in zip(*texts, strict=True)]
        return np.array([np.nan if one is None else one for one in found], dtype="float64")

    def _is_consistent(self, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """For pairs of one name whether nothing speaks against them: several of a name have a
        shape on one side at most and one launcher, the only ones of a name no other shapes."""
        names = codes_of(self._sides, ["origin", "kind"])
        numbers = numbers_of(names)
        is_lone = (numbers[0][names[0][b]] == 1) & (numbers[1][names[1][c]] == 1)
        shapes, launchers, classes = (
            [
                side.table[column].astype(object).fillna("").to_numpy()[of]
                for side, of in zip(self._sides, (b, c), strict=True)
            ]
            for column in ("inputs", "launched_by", "op_class")
        )
        contradict = np.array(
            [
                shapes_contradict(*tensors, first if first in HEAVY else second)
                for tensors, first, second in zip(zip(*shapes, strict=True), *classes, strict=True)
            ],
            dtype=bool,
        )
        untold = (shapes[0] == "") | (shapes[1] == "")
        named = [
            np.array([bool(text) and not text.startswith(REGIONS) for text in of], dtype=bool)
            for of in launchers
        ]
        launched = ~named[0] | ~named[1] | (launchers[0] == launchers[1])
        fits: np.ndarray = np.where(is_lone, ~contradict, untold & launched)
        return fits


def _always(b: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.ones(len(b), dtype=bool)


def _never(b: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.zeros(len(b), dtype=bool)


def _both(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [a & b for a, b in zip(one, other, strict=True)]


def _told_apart_once(sides: tuple[Ran, Ran]) -> list[np.ndarray]:
    """Operators whose name one side tells apart by shape and the other, without shapes, cannot:
    all calls of a name are not the partner of some of them."""
    origins = [side.codes["origin"] for side in sides]
    counts = numbers_of(origins)
    told = [
        np.bincount(codes[~side.is_null("inputs")], minlength=len(counts[0])) > 0
        for side, codes in zip(sides, origins, strict=True)
    ]
    differ = (counts[0] > 0) & (counts[1] > 0) & (counts[0] != counts[1]) & (told[0] != told[1])
    return [differ[codes] for codes in origins]
