"""Groups inferred from type, shapes and order, where neither graphs nor members are known."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from analysis.compare.groups.fusion import Fusion, Group, Operator
from analysis.compare.groups.members import compute_operators, kind_of
from analysis.compare.groups.pairs import paired_operators
from analysis.compare.side import Side
from analysis.operators.classes import plain_type
from analysis.operators.members import is_function, parse_members
from analysis.trace import Diagnostic, Trace

# A longer stretch without anything in common says nothing about what became what.
LONGEST = 16


@dataclass(frozen=True)
class _Ran:
    """One operator: its position in the order of first execution, and what is known of it."""

    operator: Operator
    inputs: str
    outputs: str
    types: frozenset[str] | None  # op types that a fused kernel's name lists


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
            [at for at in where if at not in used]
            for where, used in zip(stretch, taken, strict=True)
        )
        found += _replaced(sides, before, after)
    found.sort()
    groups: list[Group] = []
    for old, new in found:
        before_ops = tuple(sides[0][at].operator for at in old)
        after_ops = tuple(sides[1][at].operator for at in new)
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
    left = len(sides[0]) - mapped + len(sides[1]) - sum(len(g.candidate) for g in groups)
    notes = [Diagnostic("info", "groups_inferred", len(groups))] if groups else []
    if left:
        notes.append(Diagnostic("info", "inferred_without_partner", left))
    return Fusion(
        source="inferred",
        groups=tuple(groups),
        original_nodes=len(sides[0]),
        mapped_nodes=mapped,
        optimised_nodes=len(sides[1]),
        diagnostics=tuple(notes),
    )


def _that_ran(trace: Trace) -> tuple[_Ran, ...]:
    columns = ("name", "op_type", "inputs", "outputs", "members", "members_source")
    told = [trace.texts(column) for column in columns]
    found = []
    for row in compute_operators(trace):
        name, op_type, inputs, outputs, text, source = (cells[row] for cells in told)
        members = parse_members(text, source) if text else None
        types = None
        # A function for the CPU may hold loops that have nothing to do with each other.
        is_one = not is_function(name)
        if is_one and members is not None and members.kind == "op_types":
            types = frozenset(plain_type(kind) for kind in members.members)
        operator = Operator(name, op_type, row=row)
        found.append(_Ran(operator, inputs, outputs, types))
    return tuple(found)


def _pairs(
    baseline: Trace, candidate: Trace, sides: tuple[tuple[_Ran, ...], tuple[_Ran, ...]]
) -> list[tuple[int, int]]:
    """Positions (baseline, candidate) of operators that agree in everything both tell of them."""
    indices = [
        {row: index for index, row in enumerate(compute_operators(trace))}
        for trace in (baseline, candidate)
    ]
    counts = [Counter(_description(ran) for ran in side) for side in sides]
    names = [Counter(ran.operator.name for ran in side) for side in sides]
    first, second, joined = paired_operators(baseline, candidate)
    rows, runs = (
        [side.table[column].to_numpy() for side in (first, second)]
        for column in ("operator", "count")
    )
    pairs = []
    for before, after, label in joined:
        if not label or runs[0][before] != runs[1][after]:
            continue
        b, c = indices[0].get(int(rows[0][before])), indices[1].get(int(rows[1][after]))
        if b is None or c is None:
            continue  # communication
        one, other = sides[0][b], sides[1][c]
        same = _description(one) == _description(other)
        name = one.operator.name
        is_named = name == other.operator.name and names[0][name] == names[1][name]
        unique = is_named and names[0][name] == 1
        as_many = counts[0][_description(one)] == counts[1][_description(one)]
        # A file of less detail tells no shapes that could agree.
        untold = not all(ran.inputs or ran.outputs for ran in (one, other))
        if (same and (unique or as_many)) or (untold and is_named):
            pairs.append((b, c))
    return sorted(pairs)


def _description(ran: _Ran) -> tuple[str, str, str]:
    return (ran.operator.op_type or ran.operator.name, ran.inputs, ran.outputs)


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
    sides: tuple[tuple[_Ran, ...], tuple[_Ran, ...]], before: list[int], after: list[int]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Groups inside one stretch: piece by piece where names say where each starts, else whole."""
    if not before or not after:
        return []
    names = {sides[0][at].operator.name: index for index, at in enumerate(before)}
    starts = [names.get(sides[1][at].operator.name, -1) for at in after]
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


def _fits(
    sides: tuple[tuple[_Ran, ...], tuple[_Ran, ...]], old: Sequence[int], new: Sequence[int]
) -> bool:
    """Whether the shapes at both ends, or the op types that kernels list, say it is the same."""
    before, after = [sides[0][at] for at in old], [sides[1][at] for at in new]
    known = all(ran.inputs and ran.outputs for ran in (before[0], before[-1], after[0], after[-1]))
    same_ends = (
        _first(before[0].inputs) == _first(after[0].inputs)
        and before[-1].outputs == after[-1].outputs
    )
    return (known and same_ends) or _lists(after, before) or _lists(before, after)


def _lists(fused: Sequence[_Ran], plain: Sequence[_Ran]) -> bool:
    listed = [ran.types for ran in fused]
    if not listed or any(types is None for types in listed):
        return False
    wanted = {plain_type(ran.operator.op_type or ran.operator.name) for ran in plain}
    return wanted == frozenset().union(*(types for types in listed if types))


def _first(tensors: str) -> str:
    return tensors.partition("; ")[0]
