"""Groups from members: originals that one trace lists for its operators and the other trace ran.

Needs no graphs: two traces of one model, of which at least one says what its operators stand for
(TensorRT's layer names, OpenVINO's originalLayersNames, AKG's .info, Ascend's fusion_op.csv).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import pandas as pd

from fusescope.analysis.compare.groups.disjoint import DisjointSets
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Kind, KnownBy, Operator
from fusescope.analysis.compare.groups.moved_source import by_paths
from fusescope.analysis.compare.groups.renumbered import by_weights
from fusescope.analysis.compare.side import Side
from fusescope.analysis.operators.members import Members, parse_members, type_in_name
from fusescope.analysis.trace import Trace, noted


class _Ran(msgspec.Struct, frozen=True):
    """One operator of a trace; `members` None: it stands for itself."""

    operator: Operator
    members: Members | None

    @property
    def inserted(self) -> bool:
        return self.members is not None and not self.members.members


def group_by_members(baseline: Side, candidate: Side) -> Fusion | None:
    """Groups of operators that share originals; None where no operator lists any of the other's.

    Claims are resolved by union: an original that two operators list joins both. A listed name
    that the other trace does not have is counted; as long as operators nobody lists stand beside
    the known ones, as many of them are taken in and the group is `merged`. Operators of one side
    only are in no group.
    """
    if not any(_lists_originals(side.trace) for side in (baseline, candidate)):
        return None  # and nothing is made of the operators, of which there may be very many
    sides = (_that_ran(baseline.trace), _that_ran(candidate.trace))
    own_claims = [_claims(own, other) for own, other in zip(sides, reversed(sides), strict=True)]
    renumbered, by_weight = by_weights(*own_claims)
    renamed, by_path = by_paths(own_claims[0], renumbered)
    claims = (own_claims[0], renamed)
    names = tuple(_universe(own, claim) for own, claim in zip(sides, claims, strict=True))
    if not any(
        _tells(ran, claim.get(position), other)
        for own, claim, other in zip(sides, claims, reversed(names), strict=True)
        for position, ran in enumerate(own)
    ):
        return None
    merged = [
        _take_in(sides[1 - side], claims[1 - side], claims[side], names[1 - side])
        for side in (0, 1)
    ]
    # Listed by both sides, or run by one of them as itself.
    known = (names[0] & names[1]) | {
        own[position].operator.name
        for own, claim in zip(sides, claims, strict=True)
        for position, listed in claim.items()
        if listed == (own[position].operator.name,)
    }
    unknown = sorted(
        {name for claim in claims for listed in claim.values() for name in listed} - known
    )
    parts = _parts(sides, claims, known)
    groups: list[Group] = []
    for original, before, after in parts:
        if original and before and after:
            by_name = {op.name for op in original}
            by: KnownBy = "merged" if by_name & (merged[0] | merged[1]) else "members"
            groups.append(
                Group(len(groups) + 1, kind_of(before, after), by, original, before, after)
            )
    notes = noted("info", "members_unknown", unknown)
    notes += noted("info", "exports_renumbered", by_weight)
    notes += noted("info", "source_moved", by_path)
    return Fusion(
        source="members",
        groups=tuple(groups),
        original_nodes=sum(len(original) for original, _, _ in parts),
        mapped_nodes=sum(len(group.original) for group in groups),
        optimised_nodes=len(sides[1]),
        inserted=(_inserted(sides[0]), _inserted(sides[1])),
        diagnostics=tuple(notes),
    )


def compute_operators(trace: Trace) -> list[int]:
    """Operators in the order in which they first ran, without communication, and without what ran
    only outside of the runs that a file marks or shows.

    Fusion does not touch communication, and waiting for another device is not a gain of a group.
    """
    is_communication = trace.operators["is_communication"].to_numpy()
    inside = trace.calls["run"].notna().to_numpy()
    ran = pd.unique(trace.calls["operator"].to_numpy()[inside if inside.any() else slice(None)])
    rows: list[int] = ran[~is_communication[ran]].tolist()
    return rows


def _lists_originals(trace: Trace) -> bool:
    """Whether an operator lists anything but op types, which are not originals."""
    told = trace.operators[["members", "members_source"]].dropna().drop_duplicates()
    return any(
        (members := parse_members(str(text), str(source))) is not None
        and members.kind != "op_types"
        for text, source in told.itertuples(index=False)
    )


def _that_ran(trace: Trace) -> tuple[_Ran, ...]:
    """Operators of a trace in the order in which they first ran, one for each name; where one name
    has several lists of members, one for each row."""
    names, types, sources = (trace.texts(c) for c in ("name", "op_type", "members_source"))
    # '' lists no original: the engine put the operator in. None says nothing of them.
    is_told = trace.operators["members"].notna().tolist()
    texts = [
        text if told else None for text, told in zip(trace.texts("members"), is_told, strict=True)
    ]
    ran = compute_operators(trace)
    lists: dict[str, set[str | None]] = {}
    for row in ran:
        lists.setdefault(names[row], set()).add(texts[row])
    found: dict[str | int, _Ran] = {}
    for row in ran:
        text = texts[row]
        members = None if text is None else parse_members(text, sources[row])
        own = row if len(lists[names[row]]) > 1 else None
        operator = Operator(names[row], types[row], row=own)
        found.setdefault(names[row] if own is None else own, _Ran(operator, members))
    return tuple(found.values())


def kind_of(before: Sequence[Operator], after: Sequence[Operator]) -> Kind:
    """The kind of a group with operators on both sides."""
    if len(before) == len(after) == 1:  # as of most groups, of which there may be a million
        return "kept" if before[0].op_type == after[0].op_type else "replaced"
    old, new = sorted(op.op_type for op in before), sorted(op.op_type for op in after)
    if len(new) != len(old):
        return "fused" if len(new) < len(old) else "split"
    return "kept" if old == new else "replaced"


def _claims(own: tuple[_Ran, ...], other: tuple[_Ran, ...]) -> dict[int, tuple[str, ...]]:
    """Position -> originals that this operator stands for; inserted operators claim nothing."""
    claims: dict[int, tuple[str, ...]] = {}
    ranges: dict[int, tuple[str, str]] = {}
    for position, ran in enumerate(own):
        members = ran.members
        if members is None or members.kind == "op_types":
            claims[position] = (ran.operator.name,)
        elif members.kind == "range" and len(members.members) == 2:
            ranges[position] = (members.members[0], members.members[1])
        elif members.members:
            claims[position] = members.members
    # A range takes what ran from its first to its last original and nobody else lists.
    taken = {name for listed in claims.values() for name in listed}
    order = {ran.operator.name: position for position, ran in enumerate(other)}
    for position, (first, last) in ranges.items():
        start, end = order.get(first), order.get(last)
        if start is None or end is None or start > end:
            claims[position] = (first, last)
            continue
        inside = (other[at].operator.name for at in range(start, end + 1) if not other[at].inserted)
        claims[position] = tuple(name for name in inside if name not in taken)
    return claims


def _universe(own: tuple[_Ran, ...], claims: Mapping[int, tuple[str, ...]]) -> set[str]:
    return {ran.operator.name for ran in own if not ran.inserted} | {
        name for listed in claims.values() for name in listed
    }


def _tells(ran: _Ran, listed: tuple[str, ...] | None, other: set[str]) -> bool:
    """Whether the operator lists an original of the other trace that is not just its own name."""
    return bool(listed) and any(
        name in other and name != ran.operator.name for name in listed or ()
    )


def _take_in(
    own: tuple[_Ran, ...],
    own_claims: Mapping[int, tuple[str, ...]],
    claims: dict[int, tuple[str, ...]],
    names: set[str],
) -> set[str]:
    """Extends `claims` of the other side by operators of `own` that nobody lists; their names.

    An engine may rename an original before it fuses it, so a listed name that does not exist
    stands for an operator that nobody lists: between the known ones, or right before them.
    """
    listed_by_any = {name for listed in claims.values() for name in listed}
    free = {
        position: own_claims[position][0]
        for position, ran in enumerate(own)
        if ran.members is None and ran.operator.name not in listed_by_any
    }
    index = {name: at for at, listed in own_claims.items() for name in listed}
    added: set[str] = set()
    for position, listed in list(claims.items()):
        missing = sum(name not in names for name in listed)
        at = sorted(index[name] for name in listed if name in index)
        if not missing or not at:
            continue
        wanted = [p for p in range(at[0], at[-1]) if p in free]
        before = at[0] - 1
        while before in free:
            wanted.append(before)
            before -= 1
        taken = [free.pop(p) for p in wanted[:missing]]
        claims[position] = (*listed, *taken)
        added.update(taken)
    return added


Part = tuple[tuple[Operator, ...], tuple[Operator, ...], tuple[Operator, ...]]


def _parts(
    sides: tuple[tuple[_Ran, ...], ...],
    claims: tuple[dict[int, tuple[str, ...]], ...],
    known: set[str],
) -> list[Part]:
    """Originals and operators of both sides that hang together, in the order of the baseline."""
    together: DisjointSets[str] = DisjointSets()
    for claim in claims:
        for listed in claim.values():
            together.join_all(listed)
    own = {ran.operator.name: _original(ran) for side in reversed(sides) for ran in side}
    found: dict[str, tuple[dict[str, Operator], list[Operator], list[Operator]]] = {}
    for side, claim in enumerate(claims):
        for position, listed in sorted(claim.items()):
            if not listed:
                continue
            part = found.setdefault(together.find(listed[0]), ({}, [], []))
            (part[1], part[2])[side].append(sides[side][position].operator)
            for name in listed:
                if name in known:
                    part[0][name] = own.get(name) or Operator(name, type_in_name(name))
    return [(tuple(names.values()), tuple(a), tuple(b)) for names, a, b in found.values()]


def _original(ran: _Ran) -> Operator:
    """The original that an operator runs as itself; the engine's layer type is not that of it."""
    kind = type_in_name(ran.operator.name) if ran.members is not None else ""
    return Operator(ran.operator.name, kind or ran.operator.op_type)


def _inserted(ran: Iterable[_Ran]) -> tuple[Operator, ...]:
    return tuple(one.operator for one in ran if one.inserted)
