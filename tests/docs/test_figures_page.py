"""docs/figures.md says of every figure what the program says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.wording import FIGURES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "figures.md"


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
        definition = text.definition.replace("|", "\\|")
        lines.append(f"| {text.label} | `{code}` | {definition} | {text.better or '–'} |")
    return "\n".join(lines) + "\n"


def test_the_page_is_that_of_the_program(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(expected(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == expected(), "make test ARGS=--update-golden"
