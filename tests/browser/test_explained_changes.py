"""What changed, in a real browser: rows open to their kernels and lead to the timelines."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.dashboard import fits_narrow_pages, quiet, upload, wait_idle
from tests.module_traces import Launch, kineto_json, model

HOSTILE = "<img src=x onerror=document.title=1>"


def test_a_change_opens_its_kernels_and_leads_to_both_timelines(
    page: Page, url: str, tmp_path: Path
) -> None:
    """Two layers, in each a product of 25 us that takes 700, and a kernel whose name is markup and
    that takes 7 and 300: both timelines show the first product, lit on either side."""
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path, wide_us, odd_us in zip(paths, (25, 700), (7, 300), strict=True):
        launches = model(layers=2, narrow_us=600, wide_us=wide_us)
        launches.append(Launch(("Net_0",), "aten::add", ((2,),), odd_us, HOSTILE))
        path.write_bytes(kineto_json(launches))
    page.goto(url)
    upload(page, *paths)
    changes = page.locator(".changes")
    rows = changes.locator("details.change")
    expect(rows.first).to_contain_text("+1.35 ms")
    # Bars are of one scale: the largest change, 2 × 675 us, fills its track, 293 of 1350 us do not.
    assert [
        round(float(bar.removesuffix("%")), 1)
        for bar in rows.locator(".track i").evaluate_all("bars => bars.map(bar => bar.style.width)")
    ] == [100.0, 21.7]
    assert page.title() != "1"
    rows.first.locator("summary").focus()
    page.keyboard.press("Enter")
    table = rows.first.locator("table")
    expect(table).to_contain_text("2 × 25.0 µs")
    expect(table).to_contain_text("2 × 700 µs")
    wait_idle(page)
    assert violations(page) == []
    rows.first.get_by_role("button", name="Show the first place").click()
    timeline = page.locator(".fst")
    expect(timeline).to_have_attribute("data-highlighted-candidate", "2")
    expect(timeline).to_have_attribute("data-highlighted-baseline", "2")
    first, second = (timeline.get_attribute("data-stretch") or "").split(", ")
    sizes = [int(end) - int(start) for start, end in (each.split() for each in (first, second))]
    assert sizes == [25_000, 700_000]
    expect(timeline).to_be_in_viewport()
    # What is picked in the table of kernels is one operator, in table and timelines alike.
    rows.first.locator("button.name").first.click()
    expect(timeline).not_to_have_attribute("data-selected-row", "")
    expect(changes.locator("details.change").first).to_have_attribute("open", "")
    expect(changes).to_contain_text(HOSTILE)
    wait_idle(page)
    fits_narrow_pages(page)
    assert quiet(page)
