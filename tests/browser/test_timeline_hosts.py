"""The timelines inside Streamlit, in a real browser: clicks, runs of the script, both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import ROOT, RUNS_AT, STREAMLIT, free_port, started
from tests.browser.timelines import HOSTILE, Timeline, wait_until

US = 1000
BLUE, ORANGE, GREEN = (0, 114, 178), (230, 159, 0), (0, 158, 115)

# One server for both hosts: the address says which.
HOSTS = """
import sys

sys.path.insert(0, {root!r})
import streamlit as st
from fusescope.analysis.timeline.drawing import Drawing, Layers
from fusescope.app.parts.timeline import group_timeline, timeline
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
        group, row = group_timeline(drawing, highlight=before, row=None, key="timeline")
        if group != before:
            st.session_state.group = group
            st.rerun()
        if st.button("choose the first"):
            st.session_state.group = 0
            st.rerun()
        st.text(f"group {group}")
    st.text(f"runs {st.session_state.runs}")


def layers():
    st.session_state.runs = st.session_state.get("runs", 0) + 1
    before = st.session_state.get("row")
    drawing = drawing_of(test_timeline.crowd(20_000))
    row = timeline(drawing, selected=before, key="timeline")
    if row != before:
        st.session_state.row = row
        st.rerun()
    st.text(f"row {row}")
    st.text(f"runs {st.session_state.runs}")


{"operators": operators, "groups": groups, "layers": layers}[st.query_params["host"]]()
"""
# The server of the script, with the route by which timelines ask.
SERVER = """
import sys

sys.path.insert(0, {root!r})
import streamlit as st
from fusescope.app.server import answering
from fusescope.app.server.desk import DESK

DESK.is_served = True
app = st.App({script!r}, routes=[answering.route(DESK)])
"""


@pytest.fixture(scope="module")
def host_url(tmp_path_factory: pytest.TempPathFactory, allowed_origins: set[str]) -> Iterator[str]:
    """The address of a script with the timelines, `?host=operators` or `?host=groups`."""
    folder = tmp_path_factory.mktemp("hosts")
    script = folder / "script.py"
    script.write_text(HOSTS.replace("{root!r}", repr(str(ROOT))), encoding="utf-8")
    server = folder / "server.py"
    server.write_text(SERVER.format(root=str(ROOT), script=str(script)), encoding="utf-8")
    options = [f"--server.port={free_port()}", "--server.fileWatcherType=none"]
    with started([STREAMLIT, "run", str(server), *options], folder) as running:
        address = running.wait_for(RUNS_AT)
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


def test_more_detail_comes_without_a_run_of_the_page(page: Page, host_url: str) -> None:
    """10 ms in 20 000 calls of 900 and 100 ns on one side, and 10 000 of 100 ns on the other."""
    asked: list[str] = []
    page.on(
        "request", lambda one: asked.append(one.post_data or "") if one.method == "POST" else None
    )
    page.goto(f"{host_url}/?host=layers")
    timeline = Timeline(page)
    detail = timeline.root.locator(".fst-detail")
    expect(detail).to_contain_text(re.compile(r"30\s000 shorter than 4\.10 µs together"))
    expect(detail).to_contain_text("Zoom in to see them one by one.")
    timeline.canvas.focus()
    timeline.hover(5_000_400)
    for _ in range(7):
        page.keyboard.press("w")
    expect(timeline.root).to_have_attribute("data-level", "exact")
    start, end = timeline.window()
    assert end - start == pytest.approx(10_000_000 / 128, abs=1)
    expect(detail).to_contain_text("Every execution in view is drawn")
    assert timeline.colour(5_010_450) == BLUE and timeline.colour(5_010_950) == GREEN
    timeline.hover(5_000_450)
    expect(timeline.tip).to_contain_text("duration900 ns")
    expect(timeline.tip).to_contain_text(re.compile(r"in fused1\.00 ms in 10\s?000 calls"))
    expect(page.get_by_text("runs 1", exact=True)).to_be_visible()

    timeline.click(5_000_450)
    expect(page.get_by_text("row 0", exact=True)).to_be_visible()
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "10000")
    expect(timeline.root).to_have_attribute("data-highlighted-candidate", "10000")
    # One run for the click and one for the page's own st.rerun(); none for detail and marks.
    expect(page.get_by_text("runs 3", exact=True)).to_be_visible()

    page.keyboard.press("0")
    page.keyboard.press("x")
    summary = timeline.root.get_by_role("region", name="Selected stretch of time")
    expect(summary).to_contain_text("unfused: something ran for 10.0 ms (100.0 %)")
    row = summary.get_by_role("row").filter(has_text="Add")
    expect(row.first).to_contain_text("1.00 ms")
    expect(row.first).to_contain_text(re.compile(r"10\s?000"))
    field = timeline.root.get_by_role("searchbox")
    field.fill("ADD")
    field.press("Enter")
    expect(timeline.root).to_have_attribute("data-hits", "1 10000")
    expect(timeline.root.get_by_role("status").first).to_contain_text("add, Add")
    field.press("Shift+Enter")
    expect(timeline.root).to_have_attribute("data-hits", "10000 10000")
    expect(timeline.tip).to_contain_text("9.9999")
    # Nothing goes up with a question but the question.
    assert len(asked) > 5 and max(map(len, asked)) < 500
    assert page.outside_requests == []
    assert page.console_errors == []


def test_more_detail_comes_by_a_fragment_where_the_route_is_closed(
    page: Page, host_url: str
) -> None:
    sent: list[int] = []
    page.on("websocket", lambda one: one.on("framesent", lambda data: sent.append(len(data))))
    page.route("**/fusescope/timeline", lambda route: route.fulfill(status=410))
    page.goto(f"{host_url}/?host=layers")
    timeline = Timeline(page)
    timeline.canvas.focus()
    timeline.hover(5_000_400)
    for _ in range(7):
        page.keyboard.press("w")
    expect(timeline.root).to_have_attribute("data-level", "exact")
    expect(timeline.root).to_have_attribute("data-fine", "true")
    expect(page.get_by_text("runs 1", exact=True)).to_be_visible()
    assert max(sent) < 4000
