"""The Trace page in a real browser: from a link on Compare, in both themes, on narrow pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import SIZE
from tests.browser.dashboard import (
    HOSTILE,
    draws_in_dark_and_light,
    fits_narrow_pages,
    open_for_the_first_time,
    quiet,
    upload,
    wait_idle,
)
from tests.factories import CONV, UNFUSED_OPERATORS, experiment_zip


@pytest.mark.exhaustive  # tests/app/test_trace_page.py has its parts, test_timeline.py a stretch
def test_a_variant_by_itself(page: Page, url: str) -> None:
    """Nothing that axe-core objects to, nothing that moves, nothing cut; and the tree is drawn."""
    open_for_the_first_time(page, f"{url}/trace?trace=sample%3Amobilenetv2%2Funfused")
    expect(page.get_by_role("heading", name="What limits unfused now")).to_be_visible()
    draws_in_dark_and_light(page)
    tree = page.locator(".iciclelayer").filter(has_text="all operators")
    expect(tree).to_contain_text("convolution")
    expect(tree).to_contain_text("BatchNormalization")
    fits_narrow_pages(page)
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    page.get_by_role("radio", name="Modules", exact=True).click()
    wait_idle(page)
    expect(tree).to_contain_text("block1")
    page.get_by_role("link", name="Compare with another one").click()
    expect(page).to_have_url(re.compile("candidate=sample%3Amobilenetv2%2Funfused"))
    assert quiet(page)


@pytest.mark.exhaustive  # both are in tests/app/test_trace_page.py
def test_one_file_leads_to_it_and_its_names_are_no_markup(
    page: Page, url: str, tmp_path: Path
) -> None:
    named = [(HOSTILE if one is CONV else one[0], *one[1:]) for one in UNFUSED_OPERATORS]
    data = experiment_zip({"unfused": [10.0] * 6}, {"unfused": named}, model_name="hostile")
    (tmp_path / "alone.zip").write_bytes(data)
    page.goto(url)
    wait_idle(page)
    upload(page, tmp_path / "alone.zip")
    expect(page.get_by_role("heading", name="Where the time goes")).to_be_visible()
    wait_idle(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Which change made this model")).to_be_visible()
    wait_idle(page)
    assert quiet(page)
