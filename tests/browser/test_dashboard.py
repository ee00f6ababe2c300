"""The dashboard as `fusescope serve` runs it, in a real browser."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, expect

from app.parts.tables import ROW_HEIGHT
from tests.browser.accessibility import WATCH_SHIFTS, stands_still, violations
from tests.browser.test_start import SERVE, free_port, started
from tests.browser.timelines import wait_until
from tests.factories import (
    CONV,
    FUSED_OPERATORS,
    UNFUSED_OPERATORS,
    experiment_zip,
    profile_json,
)

HOSTILE = (
    "<img src=x onerror=\"document.title='pwned'\"> ![a](http://127.0.0.1:9/pix) :red[boo] "
    "[l](javascript:alert(1)) http://evil.example </script><script>document.title='pwned'</script>"
)
SLOW = {"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0 + b / 20 for b in range(8)]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def url(folder: Path, allowed_origins: set[str]) -> Iterator[str]:
    """The address of `fusescope serve`; `folder` may be opened by path."""
    with started([*SERVE, f"--port={free_port()}", "--folder", str(folder)], folder) as server:
        address = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        allowed_origins.add(f"{address}/")
        yield address


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
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(list(files))


def two_profiles(folder: Path, conv: str = "a/Conv") -> tuple[Path, Path]:
    unfused = [(conv, *CONV[1:]), *UNFUSED_OPERATORS[1:]]
    fused = [(conv, *FUSED_OPERATORS[0][1:]), *FUSED_OPERATORS[1:]]
    paths = folder / "net_unfused.json", folder / "net_fused.json"
    for path, operators in zip(paths, (unfused, fused), strict=True):
        path.write_bytes(profile_json(operators, runs=8))
    return paths


def quiet(page: Page) -> bool:
    """No request left the dashboard and no script complained."""
    assert page.title() != "pwned"
    assert page.outside_requests == []
    assert page.console_errors == []
    return True


def test_the_first_screen_shows_the_sample_without_upload(page: Page, url: str) -> None:
    page.goto(url)
    expect(verdict(page)).to_have_text(
        re.compile(r"fused is \d\.\d+× faster than unfused \(95 % interval \d\.\d+× to \d\.\d+×\)")
    )
    expect(page.get_by_test_id("stMetricValue").first).to_contain_text("ms")
    expect(page.locator(".fst canvas")).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart").locator(".main-svg").first).to_be_visible()
    assert "baseline=sample%3Amobilenetv2%2Funfused" in page.url
    wait_idle(page)
    picks_bring_rows_into_view(page)
    assert quiet(page)


def picks_bring_rows_into_view(page: Page) -> None:
    """What is picked in the timelines is selected in the table of operators, where it is seen."""
    timeline = page.locator(".fst")
    canvas = timeline.locator("canvas")
    table = page.locator(".st-key-operator_table")
    scroller = table.locator(".dvn-scroller")
    canvas.scroll_into_view_if_needed()
    lane = float((timeline.get_attribute("data-lane-centres") or "").split()[0])
    width = float(canvas.evaluate("canvas => canvas.clientWidth"))
    picked = []
    for part in (0.35, 0.15, 0.6):
        canvas.click(position={"x": width * part, "y": lane})
        row = int(timeline.get_attribute("data-selected-row") or -1)
        selected = table.locator(f"canvas tr[aria-rowindex='{row + 2}'][aria-selected='true']")
        expect(selected).to_have_count(1)
        wait_until(page, partial(is_seen, scroller, row))
        picked.append(row)
    assert max(picked) > 100 and min(picked) < 5, "both ends of the table"


def is_seen(scroller: Locator, row: int) -> bool:
    """Whether a row of a table stands in the part that its scroller shows, below its two heads."""
    top, height = scroller.evaluate("box => [box.scrollTop, box.clientHeight]")
    return bool(top <= row * ROW_HEIGHT <= top + height - 3 * ROW_HEIGHT)


def test_two_uploads_a_verdict_and_its_report(
    page: Page, url: str, tmp_path: Path, allowed_origins: set[str]
) -> None:
    page.goto(url)
    wait_idle(page)
    upload(page, *two_profiles(tmp_path))
    # 208 µs against 166 µs a run, by profiled time: 10 and 6 µs of gaps in 200 and 160 µs.
    expect(verdict(page)).to_contain_text("net_fused.json is 1.27× faster than net_unfused.json")
    wait_idle(page)
    with page.expect_download() as found:
        page.get_by_role("button", name="Report").click()
    report = tmp_path / found.value.suggested_filename
    found.value.save_as(report)
    assert report.name.endswith("-fusescope.html")
    assert quiet(page)
    allowed_origins.add(report.as_uri())
    page.goto(report.as_uri())
    expect(page.locator("body")).to_contain_text("1.27× faster")
    expect(page.locator("#timeline canvas").first).to_be_visible()
    assert quiet(page)


# Texts in a button that have no room for all of their letters.
CUT_WORDS = """(button) => [button, ...button.querySelectorAll("*")]
  .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth)
  .map((part) => part.innerText)"""


def test_other_formats_are_one_click_away(page: Page, url: str, tmp_path: Path) -> None:
    page.goto(url)
    wait_idle(page)
    upload(page, *two_profiles(tmp_path))
    expect(verdict(page)).to_contain_text("1.27× faster")
    wait_idle(page)
    # Not in any case: the name of every popover's icon is "expand_more".
    more = page.get_by_test_id("stPopover").filter(has_text=re.compile("More")).first
    more.get_by_role("button").click()
    for label, check in (
        ("Comparison as JSON", lambda data: json.loads(data)["verdict"]["outcome"] == "faster"),
        ("Operators as CSV", lambda data: b"a/BatchNormalization" in data),
        ("Op types as CSV", lambda data: b"FusedConv" in data),
    ):
        with page.expect_download() as found:
            page.get_by_role("button", name=label).click()
        assert check(Path(found.value.path()).read_bytes()), label
    page.keyboard.press("Escape")
    # Words of buttons stay whole on narrow pages, and files are opened above the verdict.
    for width in (1024, 700, 420):
        page.set_viewport_size({"width": width, "height": 900})
        for name in ("Swap", "Open files"):
            button = page.get_by_role("button", name=name)
            assert button.evaluate(CUT_WORDS) == [], (width, name)
    above, below = (place.bounding_box() for place in (button, verdict(page)))
    assert above and below and above["y"] + above["height"] <= below["y"]
    assert quiet(page)


def test_hostile_names_reach_no_network(page: Page, url: str, tmp_path: Path) -> None:
    operators = {name: [(HOSTILE, HOSTILE, *CONV[2:])] for name in (HOSTILE, "fused")}
    ms = {HOSTILE: SLOW["unfused"], "fused": SLOW["fused"]}
    path = tmp_path / "hostile ![b](http:∕∕127.0.0.1:9∕b).zip"
    path.write_bytes(experiment_zip(ms, operators, model_name=HOSTILE))
    page.goto(url)
    wait_idle(page)
    upload(page, path)
    expect(verdict(page)).to_contain_text("<img src=x")
    wait_idle(page)
    page.get_by_text("More figures").click()
    wait_idle(page)
    for _ in range(5):  # a list that opens while the page still moves closes again
        page.get_by_role("combobox").first.click()  # every label in the list
        try:
            page.get_by_role("option").first.wait_for(timeout=10_000)
            break
        except TimeoutError:
            continue
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPlotlyChart").locator(".main-svg").first).to_be_visible()
    expect(page.locator(".fst canvas")).to_be_visible()
    wait_idle(page)
    assert (
        page.locator("a[href*='evil'], a[href^='javascript'], img[src*='127.0.0.1:9']").count() == 0
    )
    assert quiet(page)


def test_a_wrong_file_is_a_sentence_and_the_page_lives_on(
    page: Page, url: str, tmp_path: Path
) -> None:
    path = tmp_path / "photo.json"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    page.goto(url)
    expect(verdict(page)).to_contain_text("faster")
    wait_idle(page)
    upload(page, path)
    expect(page.get_by_text("This is a PNG image, not a trace (photo.json).")).to_be_visible()
    expect(page.get_by_text("What is shown is still mobilenetv2 · fused (sample)")).to_be_visible()
    expect(page.get_by_text("Sample: a recording that comes with FuseScope")).to_be_visible()
    expect(verdict(page)).to_contain_text("faster")
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_click_highlights_in_timeline_and_table(page: Page, url: str, tmp_path: Path) -> None:
    page.goto(url)
    wait_idle(page)
    upload(page, *two_profiles(tmp_path))
    expect(verdict(page)).to_contain_text("1.27× faster")
    wait_idle(page)
    timeline = page.locator(".fst")
    canvas = timeline.locator("canvas")
    canvas.scroll_into_view_if_needed()
    lane = float((timeline.get_attribute("data-lane-centres") or "").split()[0])
    canvas.click(position={"x": 300, "y": lane})  # Conv takes the first half of the run
    expect(timeline).to_have_attribute("data-selected-row", "2")  # third largest change
    expect(timeline).to_have_attribute("data-highlighted-candidate", "1")
    wait_idle(page)
    table = page.locator(".st-key-operator_table").get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 16, box["y"] + 33 * 3.5)  # two heads, then the second row
    expect(timeline).to_have_attribute("data-selected-row", "1")
    wait_idle(page)
    page.mouse.click(box["x"] + 120, box["y"] + 33 * 2.5)  # any cell picks its row
    expect(timeline).to_have_attribute("data-selected-row", "0")
    page.keyboard.press("ArrowDown")  # and is where the keyboard goes on
    expect(table.locator("td[aria-selected='true']")).to_have_attribute("id", re.compile("-1$"))
    expect(timeline).to_have_attribute("data-selected-row", "0")
    assert quiet(page)


def test_uploads_outlive_a_reload_and_open_in_a_second_tab(
    page: Page, url: str, tmp_path: Path
) -> None:
    page.goto(url)
    wait_idle(page)
    upload(page, *two_profiles(tmp_path))
    expect(verdict(page)).to_contain_text("1.27× faster")
    wait_idle(page)
    page.reload()
    expect(verdict(page)).to_contain_text("1.27× faster")
    wait_idle(page)
    expect(page.get_by_test_id("stFileUploader")).to_have_count(0)
    page.get_by_role("button", name="Open files").click()
    third = tmp_path / "third.json"
    third.write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    upload(page, third)
    expect(verdict(page)).to_contain_text("third.json")
    wait_idle(page)
    expect(page.get_by_test_id("stFileUploader")).to_have_count(0)
    other = page.context.new_page()
    other.goto(page.url)
    expect(verdict(other)).to_contain_text("third.json")
    assert quiet(page)


def test_a_dashboard_that_answers_others_keeps_uploads_in_their_tab(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    with started([*SERVE, "--host=0.0.0.0", f"--port={free_port()}"], tmp_path) as server:
        url = server.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        allowed_origins.add(f"{url}/")
        page.goto(url)
        wait_idle(page)
        upload(page, *two_profiles(tmp_path))
        expect(verdict(page)).to_contain_text("1.27× faster")
        wait_idle(page)
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.get_by_text("This link leads to a file of another browser")).to_be_visible()
        expect(other.get_by_test_id("stMetric")).to_have_count(0)
        upload(other, *two_profiles(tmp_path))
        expect(verdict(other)).to_contain_text("1.27× faster")


def test_a_recording_from_the_page_to_its_comparison(page: Page, url: str) -> None:
    page.goto(url)
    wait_idle(page)
    page.get_by_role("link", name="Record").click()
    expect(page.get_by_role("heading", name="Record a model")).to_be_visible()
    wait_idle(page)
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name=re.compile("^mul_add")).click()
    wait_idle(page)
    page.get_by_role("radio", name="15 s").or_(page.get_by_role("button", name="15 s")).click()
    wait_idle(page)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    content = page.get_by_test_id("stMainBlockContainer")
    expect(content.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.get_by_text("Recorded.")).to_be_visible()
    page.get_by_role("button", name="Open in Compare").click()
    expect(verdict(page)).to_contain_text(re.compile("fused"))
    assert "recorded%3Amul_add" in page.url
    assert quiet(page)


@pytest.mark.parametrize("path", ["", "fusion", "record", "recipes"])
def test_every_page_draws_in_dark_and_light(page: Page, url: str, path: str) -> None:
    """In both themes without anything that axe-core objects to, and standing still as it loads."""
    page.add_init_script(WATCH_SHIFTS)
    page.emulate_media(color_scheme="dark")
    page.goto(f"{url}/{path}")
    for scheme, background in (("dark", "rgb(18, 22, 28)"), ("light", "rgb(255, 255, 255)")):
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        expect(page.get_by_role("heading", level=2).first).to_be_visible()
        wait_idle(page)
        assert page.get_by_test_id("stException").count() == 0
        assert page.outside_requests == []
        assert violations(page) == []
        assert stands_still(page)
    for width in (1024, 420):
        page.set_viewport_size({"width": width, "height": 900})
        wait_idle(page)
        assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth") == 0
        # Ways on are not cut at the page's edge, nor beyond it.
        assert (
            page.get_by_test_id("stMain")
            .get_by_role("button")
            .evaluate_all(
                "all => all.filter((e) => e.checkVisibility() && e.innerText.trim() "
                "&& (e.getBoundingClientRect().right > innerWidth || "
                "[e, ...e.querySelectorAll('p')].some((p) => p.scrollWidth > p.clientWidth + 1)))"
                ".map((e) => e.innerText)"
            )
            == []
        )
