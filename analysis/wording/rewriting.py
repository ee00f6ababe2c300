"""Sentences of our own fusion pass: what it did, and why not more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, cast

from fusescope.analysis.messages import Message
from fusescope.analysis.patterns.pattern import Blocker, HeldBack
from fusescope.analysis.wording.advice import Facts, NearMiss, near_miss_sentence


class Held(Protocol):
    """What the sentence needs of an opportunity that our own pass left."""

    @property
    def tensor(self) -> str: ...
    @property
    def blocked_by(self) -> Blocker | HeldBack | Literal[""]: ...
    @property
    def values(self) -> Facts: ...


OUTCOMES: Mapping[Literal["applied", "partly", "no"], Message] = {
    "applied": Message("fused"),
    "partly": Message("partly fused"),
    "no": Message("not fused"),
}
VERIFIED_HELP = Message(
    "Every rewritten group was run on random inputs and compared with the operators that it "
    "replaces. The whole model was run on the inputs of a recording. A group that differs by more "
    "than the tolerance is taken back."
)
_NAME_CHARS = 80


def held_back_sentence(held: Held) -> str:
    """Why an opportunity was not taken; '' where it was. Names come from the model and are inserted
    as they are."""
    code = held.blocked_by
    if not code:
        return ""
    if code not in HELD_BACK:
        return near_miss_sentence(cast("NearMiss", held))  # codes of the pass are all in HELD_BACK
    text = HELD_BACK[cast("HeldBack", code)]
    if code == "verification" and not isinstance(held.values.get("difference"), int | float):
        text = _NOTHING_TO_COMPARE
    return text.text(**{**held.values, "tensor": held.tensor[:_NAME_CHARS]})


_NOTHING_TO_COMPARE = Message(
    "Verification failed: there were no numbers to compare, so the group was taken back."
)

HELD_BACK: Mapping[HeldBack, Message] = {
    "fusion_level": Message("The level is {level:name}, but this fusion needs {needs:name}."),
    "not_listed": Message("The rules do not list the pattern {pattern:name}."),
    "excluded": Message("The rules exclude '{glob:name}'."),
    "not_included": Message("The rules do not include '{operator:name}'."),
    "largest_intermediate": Message(
        "The tensor '{tensor:name}' has {bytes:bytes}. The rules keep tensors above {limit:bytes}."
    ),
    "verification": Message(
        "Verification failed: the difference is {difference:number}, but only {tolerance:number} "
        "is allowed, so the group was taken back."
    ),
    "whole_model": Message(
        "The outputs of the whole model differed by {difference:number}, but only "
        "{tolerance:number} is allowed, so the group was taken back."
    ),
    "refused": Message(
        "The engine does not run the fused operator, so the group was taken back: {said:name}"
    ),
    "taken": Message("Another group uses one of its operators."),
}
