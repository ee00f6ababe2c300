"""The Library in a real browser: from the list to a comparison of two, as a user goes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from fusescope.app.store import settings
from fusescope.app.store.store import Store
from tests.browser.dashboard import (
    draws_in_dark_and_light,
    fits_narrow_pages,
    open_for_the_first_time,
    open_part,
    quiet,
    wait_idle,
)
from tests.browser.serving import SERVE, SERVES_AT, free_port, started
from tests.store.test_store import put


@pytest.mark.exhaustive  # what the page says and does is in tests/app
def test_two_traces_of_the_library_are_compared(
    page: Page, tmp_path: Path, allowed_origins: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tmp_path / "library"))
    store = Store(tmp_path / "library", settings.DEFAULT_BYTES)
    put(store, 1)
    put(store, 2)
    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        address = server.wait_for(SERVES_AT)
        allowed_origins.add(f"{address}/")
        open_for_the_first_time(page, f"{address}/library")
        table = page.get_by_test_id("stDataFrame")
        expect(table).to_be_visible()
        draws_in_dark_and_light(page)
        fits_narrow_pages(page)
        wait_idle(page)
        for line in (1, 2):
            box = table.bounding_box()
            assert box is not None
            page.mouse.click(box["x"] + 15, box["y"] + 33 * line + 16)
            wait_idle(page)
        page.get_by_role("link", name="Open in Compare").click()
        expect(page).to_have_url(re.compile("baseline=library.*candidate=library"))
        wait_idle(page)
        open_part(page, "operators")
        expect(page.get_by_role("heading", name="Operators", exact=True)).to_be_visible()
        assert quiet(page)
