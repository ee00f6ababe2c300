"""docs/figures.md says of every figure what the program says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fusescope.analysis.messages import language
from fusescope.analysis.wording import FIGURES
from fusescope.analysis.wording.texts import FigureText

PAGE = Path(__file__).resolve().parents[2] / "docs" / "figures.md"
CHINESE = PAGE.parent / "zh" / "figures.md"


def expected() -> str:
    lines = [
        "# Figures",
        "",
        "[简体中文](zh/figures.md)",
        "",
        "Every figure is shown as baseline, candidate and change, with its basis: *measured* (a",
        "clock), *counter* (hardware or profiler), *modelled* (a formula on shapes), *assumed*.",
        "Modelled and assumed figures carry a `~`. Ratios of the two sides are never mixed:",
        "speedup 2.43× is latency −58.8 % and throughput +142.7 %.",
        "",
        "| figure | in JSON | definition | better |",
        "|---|---|---|---|",
    ]
    for code, text in FIGURES.items():
        label, definition = cells(text)
        lines.append(f"| {label} | `{code}` | {definition} | {text.better or '–'} |")
    return "\n".join(lines) + "\n"


def cells(text: FigureText) -> tuple[str, str]:
    return text.label, text.definition.replace("|", "\\|")


def expected_in_chinese(page: str) -> str:
    """The page with the catalogue's words wherever the catalogue has them."""
    for code, text in FIGURES.items():
        with language.speaking("zh"):
            told = cells(text)
        row = re.search(rf"^\| ([^|]+) \| `{code}` \| (.*) \| ([^|]+) \|$", page, re.MULTILINE)
        assert row is not None, f"{code} is not on the page"
        label, definition = (
            ours if ours != english else there
            for ours, english, there in zip(told, cells(text), row.groups()[:2], strict=True)
        )
        page = page.replace(row[0], f"| {label} | `{code}` | {definition} | {row[3]} |")
    return page


def test_the_page_is_that_of_the_program(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(expected(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == expected(), "make test ARGS=--update-golden"


@pytest.mark.usefixtures("translations")
def test_the_chinese_page_is_that_of_the_catalogue(request: pytest.FixtureRequest) -> None:
    assert "zh" in language.languages(), "make setup compiles the translations"
    page = CHINESE.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        page = expected_in_chinese(page)
        CHINESE.write_text(page, encoding="utf-8")
    assert page == expected_in_chinese(page), "make test ARGS=--update-golden"
