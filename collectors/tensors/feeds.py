"""Feeds: further input values for a model, drawn as the recorded ones were.

Every purpose has its own, so that nothing is calibrated or judged on what is measured.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from fusescope.collectors.models import drawing as values
from fusescope.collectors.models.array import Array
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import SessionSettings

Purpose = Literal["calibration", "agreement"]
SAMPLES = 16  # in all
_STREAMS: dict[Purpose, int] = {"calibration": 1, "agreement": 2}


def count(settings: SessionSettings, *, minimum: int = 1) -> int:
    """How many feeds have SAMPLES samples together."""
    return max(minimum, -(-SAMPLES // settings.drawing.batch))


def draw(settings: SessionSettings, purpose: Purpose, index: int) -> dict[str, Array]:
    """The values of feed number `place`, by input name."""
    return {name: array for name, array, _ in _drawn(settings, purpose, index)}


def told(settings: SessionSettings) -> str:
    """How the values are made, in words."""
    made = dict.fromkeys(source for _, _, source in _drawn(settings, "calibration", 0))
    return f"seed {settings.drawing.seed}, {', '.join(made)}" if made else "no inputs"


def _drawn(settings: SessionSettings, purpose: Purpose, index: int) -> list[tuple[str, Array, str]]:
    drawing = settings.drawing
    found = []
    for at, (name, recorded) in enumerate(load_inputs(settings).items()):
        chance = np.random.default_rng([drawing.seed, at, _STREAMS[purpose], index])
        between = drawing.ranges.get(name)
        if name in drawing.from_file and recorded.dtype.kind != "f":
            array, source = chance.choice(recorded.reshape(-1), recorded.shape), "the file's values"
        else:
            array, source = values.drawn(chance, recorded.dtype, recorded.shape, between)
            if name in drawing.from_file:
                array, source = _like(array, recorded), f"{source} of the file's mean and spread"
        found.append((name, np.ascontiguousarray(array) if array.ndim else array, source))
    return found


def _like(made: Array, recorded: Array) -> Array:
    """Values of mean 0 and spread 1, moved to the mean and the spread of the recorded ones and
    kept between the least and the most of them."""
    known = recorded[np.isfinite(recorded)].astype(np.float64)
    if not known.size:
        return made
    moved = made.astype(np.float64) * known.std() + known.mean()
    kept: Array = np.clip(moved, known.min(), known.max()).astype(recorded.dtype)
    return kept
