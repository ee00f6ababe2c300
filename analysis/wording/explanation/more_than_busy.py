"""Why the times of kernels add up to more than the time in which the device is busy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.compare.explanation.explanation import UnitOfSide
from fusescope.analysis.messages import Message, Said

Why = Literal["at_once", "outside", "both"]

_MORE = 1.002  # times the device's own: beyond what rounding makes
_PART = 0.1  # of what they take more, which is a reason of its own

# By whether they do on the baseline and on the candidate.
_SENTENCES: Mapping[tuple[bool, bool], Mapping[Why, Message]] = {
    (True, True): {
        "at_once": Message(
            "The times of kernels add up to more than the device is busy with them: some run at "
            "the same time."
        ),
        "outside": Message(
            "The times of kernels add up to more than the device is busy with them: some run "
            "outside the run that launched them."
        ),
        "both": Message(
            "The times of kernels add up to more than the device is busy with them: some run at "
            "the same time, and some outside the run that launched them."
        ),
    },
    (True, False): {
        "at_once": Message(
            "The times of the baseline's kernels add up to more than its device is busy with them: "
            "some run at the same time."
        ),
        "outside": Message(
            "The times of the baseline's kernels add up to more than its device is busy with them: "
            "some run outside the run that launched them."
        ),
        "both": Message(
            "The times of the baseline's kernels add up to more than its device is busy with them: "
            "some run at the same time, and some outside the run that launched them."
        ),
    },
    (False, True): {
        "at_once": Message(
            "The times of the candidate's kernels add up to more than its device is busy with "
            "them: some run at the same time."
        ),
        "outside": Message(
            "The times of the candidate's kernels add up to more than its device is busy with "
            "them: some run outside the run that launched them."
        ),
        "both": Message(
            "The times of the candidate's kernels add up to more than its device is busy with "
            "them: some run at the same time, and some outside the run that launched them."
        ),
    },
}


def more_than_busy_said(
    kernels_ns: tuple[int, int], busy_ns: tuple[int, int], sides: tuple[UnitOfSide, UnitOfSide]
) -> list[Said]:
    """Return that the kernels of a unit of one side or both add up to more than the device is busy,
    and whether they run at the same time or outside of the unit that launched them; nothing where
    they do not."""
    is_more = [ns > _MORE * busy for ns, busy in zip(kernels_ns, busy_ns, strict=True)]
    if not any(is_more):
        return []
    reasons = set()
    for ns, busy, side, has_more in zip(kernels_ns, busy_ns, sides, is_more, strict=True):
        if has_more:
            at_once = min(1.0, side.at_once_ns / (ns - busy))
            reasons |= {"at_once"} if at_once > _PART else set()
            reasons |= {"outside"} if at_once < 1 - _PART else set()
    why: Why = "both" if len(reasons) > 1 else "at_once" if "at_once" in reasons else "outside"
    return [_SENTENCES[is_more[0], is_more[1]][why].of()]
