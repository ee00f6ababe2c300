"""Groups on the page Compare in a real browser: what a click does, and that names stay text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app.test_fusion_page import HOSTILE, fused_zip
from tests.browser.accessibility import violations
from tests.browser.chromium import SIZE
from tests.browser.dashboard import (
    draws_in_dark_and_light,
    fits_narrow_pages,
    open_for_the_first_time,
    open_part,
    quiet,
    upload,
    wait_idle,
)
from tests.browser.timelines import wait_until

PAIR = "baseline=sample:mobilenetv2/unfused&candidate=sample:mobilenetv2/fused"
ROW = 33


def ledger(page: Page) -> Locator:
    """The ledger: the first table of the page."""
    return page.get_by_test_id("stDataFrame").first


def click_line(page: Page, line: int) -> None:
    """A click in the first cell of a line of the ledger, below its two heads."""
    expect(ledger(page).locator("canvas").first).to_be_visible()
    ledger(page).scroll_into_view_if_needed()
    wait_idle(page)
    box = ledger(page).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 120, box["y"] + ROW * (line + 2.5))


def wait_for_height(page: Page, compares: str, to: float) -> None:
    """A pattern unfolds (">") or folds ("==="), so that the table gets another height."""
    page.wait_for_function(
        "before => document.querySelector('[data-testid=stDataFrame]').offsetHeight "
        f"{compares} before",
        arg=to,
    )


def height(page: Page) -> float:
    box = ledger(page).bounding_box()
    assert box is not None
    return box["height"]


def no_surprises(page: Page) -> bool:
    """No request left the dashboard, scripts said nothing, and no stack trace is on the page."""
    assert page.get_by_test_id("stException").count() == 0
    return quiet(page)


@pytest.mark.exhaustive  # tests/app/test_fusion_page.py unfolds, test_timeline_hosts.py clicks
def test_a_pattern_unfolds_and_a_group_shows_what_is_inside(page: Page, url: str) -> None:
    open_for_the_first_time(page, f"{url}/compare?{PAIR}")
    draws_in_dark_and_light(page)
    open_part(page, "groups")
    expect(page.get_by_role("heading", name="of what faster groups save comes")).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart").locator(".main-svg").first).to_be_visible()
    assert violations(page) == []
    fits_narrow_pages(page)
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    wait_idle(page)
    folded = height(page)
    click_line(page, 2)  # 7 groups of Conv + BatchNormalization
    wait_for_height(page, ">", folded)
    click_line(page, 3)  # the first of them
    expect(page).to_have_url(re.compile(r"group=\d+"))
    pictures = page.get_by_test_id("stImage").locator("img")
    expect(pictures).to_have_count(2)
    for position in range(2):
        width = pictures.nth(position).evaluate(
            "image => image.decode().then(() => image.naturalWidth)"
        )
        assert width > 80
    expect(page.get_by_text("change per run")).to_be_visible()
    pictures_follow_the_theme(page)
    click_line(page, 3)
    expect(pictures).to_have_count(0)
    click_line(page, 2)
    wait_for_height(page, "===", folded)
    assert no_surprises(page)


@pytest.mark.exhaustive  # tests/app/test_fusion_page.py opens a link to a group
def test_a_link_opens_the_group_and_lights_it_in_the_timelines(page: Page, url: str) -> None:
    page.goto(f"{url}/fusion?{PAIR}&group=1")
    expect(page.get_by_test_id("stImage").locator("img")).to_have_count(2)
    expect(page.locator(".fst canvas").last).to_be_visible()
    pictures_follow_the_theme(page)
    assert no_surprises(page)


@pytest.mark.exhaustive  # tests/app/test_fusion_page.py has the texts
def test_hostile_names_stay_text_in_table_and_pictures(
    page: Page, url: str, tmp_path: Path
) -> None:
    path = tmp_path / "hostile.zip"
    path.write_bytes(fused_zip({"Conv": HOSTILE}))
    page.goto(f"{url}/fusion")
    expect(page.get_by_role("heading", level=2).first).to_be_visible()
    wait_idle(page)
    upload(page, path)
    told = page.get_by_test_id("stMarkdown").filter(has_text="faster groups save comes from")
    expect(told).to_contain_text("<img")
    wait_idle(page)
    folded = height(page)
    click_line(page, 0)
    wait_for_height(page, ">", folded)
    click_line(page, 1)
    expect(page.get_by_test_id("stImage").locator("img")).to_have_count(2)
    assert page.locator("a[href^='javascript'], img[src*='127.0.0.1:9']").count() == 0
    assert no_surprises(page)


def pictures_follow_the_theme(page: Page) -> None:
    picture = page.get_by_test_id("stImage").locator("img").first
    wait_idle(page)
    assert brightness(picture) > 180, "light"
    page.emulate_media(color_scheme="dark")
    wait_until(page, lambda: 0 <= brightness(picture) < 100)
    page.emulate_media(color_scheme="light")
    wait_until(page, lambda: brightness(picture) > 180)


def brightness(picture: Locator) -> float:
    """Red, at most 255, inside the pill at the top of the picture, right of its text; -1 where
    nothing is drawn."""
    value = picture.evaluate(
        """async image => {
             await image.decode();
             const canvas = document.createElement("canvas");
             canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
             const context = canvas.getContext("2d");
             context.drawImage(image, 0, 0);
             // Inside the pill at the top, right of its text.
             let sum = 0, count = 0;
             const data = context.getImageData(0, 12, canvas.width, 4).data;
             for (let i = 0; i < data.length; i += 4)
               if (data[i + 3] === 255) { sum += data[i]; count += 1; }
             return count ? sum / count : -1;
           }"""
    )
    return float(value)
