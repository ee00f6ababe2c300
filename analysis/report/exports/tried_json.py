"""What was tried, as JSON (docs/json.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from fusescope.analysis.advice.tried import Tried, kept
from fusescope.analysis.messages import language

SCHEMA_VERSION = 1


def tried_json(
    best: str, results: Sequence[Tried], experiment: Path | None, written: Mapping[str, Path]
) -> bytes:
    """All results as indented JSON; times in ns of one un-profiled run. `written` are the files
    that repeat what is kept, by their suffix."""
    one = kept(results)
    with language.speaking(language.ENGLISH):
        values = {
            "schema_version": SCHEMA_VERSION,
            "best": best,
            "keep": best if one is None else one.remedy.variant,
            "tried": [_values(result) for result in results],
            "experiment": None if experiment is None else str(experiment),
            "rules": str(written[".toml"]) if ".toml" in written else None,
            "script": str(written[".py"]) if ".py" in written else None,
        }
        return msgspec.json.format(msgspec.json.encode(values), indent=2)


def _values(result: Tried) -> dict[str, object]:
    verdict = result.verdict
    return {
        "variant": result.remedy.variant,
        "finding": result.remedy.finding,
        "predicted_ns": None if result.predicted is None else asdict(result.predicted),
        "measured_ns": None if result.saved is None else asdict(result.saved),
        "speedup": None if verdict is None else verdict.speedup,
        "interval": None
        if verdict is None or verdict.interval is None
        else asdict(verdict.interval),
        "output_difference": result.difference,
        "kernel_alone_ns": None if result.by_kernel is None else asdict(result.by_kernel),
        "outcome": result.outcome,
        "reason": result.remedy.refused or None,
    }
