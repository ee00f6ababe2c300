"""Variant: a named way to execute a model."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from analysis.errors import FuseScopeError

Optimization = Literal["none", "basic", "extended", "all"]


@dataclass(frozen=True)
class Variant:
    """`optimization` is ONNX Runtime's graph optimisation level; `per_node` makes a session of
    each node instead of one for the graph."""

    name: str
    optimization: Optimization
    per_node: bool
    summary: str


VARIANTS = (
    Variant("eager", "none", True, "each node in a session of its own"),
    Variant("unfused", "none", False, "the whole graph, every optimisation off"),
    Variant("basic", "basic", False, "ONNX Runtime's basic optimisations"),
    Variant("extended", "extended", False, "basic and extended optimisations"),
    Variant("fused", "all", False, "every optimisation on"),
)


def find(name: str) -> Variant:
    """The variant of that name. Raises FuseScopeError that suggests the nearest."""
    for variant in VARIANTS:
        if variant.name == name:
            return variant
    raise FuseScopeError(
        f"There is no variant '{name[:60]}'",
        hint=suggestion(name, [variant.name for variant in VARIANTS]),
    )


def suggestion(name: str, known: list[str]) -> str:
    """'Did you mean …?' with the nearest known name in front, or the list of them."""
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    listed = ", ".join(known)
    return f"Did you mean '{near[0]}'? Known: {listed}." if near else f"Known: {listed}."
