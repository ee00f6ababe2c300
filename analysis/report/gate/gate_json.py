"""A gate as JSON (docs/json.md)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fusescope.analysis.advice.missed_fusions import MissedFusion
from fusescope.analysis.compare.explanation.explanation import Change, UnitTimes
from fusescope.analysis.gate.fusion_changes import FusionChange
from fusescope.analysis.gate.judged import Judged
from fusescope.analysis.gate.judgement import has_failed
from fusescope.analysis.messages import language
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.explanation import change_sentence
from fusescope.analysis.wording.gate import blocked_lines, judged_sentence

SCHEMA_VERSION = 1


def gate_json(
    judged: Sequence[Judged],
    baseline: str,
    candidate: str,
    misses: Sequence[MissedFusion] = (),
) -> bytes:
    """All conditions as indented JSON; ratios and changes are fractions."""
    with language.speaking(language.ENGLISH):
        values = {
            "schema_version": SCHEMA_VERSION,
            "baseline": clean_text(baseline),
            "candidate": clean_text(candidate),
            "failed": has_failed(judged),
            "conditions": [_values(one) for one in judged],
            "blocked": blocked_lines(misses),
        }
        return msgspec.json.format(msgspec.json.encode(values), indent=2)


def _values(judged: Judged) -> dict[str, object]:
    return {
        "condition": clean_text(judged.condition.text),
        "outcome": judged.outcome,
        "reason": judged.reason,
        "value": judged.value,
        "low": judged.low,
        "high": judged.high,
        "level": judged.level,
        "blocks": judged.blocks,
        "blocks_needed": judged.blocks_needed,
        "sentence": judged_sentence(judged),
        "groups": [_group(change) for change in judged.changes],
        "causes": [_cause(change, judged.unit) for change in judged.causes if judged.unit],
    }


def _cause(change: Change, unit: UnitTimes) -> dict[str, object]:
    return {
        "code": change.code,
        "change_ns": change.change_ns,
        "evidence": change.evidence,
        "sentence": change_sentence(change, unit),
    }


def _group(change: FusionChange) -> dict[str, object]:
    return {
        "change": change.what,
        "original": [clean_text(one.name) for one in change.group.original],
        "before": [clean_text(of) for of in change.before],
        "after": [clean_text(of) for of in change.after],
    }
