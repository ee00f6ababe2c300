"""Two stages of a pipeline: which of them computes for longer."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.compare.explanation.explanation import Explanation

_UNEVEN = 1.1  # times as long as the other stage, which a stage computes at least


@dataclass(frozen=True)
class UnevenStages:
    """The ranks of two stages of one job, the one that computes for `longer_ns` of a unit and the
    one that computes for `shorter_ns`."""

    longer: int
    shorter: int
    longer_ns: float
    shorter_ns: float


def uneven_stages(explanation: Explanation) -> UnevenStages | None:
    """Return which of two stages of one job computes for longer; None where they compute for about
    as long, where it is not known, and of other files."""
    ranks, sides = explanation.ranks, explanation.sides
    if explanation.difference != "stages" or ranks is None or not ranks.is_one_job or sides is None:
        return None
    before, after = (side.parts for side in sides)
    first, second = ranks.ranks
    if before is None or after is None or first is None or second is None:
        return None
    (shorter_ns, shorter), (longer_ns, longer) = sorted(
        ((before.computing_ns, first), (after.computing_ns, second))
    )
    if longer_ns < _UNEVEN * shorter_ns:
        return None
    return UnevenStages(longer, shorter, longer_ns, shorter_ns)
