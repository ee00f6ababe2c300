"""The HTML report in a real browser, opened as the file that a colleague was sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.one_trace.html import trace_html
from tests.browser.accessibility import violations
from tests.factories import CONV, FUSED, GEMM, Operator, experiment_zip
from tests.step_traces import Kernel, steps_of

HOSTILE = "<img src=x onerror=\"document.title='pwned'\"></script><script>document.title='pwned'"
SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "mobilenetv2.zip"
TIMES = {"unfused": [10.0 + b / 100 for b in range(8)], "fused": [5.0] * 8}
SECTIONS = (
    "Figures",
    "Timelines",
    "Can I trust this?",
    "Op types",
    "Operators",
    "Run times",
    "Method",
)


def operators(first: Operator) -> list[Operator]:
    """Enough operators that some are folded away: 30 small ones between a Conv and a Gemm."""
    relus = [(f"block{n}/Relu", "Relu", 5, [(1, 4, 8, 8)], [(1, 4, 8, 8)]) for n in range(30)]
    hostile = (HOSTILE, "Add", 40, [(1, 4, 8, 8)], [(1, 4, 8, 8)])
    return [first, *(relus if first is CONV else []), hostile, GEMM]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a comparison with a hostile name in it."""
    data = experiment_zip(
        TIMES, {"unfused": operators(CONV), "fused": operators(FUSED)}, model_name=HOSTILE
    )
    html = report_html(compare(*choose_sides(read(Source("e.zip", data)))))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture
def opened(page: Page, report: Path, allowed_origins: set[str]) -> Iterator[Page]:
    """The report on screen; nothing but the file itself was asked for, and no script failed."""
    url = report.as_uri()
    allowed_origins.add(url)
    page.goto(url)
    expect(page.locator("#timeline canvas")).to_be_visible()
    yield page
    assert page.outside_requests == []
    assert page.console_errors == []
    assert "pwned" not in page.title().replace(HOSTILE, "")


def colours(page: Page) -> int:
    """How many colours the timeline's canvas shows."""
    return page.locator("#timeline canvas").evaluate(
        """(canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        }"""
    )


def test_opens_with_verdict_and_timeline(opened: Page) -> None:
    heading = opened.get_by_role("heading", level=1)
    expect(heading).to_contain_text("fused is 2.01× faster than unfused (95 % interval ")
    assert colours(opened) > 10
    expect(opened.locator(".still")).to_be_hidden()
    expect(opened.get_by_role("img", name="x", exact=True)).to_have_count(0)
    assert opened.locator("img").count() == 0


def test_figures_stand_beside_names_where_the_page_is_narrow(opened: Page) -> None:
    """Types, shapes and means, which stand between them, are on wider pages."""
    opened.set_viewport_size({"width": 420, "height": 900})
    for table in ("types", "operators"):
        box = opened.locator(f"#{table} .scroll").first
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), table
        change = box.locator("td.delta").first.bounding_box()
        assert change is not None and change["x"] + change["width"] <= 420, table


def test_row_and_timeline_pick_each_other(opened: Page) -> None:
    timeline, bar = opened.locator("#timeline"), opened.locator("#picked")
    row = opened.locator("tr[data-row]").filter(has_text="a/Conv")
    number = row.get_attribute("data-row")
    assert number is not None
    expect(bar).to_be_hidden()
    row.click()
    expect(timeline).to_have_attribute("data-selected-row", number)
    expect(timeline).to_have_attribute("data-highlighted-baseline", "1")
    expect(timeline).to_have_attribute("data-highlighted-candidate", "1")
    expect(row.get_by_role("button")).to_have_attribute("aria-pressed", "true")
    expect(bar).to_contain_text("a/Conv 100.0 µs → 110.0 µs (+10.0 µs)")
    bar.get_by_role("button").click()
    expect(timeline).to_have_attribute("data-selected-row", "")
    expect(bar).to_be_hidden()

    # The last box of the first lane is the Gemm.
    canvas = timeline.locator("canvas")
    canvas.scroll_into_view_if_needed()
    lanes = timeline.get_attribute("data-lane-centres")
    box = canvas.bounding_box()
    assert lanes is not None
    assert box is not None
    opened.mouse.click(box["x"] + box["width"] - 12, box["y"] + float(lanes.split()[0]))
    expect(bar).to_contain_text("head/Gemm")
    gemm = opened.locator("tr[data-picked]")
    expect(gemm).to_have_count(1)
    bar.get_by_role("link", name="table").click()
    expect(gemm).to_be_visible()
    expect(gemm).to_be_in_viewport()


def test_a_table_is_one_tab_stop(opened: Page) -> None:
    stops = opened.locator(".scroll").evaluate_all(
        """(tables) => tables.map((table) => [table, ...table.querySelectorAll("*")]
          .filter((element) => element.tabIndex >= 0).length)"""
    )
    assert len(stops) > 5 and set(stops) == {1}
    buttons = opened.locator("#operators .scroll").first.locator("tr[data-row] button")
    last = buttons.count() - 1
    assert last > 1
    buttons.first.focus()
    for key, at in (
        ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 0), ("End", last), ("ArrowDown", last),
        ("Home", 0),
    ):  # fmt: skip
        opened.keyboard.press(key)
        expect(buttons.nth(at)).to_be_focused()
        expect(buttons.nth(at)).to_have_attribute("tabindex", "0")
    # The next stop is outside, and the way back leads to the line that was left.
    opened.keyboard.press("ArrowDown")
    opened.keyboard.press("Tab")
    assert opened.evaluate("!document.activeElement.closest('#operators .scroll')")
    opened.keyboard.press("Shift+Tab")
    expect(buttons.nth(1)).to_be_focused()
    # Lines that are folded away are passed over, and one that is hands the stop to its own line.
    lines = opened.locator(".ledger summary")
    lines.first.focus()
    opened.keyboard.press("End")
    expect(lines.locator("visible=true").last).to_be_focused()


def test_keyboard_picks_a_row(opened: Page) -> None:
    button = opened.locator("tr[data-row] button").first
    button.focus()
    opened.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(opened.locator("#timeline")).to_have_attribute("data-selected-row", "0")


def test_names_stay_text(opened: Page) -> None:
    expect(opened.locator(".name").filter(has_text="<img src=x")).to_have_count(1)
    expect(opened.locator(".subject")).to_contain_text(HOSTILE)


def test_policy_stops_what_is_injected(
    page: Page, report: Path, tmp_path: Path, allowed_origins: set[str]
) -> None:
    """Even if a name got into the markup, neither its script nor its image would run."""
    html = report.read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    injected = "<script>document.title='pwned'</script><img src='http://127.0.0.1:9/pixel.png'>"
    broken.write_text(html.replace("<main>", f"<main>{injected}", 1), encoding="utf-8")
    allowed_origins.add(broken.as_uri())
    with page.expect_event("requestfailed") as stopped:
        page.goto(broken.as_uri())
    expect(page.locator("#timeline canvas")).to_be_visible()
    assert page.title() != "pwned"
    assert any("Content Security Policy" in line for line in page.console_errors)
    # Asked for by the markup, it did not leave the browser.
    assert page.outside_requests == ["http://127.0.0.1:9/pixel.png"]
    assert stopped.value.failure == "csp"


def test_follows_the_colour_scheme(opened: Page) -> None:
    light = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.emulate_media(color_scheme="dark")
    expect(opened.locator("#timeline")).to_have_attribute("data-theme", "dark")
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(13, 17, 23)")
    assert colours(opened) > 10
    assert violations(opened) == []
    opened.emulate_media(color_scheme="light")
    assert violations(opened) == []


def test_never_scrolls_sideways(opened: Page) -> None:
    for width in (1320, 700, 390):
        opened.set_viewport_size({"width": width, "height": 900})
        assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_readable_without_script(page: Page, report: Path, allowed_origins: set[str]) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    allowed_origins.add(report.as_uri())
    page.goto(report.as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("2.01× faster")
    expect(page.locator(".still")).to_be_visible()
    expect(page.locator(".still path").first).to_be_visible()
    expect(page.locator("#picked")).to_be_hidden()
    expect(page.locator("tr[data-row]").first).to_be_visible()
    page.locator("summary").filter(has_text="more operators").click()
    expect(page.locator("tr[data-row]").last).to_be_visible()
    assert page.outside_requests == []


def test_prints_every_section(opened: Page) -> None:
    opened.emulate_media(media="print", color_scheme="dark")
    for name in SECTIONS:
        expect(opened.get_by_role("heading", name=re.compile(re.escape(name)))).to_be_visible()
    expect(opened.get_by_role("navigation")).to_be_hidden()
    expect(opened.locator("#timeline")).to_be_hidden()
    expect(opened.locator(".still")).to_be_visible()
    expect(opened.locator("#trust .notes li").last).to_be_visible()  # folded away on screen
    expect(opened.locator("tr[data-row]").last).to_be_hidden()  # paper is for what is open
    paper = opened.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--page')")
    assert paper == "#ffffff"
    heads = opened.locator("thead:not(.visually-hidden)").evaluate_all(
        "(heads) => heads.map((head) => getComputedStyle(head).display)"
    )
    assert set(heads) == {"table-header-group"}
    pdf = opened.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 3


@pytest.mark.exhaustive  # a small one is printed above
def test_a_real_model_is_at_most_eight_pages_of_paper(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    path = tmp_path / "report.html"
    sides = choose_sides(read(Source("mobilenetv2.zip", SAMPLE.read_bytes())))
    path.write_text(report_html(compare(*sides)), encoding="utf-8")
    allowed_origins.add(path.as_uri())
    page.goto(path.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 8


def test_a_report_of_one_trace_opens_and_its_rows_lead_to_its_timeline(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    """A step of 8 products, 80 µs each."""
    trace = steps_of([[Kernel("layer_norm", 5), Kernel("gemm_mlp", 80)] * 8] * 3)
    path = tmp_path / "one.html"
    path.write_text(trace_html(advised(trace)), encoding="utf-8")
    allowed_origins.add(path.as_uri())
    page.goto(path.as_uri())
    timeline, bar = page.locator("#timeline"), page.locator("#picked")
    expect(timeline.locator("canvas")).to_be_visible()
    row = page.locator("tr[data-row]").filter(has_text="gemm_mlp")
    row.click()
    expect(timeline).to_have_attribute("data-selected-row", str(row.get_attribute("data-row")))
    expect(bar).to_contain_text("gemm_mlp 640 µs")
    bar.get_by_role("button").click()
    expect(bar).to_be_hidden()
    assert violations(page) == []
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    name, total = row.locator("th").bounding_box(), row.locator("td.before").bounding_box()
    assert name is not None and total is not None
    assert total["x"] + total["width"] <= 420, "the figure stands beside the name, not off the page"
    assert page.outside_requests == [] and page.console_errors == []


def test_the_table_of_what_is_in_view_is_no_wider_than_the_page(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    """A kernel of 200 characters without a space wraps, so that times are to be seen."""
    trace = steps_of([[Kernel("k" * 200, 100), Kernel("norm", 25)]] * 3)
    path = tmp_path / "long.html"
    path.write_text(trace_html(advised(trace)), encoding="utf-8")
    allowed_origins.add(path.as_uri())
    page.goto(path.as_uri())
    page.get_by_text("What is in view, as a table").click()
    table = page.locator(".fst-view table")
    expect(table).to_contain_text("kkk")
    box = table.bounding_box()
    assert box is not None and page.viewport_size is not None
    assert box["x"] + box["width"] <= page.viewport_size["width"]
