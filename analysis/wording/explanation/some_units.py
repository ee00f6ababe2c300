"""A sentence about a mean over units of work, with the few units that hold nearly all of it."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.messages import Message, Said, Shown

_UNITS = {
    "step": Message("{n:count} step", "{n:count} steps"),
    "run": Message("{n:count} run", "{n:count} runs"),
    "repetition": Message("{n:count} repetition", "{n:count} repetitions"),
}
_OF_ONE_TRACE = Message(
    "{sentence} In {n:count} of {units} it is {some:duration}, in the others {other:duration}."
)
_OF_SIDE = (
    Message(
        "{sentence} In {n:count} of the baseline's {units} it is {some:duration}, in the others "
        "{other:duration}."
    ),
    Message(
        "{sentence} In {n:count} of the candidate's {units} it is {some:duration}, in the others "
        "{other:duration}."
    ),
)


def with_some_units(sentence: Said, values: Mapping[str, object], word: str) -> Said:
    """Return the sentence of a change or a saving, and how much of it some units have, where
    `values` say so; `word` is what a unit is: a step, a run or a repetition."""
    n, of, some, other = (
        values.get(name) for name in ("some_units", "all_units", "some_ns", "other_ns")
    )
    if not (isinstance(n, int) and isinstance(of, int)):
        return sentence
    told: dict[str, Shown] = {
        "sentence": sentence,
        "n": n,
        "units": _UNITS[word].of(n=of),
        "some": some if isinstance(some, int) else None,
        "other": other if isinstance(other, int) else None,
    }
    side = values.get("some_side")
    return (_OF_SIDE[side] if isinstance(side, int) else _OF_ONE_TRACE).of(**told)
