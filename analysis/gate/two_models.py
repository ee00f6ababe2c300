"""Two models: which fusions of the first one the second has lost.

Models of two exports share no operator for certain. What is compared is what became of each model
by itself: the groups of operators that the engine fuses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from fusescope.analysis.compare.groups.fusion import Fusion, Group, Names, Operator
from fusescope.analysis.compare.ledger.operator_texts import common_scope
from fusescope.analysis.gate.fusion_changes import (
    EXACT,
    FusionChange,
    FusionChanges,
    what_of_as_many,
)

Key = Callable[[Group], Hashable]


def changes_between(old: Fusion, new: Fusion) -> FusionChanges | None:
    """What the fusions of two models differ by, each `Fusion` from a model without optimisations to
    its optimised graph; None where either is not known.

    Fused groups are matched by the names of their operators, then by module and op types, then by
    op types in model order. One without a match is lost or won, and its `group` has the fused
    operators of one side and what runs in the same place on the other.
    """
    if any(fusion.source not in EXACT for fusion in (old, new)):
        return None
    pairs, lost, won = _matched(_fused(old), _fused(new))
    fused = (old.fused[1], new.fused[1])
    changes = [change for pair in pairs if (change := _changed(*pair, fused)) is not None]
    changes += [FusionChange("lost", _beside(group, old, new, is_old=True)) for group in lost]
    changes += [FusionChange("won", _beside(group, new, old, is_old=False)) for group in won]
    return FusionChanges(tuple(changes), (_operators(old), _operators(new)))


def _fused(fusion: Fusion) -> list[Group]:
    return [group for group in fusion.groups if group.kind == "fused"]


def _matched(
    old: Sequence[Group], new: Sequence[Group]
) -> tuple[list[tuple[Group, Group]], list[Group], list[Group]]:
    """Pairs, and what is left of either."""
    pairs: list[tuple[Group, Group]] = []
    left, right = list(old), list(new)
    for key in (_names, _place, _types):
        by_key: defaultdict[Hashable, list[Group]] = defaultdict(list)
        for group in right:
            by_key[key(group)].append(group)
        found = [(group, by_key[key(group)].pop(0)) for group in left if by_key[key(group)]]
        pairs += found
        taken = [{id(pair[side]) for pair in found} for side in (0, 1)]
        left, right = (
            [group for group in groups if id(group) not in gone]
            for groups, gone in zip((left, right), taken, strict=True)
        )
    return pairs, left, right


def _names(group: Group) -> Hashable:
    return frozenset(operator.name for operator in group.original)


def _place(group: Group) -> Hashable:
    return common_scope(group.original), _types(group)


def _types(group: Group) -> Hashable:
    return tuple(sorted(operator.op_type for operator in group.original))


def _changed(old: Group, new: Group, fused: tuple[Names, Names]) -> FusionChange | None:
    before, after = ([one.op_type for one in group.candidate] for group in (old, new))
    if Counter(before) == Counter(after):
        return None
    both = _as_sides(old, old.candidate, new.candidate)
    if len(after) == len(before):
        return FusionChange(what_of_as_many(both, fused), both)
    return FusionChange("lost" if len(after) > len(before) else "won", both)


def _beside(group: Group, own: Fusion, other: Fusion, *, is_old: bool) -> Group:
    """The group of one model, `own`, with what runs in its place in the other one."""
    names = {operator.name for operator in group.original}
    there = _between(names, _original_names(own), other)
    if not there:
        scope = common_scope(group.original)
        there = [one for one in other.groups if scope and common_scope(one.original) == scope]
    runs = tuple(operator for one in there for operator in one.candidate)
    sides = (group.candidate, runs) if is_old else (runs, group.candidate)
    return _as_sides(group, *sides)


def _between(names: set[str], known: set[str], other: Fusion) -> list[Group]:
    """Groups that hold operators of these names, and those between the first and the last of them
    of which the model with the names `known` has no operator: they took the place of some."""
    of_names = [bool(names & {operator.name for operator in one.original}) for one in other.groups]
    if not any(of_names):
        return []
    first, last = of_names.index(True), len(of_names) - of_names[::-1].index(True)
    is_new = [known.isdisjoint(operator.name for operator in one.original) for one in other.groups]
    return [other.groups[at] for at in range(first, last) if of_names[at] or is_new[at]]


def _original_names(fusion: Fusion) -> set[str]:
    return {operator.name for group in fusion.groups for operator in group.original}


def _as_sides(group: Group, before: tuple[Operator, ...], after: tuple[Operator, ...]) -> Group:
    return Group(group.id, group.kind, group.known_by, group.original, before, after)


def _operators(fusion: Fusion) -> Counter[str]:
    """What the optimised graph of a model runs, by op type."""
    ran: Iterable[Operator] = (one for group in fusion.groups for one in group.candidate)
    return Counter(one.op_type for one in (*ran, *fusion.inserted[1]))
