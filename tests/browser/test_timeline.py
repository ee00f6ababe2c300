"""The timeline canvas in a real browser: as the report shows it, and inside Streamlit."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from fusescope.analysis.colours import DARK, LIGHT
from fusescope.analysis.timeline import script
from tests.browser.timelines import HOSTILE, Timeline, open_report, payload, side, wait_until

SPAN = 1_000_000
BLUE, ORANGE, GREEN = (0, 114, 178), (230, 159, 0), (0, 158, 115)


def small() -> Any:
    """Unfused: Conv 0..400, gap, BatchNormalization 500..700, Relu 700..1000 µs; fused: two."""
    before = [
        (HOSTILE, "Conv", "convolution", 7),
        ("bn", "BatchNormalization", "normalisation", 8),
        ("relu", "Relu", "activation", None),
    ]
    after = [("head", "Gemm", "matrix_product", 9), (HOSTILE, "FusedConv", "convolution", 7)]
    return payload(
        side("baseline", before, [(0, 0, 400_000), (1, 500_000, 200_000), (2, 700_000, 300_000)]),
        side("candidate", after, [(0, 0, 250_000), (1, 250_000, 250_000)]),
    )


def crowd(count: int = 5000) -> Any:
    """Far more calls than pixels: 90 % of the time in one class, one call in two."""
    operators = [("conv", "Conv", "convolution", 0), ("add", "Add", "elementwise", 1)]
    calls = [(i % 2, (i // 2) * 1000 + (i % 2) * 900, (900, 100)[i % 2]) for i in range(count)]
    sparse = [(0, i * 1000, 100) for i in range(count // 2)]
    return payload(side("baseline", operators, calls), side("candidate", operators, sparse))


def with_small_lanes() -> Any:
    """The second side has two lanes in which almost nothing ran."""
    data = small()
    second = data["sides"][1]
    second["lanes"] += [{"label": f"stream {n}", "small": True} for n in (8, 9)]
    second["folded"] = "2 lanes with almost no time are folded: 2 executions"
    for name, values in (
        ("op", [0, 0]),
        ("lane", [1, 2]),
        ("start_ns", [0, 9]),
        ("dur_ns", [1] * 2),
    ):
        second["calls"][name] += values
    return data


@pytest.fixture
def show(page: Page, tmp_path: Path, allowed_origins: set[str]) -> Callable[[Any], Timeline]:
    """`show(payload)` opens a report with that timeline as a file."""

    return lambda data: open_report(data, page, tmp_path, allowed_origins)


def test_hover_tells_the_facts_as_text(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    timeline.hover(200_000)
    expect(timeline.tip).to_be_visible()
    expect(timeline.tip).to_contain_text(HOSTILE)
    for fact in ("Conv · convolution", "400 µs", "40.0 %", "float32[1,3,224,224]", "CPUExecution"):
        expect(timeline.tip).to_contain_text(fact)
    expect(timeline.tip).to_contain_text("in fused250 µs")
    expect(timeline.tip).not_to_contain_text("null")
    assert page.locator("img").count() == 0
    timeline.hover(450_000)  # between two operators
    expect(timeline.tip).to_be_hidden()
    timeline.hover(600_000)
    expect(timeline.tip).to_contain_text("in fusedno match")
    assert page.title() == "report"
    assert page.outside_requests == []
    assert page.console_errors == []


def test_wheel_scrolls_the_page_until_the_canvas_has_focus(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    timeline = show(small())
    timeline.hover(200_000)
    page.mouse.wheel(0, 200)
    wait_until(page, lambda: page.evaluate("scrollY") > 0)
    assert timeline.window() == (0, SPAN)
    page.evaluate("scrollTo(0, 0)")
    wait_until(page, lambda: page.evaluate("scrollY") == 0)
    timeline.click(450_000)
    page.mouse.wheel(0, -300)
    expect(timeline.root).not_to_have_attribute("data-from-ns", "0")
    start, end = timeline.window()
    # The time under the pointer stays where it is: 45 % from the left.
    assert (450_000 - start) / (end - start) == pytest.approx(0.45, abs=0.005)
    assert page.evaluate("scrollY") == 0


def test_zoom_by_button_drag_and_reset(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    reset = page.get_by_role("button", name="Reset zoom")
    expect(reset).to_be_disabled()
    page.get_by_role("button", name="Zoom in").click()
    expect(timeline.root).to_have_attribute("data-from-ns", "250000")
    expect(timeline.root).to_have_attribute("data-to-ns", "750000")
    expect(timeline.root).to_contain_text("250.0 µs to 750.0 µs")
    x, y = timeline.at(500_000)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + timeline.box()["width"] / 5, y, steps=4)
    page.mouse.up()
    start, end = timeline.window()
    assert start == pytest.approx(150_000, abs=1000)
    assert end - start == 500_000
    expect(timeline.root).to_have_attribute("data-selected-row", "")  # a drag is not a click
    reset.click()
    assert timeline.window() == (0, SPAN)
    page.get_by_role("button", name="Zoom in").click()
    page.mouse.dblclick(*timeline.at(450_000))
    assert timeline.window() == (0, SPAN)
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom out").click()
    assert timeline.window() == (0, SPAN)


def test_a_stretch_is_summed_up(show: Callable[[Any], Timeline], page: Page) -> None:
    """350 to 600 µs: 50 of Conv and 100 of BatchNormalization, 100 of nothing; the other run ends
    at 500. At 420 an execution takes no time by the clock of the file."""
    data = small()
    for name, value in (("op", 2), ("lane", 0), ("start_ns", 420_000), ("dur_ns", 0)):
        data["sides"][0]["calls"][name].insert(1, value)
    timeline = show(data)
    summary = timeline.root.get_by_role("region", name="Selected stretch of time")
    expect(summary).to_be_hidden()
    (left, y), (right, _) = timeline.at(350_000), timeline.at(600_000)
    page.keyboard.down("Shift")
    page.mouse.move(left, y)
    page.mouse.down()
    page.mouse.move(right, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert timeline.window() == (0, SPAN), "it does not pan"
    expect(summary).to_contain_text(
        re.compile(r"unfused: something ran for 150 µs \(60\.\d %\), nothing for (99\.\d|100) µs")
    )
    expect(summary).to_contain_text(re.compile(r"unfused: [^:]*executions: 3\."))
    expect(summary).to_contain_text("The run ends after 150 µs of it; shares are of these.")
    rows = [row.split() for row in summary.get_by_role("row").all_inner_texts()]
    assert rows[1][0] == "normalisation" and rows[1][-1] == "1"
    assert rows[2][0] == "convolution"
    summary.get_by_role("button", name="Select bn").click()
    expect(timeline.root).to_have_attribute("data-selected-row", "8")
    summary.get_by_role("button", name="Zoom to it").click()
    assert timeline.window() == pytest.approx((350_000, 600_000), abs=2500)
    timeline.canvas.focus()
    page.keyboard.press("Escape")
    expect(summary).to_be_hidden()
    page.keyboard.press("x")  # what is shown
    assert [
        round(float(ns), -4) for ns in (timeline.root.get_attribute("data-stretch") or "").split()
    ] == [350_000, 600_000]
    # One that is asked for: of one side, in the middle.
    page.evaluate(
        "() => document.getElementById('timeline').dispatchEvent(new CustomEvent('fst-stretch', "
        "{detail: {spans: [[400000, 500000], null]}}))"
    )
    expect(timeline.root).to_have_attribute("data-stretch", "400000 500000")
    assert timeline.window() == (350_000, 550_000)
    expect(summary).to_contain_text("unfused: something ran for 0 ns (0.00 %), nothing for 100 µs")
    expect(summary).not_to_contain_text("fused: something ran for 150")
    expect(summary).not_to_contain_text("launched before the file begins")


def test_of_nothing_in_a_stretch_it_is_said_what_is_not_known_to_be_idle(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    """From 380 to 460 µs a kernel waits for what is not in the file: 60 of it in 400 to 500."""
    data = small()
    data["sides"][0]["unrecorded"] = [[380_000, 460_000]]
    timeline = show(data)
    page.evaluate(
        "() => document.getElementById('timeline').dispatchEvent(new CustomEvent('fst-stretch', "
        "{detail: {spans: [[400000, 500000], null]}}))"
    )
    expect(timeline.root.get_by_role("region", name="Selected stretch of time")).to_contain_text(
        "nothing for 100 µs (100.0 %); executions: 0. Of the time in "
        "which nothing ran, 60.0 µs may not be idle time"
    )


def test_click_selects_the_operator_on_both_sides(show: Callable[[Any], Timeline]) -> None:
    timeline = show(small())
    assert timeline.colour(600_000) == ORANGE
    timeline.click(200_000)
    expect(timeline.root).to_have_attribute("data-selected-row", "7")
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "1")
    expect(timeline.root).to_have_attribute("data-highlighted-candidate", "1")
    assert timeline.colour(200_000) == BLUE
    assert timeline.colour(300_000, lane=1) == BLUE
    assert timeline.colour(600_000) != ORANGE  # dimmed
    timeline.click(100_000, lane=1)
    expect(timeline.root).to_have_attribute("data-selected-row", "9")
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "0")
    timeline.click(450_000)
    expect(timeline.root).to_have_attribute("data-selected-row", "")
    assert timeline.colour(600_000) == ORANGE
    timeline.click(900_000)  # an operator in no table is marked too
    expect(timeline.root).to_have_attribute("data-selected-row", "")
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "1")


def test_keyboard_alone(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    timeline.canvas.focus()
    said = timeline.root.get_by_role("status")
    page.keyboard.press("]")
    expect(said).to_contain_text("unfused, 1 of 3: <img src=x")
    page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("unfused, 2 of 3: bn, BatchNormalization, normalisation")
    expect(timeline.tip).to_contain_text("bn")
    page.keyboard.press("Enter")
    expect(timeline.root).to_have_attribute("data-selected-row", "8")
    page.keyboard.press("Shift+ArrowDown")
    expect(said).to_contain_text("fused, 2 of 2")
    page.keyboard.press("ArrowUp")
    expect(said).to_contain_text("fused, 1 of 2: head")
    page.keyboard.press("[")
    expect(said).to_contain_text("unfused, 3 of 3: relu")
    page.keyboard.press("Escape")
    expect(timeline.root).to_have_attribute("data-selected-row", "")
    expect(timeline.tip).to_be_hidden()
    page.keyboard.press("+")
    assert timeline.window() == (250_000, 750_000)
    page.keyboard.press("ArrowLeft")
    assert timeline.window() == (187_500, 687_500)
    page.keyboard.press("]")
    page.keyboard.press("]")
    page.keyboard.press("]")  # relu lies outside: the window follows
    assert timeline.window() == (500_000, SPAN)
    page.keyboard.press("0")
    assert timeline.window() == (0, SPAN)


def test_select_from_outside_brings_the_operator_into_view(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    show(small())
    page.evaluate(
        "() => {"
        + script.joined("timeline.js")
        + """
            const data = JSON.parse(document.getElementById("timeline-data").textContent);
            const root = document.createElement("div");
            root.id = "second";
            document.getElementById("timeline").replaceWith(root);
            window.told = [];
            const onSelect = (row) => window.told.push(row);
            window.view = mount(root, data, { onSelect });
        }"""
    )
    timeline = Timeline(page)
    timeline.canvas.focus()
    for key in ("+", "+", "+", *["ArrowLeft"] * 40):
        page.keyboard.press(key)
    assert timeline.window() == (0, 125_000)
    page.evaluate("view.select(8)")
    start, end = timeline.window()
    assert start <= 500_000 and end >= 700_000
    page.evaluate("view.select(8)")
    page.evaluate("view.select(4711)")  # in the table, but not in this run: nothing is dimmed
    expect(timeline.root).to_have_attribute("data-selected-row", "4711")
    assert timeline.colour(600_000) == ORANGE
    assert page.evaluate("told") == []  # the host is told of the user's clicks only
    timeline.click(600_000)
    timeline.click(600_000)
    assert page.evaluate("told") == [8]
    page.evaluate("view.update(JSON.parse(document.getElementById('timeline-data').textContent))")
    assert timeline.window() == (start, end)
    expect(timeline.root).to_have_attribute("data-selected-row", "8")
    page.evaluate("view.destroy()")
    assert page.locator("canvas").count() == 0


def test_thin_calls_can_be_seen_and_pointed_at(show: Callable[[Any], Timeline]) -> None:
    operators = [("conv", "Conv", "convolution", 0), ("add", "Add", "elementwise", 1)]
    calls = [(0, 0, 10_000_000), (1, 10_000_000, 1000), (0, 10_001_000, 10_000_000)]
    timeline = show(payload(side("baseline", operators, calls)))
    assert timeline.row_of_pixels().count(GREEN) == 1
    x, y = timeline.at(10_000_500)
    timeline.page.mouse.move(x - 2, y)
    expect(timeline.tip).to_contain_text("Add")
    timeline.page.mouse.move(x - 5, y)
    expect(timeline.tip).to_contain_text("Conv")
    timeline.page.mouse.click(x + 2, y)
    expect(timeline.root).to_have_attribute("data-selected-row", "1")


def test_a_crowd_of_calls_keeps_the_proportions_of_time(show: Callable[[Any], Timeline]) -> None:
    timeline = show(crowd())
    pixels = timeline.row_of_pixels()
    heavy, light = pixels.count(BLUE) / len(pixels), pixels.count(GREEN) / len(pixels)
    assert heavy + light > 0.99
    assert light == pytest.approx(0.1, abs=0.02)  # of the time, half of the calls
    # One tenth of every pixel of the second side is busy: none looks idle, none looks full.
    assert set(timeline.row_of_pixels(lane=1)) == {BLUE}
    x, y = timeline.at(1_000_000, lane=1)
    assert timeline.pixel(x, y - 12)[3] < 50


def test_folded_lanes_unfold(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(with_small_lanes())
    lanes = "data-lane-centres"
    assert len((timeline.root.get_attribute(lanes) or "").split()) == 2
    expect(timeline.root).to_contain_text("fused: 2 lanes with almost no time are folded")
    page.get_by_role("button", name="Show the folded lanes").click()
    wait_until(page, lambda: len((timeline.root.get_attribute(lanes) or "").split()) == 4)
    fold = page.get_by_role("button", name="Fold the lanes with almost no time")
    expect(fold).to_have_attribute("aria-expanded", "true")
    timeline.hover(250_000, lane=1)
    expect(timeline.tip).to_contain_text("laneCPU")
    fold.click()
    wait_until(page, lambda: len((timeline.root.get_attribute(lanes) or "").split()) == 2)
    assert page.console_errors == []


def test_legend_singles_out_a_class(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    button = page.get_by_role("button", name="Single out normalisation")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert timeline.colour(600_000) == ORANGE
    assert timeline.colour(200_000) != BLUE
    button.click()
    assert timeline.colour(200_000) == BLUE


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def test_dark_and_paper(show: Callable[[Any], Timeline], page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    timeline = show(small())
    expect(timeline.root).to_have_attribute("data-theme", "dark")
    assert timeline.colour(200_000) == BLUE
    ink = "canvas => getComputedStyle(canvas).color"
    assert timeline.canvas.evaluate(ink) == "rgb(230, 237, 243)"
    left, top = timeline.box()["x"], timeline.box()["y"]
    assert timeline.pixel(left + 5, top + 10) == (*_rgb(DARK.baseline), 255)  # the side's head
    page.emulate_media(color_scheme="light")  # the reader's system changes its mind
    expect(timeline.root).to_have_attribute("data-theme", "light")
    assert timeline.canvas.evaluate(ink) == "rgb(27, 31, 36)"
    assert timeline.pixel(left + 5, top + 10) == (*_rgb(LIGHT.baseline), 255)
    page.emulate_media(color_scheme="dark", media="print")
    expect(timeline.root).to_have_attribute("data-printing", "")
    expect(timeline.root).to_have_attribute("data-theme", "light")
    expect(page.get_by_role("button", name="Zoom in")).to_be_hidden()
    assert timeline.canvas.evaluate("canvas => canvas.width / canvas.clientWidth") >= 2.9
    page.emulate_media(media="screen")
    expect(timeline.root).to_have_attribute("data-theme", "dark")
    assert page.console_errors == []


def test_one_side_no_side_and_long_labels(show: Callable[[Any], Timeline], page: Page) -> None:
    only = small()["sides"][0]
    timeline = show(payload({**only, "label": "first " + "x" * 400 + " last"}))
    x, y = timeline.at(0)
    page.mouse.move(x + 30, y - 55)
    expect(timeline.tip).to_contain_text("x" * 400 + " last")
    assert timeline.colour(200_000) == BLUE
    timeline = show(payload())
    expect(timeline.canvas).to_be_visible()
    assert page.console_errors == []


def test_names_of_nested_calls_are_not_written_over_each_other(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    page.add_init_script(
        """window.texts = [];
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            texts.push([text, x, x + this.measureText(text).width, Math.round(y / 20)]);
            return write.apply(this, arguments);
        };"""
    )
    operators = [
        (name, "aten", "convolution", row)
        for row, name in enumerate(("conv2d", "convolution", "_convolution", "relu"))
    ]
    calls = [(0, 0, 600_000), (1, 2_000, 590_000), (2, 4_000, 580_000), (3, 600_000, 400_000)]
    show(payload(side("baseline", operators, calls)))
    wait_until(
        page, lambda: page.evaluate("texts.length") > 0
    )  # the page draws in a frame of its own
    drawn = {
        (text, left, right)
        for text, left, right, _ in page.evaluate("texts")
        if text in {name for name, *_ in operators}
    }
    # Only the innermost has room; the others are told by the tooltip.
    assert {text for text, _, _ in drawn} == {"_convolution", "relu"}
    places = sorted((left, right) for _, left, right in drawn)
    assert all(before[1] <= after[0] for before, after in pairwise(places))


def test_resize_keeps_the_window(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    page.get_by_role("button", name="Zoom in").click()
    page.set_viewport_size({"width": 640, "height": 800})
    width = "canvas => canvas.width"
    wait_until(page, lambda: timeline.canvas.evaluate(width) < 640)
    assert timeline.window() == (250_000, 750_000)
    assert timeline.colour(600_000) == ORANGE


def test_what_is_drawn_of_a_side_takes_lines_where_the_page_is_narrow(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    """20 words of 7 letters need three lines of 400 pixels or more, each 20 pixels high."""
    page.set_viewport_size({"width": 420, "height": 800})
    heights = []
    for caption in ("short", " ".join(["several"] * 20)):
        one = side("baseline", [("conv", "Conv", "convolution", 0)], [(0, 0, 1000)])
        data = payload({**one, "caption": caption})
        heights.append(open_report(data, page, tmp_path, allowed_origins).box()["height"])
    assert heights[1] - heights[0] >= 40 and (heights[1] - heights[0]) % 20 == 0


def test_an_overview_says_how_exact_it_is_and_counts_what_it_draws_together(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    """2000 calls of 900 and 100 ns, and one of 300 µs: far more than 200 items."""
    operators = [
        ("conv", "Conv", "convolution", 0),
        ("add", "Add", "elementwise", 1),
        ("gemm", "Gemm", "matrix_product", 2),
    ]
    calls = [(i % 2, (i // 2) * 1000 + (i % 2) * 900, (900, 100)[i % 2]) for i in range(2000)]
    data = payload(side("baseline", operators, [*calls, (2, 1_000_000, 300_000)]))
    timeline = open_report(data, page, tmp_path, allowed_origins, items=200)
    # 1.3 ms in at most 200 bins: 2**13 ns, 123 of them.
    expect(timeline.root).to_have_attribute("data-level", "13")
    detail = timeline.root.locator(".fst-detail")
    expect(detail).to_contain_text(
        "1 executions one by one, and 2\u202f000 shorter than 8.19 µs together"
    )
    expect(detail).to_contain_text("This page is exact down to 8.19 µs")
    pixels = timeline.row_of_pixels()[: int(timeline.box()["width"] / 1.3)]
    light = pixels.count(GREEN) / len(pixels)
    assert light == pytest.approx(0.1, abs=0.03), "of the time, half of the calls"
    assert light + pixels.count(BLUE) / len(pixels) > 0.97
    timeline.hover(500_000)
    expect(timeline.tip).to_contain_text("executions within 8.19 µs")
    expect(timeline.tip).to_contain_text("something ran for100.0 %")
    expect(timeline.tip).to_contain_text("longestconv, Conv, 900 ns")
    timeline.hover(1_100_000)
    expect(timeline.tip).to_contain_text("gemm")
    timeline.click(500_000)
    expect(timeline.root).to_have_attribute("data-selected-row", "0")
    timeline.canvas.focus()
    page.keyboard.press("x")
    summary = timeline.root.get_by_role("region", name="Selected stretch of time")
    expect(summary).to_contain_text("something ran for 1.30 ms (100.0 %)")
    expect(summary).to_contain_text("executions: 2\u202f001")
    expect(summary).to_contain_text("shorter ones, drawn together")
    assert page.console_errors == []


def test_search_help_map_and_table(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    timeline.canvas.focus()
    page.keyboard.press("/")
    field = timeline.root.get_by_role("searchbox")
    expect(field).to_be_focused()
    field.fill("BatchNorm")
    page.keyboard.press("Enter")
    expect(timeline.root).to_have_attribute("data-hits", "1 1")
    expect(timeline.tip).to_contain_text("bn")
    field.fill("nothing of this")
    page.keyboard.press("Enter")
    expect(timeline.root).to_contain_text("no execution")
    page.keyboard.press("Escape")
    expect(timeline.canvas).to_be_focused()

    page.keyboard.press("?")
    help_ = timeline.root.get_by_role("dialog", name="Keys and pointer")
    expect(help_).to_contain_text("search for an operator")
    page.keyboard.press("Escape")
    expect(help_).to_be_hidden()

    page.get_by_text("What is in view, as a table").click()
    rows = timeline.root.locator(".fst-view").get_by_role("row")
    expect(rows).to_have_count(6)
    expect(rows.nth(1)).to_contain_text(HOSTILE)
    expect(rows.nth(2)).to_contain_text("BatchNormalization")
    heads = timeline.root.locator(".fst-view").get_by_role("columnheader").all_inner_texts()
    assert heads[2:4] == ["Start", "Duration"]  # before the other names, which are long
    assert page.locator("img").count() == 0

    timeline.canvas.focus()
    page.keyboard.press("+")
    box = timeline.box()
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + box["height"] - 5)
    assert timeline.window() == pytest.approx((0, 500_000), abs=2000)
    expect(timeline.root).to_have_attribute("data-selected-row", "")
    expect(rows).to_have_count(4)  # what begins at 500 µs is not in view
    page.keyboard.press("f")
    assert timeline.window() == (0, SPAN)
    assert page.console_errors == []


def test_starts_in_the_table_have_the_digits_of_the_shortest_row(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    """The second call lasts 20 ms and begins behind the first, not at 1 ms."""
    operators = [("one", "Conv", "convolution", 0), ("two", "Relu", "activation", 1)]
    calls = [(0, 0, 1_330_000), (1, 1_340_000, 20_000_000), (0, 21_388_600, 2_000)]
    timeline = show(payload(side("baseline", operators, calls)))
    page.get_by_text("What is in view, as a table").click()
    rows = timeline.root.locator(".fst-view tbody tr")
    expect(rows).to_have_count(3)
    heads = timeline.root.locator(".fst-view").get_by_role("columnheader").all_inner_texts()
    assert heads == ["Operator", "Start", "Duration", "Lane", "Type"], "of one side, no side"
    starts = [row.split("\t")[1] for row in rows.all_inner_texts()]
    assert starts == ["0.0000 ms", "1.3400 ms", "21.3886 ms"]
    durations = [row.split("\t")[2] for row in rows.all_inner_texts()]
    assert durations == ["1\u202f330 µs", "20\u202f000 µs", "2 µs"], "in one unit, to that of 2 µs"
