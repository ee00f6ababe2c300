"""Best: which of several sides may be the fastest, at the noise of the measurement.

A side is ruled out where another one is told to be faster. Every pair is tested at
alpha / (sides - 1), so the side that is the fastest in truth is ruled out in at most alpha of the
cases: it has no more than sides - 1 pairs. Source: Hsu (1996), "Multiple Comparisons: Theory and
Methods", chapter 4 (multiple comparisons with the best), with Bonferroni in place of Dunnett's
quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import judge
from fusescope.analysis.compare.timing.verdict import Verdict

Noise = Literal["known", "unknown", "control_differs"]


@dataclass(frozen=True)
class Best:
    """Positions of sides, the baseline's is 0. `members` may be the fastest, shortest time first;
    `ruled_out` are slower than another beyond the noise; `unranked` have no time that compares with
    the baseline's. `noise` is that between the members: `unknown` where the first and another one
    have no interval, `control_differs` where two copies of the recording's baseline differ.

    `detectable`: the smallest change that every pair of the first member and another one would have
    shown, which is not less than what two copies of the baseline may be apart; None for one member,
    and without intervals. `faster`: every pair (faster, slower) that is told apart.
    """

    members: tuple[int, ...]
    ruled_out: tuple[int, ...]
    unranked: tuple[int, ...]
    noise: Noise
    detectable: float | None
    faster: frozenset[tuple[int, int]] = frozenset()


def find_best(sides: Sequence[Side], verdicts: Sequence[Verdict]) -> Best:
    """From the sides, the baseline first, and its verdicts with each other one, which are corrected
    for their number."""
    speedups = {0: 1.0} | {
        at: verdict.speedup for at, verdict in enumerate(verdicts, 1) if verdict.speedup is not None
    }
    unranked = tuple(at for at in range(len(sides)) if at not in speedups)
    if len(speedups) < 2:
        return Best((), (), tuple(range(len(sides))), "unknown", None)
    pairs = {
        (one, other): verdicts[other - 1]
        if one == 0
        else judge(sides[one], sides[other], len(sides) - 1)
        for one, other in combinations(sorted(speedups), 2)
    }
    faster = frozenset(
        pair[::-1] if verdict.outcome == "faster" else pair
        for pair, verdict in pairs.items()
        if verdict.is_decided
    )
    slower = {other for _, other in faster}
    # Tests can contradict each other in a circle; the shortest time is then ruled out by none.
    shortest = max(speedups, key=lambda at: speedups[at])
    slower.discard(shortest)
    members = sorted((at for at in speedups if at not in slower), key=lambda at: -speedups[at])
    close = [pairs[min(members[0], at), max(members[0], at)] for at in members[1:]]
    seen = [one.visible_change for one in close]
    known = [change for change in seen if change is not None]
    return Best(
        tuple(members),
        tuple(sorted(slower)),
        unranked,
        _noise(close),
        max(known) if known and len(known) == len(seen) else None,
        faster,
    )


def _noise(close: Sequence[Verdict]) -> Noise:
    if any(verdict.reason == "control_differs" for verdict in close):
        return "control_differs"
    is_unknown = (one.outcome == "noise_unknown" or one.reason == "no_change" for one in close)
    return "unknown" if any(is_unknown) else "known"
