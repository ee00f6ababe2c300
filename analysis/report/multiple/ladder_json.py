"""The ladder as plain values (docs/json.md); its sentences are in the language that is spoken."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from fusescope.analysis.compare.multiple.ladder import Ladder
from fusescope.analysis.wording.multiple.ladder import ladder_sentence, step_sentences


def ladder_values(ladder: Ladder | None) -> dict[str, Any] | None:
    """None where the sides form no ladder."""
    if ladder is None:
        return None
    return {
        "sentence": ladder_sentence(ladder),
        "baseline": ladder.baseline,
        "rungs": [asdict(rung) for rung in ladder.rungs],
        "steps": [
            {
                "code": step.code,
                "from": step.before.variant,
                "to": step.after.variant,
                "gain_ns": asdict(step.gain),
                "outcome": step.outcome,
                "direct": step.direct,
                "sentence": step_sentences(step),
            }
            for step in ladder.steps
        ],
        "total_gain_ns": asdict(ladder.total),
        "outcome": ladder.outcome,
        "noise": ladder.noise,
        "alpha": ladder.alpha,
        "blocks": ladder.blocks,
        "basis": "measured",
    }
