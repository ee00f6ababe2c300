"""Several variants as JSON: the contract of `fusescope compare --variants … --json`
(docs/json.md). Ratios are fractions, times ns, sizes bytes; null is not computable."""

from __future__ import annotations

from typing import Any

import msgspec

from fusescope.analysis.compare.multiple.comparison import Entry, MultipleComparison
from fusescope.analysis.compare.multiple.engines import ran
from fusescope.analysis.compare.multiple.ladder import ladder_of
from fusescope.analysis.compare.multiple.pareto import pareto
from fusescope.analysis.messages import language
from fusescope.analysis.report.explanation.diagnostics_json import diagnostics
from fusescope.analysis.report.exports.comparison_json import side_values, verdict_values
from fusescope.analysis.report.exports.roofline_json import quantity_values
from fusescope.analysis.report.multiple.ladder_json import ladder_values
from fusescope.analysis.wording.multiple.comparison import best_sentence

SCHEMA_VERSION = 1


def multiple_values(multiple: MultipleComparison) -> dict[str, Any]:
    """Plain values of it; sides are known by their `name`."""
    names = [side.name for side in multiple.sides]
    best, found = multiple.best, pareto(multiple)
    entries = multiple.entries
    return {
        "schema_version": SCHEMA_VERSION,
        "baseline": names[0],
        "best": {
            "sentence": best_sentence(multiple),
            "members": [names[at] for at in best.members],
            "ruled_out": [names[at] for at in best.ruled_out],
            "unranked": [names[at] for at in best.unranked],
            "noise": best.noise,
            "smallest_detectable": best.detectable,
            "faster": [[names[one], names[other]] for one, other in sorted(best.faster)],
        },
        "variants": [_entry(multiple, entries[at], at) for at in multiple.order],
        "ladder": ladder_values(ladder_of(multiple)),
        "pareto": None
        if found is None
        else {
            "costs": list(found.costs),
            "front": [names[at] for at in found.front],
            "dominated": [
                {"name": names[point.side], "by": [names[at] for at in point.dominated_by]}
                for point in found.points
                if point.dominated_by
            ],
        },
    }


def multiple_json(multiple: MultipleComparison) -> bytes:
    """`multiple_values` as indented JSON; its texts are English."""
    with language.speaking(language.ENGLISH):
        return msgspec.json.format(msgspec.json.encode(multiple_values(multiple)), indent=2)


def _ran(entry: Entry) -> dict[str, Any] | None:
    """What ran a variant; None of a trace."""
    found = ran(entry)
    if not found.engine:
        return None
    return {
        "engine": found.engine,
        "version": found.version,
        "provider": found.provider,
        "precision": found.precision or None,
        "compile_s": found.compile_s,
        "latency_interval_ns": None
        if found.time is None
        else {"low": found.time.low, "high": found.time.high},
    }


def _entry(multiple: MultipleComparison, entry: Entry, at: int) -> dict[str, Any]:
    verdict = None
    notes: list[dict[str, Any]] = []
    if entry.verdict is not None:
        comparison = multiple.comparisons[at - 1]
        corrected = entry.verdict.corrected
        verdict = verdict_values(comparison) | {
            "corrected": None
            if corrected is None
            else {"low": corrected.low, "high": corrected.high},
        }
        notes = diagnostics(comparison.diagnostics)
    return {
        "name": entry.side.name,
        **side_values(entry.side),
        "ran": _ran(entry),
        "verdict": verdict,
        "figures": {code: quantity_values(entry.figures[code]) for code in multiple.columns},
        "diagnostics": notes,
    }
