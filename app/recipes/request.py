"""Recipes as recordings."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.recipes import Recipe

if TYPE_CHECKING:
    from fusescope.collectors.record import Recording


def recording(
    recipe: Recipe,
    out: Path | None,
    *,
    blocks: int | None = None,
    seconds: float | None = None,
) -> Recording:
    """What to record for a recipe, into the file or folder `out`; `blocks` replaces its number of
    processes, `seconds` is a time budget, which takes runs from each block, then blocks. Raises
    ImportError where a package that recording needs is not installed."""
    from fusescope.collectors.record import Recording

    return Recording(
        model=recipe.model,
        out=out,
        variants=recipe.variants,
        baseline=recipe.baseline,
        runtime=recipe.runtime,
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
    options = [] if blocks is None else [f"--blocks {blocks}"]
    if seconds is not None:
        options.append(f"--seconds {_digits(seconds)}")
    return " ".join(["fusescope recipe", recipe.name, *options])


def _digits(number: float) -> str:
    """All digits and no exponent: '90', '0.5', '1200000'."""
    return f"{Decimal(str(number)):f}".removesuffix(".0")
