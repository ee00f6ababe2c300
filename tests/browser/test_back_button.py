"""Addresses of pages: deep links, and what the Back button goes back to."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dashboard import quiet, turn_to, two_profiles, upload, wait_idle

# A part that was led to lies below the page's header.
IS_AT_THE_TOP = """key => {
  const top = document.querySelector(`.st-key-${key}`)?.getBoundingClientRect().top;
  return top > 0 && top < 160;
}"""


def visit(page: Page, name: str) -> str:
    """Open a page by the navigation; its address is returned."""
    turn_to(page, name)
    page.wait_for_url(f"**/{name.lower()}?**")
    wait_idle(page)
    return page.url


def test_back_leads_from_page_to_page_in_one_step_each(page: Page, url: str) -> None:
    page.goto(f"{url}/compare")
    wait_idle(page)
    compared = page.url
    assert "baseline=" in compared and "candidate=" in compared
    assert page.evaluate("history.length") == 2  # the empty page of the browser, and this one
    before = [compared, visit(page, "Trace")]
    turn_to(page, "Record")
    page.wait_for_url("**/record")
    wait_idle(page)
    for address in reversed(before):
        page.go_back()
        page.wait_for_url(address)
        wait_idle(page)
    page.go_back()
    page.wait_for_url("about:blank")


@pytest.mark.parametrize(("former", "part"), [("fusion", "groups"), ("variants", "several")])
def test_a_former_page_is_one_step_and_lands_on_its_part(
    page: Page, url: str, former: str, part: str
) -> None:
    page.goto(f"{url}/library")
    wait_idle(page)
    pair = "baseline=sample:mobilenetv2/unfused&candidate=sample:mobilenetv2/fused"
    page.goto(f"{url}/{former}?{pair}")
    page.wait_for_url(lambda address: "/compare?" in address and f"{part}=true" in address)
    opened = page.locator(f".st-key-{part}")
    page.wait_for_function(IS_AT_THE_TOP, arg=part)
    expect(opened.get_by_test_id("stDataFrame").first).to_be_visible()
    wait_idle(page)
    page.go_back()
    page.wait_for_url("**/library")
    assert quiet(page)


def test_a_former_page_leaves_out_what_is_not_there_in_one_step(page: Page, url: str) -> None:
    """Of three variants one is not in the recording: the address loses it as the page opens."""
    page.goto(f"{url}/library")
    wait_idle(page)
    names = ("unfused", "gone", "fused")
    asked = "&".join(f"variant=sample:mobilenetv2/{name}" for name in names)
    page.goto(f"{url}/variants?{asked}")
    page.wait_for_url(lambda address: "/compare?" in address and "gone" not in address)
    wait_idle(page)
    page.go_back()
    page.wait_for_url("**/library")


def test_another_baseline_is_a_step_of_its_own(page: Page, url: str) -> None:
    page.goto(f"{url}/compare")
    wait_idle(page)
    compared = page.url
    page.get_by_role("button", name="Swap").click()
    page.wait_for_url(lambda address: address != compared)
    wait_idle(page)
    page.go_back()
    page.wait_for_url(compared)


def test_back_from_another_page_leads_to_the_last_pair(page: Page, url: str) -> None:
    page.goto(f"{url}/compare")
    wait_idle(page)
    arrived = page.url
    page.get_by_role("button", name="Swap").click()
    page.wait_for_url(lambda address: address != arrived)
    wait_idle(page)
    swapped = page.url
    turn_to(page, "Recipes")
    page.wait_for_url("**/recipes**")
    wait_idle(page)
    page.go_back()
    page.wait_for_url(swapped)


def test_an_older_address_of_a_pair_leaves_no_step_behind(page: Page, url: str) -> None:
    """It had no page in it; Back leads to what was there before, not to where it leads on again."""
    pair = "baseline=sample:mobilenetv2/unfused&candidate=sample:mobilenetv2/fused"
    page.goto(f"{url}/?{pair}")
    page.wait_for_url("**/compare?**")
    wait_idle(page)
    page.go_back()
    page.wait_for_url("about:blank")


def test_back_from_what_was_dropped_leads_to_the_landing_page(
    page: Page, url: str, tmp_path: Path
) -> None:
    page.goto(f"{url}/")
    wait_idle(page)
    upload(page, *two_profiles(tmp_path))
    page.wait_for_url("**/compare?**")
    wait_idle(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Which change made this model")).to_be_visible()
    assert quiet(page)


def test_a_deep_link_asks_for_nothing_that_is_not_there(page: Page, url: str) -> None:
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if not answer.ok else None)
    for name in ("compare", "trace", "engines"):
        page.goto(f"{url}/{name}?lang=zh")
        wait_idle(page)
        assert quiet(page)
    assert missing == []


def test_what_is_opened_on_a_page_is_a_step(page: Page, url: str) -> None:
    page.goto(f"{url}/recipes")
    wait_idle(page)
    overview = page.url
    page.get_by_role("link", name="Open").first.click()
    page.wait_for_url("**recipe=**")
    wait_idle(page)
    page.go_back()
    page.wait_for_url(overview)
