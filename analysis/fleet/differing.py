"""Differing ranks: which run other kernels than those that do the same work, by their fingerprint.

The fingerprint of a rank is what a step of it runs: each kernel and how often. Ranks that reduce
their gradients together do the same work, so their fingerprints are the same; ranks with one
fingerprint are a stage of a pipeline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.operators.classes import is_heavy

What = Literal[
    "lost_fusion", "other_fusion", "recompiled", "other_library", "other_counts", "other"
]
MAJORITY = 3  # times as many peers are alike as have its own kernels

Counts = tuple[float, float, float]  # least, median, most of a step
Print = Mapping[str, Counts]
_NONE: Counts = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Difference:
    """A rank whose kernels differ from those of its peers, and how.

    `missing` are kernels that it does not run, or less often, `extra` those that it runs in their
    place, each with how often in a step; `alike` counts its peers that are alike, `typical` is the
    least of them.
    """

    rank: int
    what: What
    missing: tuple[tuple[str, float], ...]
    extra: tuple[tuple[str, float], ...]
    alike: int
    typical: int


@dataclass(frozen=True)
class Stages:
    """Stage of each rank, 0 is the one of the least rank, and the ranks that differ."""

    of: Mapping[int, int]
    differing: tuple[Difference, ...]

    @property
    def count(self) -> int:
        """How many stages there are."""
        return len(set(self.of.values()))


def stages(fleet: Fleet) -> Stages:
    """Stages and differing ranks.

    Ranks whose counts of every kernel overlap over their steps have one fingerprint. The peers of a
    rank share a collective with it that is not one of all ranks; where there is none of those,
    and no rank sends to a single other, all ranks are peers. A rank differs where at least three
    times as many of its peers have one other fingerprint as have its own.
    """
    prints, facts = _prints(fleet)
    kind_of = _kinds(prints)
    peers = _peers(fleet)
    told: list[Difference] = []
    stage: dict[int, int] = {}
    for rank in fleet.numbers:
        counts = Counter(kind_of[peer] for peer in peers[rank] if peer != rank)
        kind, alike = max(counts.items(), key=lambda item: item[1], default=(kind_of[rank], 0))
        own = counts[kind_of[rank]] + 1
        stage[rank] = kind_of[rank]
        if kind != kind_of[rank] and alike >= max(MAJORITY * own, 2):
            stage[rank] = kind
            typical = min(peer for peer in peers[rank] if kind_of[peer] == kind)
            told.append(_difference(rank, prints[typical], prints[rank], facts, alike, typical))
    number = {kind: at for at, kind in enumerate(dict.fromkeys(stage[r] for r in sorted(stage)))}
    return Stages({rank: number[kind] for rank, kind in stage.items()}, tuple(told))


def _prints(fleet: Fleet) -> tuple[dict[int, dict[str, Counts]], dict[str, tuple[str, bool]]]:
    """Fingerprints by rank, and class of each kernel and whether it is a fused one."""
    found: dict[int, dict[str, Counts]] = {rank: {} for rank in fleet.numbers}
    facts: dict[str, tuple[str, bool]] = {}
    table = fleet.kernels
    for rank, kernel, class_, members, least, median, most in zip(
        *(table[name].tolist() for name in
          ("rank", "kernel", "op_class", "members", "least", "median", "most")),
        strict=True,
    ):  # fmt: skip
        if most > 0:
            found[rank][kernel] = (least, median, most)
        facts.setdefault(kernel, (class_, "+" in members or "_fused" in kernel))
    return found, facts


def _kinds(prints: Mapping[int, Print]) -> dict[int, int]:
    """Number of the fingerprint of each rank, the same where counts overlap."""
    exact: dict[frozenset[tuple[str, Counts]], int] = {}
    typical: list[Print] = []
    found: dict[int, int] = {}
    for rank, own in prints.items():
        key = frozenset(own.items())
        if key not in exact:
            like = (at for at, other in enumerate(typical) if not _changes(other, own))
            exact[key] = next(like, len(typical))
            if exact[key] == len(typical):
                typical.append(own)
        found[rank] = exact[key]
    return found


def _peers(fleet: Fleet) -> dict[int, set[int]]:
    """Ranks that do the same work as each rank, itself among them where there is any."""
    table = fleet.collectives[["rank", "group", "members", "is_pair"]].drop_duplicates()
    several = table[~table["is_pair"].astype("bool")]
    groups: list[Iterable[int]] = [
        part["rank"].tolist() for _, part in several.groupby(["group", "members"], sort=False)
    ]
    everyone = set(fleet.numbers)
    smaller = [set(group) for group in groups if 1 < len(set(group)) < len(everyone)]
    if not smaller:
        return dict.fromkeys(everyone, set() if len(several) < len(table) else everyone)
    peers: dict[int, set[int]] = {rank: set() for rank in everyone}
    for group in smaller:
        for rank in group:
            peers[rank] |= group
    return peers


def _changes(expected: Print, found: Print) -> list[tuple[str, float]]:
    """Kernels whose counts do not overlap, with the difference of the medians."""
    told = []
    for kernel in dict.fromkeys((*expected, *found)):
        one, other = expected.get(kernel, _NONE), found.get(kernel, _NONE)
        if other[0] > one[2] or other[2] < one[0]:
            told.append((kernel, other[1] - one[1]))
    return told


def _difference(
    rank: int,
    expected: Print,
    found: Print,
    facts: Mapping[str, tuple[str, bool]],
    alike: int,
    typical: int,
) -> Difference:
    changes = sorted(_changes(expected, found), key=lambda change: (-abs(change[1]), change[0]))
    missing = tuple((kernel, -by) for kernel, by in changes if by < 0)
    extra = tuple((kernel, by) for kernel, by in changes if by > 0)
    lost = [kernel for kernel, _ in missing if kernel not in found]
    new = [kernel for kernel, _ in extra if kernel not in expected]
    return Difference(rank, _what(lost, new, facts), missing, extra, alike, typical)


def _what(lost: list[str], new: list[str], facts: Mapping[str, tuple[str, bool]]) -> What:
    if not lost and not new:
        return "other_counts"
    fused = [any(facts[kernel][1] for kernel in side) for side in (lost, new)]
    if fused == [True, False]:
        return "lost_fusion"
    if fused == [False, True]:
        return "other_fusion"
    if all(fused):
        return "recompiled"
    heavy = [{facts[k][0] for k in side if is_heavy(facts[k][0])} for side in (lost, new)]
    return "other_library" if heavy[0] & heavy[1] else "other"
