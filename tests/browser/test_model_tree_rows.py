"""The model tree in a real browser: rows fold, by keys too, and names stay text."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations
from tests.browser.dashboard import (
    fits_narrow_pages,
    open_part,
    quiet,
    upload,
    wait_idle,
)
from tests.module_traces import Launch, kineto_json, model

HOSTILE = "<img src=x onerror=\"document.title='pwned'\">"


def test_rows_fold_and_names_stay_text(page: Page, url: str, tmp_path: Path) -> None:
    """Two layers, open down to the wide products; below them a module whose name is markup."""
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path, narrow_us, wide_us in zip(paths, (600, 80), (25, 700), strict=True):
        launches = model(layers=2, narrow_us=narrow_us, wide_us=wide_us)
        launches.append(Launch(("Net_0", f"{HOSTILE}_0"), "aten::add", ((2,),), 7))
        path.write_bytes(kineto_json(launches))
    page.goto(url)
    upload(page, *paths)
    open_part(page, "operators")
    tree = page.locator(".tree")
    rows = tree.locator(".line:visible")
    expect(rows).to_have_count(9)  # with the heads
    expect(rows.nth(4)).to_contain_text("float32[8,64,512]; float32[8,512,64]")
    expect(rows.nth(4)).to_contain_text("+1\u202f350")
    expect(tree).to_contain_text(HOSTILE)
    stops = tree.locator("summary[tabindex='0']")
    expect(stops).to_have_count(1)
    layer = tree.locator("summary", has_text="Layer").first
    layer.focus()
    expect(layer).to_have_attribute("tabindex", "0")
    expect(stops).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(rows).to_have_count(5)
    page.keyboard.press("ArrowLeft")
    expect(tree.locator("summary").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(layer).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(9)
    layer.click()
    expect(rows).to_have_count(5)
    wait_idle(page)
    assert violations(page) == []
    page.set_viewport_size({"width": 420, "height": 900})
    layer.click()
    deepest = rows.nth(4)
    expect(deepest.locator(".executions")).to_be_hidden()
    for cell in (deepest.locator(".name").first, deepest.locator(".change")):
        box = cell.bounding_box()
        assert box is not None and 0 < box["x"] < box["x"] + box["width"] <= 420 + 1
    fits_narrow_pages(page)
    assert quiet(page)
