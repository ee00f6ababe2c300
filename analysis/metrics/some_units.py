"""A time that only some of several units of work have, of which the mean over all says little."""

from __future__ import annotations

import numpy as np

_FEWEST = 3  # units, of which few can be some
_MOST_UNITS = 1 / 3  # of all, which some are at most
_MOST_TIME = 0.9  # of the time, which they hold
_HALF = 0.5  # of it, which units hold that are far longer than all others
_FAR = 3.0  # times as long as the longest of the others
_FAR_BEYOND = 2.0  # the same of what is beyond the time elsewhere


def in_some_units(of_units: np.ndarray, without_ns: float = 0.0) -> dict[str, int]:
    """Return how many units hold nearly all of a time, or half of it where each is far longer than
    all others, of how many, and its mean in those and in the others, in ns; nothing where it is
    spread over more than a third of them.

    `of_units` is the time in each unit; `without_ns`, which the same takes elsewhere, is no part of
    what is held.
    """
    count, total = len(of_units), float((of_units - without_ns).sum())
    if count < _FEWEST or total <= 0:
        return {}
    longest = np.sort(of_units)[::-1]
    more = longest - without_ns
    held, most = np.cumsum(more) / total, int(_MOST_UNITS * count)
    far = _FAR_BEYOND if without_ns else _FAR
    is_far = (more[:most] >= far * more[1 : most + 1]) & (held[:most] >= _HALF)
    is_some = (held[:most] >= _MOST_TIME) | is_far
    if not is_some.any():
        return {}
    some = int(np.argmax(is_some)) + 1
    return {
        "some_units": some,
        "all_units": count,
        "some_ns": round(float(longest[:some].mean())),
        "other_ns": round(float(longest[some:].mean())),
    }
