"""What was tried, as JSON (docs/json.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from analysis.advice.tried import Tried, kept
from analysis.messages import language

SCHEMA_VERSION = 1


def tried_json(
    best: str, results: Sequence[Tried], experiment: Path | None, script: Path | None
) -> bytes:
    """All results as indented JSON; times in ns of one run, predictions as profiled."""
    one = kept(results)
    with language.speaking(language.ENGLISH):
        values = {
            "schema_version": SCHEMA_VERSION,
            "best": best,
            "keep": best if one is None else one.remedy.variant,
            "tried": [_values(result) for result in results],
            "experiment": None if experiment is None else str(experiment),
            "script": None if script is None else str(script),
        }
        return msgspec.json.format(msgspec.json.encode(values), indent=2)


def _values(result: Tried) -> dict[str, object]:
    verdict = result.verdict
    return {
        "variant": result.remedy.variant,
        "finding": result.remedy.code,
        "predicted_ns": None if result.remedy.gain is None else asdict(result.remedy.gain),
        "measured_ns": None if result.saved is None else asdict(result.saved),
        "speedup": None if verdict is None else verdict.speedup,
        "interval": None
        if verdict is None or verdict.interval is None
        else asdict(verdict.interval),
        "output_difference": result.difference,
        "kernel_alone_ns": None if result.by_kernel is None else asdict(result.by_kernel),
        "outcome": result.outcome,
        "reason": None if result.reason is None else str(result.reason),
    }
