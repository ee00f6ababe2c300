"""All of `advise --json`: one side, what explains it, and its findings (docs/json.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from fusescope.analysis.advice import Findings
from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.advice.explanation.model_tree import TracedTree
from fusescope.analysis.advice.scorecard import Scorecard
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import language
from fusescope.analysis.report.explanation.kinds_json import kinds_values
from fusescope.analysis.report.explanation.trace_json import trace_explanation_values
from fusescope.analysis.report.exports.findings_json import findings_values
from fusescope.analysis.report.model_tree.model_tree_json import tree_of_trace_values
from fusescope.analysis.work_units.kinds import WorkKind

SCHEMA_VERSION = 1


def advice_json(
    side: Side,
    found: Findings,
    card: Scorecard | None,
    explained: TraceExplanation | None,
    kinds: Sequence[WorkKind] = (),
    tree: TracedTree | None = None,
) -> bytes:
    """One side, what explains it, its modules, the kinds of work that its file names, its findings
    and the scorecard of its prediction as indented JSON; its texts are English."""
    meta = side.trace.meta
    with language.speaking(language.ENGLISH):
        values = {
            "schema_version": SCHEMA_VERSION,
            "label": side.label,
            "file": meta.file_name,
            "format": meta.format,
            "variant": meta.variant,
            "run_ns": found.run_ns,
            "has_runs": found.has_runs,
            "explanation": trace_explanation_values(explained),
            "model_tree": tree_of_trace_values(tree),
            "kinds_of_work": kinds_values(kinds),
            **findings_values(found),
            "scorecard": None if card is None else _scorecard(card),
        }
        return msgspec.json.format(msgspec.json.encode(values), indent=2)


def _scorecard(card: Scorecard) -> dict[str, Any]:
    return {
        "run": {
            "predicted_ns": asdict(card.run_predicted),
            "measured_ns": card.run_measured_ns,
            "run_ns": card.run_ns,
            "error": card.run_error,
        },
        "places": len(card.group_errors),
        "median_error": card.group_error,
        "not_scored": card.unscored,
        "patterns": [
            {
                "pattern": score.pattern,
                "places": score.places,
                "spent_ns": score.spent_ns,
                "predicted_ns": asdict(score.predicted),
                "measured_ns": score.measured_ns,
            }
            for score in card.scores
        ],
    }
