"""The answer is written when a button asks for it, and not before."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.app import state
from tests.app.pages import is_clean

Start = Callable[..., AppTest]


def data(page: AppTest) -> dict[str, object]:
    [found] = [
        json.loads(component.proto.json)
        for component in page.get("bidi_component")
        if component.proto.component_name == "fusescope_copying"
    ]
    return dict(found)


@pytest.mark.parametrize(
    ("asked", "begins"),
    [("text", "fused is 2.00× faster than unfused"), ("markdown", "### fused is 2.00× faster")],
)
def test_what_is_asked_for_is_written(
    start: Start, monkeypatch: pytest.MonkeyPatch, asked: str, begins: str
) -> None:
    page = start(folded=True)
    assert is_clean(page) and data(page)["text"] is None
    ways = data(page)["ways"]
    assert ways == [["text", "Copy as text"], ["markdown", "Copy as Markdown"]]
    monkeypatch.setattr(state.timeline, "asked", lambda _key: asked)
    page = start(folded=True)
    assert is_clean(page) and str(data(page)["text"]).startswith(begins)


def test_the_copied_text_has_what_the_page_shows_first_and_its_files(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of recordings the first patterns stand on the page with their times, and so in the text."""
    page = start(folded=True)
    monkeypatch.setattr(state.timeline, "asked", lambda _key: "text")
    copied = str(data(start(folded=True))["text"])
    shown = [line for line in copied.splitlines() if line.startswith("- ")]
    assert shown and "per run" in shown[0]
    rows = next(
        json.loads(component.proto.json)
        for component in page.get("bidi_component")
        if component.proto.component_name == "fusescope_changes"
    )
    first = "".join(text for _, text in rows["rows"][0]["parts"])
    assert " ".join(shown[0].split()) == " ".join(f"- {first}".split())
    assert "onnxruntime" in copied.splitlines()[-1].casefold().replace(" ", "")


def test_anything_else_that_the_browser_sends_is_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state.timeline, "asked", lambda _key: {"text": 1})
    assert data(start(folded=True))["text"] is None
