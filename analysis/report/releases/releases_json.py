"""Releases as JSON (docs/json.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import language
from fusescope.analysis.releases.changes import Change
from fusescope.analysis.releases.history import History
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.releases import skipped_text

SCHEMA_VERSION = 1


def releases_json(
    history: History,
    changes: Sequence[Change],
    measured: Mapping[str, Comparison] | None = None,
) -> bytes:
    """Releases oldest first and every change between neighbours, as indented JSON. `measured` are
    comparisons by the newer release of a change; without them no change has `measured`."""
    with language.speaking(language.ENGLISH):
        values = {
            "schema_version": SCHEMA_VERSION,
            "engine": history.engine,
            "model": clean_text(history.model.name),
            "releases": [
                {
                    "version": clean_text(release.version),
                    "nodes": history.nodes(release),
                    "skipped": skipped_text(release) or None,
                }
                for release in history.releases
            ],
            "changes": [
                {**_change(change), **_measured((measured or {}).get(change.newer))}
                for change in changes
            ],
        }
    return msgspec.json.format(msgspec.json.encode(values), indent=2)


def _change(change: Change) -> dict[str, object]:
    return {
        "from": clean_text(change.older),
        "to": clean_text(change.newer),
        "lost": _counted(change.lost),
        "won": _counted(change.won),
        "nodes_before": change.nodes[0],
        "nodes_after": change.nodes[1],
        "op_types": [
            {"op_type": clean_text(name), "before": before, "after": after}
            for name, (before, after) in change.types.items()
        ],
        "lasts": change.lasts,
    }


def _measured(comparison: Comparison | None) -> dict[str, object]:
    if comparison is None:
        return {}
    verdict = comparison.verdict
    interval = verdict.interval
    return {
        "measured": {
            "outcome": verdict.outcome,
            "speedup": verdict.speedup,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "blocks": verdict.samples[0],
        }
    }


def _counted(types: Mapping[str, int]) -> list[dict[str, object]]:
    ranked = sorted(types.items(), key=lambda item: (-item[1], item[0]))
    return [{"op_type": clean_text(name), "count": count} for name, count in ranked]
