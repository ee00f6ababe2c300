"""Changes: what neighbouring releases of an engine make different of one model, group by group."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from fusescope.analysis.compare.groups.fused import BLOCKED, fused_operators, kind, lost_and_won
from fusescope.analysis.compare.groups.fusion import Group, Names, Operator
from fusescope.analysis.compare.groups.graphs import Optimised, group_graphs
from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.analysis.graph import Graph
from fusescope.analysis.releases.history import History, Made, Release

# lost: an operator that stood for several of the model's, or ran in the blocked layout, is gone,
# and not fewer operators run for it; won: there is one more, and not more of them run; split,
# joined: the same operators of the model run as more, or fewer, without that; changed: as many
# (groups/fused.py).
What = Literal["lost", "won", "split", "joined", "changed"]


@dataclass(frozen=True)
class GroupChange:
    """A group of the model's operators that two neighbours run with others. `lost` and `won` are
    fused operators that only the older, or only the newer one has in it, by op type. `layout` is 1
    where all of it runs in the blocked layout now and did not before, -1 the other way round. `ran`
    are the names of its nodes in either graph, with those next to it that were inserted to move
    data, in the order of the graph."""

    what: What
    group: Group
    lost: Counter[str]
    won: Counter[str]
    layout: int = 0
    ran: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


@dataclass(frozen=True)
class Change:
    """What the release `newer` makes different from `older`, its neighbour. `nodes` are operators
    before and after, `types` those of each op type that are more or fewer, before and after, and
    `inserted` likewise those that belong to no group since they only move data. It `lasts`
    where the newest release has still lost one of the lost fused operators at least; where none was
    lost, where it still has the won ones; else, where it has the operators of `newer`."""

    older: str
    newer: str
    groups: tuple[GroupChange, ...]
    nodes: tuple[int, int]
    types: Mapping[str, tuple[int, int]]
    inserted: Mapping[str, tuple[int, int]]
    lasts: bool

    @cached_property
    def lost(self) -> Counter[str]:
        """Fused operators that are gone, by op type, most first."""
        return _summed(group.lost for group in self.groups)

    @cached_property
    def won(self) -> Counter[str]:
        """Fused operators that have come, likewise."""
        return _summed(group.won for group in self.groups)

    @property
    def is_worse(self) -> bool:
        """Whether a fused operator was lost, or a group runs as more operators."""
        return bool(self.lost or self.of("split"))

    def of(self, what: What) -> tuple[GroupChange, ...]:
        """The groups of that kind."""
        return tuple(group for group in self.groups if group.what == what)


def changes(history: History) -> tuple[Change, ...]:
    """Every change between neighbours that were compared, oldest first. Raises FuseScopeError for a
    graph with a cycle."""
    fused = _Fused(history)
    pairs = itertools.pairwise(history.compared)
    found = (_change(history, fused, older, newer) for older, newer in pairs)
    return tuple(change for change in found if change is not None)


def between(history: History, older: Release, newer: Release) -> Change | None:
    """What changed between two releases that need not be neighbours; None where nothing did."""
    return _change(history, _Fused(history), older, newer)


def main_change(found: Sequence[Change]) -> Change | None:
    """The one to look at first: the newest that lost a fusion and lasts, else the newest that lost
    one, else the newest; None without any."""

    def weight(change: Change) -> tuple[bool, bool, bool]:
        return bool(change.lost) and change.lasts, bool(change.lost), change.is_worse

    return max(reversed(found), key=weight, default=None)


class _Fused:
    """Fused operators of every graph, by the groups of the model that they are in."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: dict[int, tuple[Lineage, Names]] = {}

    def counted(self, release: Release, originals: frozenset[str]) -> Counter[str]:
        """Those in the groups that hold any of these operators of the model, by op type."""
        made = self._history.made_by(release)
        groups, fused = self._of(release, made)
        return Counter(
            made.graph.node[name].op_type
            for group in groups.groups
            if originals.intersection(group.original)
            for name in group.optimised
            if name in fused
        )

    def _of(self, release: Release, made: Made) -> tuple[Lineage, Names]:
        assert release.made is not None
        if release.made not in self._known:
            found = lineage(self._history.graph, made.graph, made.matches)
            fused = fused_operators(self._history.graph, made.graph, found)
            self._known[release.made] = (found, fused)
        return self._known[release.made]


def _change(history: History, fused: _Fused, older: Release, newer: Release) -> Change | None:
    if older.made == newer.made:
        return None
    before, after = history.made_by(older), history.made_by(newer)
    moved = _counts(_types(before.graph), _types(after.graph))
    graphs = (before.graph, after.graph)
    fusion = group_graphs(history.graph, _optimised(before), _optimised(after))
    inserted = (
        frozenset(one.name for one in fusion.inserted[0]),
        frozenset(one.name for one in fusion.inserted[1]),
    )
    groups = tuple(
        found
        for group in fusion.groups
        if (found := _group_change(group, fusion.fused, graphs, inserted)) is not None
    )
    beside = (
        Counter(graph.node[name].op_type for name in names)
        for graph, names in zip(graphs, inserted, strict=True)
    )
    if not groups and not moved:
        return None
    return Change(
        older=older.version,
        newer=newer.version,
        groups=groups,
        nodes=(len(before.graph.nodes), len(after.graph.nodes)),
        types=moved,
        inserted=_counts(*beside),
        lasts=_lasts(history, fused, groups, newer),
    )


def _group_change(
    group: Group,
    fused: tuple[Names, Names],
    graphs: tuple[Graph, Graph],
    inserted: tuple[frozenset[str], frozenset[str]],
) -> GroupChange | None:
    sides = (group.baseline, group.candidate)
    kinds = [
        Counter(kind(graph.node[one.name]) for one in side)
        for graph, side in zip(graphs, sides, strict=True)
    ]
    if kinds[0] == kinds[1]:
        return None
    lost, won = lost_and_won(group, fused)
    count = len(group.candidate) - len(group.baseline)
    was_blocked, is_blocked = (all(domain == BLOCKED for domain, _ in of) for of in kinds)
    layout = int(is_blocked) - int(was_blocked)
    ran = (
        _ran(graphs[0], group.baseline, inserted[0]),
        _ran(graphs[1], group.candidate, inserted[1]),
    )
    return GroupChange(_what(count, lost, won), group, lost, won, layout, ran)


def _ran(graph: Graph, operators: Sequence[Operator], inserted: frozenset[str]) -> tuple[str, ...]:
    names = {one.name for one in operators}
    beside: set[str] = set()
    for node in (graph.node[name] for name in names):
        makers = (graph.producer.get(name) for name in node.inputs)
        beside |= {one.name for one in makers if one is not None}
        beside |= {one.name for name in node.outputs for one in graph.consumers.get(name, ())}
    return tuple(sorted(names | (beside & inserted), key=graph.index.__getitem__))


def _what(count: int, lost: Counter[str], won: Counter[str]) -> What:
    if lost:
        return "lost"
    if won:
        return "won"
    if count:
        return "split" if count > 0 else "joined"
    return "changed"


def _optimised(made: Made) -> Optimised:
    return Optimised(made.graph, made.matches)


def _lasts(history: History, fused: _Fused, groups: Sequence[GroupChange], newer: Release) -> bool:
    newest = history.compared[-1]
    if newest.made == newer.made:
        return True
    lost = any(group.lost for group in groups)
    wanted = [group for group in groups if (group.lost if lost else group.won)]
    for group in wanted:
        originals = frozenset(one.name for one in group.group.original)
        there = fused.counted(newest, originals)
        then = fused.counted(newer, originals)
        if lost and any(there[name] <= then[name] for name in group.lost):
            return True
        if not lost and all(there[name] >= then[name] for name in group.won):
            return True
    if wanted:
        return False
    return _types(history.made_by(newest).graph) == _types(history.made_by(newer).graph)


def _types(graph: Graph) -> Counter[str]:
    return Counter(node.op_type for node in graph.nodes)


def _counts(before: Counter[str], after: Counter[str]) -> dict[str, tuple[int, int]]:
    """Return each name of which there are more or fewer, with both numbers: what loses most
    first."""
    found = {name: (before[name], after[name]) for name in before.keys() | after.keys()}
    differing = (one for one in found.items() if one[1][0] != one[1][1])
    return dict(sorted(differing, key=lambda one: (one[1][1] - one[1][0], one[0])))


def _summed(counters: Iterable[Counter[str]]) -> Counter[str]:
    whole: Counter[str] = Counter()
    for counter in counters:
        whole.update(counter)
    return Counter(dict(whole.most_common()))
