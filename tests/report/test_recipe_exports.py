"""A recipe's table as it is taken away: what a reader of each format must find in it."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path

import msgspec
import pytest

from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import language
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.recipes import RecipeTable, find, recipe_table
from fusescope.analysis.report.recipe import (
    recipe_csv,
    recipe_html,
    recipe_markdown,
    recipe_values,
    table_values,
)
from scripts import catalogue
from tests.factories import Operator, experiment_zip

ROOT = Path(__file__).resolve().parents[2]
MUL: Operator = ("Mul", "Mul", 40, [(1, 1000)], [(1, 1000)])
ADD: Operator = ("Add", "Add", 40, [(1, 1000)], [(1, 1000)])
KERNEL: Operator = ("Mul", "FusedElementwise", 30, [(1, 1000)], [(1, 1000)])
MS = {"unfused": 4.0, "segments:mul_add": 5.0, "custom:mul_add": 2.0, "fused": 4.0}
FASTER = (
    "custom kernel is 2.00× faster than unfused (95 % interval 2.00× to 2.00×). "
    "Speedup over the same cut without the kernel: 2.50× (2.50× to 2.50×)."
)


@cache
def mul_add(blocks: int = 8, cpu: str = "Test CPU") -> RecipeTable:
    times = {name: [ms * (1 + 0.01 * (b % 3)) for b in range(blocks)] for name, ms in MS.items()}
    operators = {name: (MUL, ADD) for name in MS} | {"custom:mul_add": (KERNEL,)}

    def made(**changes: object) -> Experiment:
        data = experiment_zip(times, operators, model_name="mynet", changes=changes)
        value = read(Source("x.zip", data))
        assert isinstance(value, Experiment)
        return value

    machine = msgspec.structs.replace(made().record.machine, cpu_model=cpu)
    return recipe_table(find("mul_add"), made(machine=machine))


def csv_rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(recipe_csv(mul_add()).decode("utf-8-sig"))))


def test_csv_shows_changes_without_the_mark_of_a_formula() -> None:
    rows = {(row["variant"], row["figure"]): row for row in csv_rows()}
    slower, faster = (
        rows["segments:mul_add", "latency_change"],
        rows["custom:mul_add", "latency_change"],
    )
    assert float(slower["value"]) == pytest.approx(0.25, rel=1e-5)
    assert float(faster["value"]) == pytest.approx(-0.5, rel=1e-5)
    assert slower["text"] == "25.0\N{NO-BREAK SPACE}%"
    assert faster["text"] == "\N{MINUS SIGN}50.0\N{NO-BREAK SPACE}%"
    assert not [row for row in rows.values() if row["text"].startswith("'")]


def test_csv_and_json_say_what_rests_on_the_profile() -> None:
    data = (ROOT / "sample_traces" / "recipes" / "conv_bn_clip.zip").read_bytes()
    experiment = read(Source("x.zip", data))
    assert isinstance(experiment, Experiment)
    table = recipe_table(find("conv_bn_clip"), experiment)
    figures = table_values(table)["steps"][0]["figures"]
    by_code = {code: figures[code]["profiled"] for code in ("latency", "small_op_time")}
    assert by_code == {"latency": False, "small_op_time": True}
    rows = list(csv.DictReader(io.StringIO(recipe_csv(table).decode("utf-8-sig"))))
    told = {(row["source"], row["figure"]): row["profiled"] for row in rows}
    assert told["recorded", "latency"] == "False"
    assert told["recorded", "small_op_time"] == "True"
    assert told["published", "small_op_time"] == "", "of theirs nobody knows"


def test_csv_has_the_operators_in_order() -> None:
    told = {row["variant"]: row for row in csv_rows() if row["figure"] == "graph"}
    assert {name: row["text"] for name, row in told.items()} == {
        "unfused": "Mul → Add",
        "segments:mul_add": "Mul → Add",
        "custom:mul_add": "FusedElementwise",
        "fused": "Mul → Add",
    }
    assert {(row["basis"], row["value"], row["setting"]) for row in told.values()} == {
        ("measured", "", "")
    }


def test_markdown_says_what_a_ticket_needs() -> None:
    text = recipe_markdown(mul_add())
    lines = text.splitlines()
    assert f"**{FASTER}**" in lines
    heads = [line for line in lines if line.startswith("#")]
    assert heads == [
        "## Mul + Add as one operator",
        "### Can I trust this?",
        "### Published: graph kernels of MindSpore",
        "### Why these differ from the published ones",
    ]
    [head] = [line for line in lines if line.startswith("| figure |")]
    assert "custom kernel (custom:mul\\_add)" in head
    assert "with their 95 % interval" in text
    assert "Published figures are from other hardware" in text
    assert "On Test CPU, 2 cores; " in text and "x.zip, SHA-256 " in text
    assert "| latency change | – | +25.0 % | −50.0 % | 0.0 % | measured |" in lines
    assert "**doubt:**" not in text
    assert "- **doubt:** Only 3 blocks were recorded." in recipe_markdown(mul_add(blocks=3))


def test_markdown_makes_no_link_and_no_heading_of_a_file() -> None:
    text = recipe_markdown(mul_add(cpu="# a http://x.example [b](c) www.d.example"))
    assert "On \\# a http:\\/\\/x.example \\[b\\](c) www\\.d.example, 2 cores" in text


def test_the_page_starts_with_the_answer() -> None:
    page = recipe_html(mul_add())
    answer = page.index(FASTER.replace(" %", "\N{NO-BREAK SPACE}%"))
    assert answer < page.index("<table")
    assert "8 blocks of fresh processes, paired" in page[: page.index("<table")]
    assert "Ratios are of un-profiled times, paired inside blocks, with their" in page
    assert "paired inside blocks. " in recipe_html(mul_add(blocks=3)), "no interval below 5 blocks"


def test_the_definition_of_a_recipe_is_english_in_every_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = find("mul_add")
    catalogue.pseudo(tmp_path)
    monkeypatch.setenv(language.FURTHER, str(tmp_path))
    language._read.cache_clear()
    with language.speaking(catalogue.PSEUDO):
        assert recipe.question == f"⟦{recipe.question_message.one}⟧"
        assert "⟦" not in str(recipe_values(recipe))
    language._read.cache_clear()
