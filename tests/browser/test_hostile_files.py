"""Hostile files of other formats in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import miniatures
from tests.browser.dashboard import open_part, quiet, upload, verdict, wait_idle
from tests.security.planted import CONTROLS, MARKUP
from tests.security.test_pages import BY_NAME, FOLDER, hostile_zip


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["ascend_kernel_details", "kineto"])
def test_a_hostile_file_of_another_format_reaches_no_network(
    page: Page, url: str, tmp_path: Path, name: str
) -> None:
    """Beside a plain one: everything that the page says of it."""
    page.goto(url)
    wait_idle(page)
    hostile, plain = tmp_path / f"before {FOLDER}.zip", tmp_path / "after.zip"
    hostile.write_bytes(hostile_zip(BY_NAME[name]))
    plain.write_bytes(miniatures.zipped(miniatures.files(BY_NAME[name])))
    upload(page, hostile, plain)
    expect(verdict(page)).to_contain_text("<img src=")
    wait_idle(page)
    page.get_by_text("2 files were opened").click()
    page.get_by_role("button", name="What it contains").first.click()
    expect(page.get_by_role("dialog", name="What it contains")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="What it contains")).to_have_count(0)
    for part in ("operators", "times", "figures", "files"):
        open_part(page, part)
    for button in ("Ascend", "Classes", "Launched by"):
        found = page.get_by_role("radio", name=button)
        if found.count():
            found.first.click()
            wait_idle(page)
    files = page.locator(".st-key-files")
    expect(files).to_contain_text("<img src=x onerror=alert(1)>")
    for element in ("img", "script", "iframe", "a[href*='evil']", "a[href^='javascript']"):
        assert files.locator(element).count() == 0, element
    assert page.locator("img[src*='127.0.0.1:9'], a[href*='evil']").count() == 0
    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e]", page.locator("body").inner_text())
    assert MARKUP and CONTROLS and quiet(page)
