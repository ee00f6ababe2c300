"""A hand for the dashboard in a browser: uploads, waiting, and what must not have happened."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
from playwright.sync_api import Locator, Page, expect

from fusescope.analysis.experiment import ExperimentRecord
from tests.browser.accessibility import WATCH_SHIFTS, stands_still, violations
from tests.factories import CONV, FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json

HOSTILE = (
    "<img src=x onerror=\"document.title='pwned'\"> ![a](http://127.0.0.1:9/pix) :red[boo] "
    "[l](javascript:alert(1)) http://evil.example </script><script>document.title='pwned'</script>"
)
OF_COLOURS = ("color-contrast", "link-in-text-block")  # rules of axe-core
BACKGROUNDS = {"dark": "rgb(18, 22, 28)", "light": "rgb(255, 255, 255)"}


def hostile(record: ExperimentRecord) -> ExperimentRecord:
    """The record with hostile text in its date, its machine and its settings."""
    machine = msgspec.structs.replace(record.machine, cpu_model=HOSTILE)
    variants = [
        msgspec.structs.replace(one, settings={"memory_arena": HOSTILE}) for one in record.variants
    ]
    return msgspec.structs.replace(record, created=HOSTILE, machine=machine, variants=variants)


def verdict(page: Page) -> Locator:
    return page.get_by_role("heading", level=2).first


# A click takes a moment to start a run, one run may start the next, and a chart that arrives late
# moves what is below it: only a page that stands still can be clicked at a place.
STANDS_STILL = """([wait, quiet_ms]) => {
  const app = document.querySelector("[data-testid='stApp']");
  const height = document.querySelector("[data-testid='stMain']")?.scrollHeight;
  const now = performance.now(), state = app?.dataset.testScriptState;
  const seen = `${wait} ${state} ${height}`;
  if (window.standsStill?.seen !== seen) window.standsStill = { seen, since: now };
  return state === "notRunning" && now - window.standsStill.since > quiet_ms;
}"""
WAITS = itertools.count()


def wait_idle(page: Page) -> None:
    page.wait_for_function(STANDS_STILL, arg=[next(WAITS), 300], polling=50)


def upload(page: Page, *files: Path) -> None:
    """Give files to the page; those of Compare are opened behind a button."""
    uploader = page.get_by_test_id("stFileUploader")
    folded = page.get_by_role("button", name="Open files")
    uploader.or_(folded).first.wait_for()
    if not uploader.count():
        folded.click()
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(list(files))


def open_part(page: Page, key: str) -> None:
    """Open a part of the page Compare behind its title."""
    page.locator(f".st-key-{key} summary").first.click()
    page.wait_for_url(lambda address: f"{key}=true" in address)
    wait_idle(page)


def turn_to(page: Page, name: str, *menus: str) -> None:
    """Open a page by the navigation, where some pages are in the menus New and More."""
    bar = page.locator("header")
    bar.get_by_test_id("stTopNavSection").last.wait_for()
    link = bar.get_by_role("link", name=name, exact=True)
    if link.count():
        link.first.click()
        return
    entry = page.get_by_role("menuitem", name=name, exact=True)
    for menu in menus or ("New", "More"):
        bar.get_by_role("button", name=menu, exact=True).click()
        if entry.count():
            entry.click()
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"no page {name}")


def two_profiles(folder: Path, conv: str = "a/Conv") -> tuple[Path, Path]:
    """Profiles of 8 runs: 208 µs a run unfused, 166 µs fused."""
    unfused = [(conv, *CONV[1:]), *UNFUSED_OPERATORS[1:]]
    fused = [(conv, *FUSED_OPERATORS[0][1:]), *FUSED_OPERATORS[1:]]
    paths = folder / "net_unfused.json", folder / "net_fused.json"
    for path, operators in zip(paths, (unfused, fused), strict=True):
        path.write_bytes(profile_json(operators, runs=8))
    return paths


def quiet(page: Page) -> bool:
    """No request left the dashboard and no script complained."""
    assert page.title() != "pwned"
    assert page.outside_requests == [], page.outside_requests
    assert page.console_errors == []
    return True


def open_for_the_first_time(page: Page, address: str) -> None:
    """As a browser opens it, in the dark, that has no script of it yet: from the second time on
    parts arrive in another order, and how far the page moves then is not what is bounded here."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.add_init_script(WATCH_SHIFTS)
    page.emulate_media(color_scheme="dark")
    page.goto(address)


def draws_in_dark_and_light(page: Page) -> None:
    """In both themes without anything that axe-core objects to; it stood still as it was opened
    by `open_for_the_first_time`."""
    for scheme, background in BACKGROUNDS.items():
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        expect(verdict(page)).to_be_visible()
        wait_idle(page)
        assert page.get_by_test_id("stException").count() == 0, scheme
        assert page.outside_requests == [], scheme
        # Of the same page in other colours, only what depends on them can differ.
        assert violations(page, *(OF_COLOURS if scheme == "light" else ())) == [], scheme
        assert stands_still(page), scheme


# Ways on that the page's edge cuts, or that stand beyond it.
CUT_BUTTONS = """(all) => all.filter((e) => e.checkVisibility() && e.innerText.trim()
    && (e.getBoundingClientRect().right > innerWidth
      || [e, ...e.querySelectorAll("p")].some((p) => p.scrollWidth > p.clientWidth + 1)))
  .map((e) => e.innerText)"""
# The baseline's figure of a card, and what is chosen of several.
CUT_TEXTS = """(all) => all
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.innerText)"""
MAY_BE_CUT = (
    ", ".join(
        f"[data-testid='{name}'] [data-testid='stMarkdownContainer']"
        for name in ("stMetricLabel", "stMetricDeltaDescription")
    )
    + ", [data-testid='stMetricDeltaDescription'] div, [data-testid='stMultiSelectTagsContainer']"
)

# What has less than most of its line, for something beside it.
SQUEEZED = """(all) => all.filter((e) => e.offsetWidth < 0.8 * e.parentElement.clientWidth)
  .map((e) => e.innerText)"""


def fits_narrow_pages(page: Page) -> None:
    """Nothing has to be scrolled sideways, and no button, figure or choice is cut."""
    for width in (1024, 420):
        page.set_viewport_size({"width": width, "height": 900})
        wait_idle(page)
        main = page.get_by_test_id("stMain")
        assert main.evaluate("e => e.scrollWidth - e.clientWidth") == 0, width
        assert main.get_by_role("button").evaluate_all(CUT_BUTTONS) == [], width
        assert main.locator(MAY_BE_CUT).evaluate_all(CUT_TEXTS) == [], width
    lines = main.locator("[class*='st-key-trust'] > :first-child")
    assert lines.evaluate_all(SQUEEZED) == []
    assert violations(page, "scrollable-region-focusable", "list", "listitem") == []
