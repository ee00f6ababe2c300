"""Rungs: in which order an engine's variants lead from nothing to all that it does, and what each
step from one to another is. An engine that is added, or a rung of one, is a line here."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

import msgspec

StepCode = Literal[
    "capture", "code_generation", "fusion", "capture_and_code_generation",
    "code_generation_and_fusion", "compilation", "one_graph", "basic", "extended", "layout",
    "one_graph_and_basic", "one_graph_basic_and_extended", "basic_and_extended",
    "extended_and_layout", "all_optimisations",
]  # fmt: skip


class Rungs(msgspec.Struct, frozen=True):
    """Variants from the bottom up. `steps` has every way from one to a later one, but for the way
    from the first to the last, which is the whole: a rung between them may not have been recorded.
    `whole` is what users call all of it, '' where they call it as the variant."""

    variants: tuple[str, ...]
    steps: Mapping[tuple[str, str], StepCode]
    whole: str = ""


# Variants that are the highest rung but for a setting.
_LIKE_LAST = ("without", "only", "freezing", "threads")


def steps_between(engine: str, one: str, other: str) -> tuple[StepCode, ...]:
    """What each step between two variants of an engine is, from the lower to the higher one; none
    where either is not on the way from nothing to all that the engine does."""
    rungs = RUNGS.get(engine)
    if rungs is None:
        return ()
    last = rungs.variants[-1]
    at = [last if name.partition(":")[0] in _LIKE_LAST else name for name in (one, other)]
    if not {*at} <= {*rungs.variants}:
        return ()
    low, high = sorted(map(rungs.variants.index, at))
    return tuple(rungs.steps[pair] for pair in pairwise(rungs.variants[low : high + 1]))


RUNGS: Mapping[str, Rungs] = {  # by engine, as an experiment names it
    "torch": Rungs(
        ("eager", "captured", "unfused", "fused"),
        {
            ("eager", "captured"): "capture",
            ("captured", "unfused"): "code_generation",
            ("unfused", "fused"): "fusion",
            ("eager", "unfused"): "capture_and_code_generation",
            ("captured", "fused"): "code_generation_and_fusion",
        },
        "torch.compile",
    ),
    "jax": Rungs(
        ("eager", "unfused", "fused"),
        {("eager", "unfused"): "compilation", ("unfused", "fused"): "fusion"},
        "jax.jit",
    ),
    "mindspore": Rungs(
        ("eager", "unfused", "generated", "fused"),
        {
            ("eager", "unfused"): "capture",
            ("unfused", "generated"): "code_generation",
            ("generated", "fused"): "fusion",
            ("eager", "generated"): "capture_and_code_generation",
            ("unfused", "fused"): "code_generation_and_fusion",
        },
    ),
    "onnxruntime": Rungs(
        ("eager", "unfused", "basic", "extended", "fused"),
        {
            ("eager", "unfused"): "one_graph",
            ("unfused", "basic"): "basic",
            ("basic", "extended"): "extended",
            ("extended", "fused"): "layout",
            ("eager", "basic"): "one_graph_and_basic",
            ("eager", "extended"): "one_graph_basic_and_extended",
            ("unfused", "extended"): "basic_and_extended",
            ("unfused", "fused"): "all_optimisations",
            ("basic", "fused"): "extended_and_layout",
        },
    ),
}
