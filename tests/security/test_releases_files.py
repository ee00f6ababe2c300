"""Hostile files of releases (`fusescope bisect --out`): rows V1 to V7."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.releases.changes import Change, changes
from fusescope.analysis.releases.history import (
    MAX_BYTES,
    RECORD_NAME,
    History,
    history_file,
    is_history,
    parse_history,
)
from fusescope.analysis.report.releases.html import releases_html
from fusescope.analysis.report.releases.issue import Example, issue_text
from fusescope.analysis.report.releases.releases_json import releases_json
from fusescope.app.cli.printing.releases import print_releases
from fusescope.app.sources import places
from tests.app.conftest import tree  # noqa: F401
from tests.app.pages import is_clean, markdown_texts
from tests.app.test_releases_page import opened
from tests.releases.test_changes import FUSED, HALF, PLAIN, history
from tests.report.test_html import Page
from tests.security.planted import CONTROLS, MARKUP
from tests.security.test_pages import DANGEROUS
from tests.security.test_reports import FORBIDDEN

LOUD = "[bold red]loud[/]"  # in front: names are cut
PLANT = LOUD + MARKUP + CONTROLS.replace("\udfff", "")  # which no JSON of UTF-8 holds


def planted(value: Any) -> Any:
    """The same with the plant behind every text."""
    if isinstance(value, str):
        return value and value + PLANT
    if isinstance(value, dict):
        return {key: planted(one) for key, one in value.items()}
    return [planted(one) for one in value] if isinstance(value, list | tuple) else value


def values_of(seen: History) -> Any:
    """What its file says."""
    return msgspec.json.decode(msgspec.json.encode(seen))


def hostile() -> History:
    """Releases of which one lost a fusion and one could not run; every text of graphs, of the model
    and of what a release said has the plant behind it."""
    values = values_of(history(FUSED, None, PLAIN, HALF))
    for name in ("graph", "made"):
        values[name] = planted(values[name])
    values["model"]["name"] += PLANT
    values["model"]["inputs"] = [
        {"name": f"x{PLANT}", "dtype": f"float32{PLANT}", "shape": [1], "source": f"seed{PLANT}"}
    ]
    values["releases"][1] |= {"reason": "refused", "said": f"no{PLANT}"}
    values["command"] = f"fusescope bisect{PLANT}"
    return parse_history(packed(msgspec.json.encode(values)), "net.zip")


def packed(content: bytes, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", packing) as archive:
        archive.writestr(RECORD_NAME, content)
    return whole.getvalue()


@pytest.fixture(scope="module")
def seen() -> tuple[History, tuple[Change, ...]]:
    found = hostile()
    return found, changes(found)


def test_v1_a_zip_bomb_is_refused_by_what_it_says_and_by_what_it_holds() -> None:
    bomb = packed(bytes(30 * 2**20))
    lying = bomb.replace((30 * 2**20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lying != bomb and is_history(bomb)
    huge = bomb.replace((30 * 2**20).to_bytes(4, "little"), (MAX_BYTES + 1).to_bytes(4, "little"))
    other = packed(bytes(2**20), packing=zipfile.ZIP_LZMA)
    refused = ((bomb, "unpack to more"), (huge, "unpack to more"), (lying, "is damaged"))
    for data, says in (*refused, (other, "packed in another way")):
        with pytest.raises(FuseScopeError) as raised:
            parse_history(data, "net.zip")
        assert raised.value.code == "releases_file_damaged" and says in raised.value.text


def test_v1_other_members_of_the_zip_are_never_unpacked() -> None:
    whole = io.BytesIO(history_file(history(FUSED, PLAIN)))
    with zipfile.ZipFile(whole, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../bomb.json", bytes(30 * 2**20))
    assert parse_history(whole.getvalue(), "net.zip") == history(FUSED, PLAIN)


def test_v2_the_page_shows_hostile_names_as_text(
    tree: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    seen: tuple[History, tuple[Change, ...]],
) -> None:
    (tree / "net.zip").write_bytes(history_file(seen[0]))
    monkeypatch.setenv(places.HISTORIES_VARIABLE, str(tree / "net.zip"))
    page = opened()
    assert is_clean(page) and not page.error
    for text in markdown_texts(page):
        assert [piece for piece in DANGEROUS if piece in text] == [], text[:200]
    assert any("<img" in one.value for one in page.text)  # as it is
    cells = page.dataframe[0].value.to_dict()
    shown = [str(cells), *(one.value for one in page.text)]
    assert [text for text in shown if FORBIDDEN.search(text)] == []


def test_v3_the_report_holds_no_element_of_theirs(
    seen: tuple[History, tuple[Change, ...]],
) -> None:
    text = releases_html(*seen)
    page, plain = Page(text), Page(releases_html(history(FUSED, PLAIN), ()))
    assert len(page.scripts) == len(plain.scripts) == 0
    assert not page.of("img") and not page.of("iframe") and not page.of("object")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("src") is None
        href = attributes.get("href")
        assert href is None or href.startswith(("#", "data:,")), href
    assert "<img src=x onerror" in page.text  # as it is
    assert FORBIDDEN.search(text) is None


def test_v4_the_issue_has_no_markup_of_theirs(seen: tuple[History, tuple[Change, ...]]) -> None:
    found, all_changes = seen
    text = issue_text(found, all_changes[0], Example("cut.onnx", 2, 5, all_changes[0]))
    code = re.findall("```python\n.*?```", text, re.DOTALL)
    assert len(code) == 1 and "img" not in code[0]
    rest = re.sub(r"(`+)[^`\n]+\1", "", text.replace(code[0], ""))
    # A backslash in front makes a character of what would be markup.
    bare = re.sub(r"\\[^\w\s]", "", rest.replace("<span>$</span>", ""))
    assert not re.search(r"<\w|</|://|\]\(", bare)
    assert "img src=x" in rest and FORBIDDEN.search(text) is None


def test_v5_the_terminal_gets_neither_controls_nor_markup(
    seen: tuple[History, tuple[Change, ...]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    print_releases(*seen)
    told = capsys.readouterr().out
    assert LOUD in told and FORBIDDEN.search(told) is None
    assert b"\x1b" not in releases_json(*seen)


def with_a_cycle(graph: Any) -> Any:
    """The first operator reads what the last one writes."""
    first, *rest = graph["nodes"]
    return {**graph, "nodes": [{**first, "inputs": rest[-1]["outputs"]}, *rest]}


@pytest.mark.parametrize("of", ["model", "release"])
def test_v6_a_graph_with_a_cycle_is_one_sentence(
    tree: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    of: str,
) -> None:
    values = values_of(history(FUSED, PLAIN))
    if of == "model":
        values["graph"] = with_a_cycle(values["graph"])
    else:
        values["made"][1]["graph"] = with_a_cycle(values["made"][1]["graph"])
    data = packed(msgspec.json.encode(values))
    with pytest.raises(FuseScopeError, match="has a cycle"):
        changes(parse_history(data, "net.zip"))
    (tree / "net.zip").write_bytes(data)
    monkeypatch.setenv(places.HISTORIES_VARIABLE, str(tree / "net.zip"))
    page = opened()
    assert is_clean(page)
    (said,) = page.error
    assert said.value == "This file of releases cannot be shown."
    assert any("has a cycle" in one.value for one in (*page.text, *page.code, *page.markdown))


@pytest.mark.parametrize(
    "field", [{"engine": PLANT}, {"created": PLANT}, {"releases": [{"version": PLANT, "made": 0}]}]
)
def test_v7_what_no_file_of_ours_says_is_refused(field: dict[str, object]) -> None:
    values = {**values_of(history(FUSED, PLAIN)), **field}
    with pytest.raises(FuseScopeError) as raised:
        parse_history(packed(msgspec.json.encode(values)), "net.zip")
    assert raised.value.code == "releases_file_damaged"
    assert FORBIDDEN.search(raised.value.text) is None
