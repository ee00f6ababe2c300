"""Sentences of our own fusion pass: what it did, and why not more."""

from __future__ import annotations

from collections.abc import Mapping

from analysis import units
from analysis.trace import Value
from analysis.wording.advice import Blocked, Facts, Words, near_miss_sentence

OUTCOMES: Mapping[str, str] = {"applied": "fused", "partly": "in part", "no": "not fused"}
VERIFIED_HELP = (
    "Every rewritten group was run against the operators it stands for on random inputs, and the "
    "whole model on the inputs of a recording; a group that differs by more than the tolerance is "
    "taken back."
)


def held_back_sentence(held: Blocked) -> str:
    """Why an opportunity was not taken, in one sentence; '' where it was. Names come from the model
    and are inserted as they are."""
    if not held.blocked_by:
        return ""
    said = _SAID.get(held.blocked_by)
    if said is not None:
        return said(held.values, held.tensor)
    return near_miss_sentence(held)


def _number(value: Value) -> str:
    return units.small_number(float(value)) if isinstance(value, int | float) else "unknown"


def _bytes(value: Value) -> str:
    return units.data_size(float(value)) if isinstance(value, int | float) else "an unknown size"


def _failed(v: Facts, _: str) -> str:
    if not isinstance(v.get("difference"), int | float):
        return "Verification failed: there were no numbers to compare, so it was taken back."
    return (
        f"Verification failed: {_number(v.get('difference'))} where {_number(v.get('tolerance'))} "
        "is allowed, so it was taken back."
    )


_SAID: Mapping[str, Words] = {
    "fusion_level": lambda v, _: f"The level is {v.get('level')}; this needs {v.get('needs')}.",
    "not_listed": lambda v, _: f"{v.get('pattern')} is not among the patterns of the rules.",
    "excluded": lambda v, _: f"The rules exclude '{v.get('glob')}'.",
    "not_included": lambda v, _: f"The rules do not include '{v.get('operator')}'.",
    "largest_intermediate": lambda v, tensor: (
        f"The tensor '{tensor[:80]}' has {_bytes(v.get('bytes'))}; the rules keep tensors above "
        f"{_bytes(v.get('limit'))}."
    ),
    "verification": _failed,
    "whole_model": lambda v, _: (
        f"The whole model differed by {_number(v.get('difference'))} where "
        f"{_number(v.get('tolerance'))} is allowed, so it was taken back."
    ),
    "refused": lambda v, _: (
        f"The engine does not run the fused operator, so it was taken back: {v.get('said')}"
    ),
    "taken": lambda v, _: "Another group took one of its operators.",
}
