"""Ablation: which optimizers change this model, found by switching them off and on.

Names alone prove nothing, since the engine ignores unknown ones: an optimizer matters when the
graph without it differs from `fused`, or the graph with nothing else from one with none at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.collectors import variants
from fusescope.collectors.recording.refused import Refused
from fusescope.collectors.recording.request import Plan, Value
from fusescope.collectors.runtimes import optimizers
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Structure, Switches

LIMIT = 8  # optimizers in a recording: each may be two variants in every block
FIRST_GROUP = 16
BATCH = 16  # sessions of one worker

Kind = Literal["without", "only"]
Ask = Callable[[tuple[Switches, ...]], tuple[Structure, ...]]
Report = Callable[[Said], None]

_SEARCHING = Message(
    "Finding out which optimizers change this model ({n:count} setting)",
    "Finding out which optimizers change this model ({n:count} settings)",
)
_FOUND = Message("Optimizers that change this model: {optimizers:name}")
_LEFT_OUT = Message("{found}; not recorded, because they change fewer operators: {optimizers:name}")

NONE = Switches("none")
ALL = Switches("all")
ALL_OFF = Switches("all", optimizers.NAMES)
_REFERENCE = {"without": ALL, "only": ALL_OFF}


@dataclass(frozen=True)
class Effect:
    """An optimizer that matters: `kinds` are the ablations in which the graph changes, and
    `operators` is how many operators of a type come or go, in the larger change of the two."""

    optimizer: str
    kinds: tuple[Kind, ...]
    operators: int


def with_ablation(
    plan: Plan, *, search: bool, ask: Ask, report: Report, refused: Refused | None = None
) -> Plan:
    """The plan of a recording with, after a `search`, an ablation of the optimizers that change
    most operators. `ask` gives the structures of the model under settings.

    Raises FuseScopeError for an ablation that changes nothing, unless `refused` takes it: its
    optimizer does not act on this model, or there is none of that name; and for a search that
    finds nothing.
    """
    refused = refused or Refused(())
    if not search and not any(variant.optimizer for variant in plan.variants):
        return plan
    planned = plan.variants
    graphs = _Graphs(ask)
    settings: dict[str, dict[str, Value]] = {}
    if search:
        effects = _search(graphs, report)
        chosen, left_out = effects[:LIMIT], effects[LIMIT:]
        report(_found(chosen, left_out))
        planned += tuple(
            variants.ablation(kind, effect.optimizer) for effect in chosen for kind in effect.kinds
        )
        settings["fused"] = {"optimizers_found": ", ".join(e.optimizer for e in effects)}
        if left_out:
            settings["fused"]["optimizers_left_out"] = ", ".join(e.optimizer for e in left_out)
    planned = tuple(dict.fromkeys(planned))
    for variant in planned:
        with refused.unless(variant.name):
            _refuse_without_effect(variant, graphs)
    planned = refused.left(planned)
    only = [variant.name for variant in planned if variant.only]
    if only and graphs.differ(ALL_OFF, NONE):
        settings |= {name: {"unlisted_optimizers_act": True} for name in only}
    return replace(plan, variants=planned, settings=settings)


class _Graphs:
    """Structures of the model, each asked for once."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[Switches, Structure] = {}

    def of(self, wanted: Sequence[Switches]) -> list[Structure]:
        missing = [s for s in dict.fromkeys(wanted) if s not in self._known]
        for start in range(0, len(missing), BATCH):
            batch = tuple(missing[start : start + BATCH])
            self._known |= zip(batch, self._ask(batch), strict=True)
        return [self._known[switches] for switches in wanted]

    def differ(self, one: Switches, other: Switches) -> bool:
        left, right = self.of([one, other])
        return left.digest != right.digest


def _switches(kind: Kind, group: tuple[str, ...]) -> Switches:
    """Without the optimizers of the group, or with nothing else."""
    if kind == "without":
        return Switches("all", group)
    return Switches("all", tuple(name for name in optimizers.NAMES if name not in group))


def _search(graphs: _Graphs, report: Report) -> list[Effect]:
    """All optimizers that act, those that change most operators first.

    Groups are tried together and halved where something acts, so an optimizer that others of its
    group hide would be missed; that takes two that undo each other.
    """
    names = optimizers.NAMES
    kinds: tuple[Kind, ...] = ("without", "only")
    groups: list[tuple[Kind, tuple[str, ...]]] = [
        (kind, names[start : start + FIRST_GROUP])
        for kind in kinds
        for start in range(0, len(names), FIRST_GROUP)
    ]
    changed: dict[str, dict[Kind, int]] = {}
    tried = 0
    graphs.of([ALL, ALL_OFF, NONE])
    while groups:
        tried += len(groups)
        report(_SEARCHING.of(n=tried))
        halves: list[tuple[Kind, tuple[str, ...]]] = []
        results = graphs.of([_switches(kind, group) for kind, group in groups])
        for (kind, group), result in zip(groups, results, strict=True):
            (reference,) = graphs.of([_REFERENCE[kind]])
            if result.digest == reference.digest:
                continue
            if len(group) == 1:
                changed.setdefault(group[0], {})[kind] = _operators(result, reference)
            else:
                middle = len(group) // 2
                halves += [(kind, group[:middle]), (kind, group[middle:])]
        groups = halves
    if not changed:
        raise FuseScopeError("ablation_nothing")
    effects = [
        Effect(name, tuple(kind for kind in kinds if kind in by_kind), max(by_kind.values()))
        for name, by_kind in changed.items()
    ]
    return sorted(effects, key=lambda e: (-e.operators, names.index(e.optimizer)))


def _operators(one: Structure, other: Structure) -> int:
    """How many operators one graph has and the other has not, by type, both ways."""
    types = one.op_types.keys() | other.op_types.keys()
    return sum(abs(one.op_types.get(t, 0) - other.op_types.get(t, 0)) for t in types)


def _found(chosen: Sequence[Effect], left_out: Sequence[Effect]) -> Said:
    found = _FOUND.of(optimizers=", ".join(effect.optimizer for effect in chosen))
    if not left_out:
        return found
    rest = ", ".join(effect.optimizer for effect in left_out)
    return _LEFT_OUT.of(found=found, optimizers=rest)


def _refuse_without_effect(variant: Variant, graphs: _Graphs) -> None:
    if not variant.optimizer:
        return
    listed = variant.optimizer in optimizers.NAMES
    all_off = ALL_OFF if listed else Switches("all", (*optimizers.NAMES, variant.optimizer))
    reference = ALL if variant.without else all_off
    if graphs.differ(Switches(variant.optimization, variant.disabled), reference):
        return
    same = "fused" if variant.without else "unfused"
    if listed:
        raise FuseScopeError(
            "ablation_changes_nothing", optimizer=variant.optimizer, variant=variant.name, same=same
        )
    near = optimizers.nearest(variant.optimizer)
    raise FuseScopeError(
        "ablation_unknown",
        variant=variant.name,
        same=same,
        optimizer=variant.optimizer,
        nearest=near[0] if near else None,
    )
