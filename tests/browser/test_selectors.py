"""The selectors show the pair of the address, however a page was reached, in a real browser."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import turn_to, wait_idle


def shown(page: Page, side: str) -> str:
    """The id that the selector of `side` shows, as the address would have it."""
    box = page.get_by_role("combobox", name=side)
    expect(box).to_have_value(re.compile(r"four · \w+"))
    expect(box).to_have_css("text-overflow", "ellipsis")  # no half a word of a long one
    variant = box.input_value().split(" ")[2]
    return f"recorded:four.zip/{variant}"


def holds(page: Page, baseline: str, candidate: str) -> None:
    """Selectors, address and headline all name this pair."""
    pair = [f"recorded:four.zip/{variant}" for variant in (baseline, candidate)]

    def names_pair(url: str) -> bool:
        query = parse_qs(urlsplit(url).query)
        return query.get("baseline") == pair[:1] and query.get("candidate") == pair[1:]

    page.wait_for_url(names_pair)  # a click that has just been made is not at work yet
    wait_idle(page)
    assert [shown(page, "Baseline"), shown(page, "Candidate")] == pair
    expect(page.get_by_test_id("stMain")).to_contain_text(re.compile(f"{candidate}.*{baseline}"))


def choose(page: Page, side: str, variant: str) -> None:
    page.get_by_role("combobox", name=side).fill(f"four · {variant}")  # the list is a long one
    page.get_by_role("option", name=re.compile(f"^four · {variant}")).click()


def go(page: Page, name: str) -> None:
    turn_to(page, name)
    page.wait_for_url(re.compile(f"/{name.lower()}|/\\?"))


@pytest.mark.exhaustive  # tests/app tests each way by itself
def test_selectors_follow_the_address_on_every_way(page: Page, url: str) -> None:
    page.goto(f"{url}/?baseline=recorded:four.zip/basic&candidate=recorded:four.zip/extended")
    holds(page, "basic", "extended")
    choose(page, "Candidate", "fused")
    holds(page, "basic", "fused")
    go(page, "Trace")
    go(page, "Compare")
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
    go(page, "Record")
    expect(page.get_by_role("heading", name="Record a model")).to_be_visible()
    wait_idle(page)
    go(page, "Compare")
    holds(page, "unfused", "fused")
    choose(page, "Candidate", "basic")
    holds(page, "unfused", "basic")
