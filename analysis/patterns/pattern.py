"""Pattern: operators that an engine can run as one, and the conditions under which it does.

The conditions are those of ONNX Runtime's CPU execution provider, found by optimising small models
one at a time at every level; the tests do the same again and compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import msgspec

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.patterns.template import Found, Template
from fusescope.analysis.patterns.view import View

CHECKED_WITH = "1.31"  # the version of ONNX Runtime that the conditions were found with

Fact = str | int | float | None

Level = Literal["none", "basic", "extended", "all"]
LEVELS: tuple[Level, ...] = ("none", "basic", "extended", "all")

Blocker = Literal[
    "extra_consumer", "graph_output_between", "graph_output", "non_constant_weight",
    "overridable_weight", "training_mode", "dtype", "constant_value", "constant_shape",
    "shape_or_broadcast", "unknown_shape", "axis", "rank", "operand_order", "no_bias", "layout",
    "cannot_block", "form", "no_kernel", "needs_gemm", "reshape_between", "opset", "level",
    "disabled", "other_provider", "merged_duplicates", "engine_declined", "dynamic_dimensions",
    "optimisation_off", "own_pass", "own_kernel", "own_only", "same_cut", "quantised",
]  # fmt: skip
# Why our own fusion pass left what could be fused.
HeldBack = Literal[
    "fusion_level", "not_listed", "excluded", "not_included", "largest_intermediate",
    "verification", "whole_model", "refused", "taken",
]  # fmt: skip


@dataclass(frozen=True)
class Conditions:
    """What an engine was told: its level, the optimizers that were off (or the only one that was
    on), the model's opset, and whether it has a blocked layout (NCHWc) to put convolutions in."""

    level: Level = "all"
    opset: int = 17
    disabled: frozenset[str] = frozenset()
    only: str | None = None
    blocked_layout: bool = True

    def is_on(self, optimizer: str) -> bool:
        """False for an optimizer that was switched off by name."""
        return optimizer not in self.disabled and self.only in (None, optimizer)

    @property
    def moves_layout(self) -> bool:
        """Whether convolutions may move to the blocked layout, as far as settings say."""
        return self.level == "all" and self.is_on("NchwcTransformer")


class Block(msgspec.Struct, frozen=True):
    """One condition that does not hold: which, at which tensor ('' for none), and the facts."""

    code: Blocker
    tensor: str = ""
    values: Mapping[str, Fact] = msgspec.field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, eq=False)
class Site:
    """One place where a pattern's operators stand, as its conditions see it."""

    view: View
    conditions: Conditions
    found: Found

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Node by step."""
        return dict(self.found.nodes)

    def node(self, step: str) -> Node:
        """The node of a step."""
        return self.found.nodes[step]

    def has(self, step: str) -> bool:
        """True where this template has that step."""
        return step in self.found.nodes

    def tensor(self, name: str) -> str:
        """The tensor that a free name, or the output of a step, stands for."""
        if name in self.found.nodes:
            return self.found.nodes[name].outputs[0]
        return self.found.tensors[name]


Condition = Callable[[Site], Iterator[Block]]


class Way(msgspec.Struct, frozen=True):
    """One optimizer that fuses a pattern, from which level on, and under which conditions."""

    optimizer: str
    level: Level
    conditions: tuple[Condition, ...]

    def blocks(self, site: Site) -> tuple[Block, ...]:
        """Every condition that does not hold here, those of the settings last."""
        found = [block for condition in self.conditions for block in condition(site)]
        told = site.conditions
        if LEVELS.index(told.level) < LEVELS.index(self.level):
            found.append(Block("level", values={"level": told.level, "needs": self.level}))
        elif not told.is_on(self.optimizer):
            found.append(Block("disabled", values={"optimizer": self.optimizer}))
        return tuple(found)


@dataclass(frozen=True)
class Pattern:
    """Operators that can become one.

    `title` names it; '' lists the op types instead. `absorbed` are the steps that disappear into
    the others, all of them when empty. Steps in `folded` must already be gone for this pattern to
    come up. `applies` says whether a place is this pattern at all.
    """

    title: str
    templates: tuple[Template, ...]
    ways: tuple[Way, ...]
    absorbed: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    applies: Callable[[Site], bool] = lambda site: True


class Match(msgspec.Struct, frozen=True, eq=False):
    """A pattern at one place. `blocks` are the conditions that do not hold for the way that comes
    nearest; `absorbed` and `folded` as in Pattern, as nodes. `optimizer` is that way's. `steps` are
    the nodes by the step of the template they stand for, `tensors` those by its free names."""

    name: str
    nodes: tuple[Node, ...]
    absorbed: tuple[Node, ...]
    folded: tuple[Node, ...]
    optimizer: str
    blocks: tuple[Block, ...]
    steps: Mapping[str, Node] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    tensors: Mapping[str, str] = msgspec.field(default_factory=lambda: MappingProxyType({}))

    @property
    def complete(self) -> bool:
        """True where an engine under these conditions fuses it."""
        return not self.blocks


def find(graph: Graph | View, pattern: Pattern, told: Conditions | None = None) -> list[Match]:
    """Every place of the graph where the pattern's operators stand, fusible or not."""
    view = graph if isinstance(graph, View) else View(graph)
    told = told or Conditions()
    matches = []
    for form in pattern.templates:
        seen: set[frozenset[str]] = set()
        for found in form.matches(view):
            site = Site(view, told, found)
            names = frozenset(node.outputs[0] for node in found.nodes.values())
            if names not in seen and pattern.applies(site):
                seen.add(names)
                matches.append(_match(pattern, form, site))
    return matches


def _match(pattern: Pattern, form: Template, site: Site) -> Match:
    nodes = {step.name: site.node(step.name) for step in form.steps}
    tried = [(way.optimizer, way.blocks(site)) for way in pattern.ways]
    optimizer, blocks = min(tried, key=lambda way: _distance(way[1]))
    absorbed = pattern.absorbed or tuple(nodes)
    return Match(
        name=pattern.title or " + ".join(node.op_type for node in nodes.values()),
        nodes=tuple(nodes.values()),
        absorbed=tuple(nodes[step] for step in absorbed if step in nodes),
        folded=tuple(nodes[step] for step in pattern.folded if step in nodes),
        optimizer=optimizer,
        blocks=blocks,
        steps=nodes,
        tensors=site.found.tensors,
    )


def _distance(blocks: tuple[Block, ...]) -> tuple[int, int]:
    """What the model would have to change counts more than what the settings would, and what
    nobody can change most."""
    settings = sum(block.code in ("level", "disabled") for block in blocks)
    hopeless = sum(block.code == "no_kernel" for block in blocks)
    return len(blocks) - settings + hopeless, settings
