"""Names of variants in a recording of several engines (`openvino:fused`), and jobs for one of
these engines, which has names of its own (`fused`)."""

from __future__ import annotations

import os
from typing import TypeVar

import msgspec

from fusescope.collectors.workers.jobs import BlockMeasured, Lane

_Job = TypeVar("_Job", bound=msgspec.Struct)
_Answer = TypeVar("_Answer")


def named(engine: str, variant: str) -> str:
    """What the recording calls the variant of that engine."""
    return f"{engine}:{variant}"


def engine_of(variant: str) -> str:
    """The engine of a variant by its name in a recording of several."""
    return variant.partition(":")[0]


def variant_of(job: msgspec.Struct) -> str:
    """The variant that a job is about, the first of several; '' where it is about none."""
    lanes = getattr(job, "lanes", ())
    return str(getattr(job, "variant", lanes[0].variant if lanes else ""))


def for_engine(job: _Job, engine: str) -> _Job:
    """The job as that engine is asked: variants by its own names, nothing about others, and a
    folder of its own for compiled code."""

    def own(variant: str) -> str:
        return variant.removeprefix(f"{engine}:")

    changes: dict[str, object] = {}
    if hasattr(job, "variant"):
        changes["variant"] = own(job.variant)
    if hasattr(job, "lanes"):
        changes["lanes"] = tuple(Lane(own(one.variant), one.copy) for one in job.lanes)
        changes["profiled_variants"] = tuple(map(own, getattr(job, "profiled_variants", ())))
    settings = getattr(job, "settings", None)
    if settings is not None:
        derived = {own(k): one for k, one in settings.derived.items() if engine_of(k) == engine}
        compiled = os.path.join(settings.compiled, engine) if settings.compiled else ""
        changes["settings"] = msgspec.structs.replace(settings, derived=derived, compiled=compiled)
    return msgspec.structs.replace(job, **changes)


def for_recording(answer: _Answer, engine: str) -> _Answer:
    """What the engine answered, variants by the names of the recording."""
    if not isinstance(answer, BlockMeasured):
        return answer
    lanes, profiles = (
        [msgspec.structs.replace(one, variant=named(engine, one.variant)) for one in rows]
        for rows in (answer.lanes, answer.profiles)
    )
    return msgspec.structs.replace(answer, lanes=lanes, profiles=profiles)
