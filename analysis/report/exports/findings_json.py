"""Findings as JSON: part of `compare --json`, and all of `advise --json` (docs/json.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from analysis.advice import Finding, Findings
from analysis.advice.explanation.explanation import TraceExplanation
from analysis.advice.explanation.model_tree import TracedTree
from analysis.advice.scorecard import Scorecard
from analysis.compare.side import Side
from analysis.messages import language
from analysis.report.explanation.kinds_json import kinds_values
from analysis.report.explanation.trace_json import trace_explanation_values
from analysis.report.model_tree.model_tree_json import tree_of_trace_values
from analysis.wording import findings as words
from analysis.work_units.kinds import WorkKind

SCHEMA_VERSION = 1


def findings_values(found: Findings) -> dict[str, Any]:
    """Plain values of findings, in order of worth; their texts are in the language spoken."""
    return {
        "findings": [_finding(finding) for finding in found.found],
        "not_answerable": [asdict(one) for one in found.unanswered],
    }


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


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "message": "".join(part.text for part in words.limit_parts(finding)),
        "why": words.why_text(finding),
        "try": words.remedy_text(finding),
        "gain_ns": None if finding.gain is None else asdict(finding.gain),
        "at_most_ns": finding.at_most_ns,
        "of_ns": finding.of_ns,
        "share": finding.share,
        "basis": finding.basis,
        "confidence": finding.confidence,
        "where": {
            "kind": finding.where,
            "names": list(finding.names),
            "start_ns": None if finding.stretch is None else finding.stretch.start_ns,
            "end_ns": None if finding.stretch is None else finding.stretch.end_ns,
        },
        "group": finding.values.get("group"),
    }


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
