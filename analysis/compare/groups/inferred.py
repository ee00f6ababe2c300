"""Groups inferred from type, shapes and order, where neither graphs nor members are known."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.compare.groups.fusion import Fusion, Group, Operator
from fusescope.analysis.compare.groups.members import compute_operators, kind_of
from fusescope.analysis.compare.joining.agreement import is_copy, kinds
from fusescope.analysis.compare.joining.described import together
from fusescope.analysis.compare.joining.pairs import paired_operators
from fusescope.analysis.compare.side import Side
from fusescope.analysis.operators.classes import plain_type
from fusescope.analysis.operators.members import is_function, parse_members
from fusescope.analysis.trace import Diagnostic, Trace

# A longer stretch without anything in common says nothing about what became what.
LONGEST = 16


class _Ran(msgspec.Struct, frozen=True, eq=False):
    """The operators of a side in the order of first execution, by their rows, and what is known of
    each; `types` are the op types that a fused kernel's name lists, by position, `is_copy` says
    which only copy or fill memory."""

    rows: Sequence[int]
    name: Sequence[str]
    op_type: Sequence[str]
    inputs: Sequence[str]
    outputs: Sequence[str]
    types: dict[int, frozenset[str]]
    is_copy: Sequence[bool]

    def __len__(self) -> int:
        return len(self.rows)

    def operators(self, positions: Sequence[int]) -> tuple[Operator, ...]:
        return tuple(
            [Operator(self.name[at], self.op_type[at], "", self.rows[at]) for at in positions]
        )

    def kind(self, at: int) -> str:
        """Its type, its name where none is told."""
        return self.op_type[at] or self.name[at]


def infer_groups(baseline: Side, candidate: Side) -> Fusion:
    """Groups of two traces without graphs: pairs, and what stands between two pairs.

    Operators pair when type, shapes, dtypes and executions per run agree, and as many operators
    of that description exist on both sides: else it is unknown which of them disappeared. Where
    one side tells no shapes, name and as many operators of that name stand for these. Between
    two pairs, a stretch of operators became the stretch on the other side when it starts and ends
    with the same tensors by shape, or when the kernels' names list its op types. Everything else
    is in no group.
    """
    sides = (_that_ran(baseline.trace), _that_ran(candidate.trace))
    pairs = _pairs(baseline.trace, candidate.trace, sides)
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((b,), (c,)) for b, c in pairs]
    taken = ({b for b, _ in pairs}, {c for _, c in pairs})
    for stretch in _stretches(_monotone(pairs), (len(sides[0]), len(sides[1]))):
        before, after = (
            [at for at in where if at not in used and not side.is_copy[at]]
            for where, used, side in zip(stretch, taken, sides, strict=True)
        )
        found += _replaced(sides, before, after)
    found.sort()
    groups: list[Group] = []
    for old, new in found:
        before_ops, after_ops = sides[0].operators(old), sides[1].operators(new)
        groups.append(
            Group(
                id=len(groups) + 1,
                kind=kind_of(before_ops, after_ops),
                known_by="inferred",
                original=before_ops,
                baseline=before_ops,
                candidate=after_ops,
            )
        )
    mapped = sum(len(group.original) for group in groups)
    notes = [Diagnostic("info", "groups_inferred", len(groups))] if groups else []
    return Fusion(
        source="inferred",
        groups=tuple(groups),
        original_nodes=len(sides[0]),
        mapped_nodes=mapped,
        optimised_nodes=len(sides[1]),
        diagnostics=tuple(notes),
    )


def _that_ran(trace: Trace) -> _Ran:
    rows = compute_operators(trace)

    def told(column: str) -> list[str]:
        texts = trace.texts(column)
        return [texts[row] for row in rows]

    names = told("name")
    types: dict[int, frozenset[str]] = {}
    for at, (text, source) in enumerate(zip(told("members"), told("members_source"), strict=True)):
        # A function for the CPU may hold loops that have nothing to do with each other.
        listed = _listed_types(text, source) if text and not is_function(names[at]) else None
        if listed is not None:
            types[at] = listed
    of_kind = kinds(trace)
    copies = [is_copy(of_kind[row]) for row in rows]
    return _Ran(rows, names, told("op_type"), told("inputs"), told("outputs"), types, copies)


@lru_cache(maxsize=4096)
def _listed_types(text: str, source: str) -> frozenset[str] | None:
    members = parse_members(text, source)
    if members is None or members.kind != "op_types":
        return None
    return frozenset(plain_type(kind) for kind in members.members)


def _pairs(baseline: Trace, candidate: Trace, sides: tuple[_Ran, _Ran]) -> list[tuple[int, int]]:
    """Positions (baseline, candidate) of operators that agree in everything both tell of them."""
    first, second, joined = paired_operators(baseline, candidate)
    is_pair = joined.by != ""
    at = [positions[is_pair] for positions in (joined.before, joined.after)]
    rows, runs = (
        [side[column].to_numpy()[of] for side, of in zip((first, second), at, strict=True)]
        for column in ("operator", "count")
    )
    where = [_positions(trace, of) for trace, of in zip((baseline, candidate), sides, strict=True)]
    b, c = (of_row[of] for of_row, of in zip(where, rows, strict=True))
    agree = (runs[0] == runs[1]) & (b >= 0) & (c >= 0)  # not of communication
    b, c = b[agree], c[agree]
    names = _codes([of.name for of in sides])
    described = _descriptions(sides)
    of_name, of_kind = _numbers(names), _numbers(described)
    same = described[0][b] == described[1][c]
    is_named = (names[0][b] == names[1][c]) & (of_name[0][names[0][b]] == of_name[1][names[0][b]])
    unique = is_named & (of_name[0][names[0][b]] == 1)
    kinds = described[0][b]
    as_many = of_kind[0][kinds] == of_kind[1][kinds]
    # A file of less detail tells no shapes that could agree.
    tells = [
        np.array([bool(i or o) for i, o in zip(of.inputs, of.outputs, strict=True)], dtype=bool)
        for of in sides
    ]
    untold = ~(tells[0][b] & tells[1][c])
    pairs = (same & (unique | as_many)) | (untold & is_named)
    return sorted(zip(b[pairs].tolist(), c[pairs].tolist(), strict=True))


def _positions(trace: Trace, side: _Ran) -> np.ndarray:
    """The position of each row of the operators; -1 for those that did not run, or talk."""
    found = np.full(len(trace.operators), -1)
    found[np.array(side.rows, dtype="int64")] = np.arange(len(side))
    return found


def _descriptions(sides: tuple[_Ran, _Ran]) -> list[np.ndarray]:
    """A code for the type of each operator, its name where none is told, and for its shapes."""
    split = len(sides[0])
    told = (
        [[*map(of.kind, range(len(of)))] for of in sides],
        [of.inputs for of in sides],
        [of.outputs for of in sides],
    )
    whole = together([np.concatenate(_codes(texts)) for texts in told])
    return [whole[:split], whole[split:]]


def _codes(texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Numbers for texts, the same on both sides."""
    split = len(texts[0])
    codes, _ = pd.factorize(np.array([text for of in texts for text in of], dtype=object))
    return [codes[:split], codes[split:]]


def _numbers(codes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """How often each code is on either side."""
    size = 1 + max(int(of.max(initial=-1)) for of in codes)
    return [np.bincount(of, minlength=size) for of in codes]


def _monotone(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs that stand in the same order on both sides (patience sorting)."""
    tails: list[int] = []
    ends: list[int] = []
    previous = [-1] * len(pairs)
    for at, (_, c) in enumerate(pairs):
        length = bisect_left(tails, c)
        previous[at] = ends[length - 1] if length else -1
        tails[length : length + 1] = [c]
        ends[length : length + 1] = [at]
    chain = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = previous[at]
    return chain[::-1]


def _stretches(
    anchors: Sequence[tuple[int, int]], lengths: tuple[int, int]
) -> list[tuple[range, range]]:
    """Positions between two anchors that follow each other, on both sides."""
    edges = [(-1, -1), *anchors, lengths]
    return [
        (range(b + 1, next_b), range(c + 1, next_c)) for (b, c), (next_b, next_c) in pairwise(edges)
    ]


def _replaced(
    sides: tuple[_Ran, _Ran], before: list[int], after: list[int]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Groups inside one stretch: piece by piece where names say where each starts, else whole."""
    if not before or not after:
        return []
    names = {sides[0].name[at]: index for index, at in enumerate(before)}
    starts = [names.get(sides[1].name[at], -1) for at in after]
    if starts[0] == 0 and all(a < b for a, b in pairwise(starts)):
        ends = [*starts[1:], len(before)]
        pieces: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
            (tuple(before[start:end]), (at,))
            for start, end, at in zip(starts, ends, after, strict=True)
        ]
        if all(_fits(sides, old, new) for old, new in pieces):
            return pieces
    whole = (tuple(before), tuple(after))
    return [whole] if max(len(before), len(after)) <= LONGEST and _fits(sides, *whole) else []


def _fits(sides: tuple[_Ran, _Ran], old: Sequence[int], new: Sequence[int]) -> bool:
    """Whether the shapes at both ends, or the op types that kernels list, say it is the same."""
    before, after = sides
    known = all(
        side.inputs[at] and side.outputs[at]
        for side, where in zip(sides, (old, new), strict=True)
        for at in (where[0], where[-1])
    )
    same_ends = (
        _first(before.inputs[old[0]]) == _first(after.inputs[new[0]])
        and before.outputs[old[-1]] == after.outputs[new[-1]]
    )
    return (
        (known and same_ends) or _lists(after, new, before, old) or _lists(before, old, after, new)
    )


def _lists(fused: _Ran, at: Sequence[int], plain: _Ran, those: Sequence[int]) -> bool:
    listed = [fused.types.get(one) for one in at]
    if not listed or any(types is None for types in listed):
        return False
    wanted = {plain_type(plain.kind(one)) for one in those}
    return wanted == frozenset().union(*(types for types in listed if types))


def _first(tensors: str) -> str:
    return tensors.partition("; ")[0]
