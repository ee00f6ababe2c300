"""The Library page: from the list to Compare and Trace, other names, tags, and what is removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace
from fusescope.app.library import changes
from fusescope.app.library.items import items, named
from fusescope.app.store import keeping, settings
from fusescope.app.store.store import Store
from tests import two_processes
from tests.app.conftest import sample
from tests.app.pages import is_clean, markdown_texts, texts
from tests.patience import GIVE_UP_S
from tests.store.test_store import key, put

SCRIPT = """
import streamlit as st
from fusescope.app.views import library

compare_page = st.Page(lambda: st.write("compare"), title="Compare", url_path="compare")
trace_page = st.Page(lambda: st.write("trace"), title="Trace", url_path="trace")
library_page = st.Page(
    lambda: library.show(compare_page, trace_page), title="Library", default=True
)
st.navigation([library_page, compare_page, trace_page], position="top").run()
"""
HOSTILE = "![a](http://127.0.0.1:9/pix) :red[boo]"


@pytest.fixture
def kept(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Two traces, one with a hostile name, and a recording."""
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tree / "library"))
    (tree / "recordings" / "small.zip").write_bytes(sample())
    store = Store(settings.folder(), settings.max_bytes())
    put(store, 1)
    put(store, 2)
    changes.rename(named("2.json"), HOSTILE, [])
    return store


def opened() -> AppTest:
    return AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S).run()


def names(page: AppTest) -> list[str]:
    return [str(name) for name in page.dataframe[0].value["Name"]]


def tick(page: AppTest, *wanted: str) -> AppTest:
    """The page with these rows ticked."""
    lines = [names(page).index(name) for name in wanted]
    [table] = [name for name in page.session_state._state.filtered_state if "library_table" in name]
    page.session_state[table] = {"selection": {"rows": lines, "columns": [], "cells": []}}
    return page.run()


def save_button(page: AppTest) -> Button:
    return next(button for button in page.button if button.label == "Save")


def links(page: AppTest) -> list[tuple[str, str]]:
    """Page and query of every link on the page."""
    found = [one.proto for one in page.get("page_link")]
    return [(one.page, one.query_string) for one in found]


def test_what_is_there_is_found_opened_and_compared(kept: Store) -> None:
    page = opened()
    assert is_clean(page)
    assert sorted(names(page)) == sorted(["1.json", HOSTILE, "small.zip"])
    assert any("FUSESCOPE_LIBRARY=off" in one.value for one in page.caption)
    page = page.text_input(key="library_search").set_value("small").run()
    assert names(page) == ["small.zip"]
    assert "1 of 3 have these words." in [one.value for one in page.caption]
    page = tick(page, "small.zip")
    [(_, query)] = links(page)
    assert "baseline=recorded%3Asmall.zip%2Funfused" in query
    page = page.text_input(key="library_search").set_value("").run()
    page = tick(page, HOSTILE)
    assert links(page)[0][1] == f"trace=library%3A{key(2)}"
    page = tick(page, HOSTILE, "1.json")
    assert is_clean(page)
    [(_, query)] = links(page)
    assert query.count("library%3A") == 2
    assert not any("![a]" in text or ":red[boo]" in text for text in markdown_texts(page))
    page = page.selectbox(key="library_order").set_value("name").run()
    assert names(page) == [HOSTILE, "1.json", "small.zip"]


def test_names_tags_and_notes_are_given_and_things_go_after_a_question(kept: Store) -> None:
    page = tick(opened(), "1.json")
    fields = {field.label: field for field in page.text_input}
    fields["Name"].set_value("before")
    fields["Tags"].set_value("nightly, a100,")
    fields["Note"].set_value("the first")
    page = save_button(page).click().run()
    assert is_clean(page)
    item = named("before")
    assert (item.hash, item.facts.tags, item.facts.note) == (
        key(1), ("nightly", "a100"), "the first",
    )  # fmt: skip
    page = tick(page, "before")
    {field.label: field for field in page.text_input}["Name"].set_value(HOSTILE)
    page = save_button(page).click().run()
    assert any("already something with this name" in text for text in texts(page))
    page = tick(opened(), "before")
    assert "Remove before from the library? The file that it was read from stays." in texts(page)
    page = page.button(key="library_delete_sure").click().run()
    assert is_clean(page) and "before" not in names(page)
    page = tick(page, "small.zip")
    page = page.button(key="library_delete_sure").click().run()
    assert [item.name for item in items()] == [HOSTILE]


def test_an_empty_library_one_that_is_off_and_one_of_somebody_else(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened()
    assert is_clean(page) and not page.error  # the user's own setting is no fault
    [off] = page.info
    assert "The library is off" in off.value and "FUSESCOPE_LIBRARY=off" in off.value
    assert "start FuseScope without this setting" in off.value
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tree / "library"))
    page = opened()
    assert is_clean(page)
    assert [head.value for head in page.subheader] == ["Nothing is here yet"]


@pytest.mark.usefixtures("answers_others")
def test_a_dashboard_for_others_shows_nothing_of_it(kept: Store) -> None:
    page = opened()
    assert is_clean(page) and not page.dataframe
    assert "can be reached from other machines" in page.info[0].value


def test_links_open_what_is_in_the_library(kept: Store, start: object) -> None:
    page = start(baseline=f"library:{key(1)}", candidate=f"library:{key(2)}")  # type: ignore[operator]
    assert is_clean(page)
    chosen = [page.selectbox(key=f"choose_{side}").value for side in ("baseline", "candidate")]
    assert chosen == [f"library:{key(1)}", f"library:{key(2)}"]
    gone = start(baseline=f"library:{key(7)}", candidate=f"library:{key(2)}")  # type: ignore[operator]
    assert any("This is not in the library any more" in text for text in texts(gone))


def test_a_link_opens_one_process_of_a_file_in_the_library(
    kept: Store, start: object, tmp_path: Path
) -> None:
    trace = read_path(two_processes.write(tmp_path / "ranks.sqlite"))
    assert isinstance(trace, Trace) and keeping.keep(kept, key(7), trace)
    sides = (f"library:{key(7)}", f"library:{key(7)}/process:41")
    page = start(baseline=sides[0], candidate=sides[1])  # type: ignore[operator]
    assert is_clean(page)
    chosen = [page.selectbox(key=f"choose_{side}").value for side in ("baseline", "candidate")]
    assert chosen == list(sides)
    page = start(baseline=sides[1], candidate=f"library:{key(1)}")  # type: ignore[operator]
    assert is_clean(page) and page.selectbox(key="choose_baseline").value == sides[1]
