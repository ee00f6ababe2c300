"""The Recipes page in a real browser: from the overview to a recording and its comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import msgspec
import pytest
from playwright.sync_api import Page, expect

from analysis.experiment import ExperimentRecord
from analysis.recipes import find
from tests.app.test_recipes_page import changed, recorded
from tests.browser.accessibility import WATCH_SHIFTS, stands_still, violations
from tests.browser.test_dashboard import HOSTILE, quiet, verdict, wait_idle
from tests.browser.test_start import SERVE, free_port, started


def hostile(record: ExperimentRecord) -> ExperimentRecord:
    machine = msgspec.structs.replace(record.machine, cpu_model=HOSTILE)
    variants = [
        msgspec.structs.replace(one, settings={"memory_arena": HOSTILE}) for one in record.variants
    ]
    return msgspec.structs.replace(record, created=HOSTILE, machine=machine, variants=variants)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, allowed_origins: set[str]) -> Iterator[str]:
    """The address of `fusescope serve` with a result of two recipes, one of them hostile."""
    folder = tmp_path_factory.mktemp("recipes")
    recordings = folder / "recordings"
    recordings.mkdir()
    for name in ("conv3x3", "mul_add"):
        data = recorded(find(name))
        data = changed(data, hostile) if name == "mul_add" else data
        (recordings / f"{name}.zip").write_bytes(data)
    with started([*SERVE, f"--port={free_port()}"], folder) as server:
        address = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        allowed_origins.add(f"{address}/")
        yield address


def test_from_the_overview_to_a_recording_and_its_comparison(page: Page, url: str) -> None:
    page.goto(url)
    wait_idle(page)
    page.get_by_role("link", name="Recipes").click()
    expect(page.get_by_role("heading", name="Recipes")).to_be_visible()
    wait_idle(page)
    tile = page.get_by_test_id("stVerticalBlock").filter(
        has=page.get_by_role("heading", name="Conv + BatchNormalization, folded")
    )
    tile.last.get_by_role("link", name="Open").click()
    expect(page).to_have_url(re.compile("recipe=conv_bn$"))
    # The tile that was left says the same, a level lower, until the card has been drawn.
    title = page.get_by_role("heading", name="Conv + BatchNormalization, folded", level=2)
    expect(title).to_be_visible()
    wait_idle(page)
    page.get_by_text(re.compile("^2 blocks, about")).click()
    wait_idle(page)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    content = page.get_by_test_id("stMainBlockContainer")
    expect(content.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.get_by_text("Recorded.", exact=True)).to_be_visible()
    # Two blocks have no verdict: the result that comes with FuseScope stays until another is asked.
    expect(page.get_by_role("radio", name=re.compile("^Comes with"))).to_be_checked()
    page.get_by_text(re.compile("^Recorded here")).first.click()
    expect(page.get_by_text("Only 2 blocks: below 5 there is no interval")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    wait_idle(page)
    with page.expect_download() as found:
        page.get_by_role("button", name="Table as a page").click()
    assert "Conv + BatchNormalization, folded" in Path(found.value.path()).read_text("utf-8")
    page.get_by_role("link", name="Open in Compare").click()
    expect(verdict(page)).to_contain_text("rules:O1")
    assert "recorded:conv_bn-" in unquote(page.url)
    assert quiet(page)


def test_hostile_results_reach_no_network(page: Page, url: str) -> None:
    """Nor does axe-core object to the card, in both themes, nor does it move as it loads."""
    page.add_init_script(WATCH_SHIFTS)
    for path in ("recipes", "recipes?recipe=mul_add"):
        page.goto(f"{url}/{path}")
        expect(
            page.get_by_text("own kernel is 1.000× slower")
            .or_(page.get_by_text("own kernel took"))
            .or_(page.get_by_text("Cannot tell whether own kernel"))
            .first
        ).to_be_visible()
        wait_idle(page)
        assert page.locator("a[href*='evil'], a[href^='javascript'], img[src*=':9']").count() == 0
        assert page.title() != "pwned"
        assert page.outside_requests == []
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    assert stands_still(page)
    for scheme, background in (("dark", "rgb(18, 22, 28)"), ("light", "rgb(255, 255, 255)")):
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        wait_idle(page)
        assert violations(page) == []


@pytest.mark.parametrize(
    ("path", "shown"),
    [("recipes", "Recipes"), ("recipes?recipe=conv3x3", find("conv3x3").title)],
    ids=["overview", "conv3x3"],
)
def test_it_fits_in_light_and_dark(page: Page, url: str, path: str, shown: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{url}/{path}")
    for scheme, width in (("dark", 390), ("dark", 1280), ("light", 1280), ("light", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.get_by_role("heading", name=shown)).to_be_visible()
        expect(page.get_by_text(re.compile("2\\.43× faster")).first).to_be_visible()
        wait_idle(page)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("e => e.scrollWidth <= e.clientWidth"), (scheme, width)
        assert page.get_by_test_id("stException").count() == 0
        assert page.outside_requests == []
