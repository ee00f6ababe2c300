"""The Releases page: a row a release, and the change that was clicked before and after."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.releases.changes import changes, main_change
from fusescope.analysis.releases.history import history_file, parse_history
from fusescope.app.sources import places
from tests.app.pages import address, is_clean, markdown_texts
from tests.patience import GIVE_UP_S
from tests.releases.test_changes import BLOCKED, FUSED, PLAIN, history

SCRIPT = """
import streamlit as st
from fusescope.app.views import releases

st.navigation([st.Page(releases.show, title="Releases", default=True)], position="top").run()
"""

GONE = "Gelu 1 → 0, Erf 0 → 1, Exp 0 → 1, Sqrt 0 → 1"


def opened() -> AppTest:
    return AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S).run()


@pytest.fixture
def kept(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, of which the first lost a fusion and won the blocked layout."""
    first, second = tree / "net.zip", tree / "other.zip"
    first.write_bytes(history_file(history(FUSED, PLAIN, None, FUSED, BLOCKED)))
    second.write_bytes(history_file(history(FUSED, FUSED)))
    monkeypatch.setenv(places.HISTORIES_VARIABLE, f"{first}:{second}")
    return first


def test_without_a_file_the_page_says_how_to_make_one(tree: Path) -> None:
    page = opened()
    assert is_clean(page)
    assert "fusescope bisect model.onnx --engine" in page.code[0].value


def test_a_sample_is_shown_and_called_one_until_a_file_is_there(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "samples" / "releases").mkdir()
    sample = tree / "samples" / "releases" / "net.zip"
    sample.write_bytes(history_file(history(FUSED, PLAIN)))
    page = opened()
    assert is_clean(page) and address(page)["releases"] == "sample:net"
    assert list(page.dataframe[0].value["Change"]) == ["", f"▼ {GONE}"]
    told = "Sample: a file that comes with FuseScope, not one of yours."
    assert told in [one.value for one in page.text]
    assert "fusescope bisect model.onnx --engine" in page.code[0].value
    (tree / "own.zip").write_bytes(history_file(history(FUSED, FUSED)))
    monkeypatch.setenv(places.HISTORIES_VARIABLE, str(tree / "own.zip"))
    page = opened()
    assert is_clean(page) and address(page)["releases"] == "own.zip"
    assert told not in [one.value for one in page.text]


def test_the_sample_that_comes_with_fusescope_is_of_releases_and_names_nobody() -> None:
    found = places.release_samples()
    assert list(found) == ["transformer_encoder"]
    for path in found.values():
        data = path.read_bytes()
        assert len(data) < 60_000
        seen = parse_history(data, path.name)
        assert seen.command.startswith("fusescope bisect transformer_encoder --engine ")
        text = msgspec.json.encode(seen).decode()
        assert not re.search(r"/(home|root|tmp|work|usr|opt|var|mnt)\b|site-packages|\\\\", text)
        first, lasting = seen.compared[0].version, main_change(changes(seen))
        assert first == "1.20.1" and seen.compared[-1].version == "1.32.0"
        assert lasting is not None and (lasting.newer, lasting.lasts) == ("1.21.0", True)
        assert lasting.lost["BiasGelu"] > 0


def test_a_row_a_release_and_a_click_shows_the_change(kept: Path) -> None:
    page = opened()
    assert is_clean(page) and address(page)["releases"] == "net.zip"
    said = " ".join(markdown_texts(page))
    assert "3 of 4 releases from 1.0 to 1.4 change the operators that run." in said
    table = page.dataframe[0].value
    assert list(table["Release"]) == ["1.0", "1.1", "1.2", "1.3", "1.4"]
    assert list(table["Operators"]) == ["3", "5", "–", "3", "3"]
    assert list(table["Change"]) == [
        "",
        f"▼ {GONE}",
        "left out: there is no wheel for this Python and machine",
        "▲ Erf 1 → 0, Exp 1 → 0, Sqrt 1 → 0, Gelu 0 → 1",
        "▲ as many of each type, 1 group in other kernels",
    ]
    assert [head.value for head in page.subheader] == ["1.0 → 1.1"]  # the one that lost a fusion
    [key] = [name for name in page.session_state._state.filtered_state if "releases_table" in name]
    page.session_state[key] = {"selection": {"rows": [4], "columns": [], "cells": []}}
    page.run()
    assert is_clean(page)
    assert [head.value for head in page.subheader] == ["1.3 → 1.4"]
    assert "In the blocked layout (NCHWc) now: Pool." in " ".join(one.value for one in page.text)


def test_another_file_is_chosen(kept: Path) -> None:
    page = opened()
    page.selectbox(key="choose_history").set_value("other.zip").run()
    assert is_clean(page) and address(page)["releases"] == "other.zip"
    assert "All 2 releases from 1.0 to 1.1 run this model" in " ".join(markdown_texts(page))
    assert list(page.subheader) == []


def test_a_damaged_file_is_a_sentence(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("releases.json", "{}")
    (tree / "net.zip").write_bytes(data.getvalue())
    monkeypatch.setenv(places.FOLDERS_VARIABLE, str(tree))
    page = opened()
    assert is_clean(page)
    assert "This file of releases cannot be shown." in [error.value for error in page.error]


def test_names_of_a_hostile_file_are_text(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = history(FUSED, PLAIN)
    hostile = msgspec.json.decode(
        msgspec.json.encode(seen).replace(b'"Gelu"', b'"[x](http://e.example) <b>"'),
        type=type(seen),
    )
    (tree / "net.zip").write_bytes(history_file(hostile))
    monkeypatch.setenv(places.HISTORIES_VARIABLE, str(tree / "net.zip"))
    page = opened()
    assert is_clean(page)
    assert all("e.example" not in text for text in markdown_texts(page))
    assert "http://e.example" in " ".join(one.value for one in page.text)
