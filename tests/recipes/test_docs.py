"""docs/recipes.md lists the recipes as they are defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.recipes import RECIPES, Recipe
from analysis.wording.recipes import length_text, published_line

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
START = "<!-- recipes: written by tests/recipes/test_docs.py from the definitions -->\n"
END = "<!-- /recipes -->"


def listed(recipe: Recipe) -> str:
    steps = "".join(f"| {step.label} | `{step.variant}` | {step.adds} |\n" for step in recipe.steps)
    settings = [f"`{recipe.model}`"]
    settings += [f"batch {recipe.batch}"] if recipe.batch else []
    settings += [f"{recipe.threads} threads"] if recipe.threads else []
    settings += [
        f"{recipe.blocks} blocks of {recipe.rounds} rounds",
        f"{length_text(recipe.seconds())}, estimated",
    ]
    told = "".join(f"- {published_line(recipe, one)}\n" for one in recipe.published)
    return (
        f"### {recipe.name}: {recipe.title}\n\n{recipe.question}\n\n{', '.join(settings)}.\n\n"
        f"| step | variant | what it adds |\n|---|---|---|\n{steps}\n"
        + (f"Published ({recipe.source}):\n\n{told}\n" if told else "")
    )


def test_the_page_lists_the_recipes(request: pytest.FixtureRequest) -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    old, end, after = rest.partition(END)
    assert end, "the page has lost its marks"
    new = "\n" + "".join(map(listed, RECIPES))
    if request.config.getoption("--update-golden"):
        PAGE.write_text(before + START + new + END + after, encoding="utf-8")
        old = new
    assert old == new, "make test ARGS='--update-golden tests/recipes/test_docs.py' writes it anew"
