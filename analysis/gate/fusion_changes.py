"""Fusion changes: which fusions the candidate lost and won against the baseline, group by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fusescope.analysis.compare.groups.fused import lost_and_won
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Names, Operator

What = Literal["lost", "won", "changed"]
# Of groups with verified boundaries, or named by a compiler or an engine.
EXACT = ("graphs", "members")


@dataclass(frozen=True)
class FusionChange:
    """A group that the two sides run with other operators.

    lost: the candidate runs more of them than the baseline, or as many and a fused one is gone;
    won: fewer, or as many and only the candidate has a fused one; changed: as many of other types,
    without that. `before`, `after` are their op types in graph order.
    """

    what: What
    group: Group

    @property
    def before(self) -> tuple[str, ...]:
        """Op types that the baseline runs."""
        return tuple(operator.op_type for operator in self.group.baseline)

    @property
    def after(self) -> tuple[str, ...]:
        """Op types that the candidate runs."""
        return tuple(operator.op_type for operator in self.group.candidate)


@dataclass(frozen=True)
class FusionChanges:
    """All changes of a comparison in model order; `operators` is what (baseline, candidate) run,
    by op type, with what they insert."""

    changes: tuple[FusionChange, ...]
    operators: tuple[Counter[str], Counter[str]]

    def of(self, what: What) -> tuple[FusionChange, ...]:
        """The changes of that kind."""
        return tuple(change for change in self.changes if change.what == what)

    @property
    def lost_types(self) -> Counter[str]:
        """Op types that only the baseline runs in groups that lost a fusion, with their number."""
        return _more(self.of("lost"), 0)

    @property
    def won_types(self) -> Counter[str]:
        """Op types that only the candidate runs in groups that won a fusion, with their number."""
        return _more(self.of("won"), 1)


def fusion_changes(fusion: Fusion) -> FusionChanges | None:
    """What changed between the two sides; None where groups were inferred, or there are none."""
    if fusion.source not in EXACT or not fusion.groups:
        return None
    counted = (
        Counter(_types(one for group in fusion.groups for one in group.baseline)),
        Counter(_types(one for group in fusion.groups for one in group.candidate)),
    )
    for side, inserted in zip(counted, fusion.inserted, strict=True):
        side.update(_types(inserted))
    return FusionChanges(changed_groups(fusion), counted)


def changed_groups(fusion: Fusion) -> tuple[FusionChange, ...]:
    """The groups that the two sides run with other operators, in model order."""
    found = ((what_changed(group, fusion.fused), group) for group in fusion.groups)
    return tuple(FusionChange(what, group) for what, group in found if what is not None)


def what_changed(group: Group, fused: tuple[Names, Names]) -> What | None:
    """None where the same operators run; `fused` as in Fusion. What is computed when the model is
    loaded counts as won: it runs no operator."""
    match group.kind:
        case "split":
            return "lost"
        case "fused":
            return "won"
        case "folded" | "removed" if group.baseline:
            return "won"
        case "replaced":
            return what_of_as_many(group, fused)
    return None


def what_of_as_many(group: Group, fused: tuple[Names, Names]) -> What:
    """What a group is in which both sides run as many operators, of other types."""
    lost, won = lost_and_won(group, fused)
    return "lost" if lost else "won" if won else "changed"


def _types(operators: Iterable[Operator]) -> Iterable[str]:
    return (operator.op_type for operator in operators)


def _more(changes: Iterable[FusionChange], side: int) -> Counter[str]:
    """Op types that this side of the groups runs more of than the other one."""
    more: Counter[str] = Counter()
    for change in changes:
        types = (Counter(change.before), Counter(change.after))
        more.update(types[side] - types[1 - side])
    return more
