"""Engines in a real browser: from an opened recording to the table, and from there to a pair."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import (
    draws_in_dark_and_light,
    fits_narrow_pages,
    open_for_the_first_time,
    open_part,
    quiet,
    turn_to,
    upload,
    wait_idle,
)
from tests.engine_experiments import two_engines


@pytest.mark.exhaustive  # what is told is in tests/app
def test_engines_of_an_opened_recording(page: Page, url: str, tmp_path: Path) -> None:
    """Nothing that axe-core objects to, nothing that moves, nothing cut."""
    path = tmp_path / "engines.zip"
    path.write_bytes(two_engines())
    open_for_the_first_time(page, url)
    upload(page, path)
    expect(page.get_by_text("1 file was opened")).to_be_visible()
    wait_idle(page)
    turn_to(page, "Engines")
    expect(page.get_by_role("heading", name="Engines on mobilenetv2")).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart").first.locator(".main-svg").first).to_be_visible()
    draws_in_dark_and_light(page)
    fits_narrow_pages(page)
    page.get_by_role("link", name="Compare these two").click()
    expect(page).to_have_url(re.compile("candidate=upload.*openvino"))
    wait_idle(page)
    open_part(page, "groups")
    expect(page.locator(".st-key-groups").get_by_test_id("stDataFrame").first).to_be_visible()
    assert quiet(page)
