"""Engines: what ran each of several sides, in which precision, and how sure its time is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.compare.ablation import ONLY, WITHOUT
from fusescope.analysis.compare.causes import precision_of
from fusescope.analysis.compare.multiple.comparison import MAX_SIDES, Entry, MultipleComparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import log_times, time_source
from fusescope.analysis.compare.timing.statistics import yuen
from fusescope.analysis.compare.timing.verdict import SHOWN_ALPHA, Interval
from fusescope.analysis.experiment import ExperimentRecord

_STEPS = ("unfused", "eager", "captured")  # steps on the way to what an engine does by itself
_COMPILED_IN = "compile_s"  # the setting of a variant
_PRECISIONS = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8"}


@dataclass(frozen=True)
class Ran:
    """What ran a side. `precision` is the type of numbers that it computes with, '' where nothing
    tells; `compile_s` what compiling the model took, outside of all runs, None where it was not
    timed; `time` the 95 % interval of its latency over blocks, in ns, None below 5 of them. Of a
    trace the engine is '', and so is the provider."""

    engine: str
    version: str
    provider: str
    precision: str
    compile_s: float | None
    time: Interval | None


def ran(entry: Entry) -> Ran:
    """What ran the side of a row."""
    side = entry.side
    engine, settings = side.engine, side.variant.settings if side.variant else {}
    compiled = settings.get(_COMPILED_IN)
    told = str(settings.get("inference_precision", ""))
    return Ran(
        engine=engine.name if engine else "",
        version=engine.version if engine else "",
        provider=side.provider,
        precision=_PRECISIONS.get(told, told) or precision_of(side),
        compile_s=float(compiled) if isinstance(compiled, int | float) else None,
        time=_time(entry),
    )


def _time(entry: Entry) -> Interval | None:
    """Of the time that is shown: the baseline's × a paired ratio, where sides are paired."""
    shown = entry.figures["latency"].value if "latency" in entry.figures else None
    trace = entry.side.trace
    if shown is None or time_source(trace) != "unprofiled_wall":
        return None
    estimate = yuen(log_times(trace, "unprofiled_wall"))
    if estimate is None:
        return None
    low, high = (
        shown * math.exp(bound - estimate.mean) for bound in estimate.interval(SHOWN_ALPHA)
    )
    return Interval(low, high)


def engines_of(sides: Sequence[Side]) -> tuple[tuple[str, str], ...]:
    """Engine and provider of the sides, each pair once."""
    return tuple(dict.fromkeys((s.engine.name, s.provider) for s in sides if s.engine is not None))


def has_engines(multiple: MultipleComparison) -> bool:
    """Whether the sides ran in more than one engine, or by more than one of its providers."""
    return len(engines_of(multiple.sides)) > 1


def first_variants(records: Sequence[ExperimentRecord]) -> tuple[tuple[int, str], ...]:
    """What to show of recordings of one model, at most MAX_SIDES: (recording, variant), in turns
    one of each engine, what it optimises most first; in front the baseline of the recording, where
    there is one. Variants that do more than the model are left out."""
    queues: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for at, record in enumerate(records):
        for variant in record.variants:
            if not variant.is_marked:
                engine = record.engine_of(variant.name)
                provider = str(variant.settings.get("provider", engine.provider))
                queues.setdefault((engine.name, provider), []).append((at, variant.name))
    for queue in queues.values():
        queue.sort(key=lambda one: _rank(records[one[0]], one[1]))
    turns = [(0, records[0].settings.baseline)] if len(records) == 1 else []
    for turn in range(max(map(len, queues.values()), default=0)):
        turns += [queue[turn] for queue in queues.values() if turn < len(queue)]
    known = [one for one in dict.fromkeys(turns) if one[1] in records[one[0]].names]
    return tuple(known)[:MAX_SIDES]


def _rank(record: ExperimentRecord, name: str) -> int:
    own = record.own_name(name)
    if own == "fused":
        return 0
    if own.startswith((WITHOUT, ONLY)):
        return 3
    return 2 if own in _STEPS else 1
