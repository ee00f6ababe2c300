"""Whether an experiment answers a recipe: same model, same baseline, every step is a variant."""

from __future__ import annotations

from analysis.errors import FuseScopeError
from analysis.experiment import ExperimentRecord
from analysis.recipes.recipe import Recipe
from analysis.text import clean_text


def misfit(recipe: Recipe, record: ExperimentRecord) -> str | None:
    """Why the experiment is none of the recipe's, as a sentence's main part; None where it fits.

    Other threads, batch or blocks than the recipe's do not matter here: the table tells them.
    """
    if record.model.source != "zoo" or record.model.name != recipe.model:
        model = clean_text(record.model.name, 60)
        return f"It is of the model '{model}', the recipe {recipe.name} is of '{recipe.model}'"
    have = {variant.name for variant in record.variants}
    missing = [name for name in recipe.variants if name not in have]
    if missing:
        return f"It lacks {', '.join(missing)}, which the recipe {recipe.name} compares"
    if record.settings.baseline != recipe.baseline:
        baseline = clean_text(record.settings.baseline, 60)
        return (
            f"It compares outputs with those of its baseline '{baseline}', the recipe "
            f"{recipe.name} with those of '{recipe.baseline}'"
        )
    return None


def fit(recipe: Recipe, record: ExperimentRecord, where: str = "") -> None:
    """Raises FuseScopeError that says why the experiment is none of the recipe's."""
    why = misfit(recipe, record)
    if why is not None:
        raise FuseScopeError(
            f"This experiment does not fit: {why[:1].lower()}{why[1:]}",
            where=where,
            hint=f"Record one with: fusescope recipe {recipe.name}.",
        )
