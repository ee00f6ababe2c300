"""The timelines inside Streamlit, in a real browser: clicks, runs of the script, both ways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import ROOT, RUNS_AT, STREAMLIT, free_port, started
from tests.browser.timelines import HOSTILE, Timeline, wait_until

US = 1000
BLUE, ORANGE = (0, 114, 178), (230, 159, 0)

# One server for both hosts: the address says which.
HOSTS = """
import sys

sys.path.insert(0, {root!r})
import streamlit as st
from analysis.timeline.drawing import Drawing, Layers
from app.parts.timeline import group_timeline, timeline
from tests.browser import test_fusion_flow, test_timeline
from tests.browser.timelines import said


def drawing_of(data):
    return Drawing(Layers(data), said(data))


def operators():
    drawing = drawing_of(test_timeline.small())
    st.session_state.runs = st.session_state.get("runs", 0) + 1
    before = st.session_state.get("row")
    row = timeline(drawing, selected=before, key="timeline")
    if row != before:
        st.session_state.row = row
        st.rerun()
    if st.button("choose the second"):
        st.session_state.row = 8
        st.rerun()
    st.text(f"row {row}")
    st.text(f"runs {st.session_state.runs}")


def groups():
    drawing = drawing_of(test_fusion_flow.small())
    st.session_state.runs = st.session_state.get("runs", 0) + 1
    if not st.checkbox("hide"):
        before = st.session_state.get("group", 2)
        group = group_timeline(drawing, highlight=before, key="timeline")
        if group != before:
            st.session_state.group = group
            st.rerun()
        if st.button("choose the first"):
            st.session_state.group = 0
            st.rerun()
        st.text(f"group {group}")
    st.text(f"runs {st.session_state.runs}")


{"operators": operators, "groups": groups}[st.query_params["host"]]()
"""


@pytest.fixture(scope="module")
def host_url(tmp_path_factory: pytest.TempPathFactory, allowed_origins: set[str]) -> Iterator[str]:
    """The address of a script with the timelines, `?host=operators` or `?host=groups`."""
    folder = tmp_path_factory.mktemp("hosts")
    script = folder / "script.py"
    script.write_text(HOSTS.replace("{root!r}", repr(str(ROOT))), encoding="utf-8")
    options = [f"--server.port={free_port()}", "--server.fileWatcherType=none"]
    with started([STREAMLIT, "run", str(script), *options], folder) as server:
        address = server.wait_for(RUNS_AT)
        allowed_origins.add(f"{address}/")
        yield address


def test_operators(page: Page, host_url: str) -> None:
    page.goto(f"{host_url}/?host=operators")
    timeline = Timeline(page)
    expect(page.get_by_text("row None")).to_be_visible()
    expect(page.get_by_text("runs 1", exact=True)).to_be_visible()
    assert timeline.colour(600_000) == ORANGE

    page.get_by_role("button", name="Zoom in").click()
    timeline.hover(300_000)
    expect(timeline.tip).to_contain_text(HOSTILE)
    timeline.click(300_000)
    expect(page.get_by_text("row 7")).to_be_visible()
    expect(timeline.root).to_have_attribute("data-highlighted-candidate", "1")
    # One run for the click and one for the page's own st.rerun(); none for hover and zoom.
    expect(page.get_by_text("runs 3", exact=True)).to_be_visible()
    assert timeline.window() == (250_000, 750_000)

    page.get_by_role("button", name="choose the second").click()
    expect(page.get_by_text("row 8")).to_be_visible()
    expect(timeline.root).to_have_attribute("data-selected-row", "8")
    assert timeline.window() == (250_000, 750_000)
    timeline.click(450_000)
    expect(page.get_by_text("row None")).to_be_visible()
    expect(timeline.root).to_have_attribute("data-selected-row", "")

    page.emulate_media(color_scheme="dark")
    expect(timeline.root).to_have_attribute("data-theme", "dark")
    assert timeline.window() == (250_000, 750_000)
    assert page.locator("img").count() == 0
    assert page.outside_requests == []
    assert page.console_errors == []


def test_groups(page: Page, host_url: str) -> None:
    page.goto(f"{host_url}/?host=groups")
    timeline = Timeline(page)
    expect(page.get_by_text("group 2", exact=True)).to_be_visible()
    expect(timeline.root).to_have_attribute("data-mode", "flow")
    expect(timeline.root).to_have_attribute("data-selected-group", "2")
    assert timeline.colour(150 * US) != BLUE  # dimmed
    page.mouse.click(*timeline.in_band(150 * US, 0.05))
    expect(page.get_by_text("group 0", exact=True)).to_be_visible()
    # One run for the click and one for the page's own st.rerun().
    expect(page.get_by_text("runs 3", exact=True)).to_be_visible()
    assert timeline.colour(150 * US) == BLUE

    timeline.mode("true time")
    timeline.click(450 * US)  # another operator of the same group: nothing new
    timeline.click(600 * US)
    expect(page.get_by_text("group 2", exact=True)).to_be_visible()
    expect(page.get_by_text("runs 5", exact=True)).to_be_visible()
    expect(timeline.root).to_have_attribute("data-mode", "time")
    timeline.click(950 * US)  # an operator in no group
    expect(page.get_by_text("group None", exact=True)).to_be_visible()
    page.get_by_role("button", name="choose the first").click()
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "2")

    page.get_by_text("hide").click()
    expect(timeline.root).to_have_count(0)
    page.get_by_text("hide").click()
    again = Timeline(page)
    expect(again.root).to_have_attribute("data-mode", "time")  # what the user chose last
    expect(again.root).to_have_attribute("data-selected-group", "0")
    wait_until(page, lambda: again.colour(150 * US) == BLUE)
    assert page.locator("img").count() == 0
    assert page.outside_requests == []
    assert page.console_errors == []
