"""Errors of recipes, and of experiments that do not answer them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

RecipesError = Literal[
    "no_such_recipe", "recipe_baseline_differs", "recipe_model_differs", "recipe_variants_missing"
]
_RECORD = Message("Record one with: fusescope recipe {recipe:name}.")
RECIPES: Mapping[RecipesError, ErrorText] = {
    "no_such_recipe": ErrorText(
        Message("There is no recipe '{recipe:name}'"), Message("The recipes are: {known:name}.")
    ),
    "recipe_model_differs": ErrorText(
        Message(
            "This experiment does not fit the recipe {recipe:name}: it is of the model "
            "'{model:name}', not of '{wanted:name}'"
        ),
        _RECORD,
    ),
    "recipe_variants_missing": ErrorText(
        Message(
            "This experiment does not fit the recipe {recipe:name}: these variants are missing: "
            "{missing:name}"
        ),
        _RECORD,
    ),
    "recipe_baseline_differs": ErrorText(
        Message(
            "This experiment does not fit the recipe {recipe:name}: its outputs were compared "
            "with those of '{baseline:name}', not with those of '{wanted:name}'"
        ),
        _RECORD,
    ),
}
