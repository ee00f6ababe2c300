"""The model tree of the Compare page: what the browser is given to draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app.pages import is_clean
from tests.module_traces import kineto_json, model

Start = Callable[..., AppTest]


def drawn(page: AppTest) -> dict[str, Any]:
    """What the component of the tree draws; nothing where it is not on the page."""
    for component in page.get("bidi_component"):
        if component.proto.component_name == "fusescope_model_tree":
            found: dict[str, Any] = json.loads(component.proto.json)
            return found
    return {}


def test_rows_of_two_traces_by_module_operator_and_shapes(tree: Path, start: Start) -> None:
    """Two layers, wide products 25 -> 700 µs each."""
    for name, narrow_us, wide_us in (("a.json", 600, 25), ("b.json", 80, 700)):
        given = kineto_json(model(layers=2, narrow_us=narrow_us, wide_us=wide_us))
        (tree / "open" / name).write_bytes(given)
    page = start(baseline="file:a.json", candidate="file:b.json")
    assert is_clean(page)
    assert "Modules, operators and shapes" in [head.value for head in page.subheader]
    assert drawn(page)["heads"][2:4] == ["Baseline, µs", "Candidate, µs"]
    [net] = drawn(page)["rows"]
    layer = net["rows"][0]
    wide = layer["rows"][0]["rows"][0]
    assert (layer["names"], layer["instances"], layer["is_open"]) == (["Layer"], "×2", True)
    assert wide["names"] == ["float32[8,64,512]; float32[8,512,64]"]
    assert (wide["executions"], wide["before"], wide["after"]) == ("2", "50", "1\u202f400")
    assert any("Time per step" in caption.value for caption in page.caption)


def test_recordings_have_the_modules_of_their_groups_instead(start: Start) -> None:
    page = start()
    assert is_clean(page)
    assert drawn(page) == {}


def test_rows_of_one_trace_below_the_module_that_takes_most(tree: Path, visit: Start) -> None:
    """Two layers, 625 us of products in each attention, 3 of a norm, behind 5 us: 1.26 ms."""
    given = kineto_json(model(layers=2, narrow_us=600, wide_us=25))
    (tree / "open" / "one.json").write_bytes(given)
    page = visit("trace", trace="file:one.json")
    assert is_clean(page)
    assert any("takes most, without modules inside it" in text.value for text in page.markdown)
    [net] = drawn(page)["rows"]
    layer = net["rows"][0]
    assert (layer["names"], layer["before"], layer["after"], layer["change"]) == (
        ["Layer"], "1\u202f256", "628.0", "99.6 %",
    )  # fmt: skip
