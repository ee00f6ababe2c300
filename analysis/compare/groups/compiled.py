"""Groups by a compiler's own map: both sides name the same originals, call by call.

The map lists the operators in each generated kernel; a group is what hangs together by originals
that several kernels share. Rows are told apart by the originals, as names are not unique.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fusescope.analysis.compare.groups.disjoint import DisjointSets
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Kind, KnownBy, Operator
from fusescope.analysis.compare.groups.members import compute_operators, kind_of
from fusescope.analysis.compare.side import Side
from fusescope.analysis.operators.members import parse_members
from fusescope.analysis.originals import Original
from fusescope.analysis.trace import Trace, noted

Claims = Mapping[int, tuple[str, ...]]


@dataclass
class _Part:
    """Originals that hang together, and the rows of both sides that are of them."""

    names: set[str] = field(default_factory=set)
    rows: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    # What each row of a side stands for, as a set of sets.
    pieces: tuple[set[tuple[str, ...]], set[tuple[str, ...]]] = field(
        default_factory=lambda: (set(), set())
    )


def group_by_compiler(baseline: Side, candidate: Side) -> Fusion | None:
    """Groups of the originals that both sides name; None where they name none in common.

    A group where an operator left no trace in the compiler's map, or where eager operators cannot
    be told apart, is `merged`: larger than it need be. Operators that are of no original on either
    side are joined where name and shapes are the same.
    """
    traces = (baseline.trace, candidate.trace)
    known = {one.name: (at, one) for at, one in enumerate(traces[0].originals)}
    if not known or [_identity(one) for one in traces[0].originals] != [
        _identity(one) for one in traces[1].originals
    ]:
        return None
    claims = tuple(_claims(trace, known) for trace in traces)
    if not claims[0] or not claims[1]:
        return None
    parts = _parts(claims)
    recomputed = {one.name for trace in traces for one in trace.originals if one.recomputed}
    untraced = {one.name for trace in traces for one in trace.originals if not one.traced}
    # Told apart by the other side's originals (eager.py).
    one_is_eager = traces[0].originals is traces[1].originals
    groups: list[Group] = []
    for part in sorted(parts, key=lambda part: min(known[name][0] for name in part.names)):
        if not part.rows[0]:
            continue
        names = sorted(part.names, key=lambda name: known[name][0])
        before, after = (
            _operators(trace, rows) for trace, rows in zip(traces, part.rows, strict=True)
        )
        several = any(_computing(piece, known) > 1 for piece in part.pieces[0])
        is_merged = bool(part.names & untraced) or (several and one_is_eager)
        known_by: KnownBy = "merged" if is_merged else "compiler"
        groups.append(
            Group(
                len(groups) + 1,
                _kind(part, before, after),
                known_by,
                tuple(_original(known[name][1]) for name in names),
                before,
                after,
                recomputed=tuple(name for name in names if name in recomputed),
            )
        )
    return _fusion(traces, groups, claims)


def _original(one: Original) -> Operator:
    return Operator(one.name, one.op_type, place=one.place)


def _identity(one: Original) -> tuple[str, str]:
    return one.name, one.op_type


def _claims(trace: Trace, known: Mapping[str, object]) -> dict[int, tuple[str, ...]]:
    """Row -> the originals that it stands for."""
    texts, sources = trace.texts("members"), trace.texts("members_source")
    found = {}
    for row in compute_operators(trace):
        if sources[row] != "names" or not texts[row]:
            continue
        members = parse_members(texts[row], sources[row])
        names = tuple(name for name in members.members if name in known) if members else ()
        if names:
            found[row] = names
    return found


def _parts(claims: Sequence[Claims]) -> list[_Part]:
    together: DisjointSets[str] = DisjointSets()
    for claim in claims:
        for names in claim.values():
            together.join_all(names)
    parts: dict[str, _Part] = {}
    for side, claim in enumerate(claims):
        for row, names in claim.items():
            part = parts.setdefault(together.find(names[0]), _Part())
            part.names.update(names)
            part.rows[side].append(row)
            part.pieces[side].add(names)
    return list(parts.values())


def _computing(names: Iterable[str], known: Mapping[str, tuple[int, Original]]) -> int:
    return sum(known[name][1].computes for name in names)


def _kind(part: _Part, before: Sequence[Operator], after: Sequence[Operator]) -> Kind:
    """By pieces, not by rows: an operator of a framework calls others."""
    if not after:
        return "removed"
    pieces = [len(side) for side in part.pieces]
    if pieces[1] != pieces[0]:
        return "fused" if pieces[1] < pieces[0] else "split"
    types = [{op.op_type for op in operators} for operators in (before, after)]
    return "kept" if types[1] <= types[0] else "replaced"


def _operators(trace: Trace, rows: Sequence[int]) -> tuple[Operator, ...]:
    names, types = trace.texts("name"), trace.texts("op_type")
    return tuple(Operator(names[row], types[row], row=row) for row in rows)


def _fusion(traces: tuple[Trace, Trace], groups: list[Group], claims: Sequence[Claims]) -> Fusion:
    """With the groups of what is of no original, the same on both sides."""
    left: list[dict[tuple[str, str], list[int]]] = []
    for trace, claim in zip(traces, claims, strict=True):
        names, inputs = trace.texts("name"), trace.texts("inputs")
        rows: dict[tuple[str, str], list[int]] = {}
        for row in compute_operators(trace):
            if row not in claim:
                rows.setdefault((names[row], inputs[row]), []).append(row)
        left.append(rows)
    alone = 0
    for key, own in left[0].items():
        if key not in left[1]:
            alone += len(own)
            continue
        before = _operators(traces[0], own)
        after = _operators(traces[1], left[1][key])
        groups.append(
            Group(len(groups) + 1, kind_of(before, after), "inferred", before, before, after)
        )
    mapped = sum(len(group.original) for group in groups)
    again = [name for group in groups for name in group.recomputed]
    return Fusion(
        source="members",
        groups=tuple(groups),
        original_nodes=mapped + alone,
        mapped_nodes=mapped,
        optimised_nodes=len(compute_operators(traces[1])),
        diagnostics=tuple(noted("info", "originals_recomputed", again)),
    )
