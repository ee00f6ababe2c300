"""The plan of a recording's blocks.

A block is a fresh process that holds a session of every variant and of the second copy of the
baseline, created in random order, and runs interleaved rounds: every lane once, in random order.
Ratios are paired inside a block; blocks are the sample.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.collectors.workers.jobs import Lane

LOOKS = (8, 14, 24)
MIN_BLOCKS = 5  # below this no verdict is given
MIN_ROUNDS = 3
ROUNDS = 24
WARMUP_ROUNDS = 3
PROFILED_ROUNDS = 5
PROFILE_WARMUP_ROUNDS = 2


@dataclass(frozen=True)
class BlockPlan:
    """Lanes in the order of creation, and for each round the order in which they run."""

    creation: tuple[Lane, ...]
    rounds: tuple[tuple[Lane, ...], ...]


def lanes(variants: Sequence[str], baseline: str) -> tuple[Lane, ...]:
    """A lane for every variant, and the baseline once more."""
    return (*(Lane(name, 1) for name in variants), Lane(baseline, 2))


def plan_block(among: Sequence[Lane], *, seed: int, attempt: int, rounds: int) -> BlockPlan:
    """The same plan for the same seed and attempt; a replaced block gets another attempt."""
    chance = random.Random(f"{seed}/{attempt}")

    def shuffled() -> tuple[Lane, ...]:
        return tuple(chance.sample(among, len(among)))

    return BlockPlan(creation=shuffled(), rounds=tuple(shuffled() for _ in range(rounds)))


def next_look(looks: Sequence[int], blocks: int) -> int:
    """The look that comes after `blocks` complete blocks; the last one when all are past."""
    return next((look for look in looks if look > blocks), looks[-1])


def may_replace(look: int, attempts: int, blocks: int) -> bool:
    """Whether the block of the latest attempt may be dropped: the `look` must stay reachable
    within twice as many attempts. `blocks` are complete without it."""
    return attempts + (look - blocks) <= 2 * look
