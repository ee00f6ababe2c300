"""Recipes as recordings."""

from __future__ import annotations

from pathlib import Path

from analysis.recipes import Recipe
from collectors.record import Recording


def recording(
    recipe: Recipe,
    out: Path | None,
    *,
    blocks: int | None = None,
    seconds: float | None = None,
) -> Recording:
    """What to record for a recipe, into the file or folder `out`; `blocks` replaces its number of
    processes, `seconds` is a time budget, which takes runs from each block."""
    return Recording(
        model=recipe.model,
        out=out,
        variants=recipe.variants,
        baseline=recipe.baseline,
        batch=recipe.batch,
        threads=recipe.threads,
        blocks=recipe.blocks if blocks is None else blocks,
        rounds=recipe.rounds,
        profiled_rounds=recipe.profiled_rounds,
        seconds=seconds,
        command=command(recipe, blocks=blocks, seconds=seconds),
    )


def command(recipe: Recipe, *, blocks: int | None = None, seconds: float | None = None) -> str:
    """The command that makes the same recording."""
    options = [
        f"--{name} {value:g}"
        for name, value in (("blocks", blocks), ("seconds", seconds))
        if value is not None
    ]
    return " ".join(["fusescope recipe", recipe.name, *options])
