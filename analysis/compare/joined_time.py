"""Joined time: the part of either side's operator time that has a counterpart on the other side.

Two traces of one model join by names, shapes, groups or launchers; of two models hardly anything
does, and then a change between them says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
import pandas as pd

from fusescope.analysis.compare.comparison import Figure
from fusescope.analysis.compare.groups.fusion import Fusion, Group
from fusescope.analysis.compare.side import Side
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.operators.classes import plain_type
from fusescope.analysis.operators.flops import parse_shapes
from fusescope.analysis.operators.members import inductor, parse_members
from fusescope.analysis.trace import Trace

# Below this part on either side the two are taken for different models.
MIN_JOINED = 0.2
# What joins by its class alone may be of any model.
_WEAK = ("op_class",)
# What launchers or the order of operators tell may be of any model, too, though of most it is not.
_OF_ANY_MODEL = (*_WEAK, "launched_by", "inferred")
_SIDES = ("baseline", "candidate")

Value = TypeVar("Value")
Shares = tuple[float | None, float | None]  # of the operator time of baseline and candidate


def are_of_one_file(baseline: Side, candidate: Side) -> bool:
    """Return whether both sides are recordings of one model file."""
    first, second = baseline.experiment, candidate.experiment
    if first is None or second is None:
        return False
    return first.record.model.sha256 == second.record.model.sha256


def are_different_models(baseline: Side, candidate: Side, shares: Shares) -> bool:
    """Whether too little joins to speak of one model. Recordings of one model file never differ."""
    if are_of_one_file(baseline, candidate):
        return False
    known = [share for share in shares if share is not None]
    return len(known) == len(shares) and min(known) < MIN_JOINED


def shown_shares(fusion: Fusion, traces: tuple[Trace, Trace]) -> Shares:
    """Return the part of each side's operator time, without communication, whose tensors have the
    same shapes in an operator of its class on the other side, which a fused kernel there names, or
    which a group holds that members or names tell: what no other model has by chance. None without
    times."""
    operators_of = [_OperatorsOf(trace) for trace in traces]
    groups = [group for group in fusion.groups if group.known_by not in _OF_ANY_MODEL]
    shares = []
    for side, trace in enumerate(traces):
        own, other = operators_of[side], operators_of[1 - side]
        table = by_operator(trace)
        table = table[(table["op_class"] != "communication").to_numpy(dtype=bool)]
        times = table["per_run_ns"].to_numpy(dtype=float)
        is_tied = own.has_shape_of(other) | own.is_named_by(other) | _grouped(trace, groups, side)
        inside = float(times[is_tied[table["operator"].to_numpy()]].sum())
        shares.append(inside / float(times.sum()) if times.sum() > 0 else None)
    return shares[0], shares[1]


def joined_shares(operators: pd.DataFrame, fusion: Fusion, traces: tuple[Trace, Trace]) -> Shares:
    """The joined part of each side's operator time, without communication; None without times,
    and where most of the time is of unknown class (a compiled graph as one region says nothing).

    An operator is joined when `operators` (of match_operators) has it on both sides; when a fusion
    group holds it that is known by more than a class; when the other side has operators of the same
    launcher, whatever they are called on another device; when an operator of its class there has
    the same shape of first input, whatever dtype and layout; when a fused kernel's name lists its
    type, or lists nothing but types that the other side ran.
    """
    operators_of = [_OperatorsOf(trace) for trace in traces]
    is_on_both = (operators["side"] == "both").to_numpy()
    classes = operators["op_class"].to_numpy(dtype=object)
    shares = []
    for side, name in enumerate(_SIDES):
        own, other = operators_of[side], operators_of[1 - side]
        joined = _grouped(traces[side], fusion.groups, side) | own.is_tied_to(other)
        row_of = operators[f"operator_{name}"].to_numpy("float64", na_value=-1.0).astype("int64")
        joined[row_of[is_on_both]] = True
        counts = (row_of >= 0) & (classes != "communication")
        time = operators[f"per_run_ns_{name}"].to_numpy("float64")[counts]
        total = float(time.sum())
        is_joined = joined[row_of[counts]]
        inside = float(time[is_joined].sum())
        unknown = float(time[~is_joined & (classes[counts] == "unknown")].sum())
        shares.append(inside / total if total > 0 and unknown <= total / 2 else None)
    return shares[0], shares[1]


def without_changes_of(
    figures: Iterable[Figure], codes: Container[str] | None = None
) -> tuple[Figure, ...]:
    """The figures of both sides, those of the `codes`, or all, without a change."""
    return tuple(
        replace(figure, kind="none") if codes is None or figure.code in codes else figure
        for figure in figures
    )


class _OperatorsOf:
    """What of the operators of a trace may tie them to those of another: launcher, class and shape,
    types, and the types that names of fused kernels list. Of many operators few differ in these, so
    what differs is looked at once."""

    def __init__(self, trace: Trace) -> None:
        of_kernels = ["members", "members_source", *(["name"] if trace.originals else [])]
        self._launcher = _Each(trace, ["launched_by"], _launcher)
        self._shape = _Each(trace, ["op_class", "inputs"], _class_and_shape)
        self._op_type = _Each(trace, ["op_type"], plain_type)
        self._launched = _Each(trace, ["launched_by"], _launched_type)
        self._listed = _Each(trace, of_kernels, _listed)

    def is_tied_to(self, other: _OperatorsOf) -> np.ndarray:
        """For each operator whether anything ties it to an operator of the other trace."""
        tied: np.ndarray = (
            self._launcher.where(set(other._launcher.values).__contains__)
            | self.has_shape_of(other)
            | self.is_named_by(other)
        )
        return tied

    def has_shape_of(self, other: _OperatorsOf) -> np.ndarray:
        """For each operator whether one of its class there has the same shape of first input."""
        return self._shape.where(set(other._shape.values).__contains__)

    def is_named_by(self, other: _OperatorsOf) -> np.ndarray:
        """For each operator whether a fused kernel there lists its type, or it lists nothing but
        types that ran there; those of operators that launched a kernel, too."""
        listed_there: frozenset[object] = frozenset().union(*other._listed.values)
        run_there = {*other._op_type.values, *other._launched.values}
        named: np.ndarray = (
            self._op_type.where(listed_there.__contains__)
            | self._launched.where(listed_there.__contains__)
            | self._listed.where(lambda kinds: kinds <= run_there)
        )
        return named


class _Each(Generic[Value]):
    """What `tell` makes of the texts in some columns of the operators; None: nothing."""

    def __init__(
        self, trace: Trace, columns: Sequence[str], tell: Callable[..., Value | None]
    ) -> None:
        cells = [trace.operators[column].array for column in columns]
        whole = np.zeros(len(trace.operators), dtype="int64")
        for of in cells:
            whole, _ = pd.factorize(whole * (len(of.categories) + 1) + of.codes + 1)
        _, first, self._codes = np.unique(whole, return_index=True, return_inverse=True)
        texts = (["" if text is None else text for text in _texts(of, first)] for of in cells)
        self._values = [*map(tell, *texts)]

    @property
    def values(self) -> list[Value]:
        """All that is told."""
        return [value for value in self._values if value is not None]

    def where(self, ties: Callable[[Value], bool]) -> np.ndarray:
        """For each operator whether something is told of it, and that `ties`."""
        found = np.array([value is not None and ties(value) for value in self._values], dtype=bool)
        of_each: np.ndarray = found[self._codes]
        return of_each


def _texts(cells: pd.Categorical, at: np.ndarray) -> list[str | None]:
    """Those at these positions."""
    texts = np.array([*cells.categories.to_numpy(dtype=object), None], dtype=object)
    told: list[str | None] = texts[cells.codes[at]].tolist()
    return told


def _launcher(name: str) -> str | None:
    return name if "::" in name else None


def _launched_type(name: str) -> str | None:
    return plain_type(name) if "::" in name else None


def _class_and_shape(op_class: str, inputs: str) -> tuple[str, object] | None:
    """Shapes of scalars and classes that are not known tie nothing."""
    shape = _first_shape(inputs) if inputs else ()
    if len(shape) > 1 and op_class not in ("", "unknown", "communication"):
        return op_class, shape
    return None


@lru_cache(maxsize=1024)
def _first_shape(inputs: str) -> tuple[int, ...]:
    return next(iter(parse_shapes(inputs)), ())


def _listed(text: str, source: str, name: str | None = None) -> frozenset[str] | None:
    """The op types that the name of a fused kernel lists; `name` where a compiler's map names
    nodes, as the kernel's name still lists types."""
    members = parse_members(text, source) if text else None
    if members is not None and name is not None:
        members = inductor(name)
    if members is None or members.kind != "op_types" or not members.members:
        return None
    return frozenset(plain_type(kind) for kind in members.members)


def _grouped(trace: Trace, groups: Iterable[Group], side: int) -> np.ndarray:
    """For each operator whether a group has it that is known by more than a class."""
    names: set[str] = set()
    rows: list[int] = []
    for group in groups:
        if group.known_by not in _WEAK:
            for operator in (group.baseline, group.candidate)[side]:
                if operator.row is None:
                    names.add(operator.name)
                else:
                    rows.append(operator.row)
    found = np.zeros(len(trace.operators), dtype=bool)
    found[np.array(rows, dtype="int64")] = True
    if names:
        found |= np.array([name in names for name in trace.texts("name")], dtype=bool)
    return found
