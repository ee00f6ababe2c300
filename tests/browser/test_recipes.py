"""The Recipes page in a real browser: from the overview to a recording and its comparison."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from fusescope.analysis.recipes import find
from tests.browser.chromium import SIZE
from tests.browser.dashboard import (
    draws_in_dark_and_light,
    open_for_the_first_time,
    quiet,
    turn_to,
    verdict,
    wait_idle,
)

OF_MUL_ADD = re.compile(
    "custom kernel is 1\\.000× slower|custom kernel took|Cannot tell whether custom kernel"
)


def fits(page: Page, shown: str) -> None:
    """The page in light and dark on wide and narrow windows: nothing is cut or in the way."""
    for scheme, width in (("dark", 390), ("dark", 1280), ("light", 1280), ("light", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.get_by_role("heading", name=shown)).to_be_visible()
        expect(page.get_by_text(re.compile("2\\.43× faster")).first).to_be_visible()
        wait_idle(page)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("e => e.scrollWidth <= e.clientWidth"), (scheme, width)
        assert page.get_by_test_id("stException").count() == 0
        assert page.outside_requests == []
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})


def is_harmless(page: Page) -> None:
    """What the hostile result says of mul_add stands on the page and does nothing."""
    expect(page.get_by_text(OF_MUL_ADD).first).to_be_visible()
    wait_idle(page)
    assert page.locator("a[href*='evil'], a[href^='javascript'], img[src*=':9']").count() == 0
    assert page.title() != "pwned"
    assert page.outside_requests == []


def opens(page: Page, recipe: str) -> None:
    """The card of a recipe, by its tile."""
    title = find(recipe).title
    tile = page.get_by_test_id("stVerticalBlock").filter(
        has=page.get_by_role("heading", name=title)
    )
    tile.last.get_by_role("link", name="Open").click()
    expect(page).to_have_url(re.compile(f"recipe={recipe}$"))
    # The tile that was left says the same, a level lower, until the card has been drawn.
    expect(page.get_by_role("heading", name=title, level=2)).to_be_visible()
    wait_idle(page)


@pytest.mark.exhaustive  # its pages and its recording are tested one by one
def test_from_the_overview_to_a_recording_and_its_comparison(page: Page, url: str) -> None:
    open_for_the_first_time(page, f"{url}/recipes")
    expect(page.get_by_role("heading", name="Recipes")).to_be_visible()
    is_harmless(page)
    draws_in_dark_and_light(page)
    fits(page, "Recipes")
    opens(page, "conv3x3")
    fits(page, find("conv3x3").title)
    page.go_back()
    expect(page.get_by_role("heading", name="Recipes")).to_be_visible()
    wait_idle(page)
    opens(page, "conv_bn")
    page.get_by_text(re.compile("^2 blocks, about")).click()
    wait_idle(page)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    content = page.get_by_test_id("stMainBlockContainer")
    expect(content.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.get_by_text("Recorded.", exact=True)).to_be_visible()
    # Two blocks have no verdict: the result that comes with FuseScope stays until another is asked.
    expect(page.get_by_role("radio", name=re.compile("^Comes with"))).to_be_checked()
    page.get_by_text(re.compile("^Recorded here")).first.click()
    expect(page.get_by_text("Only 2 blocks were recorded. An interval")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    wait_idle(page)
    with page.expect_download() as found:
        page.get_by_role("button", name="Table as a page").click()
    assert "Conv + BatchNormalization, folded" in Path(found.value.path()).read_text("utf-8")
    for leave, candidate in ((by_the_card, "rules:O1"), (by_the_record_page, "fused")):
        leave(page)
        expect(verdict(page)).to_contain_text(f"{candidate} ")
        assert "recorded:conv_bn-" in unquote(page.url)
    assert quiet(page)


def by_the_card(page: Page) -> None:
    page.get_by_role("link", name="Open in Compare").click()


def by_the_record_page(page: Page) -> None:
    """It shows the result of what was recorded last, wherever that was asked for."""
    wait_idle(page)
    turn_to(page, "Record")
    expect(page.get_by_text("Recorded.", exact=True)).to_be_visible()
    wait_idle(page)
    page.get_by_role("button", name="Open in Compare").click()
    expect(page.get_by_role("heading", name="Record a model")).to_have_count(0)


@pytest.mark.exhaustive  # as hostile names in test_dashboard.py
def test_hostile_results_reach_no_network(page: Page, url: str) -> None:
    """Nor does axe-core object to the card, in both themes, nor does it move as it loads."""
    open_for_the_first_time(page, f"{url}/recipes?recipe=mul_add")
    is_harmless(page)
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    draws_in_dark_and_light(page)
    is_harmless(page)


def test_the_way_back_is_whole(page: Page, url: str) -> None:
    """Streamlit moves links up by a margin; what is above the top of their container is cut."""
    open_for_the_first_time(page, f"{url}/recipes?recipe=conv3x3")
    back = page.get_by_role("link", name="All recipes")
    expect(back).to_be_visible()
    wait_idle(page)
    over = back.evaluate(
        """link => {
          let around = link;
          while (getComputedStyle(around).overflowY !== "auto") around = around.parentElement;
          const [inner, outer] = [link, around].map((one) => one.getBoundingClientRect());
          return Math.max(outer.top - inner.top, inner.bottom - outer.bottom);
        }"""
    )
    assert over <= 0
