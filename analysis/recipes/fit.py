"""Whether an experiment answers a recipe: same model, same baseline, every step is a variant."""

from __future__ import annotations

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.recipes.recipe import Recipe
from fusescope.analysis.text import clean_text


def misfit(recipe: Recipe, record: ExperimentRecord, where: str = "") -> FuseScopeError | None:
    """Why the experiment does not answer the recipe; None where it does.

    Other threads, batch or blocks than the recipe's do not matter here: the table tells them.
    """
    if record.model.source != "zoo" or record.model.name != recipe.model:
        return FuseScopeError(
            "recipe_model_differs",
            where=where,
            recipe=recipe.name,
            model=clean_text(record.model.name, 60),
            wanted=recipe.model,
        )
    have = {variant.name for variant in record.variants}
    missing = [name for name in recipe.variants if name not in have]
    if missing:
        return FuseScopeError(
            "recipe_variants_missing", where=where, recipe=recipe.name, missing=", ".join(missing)
        )
    if record.settings.baseline != recipe.baseline:
        return FuseScopeError(
            "recipe_baseline_differs",
            where=where,
            recipe=recipe.name,
            baseline=clean_text(record.settings.baseline, 60),
            wanted=recipe.baseline,
        )
    return None


def fit(recipe: Recipe, record: ExperimentRecord, where: str = "") -> None:
    """Raises FuseScopeError that says why the experiment does not answer the recipe."""
    error = misfit(recipe, record, where)
    if error is not None:
        raise error
