"""How fast this machine runs these variants when nothing else runs.

Blocks that start under load read slow regimes, so a block that is more than 10 % above the
quiet reference is replaced. The reference is kept per machine, model and settings in the
user's cache; ratios between variants are never a reason to drop a block.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from fusescope.analysis.experiment import Machine
from fusescope.collectors.files import cache

LOADED = math.log(1.10)
QUIET_LOAD_PER_CORE = 0.5
MIN_BLOCKS = 8


def was_calm(machine: Machine) -> bool:
    """Whether little else ran before the recording, as far as that is known."""
    load = machine.load_before
    return load is None or load < QUIET_LOAD_PER_CORE * machine.logical_cores


def lower_quartile(values: Iterable[float]) -> float:
    """25th percentile, linear between neighbours. Raises ValueError for no values."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    index = 0.25 * (len(ordered) - 1)
    low = math.floor(index)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (index - low) * (ordered[high] - ordered[low])


def block_level(wall_ns: Mapping[tuple[str, int], Sequence[int]]) -> float:
    """Mean over variants of the lower quartile of ln(seconds) over rounds; copies of a variant
    are averaged first. `wall_ns` is by (variant, copy)."""
    by_variant: dict[str, list[float]] = {}
    for (variant, _copy), runs in wall_ns.items():
        quartile = lower_quartile(math.log(max(run, 1) / 1e9) for run in runs)
        by_variant.setdefault(variant, []).append(quartile)
    means = [sum(levels) / len(levels) for levels in by_variant.values()]
    return sum(means) / len(means)


def key(facts: Mapping[str, object]) -> str:
    """The key of a reference: a digest of this machine and of what `facts` name."""
    text = json.dumps({"machine": platform.node(), **facts}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def stored(reference_key: str) -> float | None:
    """The reference under that key: mean ln(seconds); None when there is none."""
    return _read(_path()).get(reference_key)


def store(reference_key: str, levels: Sequence[float]) -> None:
    """Keeps the lower quartile of the block levels, unless the stored one is lower already."""
    path = _path()
    references = _read(path)
    level = lower_quartile(levels)
    if level < references.get(reference_key, math.inf):
        references[reference_key] = level
        cache.write_atomic(path, msgspec.json.encode(references))


def _path() -> Path:
    return cache.folder() / "quiet-references.json"


def _read(path: Path) -> dict[str, float]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.MsgspecError):
        return {}
