"""Variants and Scaling in a real browser, as a user goes from one to the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

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
from tests.compare.multiple.test_scaling import recorded_zip


@pytest.mark.exhaustive  # what is told is in tests/app, what the report holds in tests/report
def test_variants_their_report_and_scaling(page: Page, url: str, tmp_path: Path) -> None:
    """Nothing that axe-core objects to, nothing that moves, nothing cut."""
    ids = [f"recorded:four.zip/{name}" for name in ("unfused", "basic", "fused")]
    query = "&".join(f"variant={id_}" for id_ in ids)
    pair = f"baseline={ids[0]}&candidate={ids[-1]}"
    open_for_the_first_time(page, f"{url}/compare?{pair}&{query}")
    draws_in_dark_and_light(page)
    open_part(page, "several")
    expect(page.get_by_role("heading", name=re.compile("fastest"))).to_be_visible()
    expect(page.locator(".fst canvas").last).to_be_visible()
    assert violations(page) == []
    fits_narrow_pages(page)
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    open_part(page, "figures")
    page.get_by_role("button", name="Settings").click()
    bound = page.get_by_role("spinbutton", name=re.compile("longest short operator"))
    bound.fill("25")
    bound.press("Enter")
    wait_idle(page)
    several = page.locator(".st-key-several")
    computed = several.get_by_text(re.compile(r"Computed with τ 25\.0 µs \(assumed\)"))
    expect(computed).to_be_visible()
    page.keyboard.press("Escape")
    with page.expect_download() as taken:
        several.get_by_role("button", name="Report").click()
    report = tmp_path / "report.html"
    taken.value.save_as(report)
    assert report.read_text().rstrip().endswith("</html>")
    # The same settings hold where the fastest is explained.
    page.get_by_role("button", name=re.compile("operator by operator")).click()
    expect(page).to_have_url(re.compile("tau_us=25"))
    wait_idle(page)
    files = [tmp_path / f"batch{batch}.zip" for batch in (1, 4)]
    for path, batch in zip(files, (1, 4), strict=True):
        path.write_bytes(recorded_zip(batch, 1, 10.0 * batch, model="grows"))
    page.get_by_role("button", name="Open files").click()
    upload(page, *files)
    expect(page.get_by_role("heading", name="Scaling of grows")).to_be_visible()  # led there
    wait_idle(page)
    expect(page.get_by_test_id("stPlotlyChart").first.locator(".main-svg").first).to_be_visible()
    fits_narrow_pages(page)
    assert quiet(page)
