"""Variant: a named way to execute a model."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Literal

from analysis.errors import FuseScopeError
from collectors import optimizers

Optimization = Literal["none", "basic", "extended", "all"]


@dataclass(frozen=True)
class Variant:
    """`optimization` is ONNX Runtime's graph optimisation level; `per_node` makes a session of
    each node instead of one for the graph. An ablation has every optimizer but `without`, or
    none but `only`."""

    name: str
    optimization: Optimization
    per_node: bool
    summary: str
    without: str = ""
    only: str = ""

    @property
    def disabled(self) -> tuple[str, ...]:
        """Optimizers that are off although their level is on."""
        if self.only:
            return optimizers.all_but(self.only)
        return (self.without,) if self.without else ()

    @property
    def optimizer(self) -> str:
        """The optimizer that an ablation is about, '' for other variants."""
        return self.without or self.only


VARIANTS = (
    Variant("eager", "none", True, "each node in a session of its own"),
    Variant("unfused", "none", False, "the whole graph, every optimisation off"),
    Variant("basic", "basic", False, "ONNX Runtime's basic optimisations"),
    Variant("extended", "extended", False, "basic and extended optimisations"),
    Variant("fused", "all", False, "every optimisation on"),
)
ABLATIONS = ("without:<Optimizer>", "only:<Optimizer>")
_ABLATION = re.compile(r"(without|only):([A-Za-z]\w{0,79})", re.ASCII)


def find(name: str) -> Variant:
    """The variant of that name. Raises FuseScopeError that suggests the nearest.

    Whether there is an optimizer of the name in an ablation shows by its effect only.
    """
    for variant in VARIANTS:
        if variant.name == name:
            return variant
    if ablation := _ABLATION.fullmatch(name):
        kind, optimizer = ablation.groups()
        if kind == "without":
            return Variant(name, "all", False, f"all but {optimizer}", without=optimizer)
        return Variant(name, "all", False, f"nothing but {optimizer}", only=optimizer)
    known = [*(variant.name for variant in VARIANTS), *ABLATIONS]
    raise FuseScopeError(f"There is no variant '{name[:60]}'", hint=suggestion(name, known))


def file_name(variant: str) -> str:
    """The variant's name as part of a file name: not every system allows ':' there."""
    return variant.replace(":", "-")


def suggestion(name: str, known: list[str]) -> str:
    """'Did you mean …?' with the nearest known name in front, or the list of them."""
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    listed = ", ".join(known)
    return f"Did you mean '{near[0]}'? Known: {listed}." if near else f"Known: {listed}."
