"""Redaction: user names, host names and absolute paths out of what is exported.

Works on the values, before anything is compared, so that no export can forget it. The same text
gets the same placeholder on both sides, and different texts different ones: operators join as
before. Names are learnt from paths, addresses, names of trace files and the fields that a reader
marked, then replaced wherever they stand as whole words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

from fusescope.analysis.compare.side import Side, side_of_trace, side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.redaction.names import Names
from fusescope.analysis.redaction.replacement import Replacement
from fusescope.analysis.redaction.texts import (
    all_texts,
    marked,
    names_of_files,
    texts_of,
    texts_of_history,
)
from fusescope.analysis.redaction.values import history_replaced, replaced
from fusescope.analysis.releases.history import History
from fusescope.analysis.trace import Trace


def redacted_sides(baseline: Side, candidate: Side) -> tuple[Side, Side]:
    """Both sides without user names, host names and absolute paths."""
    first, second = all_redacted((baseline, candidate))
    return first, second


def all_redacted(given: Sequence[Side]) -> list[Side]:
    """Any number of sides, with the same placeholders on all."""
    values: list[Trace | Experiment] = [
        side.trace if side.experiment is None else side.experiment for side in given
    ]
    redaction = _replacement(values, [side.label for side in given])
    made: dict[int, Trace | Experiment] = {}
    sides = []
    for side, value in zip(given, values, strict=True):
        if id(value) not in made:
            made[id(value)] = replaced(value, redaction)
        new = made[id(value)]
        if isinstance(new, Experiment):
            name = side.variant.name if side.variant else side.label
            sides.append(side_of_variant(new, redaction.name(name)))
        else:
            sides.append(replace(side_of_trace(new), label=redaction.name(side.label)))
    return sides


@overload
def redacted(value: Experiment) -> Experiment: ...
@overload
def redacted(value: Trace | Experiment) -> Trace | Experiment: ...
def redacted(value: Trace | Experiment) -> Trace | Experiment:
    """One file without user names, host names and absolute paths."""
    return replaced(value, _replacement([value]))


def redacted_all(values: Mapping[str, Trace | Experiment]) -> dict[str, Trace | Experiment]:
    """Several files and what they are called, with the same placeholders in all of them."""
    redaction = _replacement(values.values(), values)
    return {redaction.name(name): replaced(value, redaction) for name, value in values.items()}


def redacted_histories(histories: Sequence[History]) -> list[History]:
    """What releases made of models, without user names, host names and absolute paths."""
    names = Names()
    for history in histories:
        names.learn_all([*texts_of_history(history)])
    redaction = Replacement(names)
    return [history_replaced(history, redaction) for history in histories]


def redacted_texts(values: dict[str, Any]) -> dict[str, Any]:
    """Plain values without the user names, host names and absolute paths that their texts say."""
    names = Names()
    names.learn_all([*texts_of(values)])
    redaction = Replacement(names)

    def shown(value: Any) -> Any:
        match value:
            case str():
                return redaction.name(value)
            case dict():
                return {redaction.name(name): shown(each) for name, each in value.items()}
            case list():
                return [shown(each) for each in value]
        return value

    return {name: shown(value) for name, value in values.items()}


def text_without_paths(text: str) -> str:
    """The text with a placeholder for each path and address; a file keeps its name."""
    return Replacement(Names()).paths(text)


def _replacement(values: Iterable[Trace | Experiment], labels: Iterable[str] = ()) -> Replacement:
    """Placeholders for everything that these values say of users, hosts and paths."""
    values, labels = tuple(values), tuple(labels)
    names = Names([*labels, *(name for value in values for name in names_of_files(value))])
    for value in values:
        for field, text in marked(value):
            names.learn_field(field, text)
        names.learn_all([*all_texts(value)])
    for label in labels:
        names.learn(label)
    return Replacement(names)
