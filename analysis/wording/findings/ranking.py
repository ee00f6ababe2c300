"""What several models miss, in words."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.advice.ranking import Judged, Missed, Ranking
from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.wording.findings import remedy_text, why_text
from fusescope.analysis.wording.findings.unknown import REASONS

TITLE = Message("What to write next for {n:count} model", "What to write next for {n:count} models")
NOTES = Message(
    "In order of the predicted saving of one un-profiled run of each model together, with a 90 % "
    "interval. A pattern counts in a model where it takes 2 % of the run, or more."
)
NOTHING = Message("None of these models misses a pattern that takes 2 % of its run.")
NOT_JUDGED = Message("Not judged")
_HEAD = Message("{pattern:name}: saves {value:duration} ({low:duration} to {high:duration})")
_SHARE = Message("{head:name}, {share:percent} of all runs.")
_WHERE = Message(
    "In {found:count} of {all:count} models, at {n:count} place: {models:name}.",
    "In {found:count} of {all:count} models, at {n:count} places: {models:name}.",
)
_FAILED = Message("{name:name}: {reason:name}")


def head_text(one: Missed, whole: Ranking) -> str:
    """The pattern and what fusing it everywhere would save."""
    gain = one.gain
    head = _HEAD.text(pattern=one.pattern, value=gain.value, low=gain.low, high=gain.high)
    if whole.run_ns <= 0:
        return say("{head:name}.", head=head)
    return _SHARE.text(head=head, share=gain.value / whole.run_ns)


def lines(one: Missed, whole: Ranking) -> tuple[str, ...]:
    """Where it is missed, what blocks it and what to do, as the model says that gains most."""
    judged = sum(model.unanswered is None for model in whole.models)
    where = _WHERE.text(found=len(one.models), all=judged, n=one.places, models=listed(one.models))
    return (
        where,
        why_text(one.largest),
        say("Try: {remedy:name}", remedy=remedy_text(one.largest)),
    )


def not_judged_lines(models: tuple[Judged, ...], failed: Mapping[str, str]) -> tuple[str, ...]:
    """Models that say nothing, and files that could not be read or recorded, each with why."""
    unanswered = {
        model.name: REASONS[model.unanswered].text()
        for model in models
        if model.unanswered is not None
    }
    return tuple(
        _FAILED.text(name=name, reason=reason) for name, reason in {**unanswered, **failed}.items()
    )
