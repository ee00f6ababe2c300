"""The selectors show the pair of the address, however a page was reached, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.test_dashboard import wait_idle
from tests.browser.test_start import SERVE, free_port, started
from tests.factories import experiment_zip

MS = {"unfused": [10.0] * 8, "basic": [8.0] * 8, "extended": [6.0] * 8, "fused": [5.0] * 8}


def shown(page: Page, side: str) -> str:
    """The id that the selector of `side` shows, as the address would have it."""
    box = page.get_by_role("combobox", name=side)
    expect(box).to_have_value(re.compile(r"tiny · \w+"))
    variant = box.input_value().split(" ")[2]
    return f"recorded:tiny.zip/{variant}"


def holds(page: Page, baseline: str, candidate: str) -> None:
    """Selectors, address and headline all name this pair."""
    wait_idle(page)
    query = parse_qs(urlsplit(page.url).query)
    pair = [f"recorded:tiny.zip/{variant}" for variant in (baseline, candidate)]
    assert [query["baseline"][0], query["candidate"][0]] == pair
    assert [shown(page, "Baseline"), shown(page, "Candidate")] == pair
    expect(page.get_by_test_id("stMain")).to_contain_text(re.compile(f"{candidate}.*{baseline}"))


def choose(page: Page, side: str, variant: str) -> None:
    page.get_by_role("combobox", name=side).click()
    page.get_by_role("option", name=re.compile(f"^tiny · {variant}")).click()


def go(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click()
    page.wait_for_url(re.compile(f"/{name.lower()}|/\\?"))


def test_selectors_follow_the_address_on_every_way(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    with started([*SERVE, f"--port={free_port()}"], tmp_path) as server:
        (tmp_path / "recordings" / "tiny.zip").write_bytes(experiment_zip(MS))
        url = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        allowed_origins.add(f"{url}/")
        page.goto(f"{url}/?baseline=recorded:tiny.zip/basic&candidate=recorded:tiny.zip/extended")
        holds(page, "basic", "extended")
        go(page, "Fusion")
        holds(page, "basic", "extended")
        choose(page, "Candidate", "fused")
        holds(page, "basic", "fused")
        go(page, "Compare")
        holds(page, "basic", "fused")
        go(page, "Fusion")
        holds(page, "basic", "fused")
        choose(page, "Baseline", "unfused")
        holds(page, "unfused", "fused")
        go(page, "Recipes")
        expect(page.get_by_role("heading", name="Recipes")).to_be_visible()
        wait_idle(page)
        page.go_back()
        holds(page, "unfused", "fused")
        go(page, "Recipes")
        wait_idle(page)
        go(page, "Compare")
        holds(page, "unfused", "fused")
        page.get_by_role("link", name="All groups").click()
        holds(page, "unfused", "fused")
        choose(page, "Candidate", "basic")
        holds(page, "unfused", "basic")
