"""What several models miss, as JSON (docs/json.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from fusescope.analysis.advice.ranking import Ranking
from fusescope.analysis.messages import language
from fusescope.analysis.wording.findings import remedy_text, why_text

SCHEMA_VERSION = 1


def ranking_json(found: Ranking, failed: Mapping[str, str], recorded: Sequence[Path]) -> bytes:
    """Models, patterns, and files that failed, as indented JSON; times in ns of un-profiled runs.
    `recorded` are the files that were written."""
    with language.speaking(language.ENGLISH):
        values = {
            "schema_version": SCHEMA_VERSION,
            "run_ns": found.run_ns,
            "models": [
                {
                    "name": model.name,
                    "variant": model.variant,
                    "run_ns": model.run_ns,
                    "not_answerable": model.unanswered,
                }
                for model in found.models
            ],
            "missed": [
                {
                    "pattern": one.pattern,
                    "blocked_by": one.blocked_by,
                    "models": one.models,
                    "places": one.places,
                    "gain_ns": asdict(one.gain),
                    "share": one.gain.value / found.run_ns if found.run_ns > 0 else None,
                    "why": why_text(one.largest),
                    "try": remedy_text(one.largest),
                }
                for one in found.missed
            ],
            "failed": [{"file": name, "reason": reason} for name, reason in failed.items()],
            "recorded": [str(path) for path in recorded],
        }
        return msgspec.json.format(msgspec.json.encode(values), indent=2)
