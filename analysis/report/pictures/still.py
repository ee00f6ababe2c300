"""The timelines as a still picture: what print and a browser without script show."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fusescope.analysis.axis import Tick, time_ticks
from fusescope.analysis.report.pictures.path_data import path_data

# Units across the picture, about one a pixel; boxes thinner than THIN share a unit.
WIDTH = 1200
THIN = 1.0
GAP = 0.8
MAX_LANES = 24


@dataclass(frozen=True)
class StillLane:
    """One row of boxes: SVG path data per operator class, x in 0..WIDTH, y in 0..1."""

    label: str
    paths: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class StillSide:
    """One side, baseline or candidate by its `role`; `lanes_cut` lanes are left out, `share` is its
    part of the time axis."""

    role: str
    label: str
    caption: str
    folded: str
    lanes: tuple[StillLane, ...]
    lanes_cut: int
    share: float


@dataclass(frozen=True)
class Still:
    """All sides on one time axis; `classes` are (id, label) of the legend."""

    sides: tuple[StillSide, ...]
    ticks: tuple[Tick, ...]
    classes: tuple[tuple[str, str], ...]


def still(payload: dict[str, Any]) -> Still:
    """The picture of a timeline payload (analysis.timeline.payload)."""
    span = payload["span_ns"]
    return Still(
        sides=tuple(_side(side, span) for side in payload["sides"]),
        ticks=time_ticks(span),
        classes=tuple((entry["id"], entry["label"].text()) for entry in payload["classes"]),
    )


def _side(side: dict[str, Any], span: int) -> StillSide:
    scale = WIDTH / span if span else 0.0
    op, lane, start, dur = (
        np.asarray(side["calls"][name]) for name in ("op", "lane", "start_ns", "dur_ns")
    )
    kinds, classes = pd.factorize(np.array(side["ops"]["op_class"], dtype=object))
    lanes = side["lanes"] or [{"label": "", "small": False}]
    shown = [number for number, lane in enumerate(lanes) if not lane["small"]]

    def paths(number: int) -> tuple[tuple[str, str], ...]:
        of = np.flatnonzero(lane == number)
        return _paths(start[of] * scale, dur[of] * scale, kinds[op[of].astype("int64")], classes)

    return StillSide(
        role=side["id"],
        label=side["label"],
        caption=str(side["caption"]),
        folded=str(side["folded"] or ""),
        lanes=tuple(
            StillLane(_label(lanes, number), paths(number)) for number in shown[:MAX_LANES]
        ),
        lanes_cut=max(0, len(shown) - MAX_LANES),
        share=side["dur_ns"] / span if span else 0.0,
    )


def _label(lanes: list[dict[str, Any]], number: int) -> str:
    """What a lane is called; what runs inside its calls stands below it without a name."""
    is_named = len(lanes) > 1 and lanes[number].get("depth", 0) == 0
    return str(lanes[number]["label"]) if is_named else ""


def _paths(
    left: np.ndarray, width: np.ndarray, kind: np.ndarray, classes: np.ndarray
) -> tuple[tuple[str, str], ...]:
    """One path per class: wide boxes apart by GAP; of the thin ones in a unit the class with most
    time, as wide as their time together, so that colours keep the proportions of time."""
    paths: dict[str, list[str]] = defaultdict(list)
    is_wide = width >= THIN
    for at, wide, of in zip(*(one[is_wide].tolist() for one in (left, width, kind)), strict=True):
        shown = wide - GAP if wide >= 3 * GAP else wide
        paths[classes[of]].append(_box(at, shown))
    # Sums of each class in each unit, in the order in which they come first.
    many = len(classes)
    numbers, cells = pd.factorize(left[~is_wide].astype("int64") * many + kind[~is_wide])
    sums = np.bincount(numbers, weights=width[~is_wide], minlength=len(cells))
    thin: dict[int, dict[str, float]] = defaultdict(dict)
    for cell, time in zip(cells.tolist(), sums.tolist(), strict=True):
        thin[cell // many][classes[cell % many]] = time
    for unit, shares in thin.items():
        name = max(shares, key=shares.__getitem__)
        paths[name].append(_box(unit, min(1.0, max(0.4, sum(shares.values())))))
    return tuple((name, path_data(parts)) for name, parts in sorted(paths.items()))


def _box(left: float, width: float) -> str:
    return f"M{_short(left)} 0h{_short(width)}v1h-{_short(width)}z"


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
