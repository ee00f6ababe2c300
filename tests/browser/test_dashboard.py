"""The dashboard as `fusescope serve` runs it, in a real browser."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from fusescope.app.parts.table import ROW_HEIGHT
from tests.browser.accessibility import violations
from tests.browser.chromium import SIZE
from tests.browser.dashboard import (
    HOSTILE,
    draws_in_dark_and_light,
    fits_narrow_pages,
    open_for_the_first_time,
    open_part,
    quiet,
    turn_to,
    two_profiles,
    upload,
    verdict,
    wait_idle,
)
from tests.browser.serving import BLOCKS, SERVE, SERVES_AT, free_port, started
from tests.browser.timelines import wait_until
from tests.factories import CONV, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.patience import GIVE_UP_S


def test_the_first_screen_shows_the_sample_and_outlives_a_wrong_file(
    page: Page, url: str, tmp_path: Path
) -> None:
    open_for_the_first_time(page, f"{url}/compare")
    shows_the_sample(page)
    draws_in_dark_and_light(page)
    parts_open(page)
    picks_bring_rows_into_view(page)
    fits_narrow_pages(page)
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    a_wrong_file_is_a_sentence(page, tmp_path)
    assert quiet(page)


def test_the_landing_page(page: Page, url: str) -> None:
    """Nothing that axe-core objects to, nothing that moves, nothing cut, one screen at most."""
    open_for_the_first_time(page, url)
    expect(page.get_by_role("link", name="Two PyTorch traces")).to_be_visible()
    expect(page.get_by_role("button", name="Choose files")).to_be_visible()
    wait_idle(page)
    draws_in_dark_and_light(page)
    fits_narrow_pages(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    wait_idle(page)
    last = page.get_by_text("ONNX Runtime: MobileNetV2").bounding_box()
    assert last is not None and last["y"] + last["height"] <= 900
    page.get_by_role("link", name="Two PyTorch traces").click()
    expect(verdict(page)).to_contain_text("compiled.json.gz")
    assert quiet(page)


def shows_the_sample(page: Page) -> None:
    """Without any upload."""
    expect(verdict(page)).to_have_text(
        re.compile(r"fused is \d\.\d+× faster than unfused \(95\s% interval \d\.\d+× to \d\.\d+×\)")
    )
    expect(page.locator(".fst canvas")).to_be_visible()
    wait_idle(page)
    assert "baseline=sample%3Amobilenetv2%2Funfused" in page.url


def parts_open(page: Page) -> None:
    """Each is computed when its title is clicked; axe-core objects to nothing in them."""
    for part in ("times", "figures", "operators"):
        open_part(page, part)
    expect(page.get_by_test_id("stMetricValue").first).to_contain_text("ms")
    expect(page.get_by_test_id("stPlotlyChart").locator(".main-svg").first).to_be_visible()
    assert violations(page) == []


def picks_bring_rows_into_view(page: Page) -> None:
    """What is picked in the timelines is selected in the table of operators, where it is seen."""
    timeline = page.locator(".fst")
    canvas = timeline.locator("canvas")
    table = page.locator(".st-key-operator_table")
    scroller = table.locator(".dvn-scroller")
    canvas.scroll_into_view_if_needed()
    lane = float((timeline.get_attribute("data-lane-centres") or "").split()[0])
    width = float(canvas.evaluate("canvas => canvas.clientWidth"))
    picked = []
    for part in (0.35, 0.15, 0.6):
        canvas.click(position={"x": width * part, "y": lane})
        row = int(timeline.get_attribute("data-selected-row") or -1)
        selected = table.locator(f"canvas tr[aria-rowindex='{row + 2}'][aria-selected='true']")
        expect(selected).to_have_count(1)
        wait_until(page, partial(is_seen, scroller, row))
        picked.append(row)
    assert max(picked) > 100 and min(picked) < 5, "both ends of the table"


def is_seen(scroller: Locator, row: int) -> bool:
    """Whether a row of a table stands in the part that its scroller shows, below its two heads."""
    top, height = scroller.evaluate("box => [box.scrollTop, box.clientHeight]")
    return bool(top <= row * ROW_HEIGHT <= top + height - 3 * ROW_HEIGHT)


def a_wrong_file_is_a_sentence(page: Page, folder: Path) -> None:
    """And what was shown before it stays."""
    path = folder / "photo.json"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    expect(verdict(page)).to_contain_text("faster")
    wait_idle(page)
    upload(page, path)
    expect(page.get_by_text("This is a PNG image, not a trace (photo.json).")).to_be_visible()
    expect(page.get_by_text("The page still shows mobilenetv2 · fused (sample)")).to_be_visible()
    expect(page.get_by_text("Sample: a recording that comes with FuseScope")).to_be_visible()
    expect(verdict(page)).to_contain_text("faster")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_two_uploads_from_their_verdict_to_a_second_tab(
    page: Page, url: str, tmp_path: Path, allowed_origins: set[str]
) -> None:
    page.goto(url)
    wait_idle(page)
    upload(page, *two_profiles(tmp_path))
    # 208 µs against 166 µs a run, by profiled time: 10 and 6 µs of gaps in 200 and 160 µs.
    expect(verdict(page)).to_contain_text("net_fused.json took 0.79× the time of net_unfused.json")
    wait_idle(page)
    open_part(page, "operators")
    a_click_highlights_in_timeline_and_table(page)
    report = downloaded_report(page, tmp_path)
    other_formats_are_one_click_away(page)
    assert quiet(page)
    uploads_outlive_a_reload(page, tmp_path)
    open_in_a_second_tab(page)
    assert quiet(page)
    allowed_origins.add(report.as_uri())
    page.goto(report.as_uri())
    expect(page.locator("body")).to_contain_text("took 0.79× the time")
    expect(page.locator("#timeline canvas").first).to_be_visible()
    assert quiet(page)


def a_click_highlights_in_timeline_and_table(page: Page) -> None:
    timeline = page.locator(".fst")
    canvas = timeline.locator("canvas")
    canvas.scroll_into_view_if_needed()
    lane = float((timeline.get_attribute("data-lane-centres") or "").split()[0])
    canvas.click(position={"x": 300, "y": lane})  # Conv takes the first half of the run
    expect(timeline).to_have_attribute("data-selected-row", "2")  # third largest change
    expect(timeline).to_have_attribute("data-highlighted-candidate", "1")
    wait_idle(page)
    table = page.locator(".st-key-operator_table").get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 16, box["y"] + 33 * 3.5)  # two heads, then the second row
    expect(timeline).to_have_attribute("data-selected-row", "1")
    wait_idle(page)
    page.mouse.click(box["x"] + 120, box["y"] + 33 * 2.5)  # any cell picks its row
    expect(timeline).to_have_attribute("data-selected-row", "0")
    page.keyboard.press("ArrowDown")  # and is where the keyboard goes on
    expect(table.locator("td[aria-selected='true']")).to_have_attribute("id", re.compile("-1$"))
    expect(timeline).to_have_attribute("data-selected-row", "0")


def downloaded_report(page: Page, folder: Path) -> Path:
    with page.expect_download() as found:
        page.get_by_role("button", name="Report").click()
    report = folder / found.value.suggested_filename
    found.value.save_as(report)
    assert report.name.endswith("-fusescope.html")
    return report


# Texts in a button that have no room for all of their letters.
CUT_WORDS = """(button) => [button, ...button.querySelectorAll("*")]
  .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth)
  .map((part) => part.innerText)"""


def other_formats_are_one_click_away(page: Page) -> None:
    more = page.get_by_test_id("stPopover").filter(has_text="Other formats").first
    more.get_by_role("button").click()
    for label, check in (
        (
            "Comparison as JSON",
            lambda data: json.loads(data)["verdict"]["outcome"] == "noise_unknown",
        ),
        ("Operators as CSV", lambda data: b"a/BatchNormalization" in data),
        ("Op types as CSV", lambda data: b"FusedConv" in data),
    ):
        with page.expect_download() as found:
            page.get_by_role("button", name=label).click()
        assert check(Path(found.value.path()).read_bytes()), label
    page.keyboard.press("Escape")
    # Words of buttons stay whole on narrow pages, and files are opened above the verdict.
    for width in (1024, 700, 420):
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("Swap", "Open files"):
            button = page.get_by_role("button", name=name)
            assert button.evaluate(CUT_WORDS) == [], (width, name)
    above, below = (place.bounding_box() for place in (button, verdict(page)))
    assert above and below and above["y"] + above["height"] <= below["y"]
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})


def uploads_outlive_a_reload(page: Page, folder: Path) -> None:
    page.reload()
    expect(verdict(page)).to_contain_text("took 0.79× the time")
    wait_idle(page)
    expect(page.get_by_test_id("stFileUploader")).to_have_count(0)
    third = folder / "third.json"
    third.write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    upload(page, third)
    expect(verdict(page)).to_contain_text("third.json")
    wait_idle(page)
    expect(page.get_by_test_id("stFileUploader")).to_have_count(0)


def open_in_a_second_tab(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    expect(verdict(other)).to_contain_text("third.json")
    other.close()


@pytest.mark.exhaustive  # tests/security/test_pages.py has every view
def test_hostile_names_reach_no_network(page: Page, url: str, tmp_path: Path) -> None:
    operators = {name: [(HOSTILE, HOSTILE, *CONV[2:])] for name in (HOSTILE, "fused")}
    ms = {HOSTILE: BLOCKS["unfused"], "fused": BLOCKS["fused"]}
    path = tmp_path / "hostile ![b](http:∕∕127.0.0.1:9∕b).zip"
    path.write_bytes(experiment_zip(ms, operators, model_name=HOSTILE))
    page.goto(url)
    wait_idle(page)
    upload(page, path)
    expect(verdict(page)).to_contain_text("<img src=x")
    wait_idle(page)
    for part in ("figures", "times"):
        open_part(page, part)
    for _ in range(GIVE_UP_S // 2):  # a list that opens while the page still moves closes again
        page.get_by_role("combobox").first.click()  # every label in the list
        try:
            page.get_by_role("option").first.wait_for(timeout=2_000)
            break
        except TimeoutError:
            continue
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPlotlyChart").locator(".main-svg").first).to_be_visible()
    expect(page.locator(".fst canvas")).to_be_visible()
    wait_idle(page)
    assert (
        page.locator("a[href*='evil'], a[href^='javascript'], img[src*='127.0.0.1:9']").count() == 0
    )
    assert quiet(page)


@pytest.mark.exhaustive  # tests/app/test_compare_page.py opens two sessions of it
def test_a_dashboard_that_answers_others_keeps_uploads_in_their_tab(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    with started([*SERVE, "--host=0.0.0.0", f"--port={free_port()}"], tmp_path) as server:
        url = server.wait_for(SERVES_AT)
        allowed_origins.add(f"{url}/")
        page.goto(url)
        wait_idle(page)
        upload(page, *two_profiles(tmp_path))
        expect(verdict(page)).to_contain_text("took 0.79× the time")
        wait_idle(page)
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.get_by_text("This link leads to a file of another browser")).to_be_visible()
        expect(other.get_by_test_id("stMetric")).to_have_count(0)
        upload(other, *two_profiles(tmp_path))
        expect(verdict(other)).to_contain_text("took 0.79× the time")


def test_the_page_that_asks_for_a_recording(page: Page, url: str) -> None:
    open_for_the_first_time(page, f"{url}/record")
    draws_in_dark_and_light(page)
    fits_narrow_pages(page)
    assert quiet(page)


@pytest.mark.exhaustive  # tests/app/test_record_page.py stops one
def test_a_recording_is_asked_for_and_stopped(page: Page, url: str) -> None:
    page.goto(f"{url}/record")
    starts_recording(page)
    page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Stop").click()
    expect(page.get_by_test_id("stAlert")).to_contain_text("Stopped before the first block")
    expect(page.get_by_role("button", name="Record", exact=True)).to_be_visible()
    assert quiet(page)


@pytest.mark.exhaustive  # test_recipes.py goes this way with two blocks
def test_a_recording_from_the_page_to_its_comparison(page: Page, url: str) -> None:
    page.goto(url)
    wait_idle(page)
    turn_to(page, "Record")
    starts_recording(page)
    expect(page.get_by_text("Recorded.")).to_be_visible()
    page.get_by_role("button", name="Open in Compare").click()
    expect(verdict(page)).to_contain_text(re.compile("fused"))
    assert "recorded%3Amul_add" in page.url
    assert quiet(page)


def starts_recording(page: Page) -> None:
    expect(page.get_by_role("heading", name="Record a model")).to_be_visible()
    wait_idle(page)
    page.get_by_role("combobox", name="Model").fill("mul_add")  # few of many are drawn
    page.get_by_role("option", name=re.compile("^mul_add")).click()
    wait_idle(page)
    page.get_by_role("radio", name="15 s").or_(page.get_by_role("button", name="15 s")).click()
    wait_idle(page)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    content = page.get_by_test_id("stMainBlockContainer")
    expect(content.get_by_role("button", name="Stop")).to_be_visible()
