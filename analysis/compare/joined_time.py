"""Joined time: the part of either side's operator time that has a counterpart on the other side.

Two traces of one model join by names, shapes, groups or launchers; of two models hardly anything
does, and then a change between them says nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.compare.comparison import Figure
from analysis.compare.groups.fusion import Fusion, Group
from analysis.compare.side import Side
from analysis.operators.classes import plain_type
from analysis.operators.flops import parse_shapes
from analysis.operators.members import inductor, parse_members
from analysis.trace import Trace

# Below this part on either side the two are taken for different models.
MIN_JOINED = 0.2
# What joins by its class alone may be of any model.
_WEAK = ("op_class",)
_SIDES = ("baseline", "candidate")


def are_different_models(
    baseline: Side, candidate: Side, shares: tuple[float | None, float | None]
) -> bool:
    """Whether too little joins to speak of one model. Recordings of one model file never differ."""
    first, second = baseline.experiment, candidate.experiment
    if first and second and first.record.model.sha256 == second.record.model.sha256:
        return False
    known = [share for share in shares if share is not None]
    return len(known) == len(shares) and min(known) < MIN_JOINED


def joined_shares(
    operators: pd.DataFrame, fusion: Fusion, traces: tuple[Trace, Trace]
) -> tuple[float | None, float | None]:
    """The joined part of each side's operator time, without communication; None without times,
    and where most of the time is of unknown class (a compiled graph as one region says nothing).

    An operator is joined when `operators` (of match_operators) has it on both sides; when a fusion
    group holds it that is known by more than a class; when the other side has operators of the same
    launcher, whatever they are called on another device; when an operator of its class there has
    the same shape of first input, whatever dtype and layout; when a fused kernel's name lists its
    type, or lists nothing but types that the other side ran.
    """
    keys = [_evidence(trace) for trace in traces]
    listed = [_listed(trace) for trace in traces]
    types = [_types(trace) for trace in traces]
    is_on_both = (operators["side"] == "both").to_numpy()
    classes = operators["op_class"].to_numpy(dtype=object)
    shares = []
    for side, name in enumerate(_SIDES):
        other = 1 - side
        grouped = _grouped(traces[side], fusion.groups, side)
        row_of = operators[f"operator_{name}"].to_numpy("float64", na_value=-1.0)
        matched = {int(row) for row in row_of[is_on_both]}
        theirs: set[object] = set().union(*keys[other].values()) if keys[other] else set()
        run_there = set(types[other].values())
        listed_there = {kind for kinds in listed[other].values() for kind in kinds}
        joined = {
            row
            for row in keys[side]
            if row in matched
            or row in grouped
            or keys[side][row] & theirs
            or types[side][row] in listed_there
            or (listed[side].get(row) and listed[side][row] <= run_there)
        }
        counts = (row_of >= 0) & (classes != "communication")
        time = operators[f"per_run_ns_{name}"].to_numpy("float64")[counts]
        total = float(time.sum())
        is_joined = np.array([row in joined for row in row_of[counts]], dtype=bool)
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


def _evidence(trace: Trace) -> dict[int, set[object]]:
    """What of each operator may tie it to one of another name: its launcher, its class and shape.

    Shapes of scalars and classes that are not known tie nothing.
    """
    columns = ("launched_by", "op_class", "inputs")
    told = [trace.texts(name) for name in columns]
    # Of many operators few differ in their shapes.
    shapes = {text: next(iter(parse_shapes(text)), ()) if text else () for text in set(told[-1])}
    found: dict[int, set[object]] = {}
    for row, launcher, op_class, inputs in zip(trace.operators["operator"], *told, strict=True):
        keys: set[object] = {("launcher", launcher)} if "::" in launcher else set()
        shape = shapes[inputs]
        if len(shape) > 1 and op_class not in ("", "unknown", "communication"):
            keys.add((op_class, shape))
        found[int(row)] = keys
    return found


def _types(trace: Trace) -> dict[int, str]:
    rows = trace.operators["operator"]
    return {
        int(row): plain_type(kind) for row, kind in zip(rows, trace.texts("op_type"), strict=True)
    }


def _listed(trace: Trace) -> dict[int, frozenset[str]]:
    """The op types that names of fused kernels list, by operator."""
    found = {}
    columns = (trace.texts(column) for column in ("name", "members", "members_source"))
    for row, name, text, source in zip(trace.operators["operator"], *columns, strict=True):
        members = parse_members(text, source) if text else None
        # Where a compiler's map names nodes, the kernel's name still lists types.
        members = inductor(name) if members is not None and trace.originals else members
        if members is not None and members.kind == "op_types":
            found[int(row)] = frozenset(plain_type(kind) for kind in members.members)
    return found


def _grouped(trace: Trace, groups: Iterable[Group], side: int) -> set[int]:
    names: set[str] = set()
    rows: set[int] = set()
    for group in groups:
        if group.known_by not in _WEAK:
            for operator in (group.baseline, group.candidate)[side]:
                if operator.row is None:
                    names.add(operator.name)
                else:
                    rows.add(operator.row)
    of_name = zip(trace.operators["operator"], trace.texts("name"), strict=True)
    return rows | {int(row) for row, name in of_name if name in names}
