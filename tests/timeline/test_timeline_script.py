"""The timeline's script as text, and its Streamlit component without a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis import units
from fusescope.analysis.operators.classes import OP_CLASSES
from fusescope.analysis.timeline import script
from fusescope.analysis.timeline.host_lane import HOST_KINDS
from fusescope.analysis.wording.timeline.script import WORDS
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [script.component_script(), script.report_script(), script.loader_script()]
CLASSES = (*OP_CLASSES, "other")


@pytest.mark.parametrize("text", SCRIPTS, ids=["component", "report", "loader"])
def test_no_way_from_a_trace_to_markup_code_or_network(text: str) -> None:
    sinks = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc"
        r"|\beval\b|\bnew Function\b|\bimport\b|fetch|XMLHttpRequest|WebSocket|sendBeacon"
        r"|https?:|\.src\b|\.href\b|localStorage|sessionStorage|document\.cookie"
    )
    # The one way out is the server's own route, which no trace names.
    text = text.replace("await fetch(route.address, {", "", text == script.component_script())
    assert re.findall(sinks, text) == []


def test_report_script_can_stand_inside_a_script_element() -> None:
    # Only these end or change how the element is read; its hash stays that of this very text.
    assert re.findall(r"</script|<!--|\r", script.report_script(), re.IGNORECASE) == []


def test_one_drawing_two_hosts() -> None:
    component, report = map(script.modules, ("component.js", "boot.js"))
    drawing = script.modules("timeline.js")
    assert report[:-1] == drawing and set(component[:-1]) == set(drawing)
    web = ROOT / "analysis" / "timeline" / "web"
    there = {path.relative_to(web).as_posix() for path in web.rglob("*.js")}
    assert {*component, *report, *script.modules("loader.js")} == there
    assert re.findall("export|import", SCRIPTS[0]) == ["export"]
    assert "\nexport default function " in SCRIPTS[0]
    assert re.findall("export|import", SCRIPTS[1]) == []


def test_a_module_stands_behind_what_it_imports() -> None:
    """A constant of another module is there when it is read."""
    order = script.modules("timeline.js")
    for name in order:
        assert all(order.index(other) < order.index(name) for other in script.imports(name)), name
    assert len(order) > 15


@pytest.mark.parametrize("entry", ["component.js", "boot.js"])
def test_no_two_modules_give_the_same_name(entry: str) -> None:
    """Joined, they share one scope: of two functions the second would win without a word."""
    names = re.findall(
        r"^(?:async )?(?:const|let|class|function) (\w+)", script.joined(entry), re.MULTILINE
    )
    assert len(names) > 100
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_every_operator_class_has_its_colour() -> None:
    light = script.style_sheet().split('.fst[data-theme="dark"]')[0]
    colours = dict(re.findall(r"--fst-([a-z_]+): (#[0-9a-f]{6});", light))
    assert set(CLASSES) <= set(colours)
    assert len({colours[name] for name in CLASSES}) == len(CLASSES)
    known = re.search(r"const CLASSES = \[(.*?)\]", script.joined("timeline.js"), re.DOTALL)
    assert known is not None
    assert set(re.findall(r'"(\w+)"', known[1])) == set(CLASSES)


def test_every_kind_of_what_the_host_does_has_its_colour_and_its_name() -> None:
    light = script.style_sheet().split('.fst[data-theme="dark"]')[0]
    colours = dict(re.findall(r"--fst-host-([a-z_]+): (#[0-9a-f]{6});", light))
    assert set(colours) == set(HOST_KINDS) and len(set(colours.values())) == len(HOST_KINDS)
    known = re.search(r"const HOST_KINDS = \[(.*?)\]", script.joined("timeline.js"), re.DOTALL)
    assert known is not None
    assert tuple(re.findall(r'"(\w+)"', known[1])) == HOST_KINDS
    assert {f"host_{kind}" for kind in HOST_KINDS} <= set(WORDS)
    assert len(HOST_KINDS) <= len(CLASSES), "the script counts both in arrays of one length"


def page_with_a_timeline() -> None:
    import streamlit as st

    from fusescope.analysis.timeline.drawing import Drawing, Layers
    from fusescope.app.parts.timeline import group_timeline, timeline

    nothing = {"span_ns": 10, "classes": [], "groups": [], "sides": []}
    empty = Drawing(Layers(nothing), {"words": {}, "sides": []})
    st.text(timeline(empty, selected=3, key="first"))
    st.text(timeline(empty, selected=None, key="second"))
    st.text(group_timeline(empty, highlight=5, row=6, key="third"))


def test_component_without_a_click_answers_what_it_was_given() -> None:
    at = AppTest.from_function(page_with_a_timeline, default_timeout=GIVE_UP_S).run()
    assert not at.exception
    assert [text.value for text in at.text] == ["3", "None", "(5, 6)"]


def test_only_a_whole_number_is_taken_from_the_browser() -> None:
    from fusescope.app.parts.timeline import _picked

    answers = [{"row": 7}, {"row": None}, {"row": "7"}, {"row": True}, {"row": 7.5}, [7], "7"]
    assert [_picked(answer, "row") for answer in answers] == [7, *[None] * 6]
    assert _picked({"row": 7, "group": 3}, "group") == 3


def test_the_script_writes_times_beside_their_change_as_the_pages_do(tmp_path: Path) -> None:
    pairs = [(243_600, 130_200), (1_990_000, 861_000), (8_826_500, 8_872_800), (0, 1_244)]
    pairs += [(1_914_100, 3_158_600), (7_000, 7_000), (999_400, 1_000_100), (995, 1_004)]
    asks = tmp_path / "asks.mjs"
    text = (ROOT / "analysis" / "timeline" / "web" / "data" / "text.js").as_uri()
    asks.write_text(
        f"import {{ durationsApart }} from {json.dumps(text)};\n"
        f"const pairs = {json.dumps(pairs)};\n"
        "console.log(JSON.stringify(pairs.map(([one, other]) => durationsApart(one, other))));\n"
    )
    deno = Path(sys.prefix) / "bin" / "deno"
    ran = subprocess.run(
        [deno, "run", "--no-remote", "--quiet", asks], capture_output=True, text=True, check=True
    )
    expected = [list(units.durations_apart(*pair, pair[1] - pair[0])) for pair in pairs]
    assert json.loads(ran.stdout) == expected
    assert expected[4] == ["1.914 ms", "3.159 ms"]
