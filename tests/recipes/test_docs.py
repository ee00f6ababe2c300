"""docs/recipes.md lists the recipes as they are defined, and the Chinese page in Chinese."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fusescope.analysis.messages import language
from fusescope.analysis.recipes import RECIPES, Recipe
from fusescope.analysis.wording.recipes import length_text, published_line

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
CHINESE = PAGE.parent / "zh" / "recipes.md"
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


def listed_in_chinese(recipe: Recipe) -> str:
    with language.speaking("zh"):
        steps = "".join(
            f"| {step.label} | `{step.variant}` | {step.adds} |\n" for step in recipe.steps
        )
        settings = [f"`{recipe.model}`"]
        settings += [f"批大小 {recipe.batch}"] if recipe.batch else []
        settings += [f"{recipe.threads} 个线程"] if recipe.threads else []
        settings += [f"{recipe.blocks} 个区组，每个 {recipe.rounds} 轮"]
        settings += [f"{length_text(recipe.seconds())}（估计）"]
        told = "".join(f"- {published_line(recipe, one)}\n" for one in recipe.published)
        return (
            f"### {recipe.name}：{recipe.title}\n\n{recipe.question}\n\n{'，'.join(settings)}。\n\n"
            f"| 步骤 | 变体 | 增加什么 |\n|---|---|---|\n{steps}\n"
            + (f"已发表（{recipe.source}）：\n\n{told}\n" if told else "")
        )


@pytest.mark.usefixtures("translations")
@pytest.mark.parametrize(("page", "told"), [(PAGE, listed), (CHINESE, listed_in_chinese)])
def test_the_page_lists_the_recipes(
    page: Path, told: Callable[[Recipe], str], request: pytest.FixtureRequest
) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    old, end, after = rest.partition(END)
    assert end, "the page has lost its marks"
    new = "\n" + "".join(map(told, RECIPES))
    if request.config.getoption("--update-golden"):
        page.write_text(before + START + new + END + after, encoding="utf-8")
        old = new
    assert old == new, "make test ARGS='--update-golden tests/recipes/test_docs.py' writes it anew"
