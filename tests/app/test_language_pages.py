"""The language of the pages: which one is spoken, and that every text comes from the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, language
from fusescope.analysis.recipes import RECIPES, find
from fusescope.app import language as pages_language
from fusescope.app.parts.heads import Head
from fusescope.app.parts.table import Table
from fusescope.app.recording import progress, recorder
from fusescope.collectors.environments.catalogue import ENGINES
from fusescope.collectors.progress import Progress
from fusescope.collectors.record import variant_names
from tests.app.conftest import PARTS
from tests.app.pages import address, is_clean, texts
from tests.app.test_ascend_view import KERNELS
from tests.app.test_fusion_page import fused_zip
from tests.app.test_recipes_page import recorded
from tests.app.told import shown, untold
from tests.brackets import names_in
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json
from tests.patience import GIVE_UP_S

PAGES = ("compare", "trace", "scaling", "recipes", "record")
# AppTest opens only the first page of functions: {first} is that page.
SCRIPT = """
import streamlit as st
from fusescope.app import language
from fusescope.app.views import compare, recipes, record, scaling, trace

language.start()
pages = {{
    "compare": st.Page(
        lambda: compare.show(
            pages["trace"], pages["record"], pages["scaling"], {{"fleet": pages["scaling"]}}),
        title="c", url_path="compare", default="{first}" == "compare"),
    "scaling": st.Page(lambda: scaling.show({{"compare": pages["compare"]}}),
        title="s", url_path="scaling",
        default="{first}" == "scaling"),
    "trace": st.Page(
        lambda: trace.show(pages["compare"], pages["record"]), title="t", url_path="trace",
        default="{first}" == "trace"),
    "recipes": st.Page(lambda: recipes.show(pages["recipes"], pages["compare"]), title="r",
        url_path="recipes", default="{first}" == "recipes"),
    "record": st.Page(lambda: record.show(*[pages["compare"]] * 3), title="d", url_path="record",
        default="{first}" == "record"),
}}
shown = st.navigation(sorted(pages.values(), key=lambda page: not page._default), position="hidden")
language.notices()
shown.run()
language.switch()
"""
Open = Callable[..., AppTest]


@pytest.fixture
def open_page(tree: Path, pseudo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """`open_page(page, lang=…)` opens a page at that address; there is a language "pseudo"."""
    (tree / "samples" / "mobilenetv2.zip").write_bytes(fused_zip())
    monkeypatch.setattr(recorder, "RECORDER", recorder.Recorder())

    def run(first: str = "compare", **at: str) -> AppTest:
        test = AppTest.from_string(SCRIPT.format(first=first), default_timeout=GIVE_UP_S)
        open_parts = dict.fromkeys((*PARTS, "groups", "several"), "true")
        for name, value in {**(open_parts if first == "compare" else {}), **at}.items():
            test.query_params[name] = value
        return test.run()

    yield run
    recorder.RECORDER.stop()


@cache
def names() -> str:
    """Every text in the files of these tests."""
    own = "before after json bad mobilenetv2 zip csv mine pseudo English input mask Avg Count"
    models = " ".join(f"{one.name} {one.model} {' '.join(one.variants)}" for one in RECIPES)
    variants = " ".join((*variant_names(), *ENGINES))
    return f"{own} {models} {variants} {KERNELS} {names_in(fused_zip(), recorded(find('mul_add')))}"


def check(page: AppTest) -> None:
    assert is_clean(page)
    assert untold(page, names()) == set()


@pytest.mark.parametrize("name", PAGES)
def test_every_text_of_a_page_is_in_the_catalogue(open_page: Open, name: str) -> None:
    page = open_page(name, lang="pseudo")
    # The page is told at all: its first words, and those of a fragment.
    assert any("⟦" in text for text in shown(page))
    check(page)


def test_texts_of_states_of_the_compare_page(open_page: Open, tree: Path) -> None:
    page = open_page(lang="pseudo", baseline="upload:0123456789ab", candidate="sample:no/x")
    assert not page.header
    check(page)
    page = open_page(lang="pseudo", baseline="sample:mobilenetv2/unfused", candidate="sample:no/x")
    check(page)
    page.text_input(key="path").set_value("no.json")
    page.button(key="open_path").click().run()
    check(page)
    (tree / "samples" / "mobilenetv2.zip").unlink()
    check(open_page(lang="pseudo"))


def test_texts_of_files_that_were_given(open_page: Open) -> None:
    page = open_page(lang="pseudo")
    files = [
        ("before.json", profile_json(UNFUSED_OPERATORS, runs=3), ""),
        ("after.json", profile_json(FUSED_OPERATORS, runs=3), ""),
        ("bad.json", b"{", ""),
    ]
    page.file_uploader[0].set_value(files).run()
    assert "before.json" in " ".join(texts(page))
    check(page)
    data = KERNELS.format(mac=0.5)
    kernels = [("a.csv", data.encode(), ""), ("b.csv", (data + "\n").encode(), "")]
    page.file_uploader[0].set_value(kernels).run()
    page.pills(key="ascend_columns").set_value(["Accelerator Core", "Count", "Start Time(us)"])
    check(page.run())
    page.segmented_control(key="kind").set_value("launched_by").run()
    check(page)


def test_texts_of_states_of_the_fusion_page(open_page: Open) -> None:
    page = open_page(lang="pseudo", group="1")
    assert any("module" in frame.value for frame in page.dataframe)
    columns = ["Interval of change, µs", "Share of the run's change, %", "Known by"]
    page.pills(key="ledger_columns").set_value(columns).run()
    check(page)
    page.text_input(key="group_search").set_value("no such group").run()
    check(page)
    before, after = (profile_json(ops, runs=6) for ops in (UNFUSED_OPERATORS, FUSED_OPERATORS))
    page.file_uploader[0].set_value([("before.json", before, ""), ("after.json", after, "")]).run()
    page.query_params["group"] = "0"
    check(page.run())


def test_texts_of_a_recipe(open_page: Open, tree: Path) -> None:
    check(open_page("recipes", lang="pseudo", recipe="mul_add"))
    (tree / "recordings" / "mine.zip").write_bytes(recorded(find("mul_add")))
    page = open_page("recipes", lang="pseudo", recipe="mul_add")
    assert len(page.dataframe) == 1
    check(page)
    check(open_page("recipes", lang="pseudo", recipe="nothing"))


def test_texts_of_states_of_the_record_page(
    open_page: Open, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree / "recordings" / "mine.zip"
    path.write_bytes(fused_zip())
    status = recorder.Status("mine", "mul_add")
    written = Message("Writing the experiment file")
    for one in (
        status,
        replace(status, progress=Progress("blocks", 2, 8, written, 42.0), cancelling=True),
        replace(status, progress=Progress("blocks", 2, 8, written, 420.0)),
        replace(status, progress=Progress("done", 8, 8, written), path=path),
        replace(status, error=FuseScopeError("recording_exists", where="mine.zip")),
    ):
        recorder.RECORDER._status = one
        check(open_page("record", lang="pseudo"))
    recorder.RECORDER._status = None
    page = open_page("record", lang="pseudo")
    page.multiselect(key="record_variants").set_value([])
    with language.speaking("pseudo"):  # AppTest tells the options itself
        page.button(key="record_start").click().run()
    check(page)
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    check(open_page("record", lang="pseudo"))


def languages_of(page: AppTest) -> str:
    return str(page.selectbox(key="language").value)


def test_the_address_then_the_browser_then_english_decides(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert languages_of(open_page()) == "en"
    assert languages_of(open_page(lang="pseudo")) == "pseudo"
    monkeypatch.setattr(pages_language, "_locale", lambda: "pseudo-CN")
    page = open_page()
    assert languages_of(page) == "pseudo" and "lang" not in address(page)
    assert languages_of(open_page(lang="en")) == "en"


def test_an_unknown_language_names_those_that_exist_once(open_page: Open) -> None:
    page = open_page(lang="xx<b>", baseline="sample:mobilenetv2/fused")
    assert "Choose one of: en, pseudo." in page.info[0].value
    assert "<b>" not in page.info[0].value
    assert languages_of(page) == "en"
    assert address(page)["baseline"] == "sample:mobilenetv2/fused"
    assert "lang" not in address(page)
    assert not [info for info in page.run().info if "en, pseudo" in info.value]


def test_the_switch_keeps_the_address_and_what_is_chosen(open_page: Open) -> None:
    page = open_page(tau_us="25.0")
    page.segmented_control(key="kind").set_value("classes").run()
    page.pills(key="type_columns").set_value(["Count"]).run()
    page.multiselect(key="classes").set_value(["activation"]).run()
    before = address(page)
    page.selectbox(key="language").set_value("pseudo").run()
    assert address(page) == {**before, "lang": "pseudo"}
    assert page.segmented_control(key="kind").value == "classes"
    assert page.pills(key="type_columns").value == ["Count"]
    assert page.multiselect(key="classes").value == ["activation"]
    assert page.selectbox(key="choose_candidate").value == "sample:mobilenetv2/fused"
    assert all(head.value.startswith("⟦") for head in page.subheader[1:])
    page.selectbox(key="language").set_value("en").run()
    assert address(page)["lang"] == "en"
    assert page.segmented_control(key="kind").value == "classes"
    assert page.subheader and not any("⟦" in head.value for head in page.subheader)


def test_what_became_of_files_is_told_in_the_language_of_now(open_page: Open) -> None:
    page = open_page()
    page.file_uploader[0].set_value([("bad.json", b"{", "")]).run()
    [said] = [text for text in texts(page) if "bad.json" in text and "⟦" not in text]
    page.selectbox(key="language").set_value("pseudo").run()
    told = [text for text in texts(page) if "bad.json" in text]
    assert said not in told and any("⟦" in text for text in told)


def test_one_language_needs_no_switch(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "languages", lambda: ("en",))
    page = AppTest.from_string(SCRIPT.format(first="record"), default_timeout=GIVE_UP_S).run()
    assert is_clean(page)
    assert "language" not in [box.key for box in page.selectbox]


def test_csv_heads_and_json_are_english_in_every_language(tree: Path, pseudo: Path) -> None:
    rows = pd.DataFrame({"name": ["a"]})
    table = Table()
    table.text(Head(Message("Name")), rows["name"], Message("Help."), 100)
    with language.speaking("pseudo"):
        assert table.csv.decode("utf-8-sig").splitlines()[0] == "Name"
        assert list(table.frame.columns) == ["⟦Name⟧"]
