"""The timeline's script as text, and its Streamlit component without a browser."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from analysis.operators.classes import OP_CLASSES
from analysis.timeline import script
from tests.patience import GIVE_UP_S

SCRIPTS = [script.component_script(), script.report_script()]
CLASSES = (*OP_CLASSES, "other")


@pytest.mark.parametrize("text", SCRIPTS, ids=["component", "report"])
def test_no_way_from_a_trace_to_markup_code_or_network(text: str) -> None:
    sinks = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc"
        r"|\beval\b|\bnew Function\b|\bimport\b|fetch|XMLHttpRequest|WebSocket|sendBeacon"
        r"|https?:|\.src\b|\.href\b|localStorage|sessionStorage|document\.cookie"
    )
    assert re.findall(sinks, text) == []


def test_report_script_can_stand_inside_a_script_element() -> None:
    # Only these end or change how the element is read; its hash stays that of this very text.
    assert re.findall(r"</script|<!--|\r", script.report_script(), re.IGNORECASE) == []


def test_one_drawing_two_hosts() -> None:
    drawing = script.drawing_script()
    component, report = SCRIPTS
    assert component.startswith(drawing)
    assert report.startswith(drawing)
    assert component.count("export default") == 1
    assert "export" not in report


def test_every_operator_class_has_its_colour() -> None:
    light = script.style_sheet().split('.fst[data-theme="dark"]')[0]
    colours = dict(re.findall(r"--fst-([a-z_]+): (#[0-9a-f]{6});", light))
    assert set(CLASSES) <= set(colours)
    assert len({colours[name] for name in CLASSES}) == len(CLASSES)
    known = re.search(r"const CLASSES = \[(.*?)\]", script.drawing_script(), re.DOTALL)
    assert known is not None
    assert set(re.findall(r'"(\w+)"', known[1])) == set(CLASSES)


def page_with_a_timeline() -> None:
    import streamlit as st

    from app.parts.timeline import group_timeline, timeline

    empty = '{"span_ns": 10, "classes": [], "groups": [], "sides": []}'
    st.text(timeline(empty, selected=3, key="first"))
    st.text(timeline(empty, selected=None, key="second"))
    st.text(group_timeline(empty, highlight=5, key="third"))


def test_component_without_a_click_answers_what_it_was_given() -> None:
    at = AppTest.from_function(page_with_a_timeline, default_timeout=GIVE_UP_S).run()
    assert not at.exception
    assert [text.value for text in at.text] == ["3", "None", "5"]


def test_only_a_whole_number_is_taken_from_the_browser() -> None:
    from app.parts.timeline import _picked

    answers = [{"row": 7}, {"row": None}, {"row": "7"}, {"row": True}, {"row": 7.5}, [7], "7"]
    assert [_picked(answer, "row") for answer in answers] == [7, *[None] * 6]
    assert _picked({"row": 7, "group": 3}, "group") == 3
