"""The lane of the host in a real browser: bars, their texts, launches, folding."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from fusescope.analysis.compare.side import Side
from fusescope.analysis.timeline.payload import texts, trace_payload
from tests.browser.timelines import HOSTILE, Timeline, open_report
from tests.host.hosts import Call, Span, trace_of

MS = 1_000_000
LAUNCH = 300 * MS - 50_000
ORANGE = (230, 159, 0)  # loading data


def data(runs: int = 1) -> Any:
    """A run of 400 ms: data is loaded until 200; a function with a hostile name until 300, which
    launches a kernel just before it ends, which runs from 300 to 325; then nothing. `runs` kernels
    of one operator in its place."""
    step = 50 * MS // runs
    calls: list[Call] = [
        (300 * MS + i * step, 300 * MS + i * step + step // 2, 0, LAUNCH + i) for i in range(runs)
    ]
    spans: list[Span] = [
        (
            0,
            "annotation",
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            0,
            200 * MS,
        ),
        (0, "frame", HOSTILE, 200 * MS, 300 * MS),
    ]
    trace = trace_of(spans, calls, [(0, 400 * MS)])
    if runs > 1:  # of one operator
        calls_of_one = trace.calls.assign(operator=0).astype(trace.calls.dtypes)
        object.__setattr__(trace, "calls", calls_of_one)
    payload = trace_payload(Side("a.json", trace))
    said = texts(payload)
    sides = [{**side, **says} for side, says in zip(payload["sides"], said["sides"], strict=True)]
    return {**payload, "classes": said["classes"], "sides": sides}


@pytest.fixture
def timeline(page: Page, tmp_path: Path, allowed_origins: set[str]) -> Timeline:
    return open_report(data(), page, tmp_path, allowed_origins)


def test_a_bar_says_the_cause_its_stack_time_and_share_as_text(
    timeline: Timeline, page: Page
) -> None:
    x, y = timeline.at(150 * MS, 1)
    assert timeline.pixel(x, y + 6)[:3] == ORANGE
    timeline.hover(100 * MS, 1)
    for fact in (
        "DataLoader.__next__",
        "loading data",
        "200 ms",
        "50.0 %",
        "enumerate(DataLoader)",
    ):
        expect(timeline.tip).to_contain_text(fact)
    timeline.hover(250 * MS, 1)
    expect(timeline.tip).to_contain_text(HOSTILE)
    expect(timeline.tip).to_contain_text("running other code")
    timeline.hover(310 * MS, 1)  # there the device runs
    expect(timeline.tip).to_be_hidden()
    line = timeline.root.locator(".fst-host p").first
    expect(line).to_contain_text("While the device is idle, the host is:")
    assert not re.search(r"\d", line.inner_text()), "figures stand with the table"
    page.get_by_text("What is in view, as a table").click()
    shares = timeline.root.locator(".fst-shares")
    expect(shares).to_contain_text("the device is idle for 375 ms (93.8 % of the time drawn)")
    expect(shares).to_contain_text("loading data 53.3 %")
    assert page.locator("img").count() == 0 and page.title() == "report"
    assert page.console_errors == []


def test_the_keyboard_goes_to_the_lane_and_says_its_bars(timeline: Timeline, page: Page) -> None:
    timeline.canvas.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    live = timeline.root.get_by_role("status")
    expect(live).to_contain_text("preparing the next launch, the device is idle, start 299.9")
    page.keyboard.press("ArrowUp")
    expect(live).to_contain_text("the device is idle, running other code")
    page.keyboard.press("ArrowUp")
    expect(live).to_contain_text("DataLoader.__next__, the device is idle, loading data")
    page.keyboard.press("Enter")
    assert timeline.root.get_attribute("data-selected-row") == "", "a cause is no operator"
    page.get_by_text("What is in view, as a table").click()
    expect(timeline.root.locator(".fst-view table")).to_contain_text("loading data")


def test_a_selected_operator_has_lines_from_its_launches(timeline: Timeline) -> None:
    line = timeline.root.locator(".fst-host")
    expect(line).not_to_contain_text("Launches")
    timeline.click(310 * MS)
    expect(timeline.root).to_have_attribute("data-launches", "1 1")
    expect(line).to_contain_text("Launches of what is selected, in view: 1, each")


def test_bars_of_the_host_are_not_counted_as_executions(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    """500 kernels, and as many times an idle device; the table has the 40 longest of both."""
    timeline = open_report(data(500), page, tmp_path, allowed_origins)
    page.get_by_text("What is in view, as a table").click()
    rows = timeline.root.locator(".fst-view tbody tr")
    expect(rows).to_have_count(40)
    of_host = rows.filter(has_text="host").count()
    text = timeline.root.locator(".fst-view").inner_text()
    assert f"longest executions in view; {500 - (40 - of_host)} more" in text
    assert "longest bars of the host's lane in view; " in text


def test_of_many_launches_a_bounded_number_has_lines(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    timeline = open_report(data(500), page, tmp_path, allowed_origins)
    timeline.click(325 * MS)
    expect(timeline.root).to_have_attribute("data-launches", "167 500")
    line = timeline.root.locator(".fst-host")
    expect(line).to_contain_text("in view: 500; 167 of them have a line")


def test_an_overview_has_the_lane_too(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    timeline = open_report(data(500), page, tmp_path, allowed_origins, items=60)
    timeline.hover(100 * MS, 1)
    expect(timeline.tip).to_contain_text("DataLoader.__next__")
    timeline.click(325 * MS)
    expect(timeline.root.locator(".fst-host")).not_to_contain_text("Launches")
    assert page.console_errors == []


def test_the_lane_is_folded_away_and_comes_back(timeline: Timeline) -> None:
    def lanes() -> int:
        return len((timeline.root.get_attribute("data-lane-centres") or "").split())

    assert lanes() == 2
    timeline.root.get_by_role("button", name="Fold the host lane").click()
    show = timeline.root.get_by_role("button", name="Show the host lane")
    expect(show).to_have_attribute("aria-expanded", "false")
    expect(timeline.root).not_to_have_attribute("data-lane-centres", " ")
    timeline.at(0)
    assert lanes() == 1
    show.click()
    timeline.canvas.hover()
    assert lanes() == 2
