"""The Recipes page: every card, its recording, whose result is shown, and hostile files."""

from __future__ import annotations

import io
import os
import re
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

import fusescope.collectors.record
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import ExperimentRecord, parse_record, record_json
from fusescope.analysis.messages import Message
from fusescope.analysis.recipes import RECIPES, Recipe, find, recipe_table
from fusescope.analysis.report.recipe import recipe_html, table_json
from fusescope.analysis.wording.recipes import length_text
from fusescope.app.parts import exports
from fusescope.app.recipes import table as shown_table
from fusescope.app.recipes.results import OWN, SHIPPED
from fusescope.app.recording import progress, recorder
from fusescope.app.sources import choices, loading
from fusescope.collectors.progress import Progress
from fusescope.collectors.record import Recording
from tests.app.pages import is_clean, markdown_texts, texts
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip
from tests.patience import GIVE_UP_S

CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
Open = Callable[..., AppTest]
HOSTILE = "![a](http://127.0.0.1:9/a) [l](javascript:alert(1)) :red[boo] <img src=x> </script>"

# AppTest opens only the first page of functions: here that is Recipes.
SCRIPT = """
import streamlit as st
from fusescope.app.views import compare, recipes

compare_page = st.Page(compare.show, title="Compare", url_path="compare")
recipes_page = st.Page(
    lambda: recipes.show(recipes_page, compare_page), title="Recipes", default=True
)
st.navigation([recipes_page, compare_page], position="top").run()
"""


def recorded(recipe: Recipe, blocks: int = 8, first_ms: float = 18.2) -> bytes:
    """An experiment of the recipe whose last step takes 7.5 / 18.2 of the first one's time.

    Blocks scatter evenly around it, all variants alike."""
    last = recipe.variants[-1]
    whole = (recipe.baseline, *(name for name in recipe.variants if name != recipe.baseline))
    ms = {name: first_ms * (7.5 / 18.2 if name == last else 1) for name in whole}
    times = {
        name: [one * 1.01 ** (block % 2 * 2 - 1) for block in range(blocks)]
        for name, one in ms.items()
    }
    operators = {
        name: FUSED_OPERATORS if name == last else UNFUSED_OPERATORS for name in recipe.variants
    }
    made = {name: operators[name] for name in whole}
    return experiment_zip(times, made, looks=(blocks,), model_name=recipe.model)


def changed(data: bytes, change: Callable[[ExperimentRecord], ExperimentRecord]) -> bytes:
    """The experiment file with another record."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "experiment.json":
                content = record_json(change(parse_record(content)))
            new.writestr(name, content)
    return out.getvalue()


@pytest.fixture
def shipped(tree: Path) -> Callable[[Recipe, bytes], None]:
    """`shipped(recipe, data)` puts a pre-recorded result in its place."""
    folder = tree / "samples" / "recipes"
    folder.mkdir()
    return lambda recipe, data: (folder / f"{recipe.name}.zip").write_bytes(data) and None


@pytest.fixture
def open_page(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """`open_page(name)` is the card of a recipe in a session of its own, without a name all."""
    monkeypatch.setattr(recorder, "RECORDER", recorder.Recorder())

    def run(name: str = "") -> AppTest:
        page = AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S)
        if name:
            page.query_params["recipe"] = name
        return page.run()

    yield run
    recorder.RECORDER.stop()


@pytest.fixture
def asked(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> list[Recording]:
    """The recordings that the page started; each waits until it is cancelled."""
    started: list[Recording] = []

    def record(job: Recording, *, on_progress: Any, cancelled: Any, **_: Any) -> Path:
        started.append(job)
        on_progress(Progress("blocks", 2, 8, Message("Block 3 of 8"), 42.0))
        while not cancelled():
            time.sleep(0.01)
        assert job.out is not None
        name = job.command.split()[2]
        job.out.write_bytes(recorded(find(name)))
        return job.out

    monkeypatch.setattr(fusescope.collectors.record, "record", record)
    return started


def wait_until(reached: Callable[[recorder.Status], bool]) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while recorder.RECORDER.status is None or not reached(recorder.RECORDER.status):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cells(page: AppTest) -> list[list[str]]:
    """The recipe's table: a line a figure, without its head."""
    [frame] = [one.value for one in page.dataframe]
    return [[str(cell) for cell in row] for row in frame.to_numpy()]


def line(page: AppTest, label: str) -> list[str]:
    [found] = [row[1:] for row in cells(page) if row[0] == label]
    return found


def links(page: AppTest) -> dict[str, str]:
    """Label -> query of every link to a page."""
    return {link.proto.label: link.proto.query_string for link in page.get("page_link")}


def shown(page: AppTest) -> str:
    return "\n".join([*markdown_texts(page), *texts(page)])


def test_a_quick_run_does_not_stand_before_a_verdict(
    tree: Path, open_page: Open, shipped: Any
) -> None:
    recipe = find("mul_add")
    shipped(recipe, recorded(recipe))
    quick = tree / "recordings" / "quick.zip"
    quick.write_bytes(recorded(recipe, blocks=2, first_ms=40))
    page = open_page(recipe.name)
    assert any(text.startswith("Comes with FuseScope") for text in texts(page))
    assert any("the same cut without the kernel" in text.lower() for text in texts(page))
    quick.write_bytes(recorded(recipe, blocks=8, first_ms=40))
    assert any(text.startswith("Recorded here") for text in texts(open_page(recipe.name)))


def test_the_overview_has_every_recipe(open_page: Open, shipped: Any) -> None:
    recipe = find("conv3x3")
    shipped(recipe, recorded(recipe))
    page = open_page()
    assert is_clean(page)
    assert [head.value.replace("\\", "") for head in page.subheader] == [r.title for r in RECIPES]
    whole = shown(page).replace("\\", "")
    for one in RECIPES:
        assert one.question in whole
    assert whole.count("Not recorded yet") == len(RECIPES) - 1
    assert f":material/schedule: {length_text(find('mul_add').seconds())}, estimated" in whole
    assert "precision is :blue[2.43× faster] than unfused" in whole
    assert "measured · Comes with FuseScope · 2026-01-02" in whole
    assert "Published latency: 18.2 ms (unfused) → 7.50 ms (precision)" in whole
    assert "Measured latency: 18.2 ms (unfused) → 7.50 ms (precision): 2.43×" in whole
    opened = [link.proto.query_string for link in page.get("page_link")]
    assert opened == [f"recipe={one.name}" for one in RECIPES]


@pytest.mark.parametrize("recipe", RECIPES, ids=[one.name for one in RECIPES])
def test_every_card_draws(open_page: Open, shipped: Any, recipe: Recipe) -> None:
    page = open_page(recipe.name)
    assert is_clean(page)
    assert page.header[0].value.replace("\\", "") == recipe.title
    assert "Not recorded yet" in page.info[0].value
    assert not page.dataframe
    plain = shown(page).replace("\\", "")
    for told in (recipe.question, *recipe.why_differ, *(step.adds for step in recipe.steps)):
        assert told in plain
    shipped(recipe, recorded(recipe))
    page = open_page(recipe.name)
    assert is_clean(page)
    assert not page.error
    assert any(text.startswith("Comes with FuseScope: Test CPU") for text in texts(page))
    assert [metric.label for metric in page.metric] == [step.label for step in recipe.steps]
    shape = {len(row) for row in cells(page)}
    assert shape == {len(recipe.steps) + 2}
    assert "measured" in line(page, "latency")[-1]
    assert links(page)["Open in Compare"] == "&".join(
        f"{side}=recipe%3A{recipe.name}%2F{variant.replace(':', '%3A')}"
        for side, variant in zip(("baseline", "candidate"), recipe.compare, strict=True)
    )


def test_published_figures_stand_below_ours(open_page: Open, shipped: Any) -> None:
    recipe = find("conv3x3")
    shipped(recipe, recorded(recipe))
    page = open_page("conv3x3")
    table = cells(page)
    at = [row[0] for row in table].index("latency")
    assert table[at] == ["latency", *["18.2 ms"] * 3, "7.50 ms", "measured"]
    assert table[at + 1][1:] == ["18.2 ms", "", "", "7.50 ms", "measured"]
    assert table[at + 1][0].strip() == "published"
    below = [row[0].strip() for row in table].index("vs first step") + 1
    assert table[below - 1][4] == "2.43×", "an interval beside it would be cut on a narrow screen"
    assert table[below][0].strip() == "95 % interval"
    assert table[below][1] == "" and re.fullmatch(r"2\.43× to 2\.43×", table[below][4])
    assert line(page, "latency change")[3] == "−58.8 %"
    assert line(page, "throughput change")[3] == "+142.7 %"
    assert [metric.delta for metric in page.metric][-1] == "−58.8 %"
    assert "published 7.50 ms" in [caption.value for caption in page.caption]
    plain = shown(page).replace("\\", "")
    assert "2.43×, latency −58.8 %, throughput +142.7 %" in plain
    assert all(published.note in plain for published in recipe.published)


def test_the_newest_recording_that_fits_stands_before_the_shipped_one(
    open_page: Open, shipped: Any, tree: Path
) -> None:
    recipe = find("conv3x3")
    shipped(recipe, recorded(recipe))
    files = {
        "old.zip": recorded(recipe, first_ms=40),
        "new.zip": recorded(recipe, first_ms=30),
        "other-model.zip": recorded(find("conv_bn"), first_ms=20),
        "no-zip.zip": b"PK\x03\x04 not really",
    }
    for age, (name, data) in enumerate(files.items()):
        path = tree / "recordings" / name
        path.write_bytes(data)
        os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))
    page = open_page("conv3x3")
    assert is_clean(page)
    assert page.metric[0].value == "30.0 ms"
    assert any(text.startswith("Recorded here: Test CPU") for text in texts(page))
    assert "recorded%3Anew.zip%2Fint8" in links(page)["Open in Compare"]
    [switch] = page.get("button_group")
    assert switch.value == OWN
    switch.set_value(SHIPPED).run()
    assert page.metric[0].value == "18.2 ms"
    assert "recipe%3Aconv3x3%2Fint8" in links(page)["Open in Compare"]


def test_run_stop_and_the_result(open_page: Open, asked: list[Recording], tree: Path) -> None:
    recipe = find("conv_bn_relu")
    page = open_page(recipe.name)
    page.button(key="recipe_run").click().run()
    assert is_clean(page)
    wait_until(lambda status: status.progress is not None)
    [job] = asked
    assert job.plan().names == recipe.variants
    assert (job.model, job.batch, job.threads) == ("resnet50", 16, recipe.threads)
    assert (job.blocks, job.rounds) == (recipe.blocks, recipe.rounds)
    assert (job.profiled_rounds, job.baseline) == (recipe.profiled_rounds, recipe.baseline)
    assert job.out is not None
    assert job.out.parent == tree / "recordings"
    assert job.out.name.startswith("conv_bn_relu-")
    page.run()
    assert "resnet50, recipe conv_bn_relu" in texts(page)
    assert "Block 3 of 8" in texts(page)
    for other in (open_page(), open_page("conv_bn")):  # one at a time, and any tab sees it
        assert "Block 3 of 8" in texts(other)
        assert not [button for button in other.button if button.key == "recipe_run"]
    page.button(key="record_cancel").click().run()
    wait_until(lambda status: not status.running)
    page.run()
    assert page.success[0].value == "Recorded."
    assert job.out.name in texts(page)
    assert page.metric[-1].value == "7.50 ms"
    assert f"recorded%3A{job.out.name}" in links(page)["Open in Compare"]
    assert "Recorded" in shown(open_page())
    assert not open_page("conv_bn").success, "the result belongs to its own recipe"
    page.button(key="record_dismiss").click().run()
    assert not page.success


def test_how_long_is_an_estimate_and_says_from_what(
    open_page: Open, shipped: Any, tree: Path
) -> None:
    recipe = find("conv_bn")
    shown_lengths = []
    for put, basis in (
        (lambda: None, "the recipe's work at assumed rates"),
        (lambda: shipped(recipe, recorded(recipe, first_ms=300)),
         "the recording that comes with FuseScope"),
        (lambda: (tree / "recordings" / "own.zip").write_bytes(recorded(recipe, first_ms=900)),
         "the last recording on this machine"),
    ):  # fmt: skip
        put()
        page = open_page(recipe.name)
        captions = [caption.value for caption in page.caption]
        leave = "Do not use the machine for other work while the recording runs."
        assert f"The time is estimated from {basis}. {leave}" in captions
        shown_lengths.append(page.radio[0].options[0])
    assert len(set(shown_lengths)) == 3


def test_a_quick_look(open_page: Open, asked: list[Recording]) -> None:
    page = open_page("conv_bn")
    assert [code.value for code in page.code] == ["fusescope recipe conv_bn"]
    page.radio[0].set_value(2).run()
    assert [code.value for code in page.code] == ["fusescope recipe conv_bn --blocks 2"]
    page.button(key="recipe_run").click().run()
    wait_until(lambda status: status.progress is not None)
    assert [(job.blocks, job.command) for job in asked] == [
        (2, "fusescope recipe conv_bn --blocks 2")
    ]


def test_a_recording_that_failed_says_why(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Path:
        raise FuseScopeError("engine_refused", reason="<b>x</b>")

    monkeypatch.setattr(fusescope.collectors.record, "record", failing)
    page = open_page("conv_bn")
    page.button(key="recipe_run").click().run()
    wait_until(lambda status: not status.running)
    page.run()
    assert page.error[0].value == "Nothing was recorded."
    assert any(text.startswith("The engine refused the model: <b>x</b>.") for text in texts(page))


def test_without_the_compiler_only_recipes_with_kernels_are_refused(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda name: None if name == "numba" else 1)
    with_kernels = [one.name for one in RECIPES if one.needs_compiler]
    assert with_kernels and len(with_kernels) < len(RECIPES)
    assert shown(open_page()).count("needs numba") == len(with_kernels)
    page = open_page("mul_add")
    said = [info.value for info in page.info]
    assert any(r"not installed\: numba" in text and "fusescope[kernels]" in text for text in said)
    assert not [button for button in page.button if button.key == "recipe_run"]
    open_page("conv_bn").button(key="recipe_run").click().run()
    assert [job.model for job in asked] == ["conv_bn"]


def test_a_recipe_of_an_engine_says_how_to_add_it_and_records_with_it(
    open_page: Open, asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusescope.collectors.record, "is_ready", lambda name: name == "onnxruntime")
    own = [one.name for one in RECIPES if one.runtime == "mindspore"]
    assert own == ["graph_kernels", "graph_kernels_composite"]
    assert shown(open_page()).count("needs mindspore") == len(own)
    page = open_page("graph_kernels")
    assert is_clean(page)
    assert "fusescope runtimes add mindspore" in [code.value for code in page.code]
    assert not [button for button in page.button if button.key == "recipe_run"]
    monkeypatch.setattr(fusescope.collectors.record, "is_ready", lambda name: True)
    open_page("graph_kernels").button(key="recipe_run").click().run()
    [job] = asked
    assert (job.runtime, job.plan().model) == ("mindspore", "mindspore:mynet")
    assert job.variants == ("unfused", "generated", "fused")


def test_a_missing_engine_and_an_open_address_are_refused(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda name: None if name == "onnx" else 1)
    page = open_page("conv_bn")
    assert any(r"not installed\: onnx. " in info.value for info in page.info)
    assert not page.radio
    monkeypatch.undo()
    monkeypatch.setattr(progress.st, "get_option", lambda _: "0.0.0.0")
    page = open_page("conv_bn")
    assert any("Recording is off" in info.value for info in page.info)
    assert not page.radio


def test_what_files_say_is_no_markup(open_page: Open, shipped: Any, tree: Path) -> None:
    def hostile(record: ExperimentRecord) -> ExperimentRecord:
        said = {"memory_arena": HOSTILE, HOSTILE: HOSTILE}
        variants = [msgspec.structs.replace(one, settings=said) for one in record.variants]
        return msgspec.structs.replace(
            record,
            created=HOSTILE,
            machine=msgspec.structs.replace(record.machine, cpu_model=HOSTILE, os=HOSTILE),
            engine=msgspec.structs.replace(record.engine, name=HOSTILE, version=HOSTILE),
            settings=msgspec.structs.replace(record.settings, command=HOSTILE),
            variants=variants,
        )

    recipe = find("mul_add")
    shipped(recipe, changed(recorded(recipe), hostile))
    own = tree / "recordings" / "![b](http:∕∕127.0.0.1:9∕b) <img>.zip"
    for _ in range(2):  # the shipped result, then the recording
        for page in (open_page(), open_page("mul_add")):
            assert is_clean(page)
            assert not page.error
            for text in markdown_texts(page):
                assert not any(bad in text for bad in ("127.0.0.1", "javascript", ":red[", "<img"))
        assert any("<img src=x>" in text for text in texts(page))
        assert line(page, "allocator")[0].startswith("![a](http")
        own.write_bytes(changed(recorded(recipe), hostile))


def test_a_damaged_profile_is_a_sentence(open_page: Open, shipped: Any) -> None:
    recipe = find("conv_bn")
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(recorded(recipe))) as old,
        zipfile.ZipFile(out, "w") as new,
    ):
        for name in old.namelist():
            new.writestr(name, b"[" if name.startswith("profiles/fused") else old.read(name))
    shipped(recipe, out.getvalue())
    page = open_page("conv_bn")
    assert is_clean(page)
    assert page.error[0].value == "The table of this recipe cannot be made."
    assert any("conv_bn.zip" in text for text in texts(page))
    assert not page.dataframe
    assert [button for button in page.button if button.key == "recipe_run"]


def test_a_link_to_no_recipe_shows_all(open_page: Open) -> None:
    page = open_page("conv3x4")
    assert is_clean(page)
    assert page.error[0].value == "This link does not lead to a recipe."
    assert any("Did you mean 'conv3x3'?" in text for text in texts(page))
    assert page.header[0].value == "Recipes"


def test_shipped_results_can_be_compared(tree: Path, shipped: Any) -> None:
    recipe = find("conv3x3")
    shipped(recipe, recorded(recipe))
    found = {choice.id: choice.label for choice in choices.choices({})}
    assert found["recipe:conv3x3/int8"] == "resnet50 · int8 (recipe conv3x3)"
    assert loading.side("recipe:conv3x3/int8", {}).label == "int8"
    for wrong in ("recipe:conv3x3/none", "recipe:../conv3x3/int8", "recipe:none/int8"):
        with pytest.raises(loading.Missing):
            loading.side(wrong, {})


def test_what_is_taken_away_names_nobody(shipped: Any, tree: Path) -> None:
    def personal(record: ExperimentRecord) -> ExperimentRecord:
        command = "fusescope collect resnet50 --out /home/alice/secret/x.zip"
        settings = msgspec.structs.replace(record.settings, command=command)
        return msgspec.structs.replace(record, settings=settings)

    recipe = find("conv3x3")
    shipped(recipe, changed(recorded(recipe), personal))
    table = recipe_table(
        recipe, loading.experiment_at(tree / "samples" / "recipes" / "conv3x3.zip")
    )
    assert b"/home/alice" in exports.recipe_bytes(table, False, table_json)
    for write, latency in ((table_json, b"7500000"), (recipe_html, b"7.50 ms")):
        made = exports.recipe_bytes(table, True, write)
        assert b"alice" not in made
        assert latency in made


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_muted_cells_of_the_table_can_be_read(
    theme: str, shipped: Any, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """axe-core sees no cell, since the table is a canvas: its contrast, by WCAG's formula."""

    context = SimpleNamespace(theme=SimpleNamespace(type=theme))
    monkeypatch.setattr(shown_table.st, "context", context)
    recipe = find("conv3x3")
    shipped(recipe, recorded(recipe))
    path = tree / "samples" / "recipes" / "conv3x3.zip"
    styled = shown_table.drawn(recipe_table(recipe, loading.experiment_at(path))).styled
    styled._compute()
    [colour] = {value for cells in styled.ctx.values() for name, value in cells if name == "color"}
    config = tomllib.loads(CONFIG.read_text("utf-8"))
    darker, lighter = sorted(map(luminance, (colour, config["theme"][theme]["backgroundColor"])))
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
