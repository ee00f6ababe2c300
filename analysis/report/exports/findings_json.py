"""Findings as JSON: part of `compare --json` and of `advise --json` (docs/json.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fusescope.analysis.advice import Finding, Findings
from fusescope.analysis.wording import findings as words


def findings_values(found: Findings) -> dict[str, Any]:
    """Plain values of findings, in order of worth; their texts are in the language spoken."""
    return {
        "findings": [_finding(finding) for finding in found.found],
        "not_answerable": [asdict(one) for one in found.unanswered],
    }


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
