"""Scaling as JSON: the contract of `fusescope scaling --json` (docs/json.md)."""

from __future__ import annotations

from typing import Any

import msgspec

from fusescope.analysis.compare.multiple.scaling import Estimated, Scaling, ScalingPoint
from fusescope.analysis.messages import language
from fusescope.analysis.wording.multiple.scaling import doubt_lines

SCHEMA_VERSION = 1


def scaling_json(scaling: Scaling) -> bytes:
    """The points and what speaks against them, as indented JSON; its texts are English."""
    with language.speaking(language.ENGLISH):
        values = {
            "schema_version": SCHEMA_VERSION,
            "model": scaling.model,
            "machines": list(scaling.machines),
            "engines": list(scaling.engines),
            "left_out": {
                "repeated": scaling.repeated,
                "variants": list(scaling.threads_variants),
            },
            "points": [_point(point) for point in scaling.points],
            "doubts": list(doubt_lines(scaling)),
        }
    return msgspec.json.format(msgspec.json.encode(values), indent=2)


def _point(point: ScalingPoint) -> dict[str, Any]:
    return {
        "variant": point.variant,
        "batch": point.batch,
        "threads": point.threads,
        "file": point.file,
        "blocks": point.blocks,
        "latency_ns": _estimated(point.latency),
        "throughput_per_s": _estimated(point.throughput),
        "speedup": _estimated(point.speedup),
        "efficiency": _estimated(point.efficiency),
        "batch_gain": _estimated(point.batch_gain),
        "small_op_ratio": point.small_op_ratio,
        "basis": "measured",
    }


def _estimated(found: Estimated | None) -> dict[str, float | None] | None:
    if found is None:
        return None
    bounds = found.interval
    return {
        "value": found.value,
        "low": bounds.low if bounds else None,
        "high": bounds.high if bounds else None,
    }
