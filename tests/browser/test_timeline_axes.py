"""One axis of time for all sides of a timeline, or one for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.timelines import Timeline, open_report, payload, side

SPAN = 1_000_000


@pytest.fixture
def timeline(page: Page, tmp_path: Path, allowed_origins: set[str]) -> Timeline:
    """Unfused: Conv 0..400, Relu 500..1000 µs; fused: one operator 0..500 µs."""
    return _opened(page, tmp_path, allowed_origins)


def _opened(page: Page, folder: Path, allowed: set[str]) -> Timeline:
    before = [("conv", "Conv", "convolution", 7), ("relu", "Relu", "activation", 8)]
    after = [("conv", "FusedConv", "convolution", 7)]
    data: Any = payload(
        side("baseline", before, [(0, 0, 400_000), (1, 500_000, 500_000)], groups=[1, 1]),
        side("candidate", after, [(0, 0, 500_000)], groups=[1]),
        groups=[{
            "id": 1, "pattern": "Conv+Relu", "becomes": "FusedConv", "kind": "fused",
            "before_ns": 900_000, "after_ns": 500_000, "gain_ns": 400_000, "hurts": False,
        }],
    )  # fmt: skip
    return open_report(data, page, folder, allowed)


def windows(timeline: Timeline) -> list[tuple[int, int]]:
    """What each side shows; empty where they share one axis."""
    text = timeline.root.get_attribute("data-axes") or ""
    return [(int(a), int(b)) for a, b in (part.split() for part in text.split(", ") if part)]


def test_keys_move_one_side_and_say_which(timeline: Timeline, page: Page) -> None:
    timeline.canvas.focus()
    assert windows(timeline) == []
    page.keyboard.press("l")
    status = timeline.root.get_by_role("status")
    expect(status).to_have_text("Every side has its own time. Keys now move unfused: 0 to 1.00 ms.")
    page.keyboard.press("+")
    assert windows(timeline) == [(250_000, 750_000), (0, SPAN)]
    page.keyboard.press("v")
    expect(status).to_contain_text("Keys now move fused: 0 to 1.00 ms.")
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.keyboard.press("d")
    assert windows(timeline) == [(250_000, 750_000), (406_250, 656_250)]
    expect(timeline.root.locator(".fst-range").last).to_have_text("fused: 406.3 µs to 656.3 µs")
    # As text, for who does not see it.
    table = timeline.root.locator("details.fst-view")
    table.locator("summary").click()
    expect(table).to_contain_text("unfused: 250.0 µs to 750.0 µs")
    expect(table).to_contain_text("fused: 406.3 µs to 656.3 µs")
    timeline.canvas.focus()
    page.keyboard.press("l")
    assert windows(timeline) == []
    assert timeline.window() == (406_250, 656_250), "all show what the active side did"
    expect(status).to_contain_text("All sides show the same time: 406.3 µs to 656.3 µs.")
    page.keyboard.press("v")  # nothing to choose
    assert timeline.window() == (406_250, 656_250)


def test_the_pointer_moves_what_it_is_on(timeline: Timeline, page: Page) -> None:
    same = page.get_by_role("button", name="Show the same time on all sides")
    expect(same).to_have_attribute("aria-pressed", "true")
    same.click()
    expect(same).to_have_attribute("aria-pressed", "false")
    box, left = timeline.box(), timeline.number("plot-left")
    x, y = timeline.at(500_000, lane=1)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.up()
    page.mouse.wheel(0, -300)
    first, second = windows(timeline)
    assert first == (0, SPAN)
    assert second[1] - second[0] < SPAN
    # The time under the pointer stays where it is.
    assert (500_000 - second[0]) / (second[1] - second[0]) == pytest.approx(0.5, abs=0.005)
    width = box["width"] - left
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + width / 10, y, steps=3)
    page.mouse.up()
    moved = windows(timeline)
    assert moved[0] == (0, SPAN)
    assert moved[1][0] < second[0]
    # What is selected is of that side alone, in its own time.
    page.keyboard.press("x")
    stretch = timeline.root.get_by_role("region", name="Selected stretch of time")
    expect(stretch).to_contain_text("fused: ")
    expect(stretch).not_to_contain_text("unfused: ")
    assert (timeline.root.get_attribute("data-stretch") or "") == f"{moved[1][0]} {moved[1][1]}"
    page.get_by_role("button", name="Reset zoom").click()
    assert windows(timeline) == [(0, SPAN), (0, SPAN)]


def test_hits_are_found_where_a_side_draws_them(
    timeline: Timeline, page: Page, colour_of: Callable[[int], int]
) -> None:
    """Relu is drawn over the whole width once its side shows 500 to 1000 µs alone."""
    timeline.canvas.focus()
    page.keyboard.press("l")
    page.keyboard.press("+")
    for _ in range(8):
        page.keyboard.press("d")
    assert windows(timeline) == [(500_000, SPAN), (0, SPAN)]
    box, left = timeline.box(), timeline.number("plot-left")
    centres = [float(y) for y in (timeline.root.get_attribute("data-lane-centres") or "").split()]
    x = box["x"] + left + 0.25 * (box["width"] - left)
    page.mouse.move(x, box["y"] + centres[0])
    expect(timeline.tip).to_contain_text("relu")
    page.mouse.move(x, box["y"] + centres[1])
    expect(timeline.tip).to_contain_text("conv")
    assert colour_of(0) != colour_of(1)


@pytest.fixture
def colour_of(timeline: Timeline) -> Callable[[int], int]:
    """The colour a quarter of the width into a lane."""

    def colour(lane: int) -> int:
        row = timeline.row_of_pixels(lane)
        left = int(timeline.number("plot-left"))
        red, green, blue = row[left + (len(row) - left) // 4]
        return (red << 16) | (green << 8) | blue

    return colour


def test_ribbons_join_two_axes_and_alignment_has_one(timeline: Timeline, page: Page) -> None:
    timeline.mode("fusion flow")
    timeline.canvas.focus()
    page.keyboard.press("l")
    page.keyboard.press("+")
    assert windows(timeline) == [(250_000, 750_000), (0, SPAN)]
    assert timeline.root.get_attribute("data-mode") == "flow"
    timeline.mode("aligned by group")
    assert windows(timeline) == []
    expect(page.get_by_role("button", name="Show the same time on all sides")).to_be_disabled()
    timeline.canvas.focus()
    page.keyboard.press("l")
    assert windows(timeline) == []
    assert page.console_errors == []


def test_a_place_of_each_side_is_shown_at_one_scale(timeline: Timeline, page: Page) -> None:
    """Of 200 us before and 100 after: both windows have twice the longer one, and conv, which runs
    on both sides, and relu are lit."""
    page.evaluate(
        "() => document.getElementById('timeline').dispatchEvent(new CustomEvent('fst-stretch', "
        "{detail: {spans: [[500000, 700000], [300000, 400000]], rows: [7, 8]}}))"
    )
    assert windows(timeline) == [(400_000, 800_000), (150_000, 550_000)]
    expect(timeline.root).to_have_attribute("data-stretch", "500000 700000, 300000 400000")
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "2")
    expect(timeline.root).to_have_attribute("data-highlighted-candidate", "1")
    expect(timeline.root).to_have_attribute("data-selected-row", "")
    summary = timeline.root.get_by_role("region", name="Selected stretch of time")
    expect(summary).to_contain_text("unfused: something ran for 200 µs")
    expect(summary).to_contain_text("fused: something ran for 100 µs")
