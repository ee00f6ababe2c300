"""Rewrite: one pattern that the fusion pass can apply, and the operator it writes instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from fusescope.analysis.graph import Node
from fusescope.analysis.patterns import Match, Pattern, View
from fusescope.analysis.patterns.pattern import Block, Condition, Site, Way

Level = Literal["O0", "O1", "O2", "O3"]
LEVELS: dict[Level, str] = {
    "O0": "nothing",
    "O1": "what follows a convolution folded into its weights",
    "O2": "and a convolution or matrix product with the operators around it",
    "O3": "and residual additions, attention, and chains of elementwise operators",
}
CONTRIB = "com.microsoft"  # ONNX Runtime's own operators

Numbers = npt.NDArray[np.float64]
Stored = npt.NDArray[np.float64] | npt.NDArray[np.int64]
Attribute = int | float | str | list[float]


class Source(Protocol):
    """What a rewrite reads of the model."""

    def array(self, tensor: str) -> Numbers:
        """The values of a stored weight."""
        ...

    def attribute(self, node: str, name: str) -> int | float | None:
        """A number among the attributes of a node, in full precision; None where absent."""
        ...

    def new_name(self, wanted: str) -> str:
        """A tensor name that is free."""
        ...


@dataclass(frozen=True)
class NewNode:
    """The operator that stands for a match. It is named after the step `named`, and where that
    has the same work to do (`keeps`), has its attributes too. `weights` are new: whole numbers as
    they are, others in float32. `before` are operators that make what it reads."""

    op_type: str
    inputs: tuple[str, ...]
    named: str
    domain: str = ""
    outputs: tuple[str, ...] = ()  # of the last step where empty
    keeps: bool = False
    attributes: Mapping[str, Attribute] = field(default_factory=lambda: MappingProxyType({}))
    weights: Mapping[str, Stored] = field(default_factory=lambda: MappingProxyType({}))
    before: tuple[NewNode, ...] = ()


@dataclass(frozen=True)
class Place:
    """A match that is about to be rewritten."""

    match: Match
    view: View
    source: Source

    def node(self, step: str) -> Node:
        """The node of a step."""
        return self.match.steps[step]

    def has(self, *steps: str) -> bool:
        """True where this form of the pattern has all these steps."""
        return all(step in self.match.steps for step in steps)

    def tensor(self, name: str) -> str:
        """The tensor that a free name, or the output of a step, stands for."""
        steps = self.match.steps
        return steps[name].outputs[0] if name in steps else self.match.tensors[name]

    def array(self, name: str) -> Numbers:
        """The values of the stored weight that a free name stands for."""
        return self.source.array(self.tensor(name))

    def scalar(self, name: str) -> float:
        """The one value of a stored weight."""
        return float(self.array(name).reshape(-1)[0])

    def attribute(self, step: str, name: str, default: float) -> float:
        """A number among the attributes of a step's node."""
        value = self.source.attribute(self.node(step).name, name)
        return default if value is None else float(value)


@dataclass(frozen=True)
class Rewrite:
    """One entry of the registry.

    `name` is what rule files call it, `level` the first at which it is applied, `makes` the op
    type that it writes. `conditions` are those of this pass; what the pattern itself says of other
    optimisers does not count here.
    """

    name: str
    level: Level
    pattern: Pattern
    makes: str
    conditions: tuple[Condition, ...]
    write: Callable[[Place], NewNode]

    @cached_property
    def own(self) -> Pattern:
        """The pattern with the conditions of this pass alone. Forms with steps that must be folded
        by then are left out: they come up again once those are gone."""
        way = Way(self.makes, "none", self.conditions)
        forms = tuple(
            form
            for form in self.pattern.templates
            if not any(step.name in self.pattern.folded for step in form.steps)
        )
        return replace(self.pattern, templates=forms, ways=(way,))


def stored(*names: str) -> Condition:
    """These inputs are weights that the model file holds and nobody can replace."""

    def check(site: Site) -> Iterator[Block]:
        for name in names:
            if name in site.found.tensors:
                yield from not_stored(site, site.tensor(name))

    return check


def not_stored(site: Site, tensor: str) -> Iterator[Block]:
    """The Block for a tensor whose values the model file does not hold; nothing for others."""
    known = site.view.tensor(site.view.source(tensor))
    if known.overridable:
        yield Block("overridable_weight", tensor)
    elif not known.constant:
        producer = site.view.producer(tensor)
        source = producer.op_type if producer else "model input"
        yield Block("non_constant_weight", tensor, {"source": source})


def shape(site: Site, name: str) -> tuple[int, ...] | None:
    """The shape that a name stands for; None where it is not known as numbers."""
    found = site.view.tensor(site.tensor(name)).shape
    return None if found is None or any(size < 0 for size in found) else found


def ranks(needs: str, allowed: range, *names: str) -> Condition:
    """These tensors have so many axes; `needs` says it."""

    def check(site: Site) -> Iterator[Block]:
        for name in names:
            if name not in site.found.tensors and not site.has(name):
                continue
            found = site.view.tensor(site.tensor(name)).shape
            if found is None:
                yield Block("unknown_shape", site.tensor(name), {"shape": "unknown"})
            elif len(found) not in allowed:
                yield Block("rank", site.tensor(name), {"axes": len(found), "needs": needs})

    return check
