"""Fusion flow and alignment by group in a real browser: geometry, pointer, keyboard, both hosts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from fusescope.analysis.timeline import script
from tests.browser.timelines import HOSTILE, Timeline, open_report, payload, side

BLUE, ORANGE = (0, 114, 178), (230, 159, 0)
US = 1000
WHOLE, ALIGNED = 1000 * US, 1250 * US
FLOW, TIME, BY_GROUP = "fusion flow", "true time", "aligned by group"


def group(id_: int, pattern: str, becomes: str, kind: str, times: tuple[int, int]) -> Any:
    before, after = times
    return {
        "id": id_,
        "pattern": pattern,
        "becomes": becomes,
        "kind": kind,
        "before_ns": before * US,
        "after_ns": after * US,
        "gain_ns": (before - after) * US,
        "hurts": after > before,
    }


def small() -> Any:
    """Times in µs, groups in brackets.

    Unfused: Conv [0] 0..300, Mul [1] 300..400, Relu [0] 400..500, Gemm [2] 500..800, Identity [3]
    800..900, Cast 900..1000. Fused: FusedConv [0] 0..200, Reorder 200..250, Mul [1] 250..350,
    Gemm [2] 350..850. The ledger's means are others than those of these two runs.
    """
    before = [
        ("conv", "Conv", "convolution", 0),
        ("mul", "Mul", "elementwise", 1),
        ("relu", "Relu", "activation", 2),
        ("gemm", "Gemm", "matrix_product", 3),
        ("identity", "Identity", "pooling", 4),
        ("cast", "Cast", "normalisation", None),
    ]
    after = [
        (HOSTILE, "FusedConv", "convolution", 0),
        ("reorder", "Reorder", "normalisation", 5),
        ("mul", "Mul", "elementwise", 1),
        ("gemm", "Gemm", "matrix_product", 3),
    ]
    ends = [0, 300, 400, 500, 800, 900, 1000]
    spans = [(0, 0, 200), (1, 200, 50), (2, 250, 100), (3, 350, 500)]
    return payload(
        side(
            "baseline",
            before,
            [(i, ends[i] * US, (ends[i + 1] - ends[i]) * US) for i in range(6)],
            [0, 1, 0, 2, 3, None],
        ),
        side(
            "candidate",
            after,
            [(op, start * US, dur * US) for op, start, dur in spans],
            [0, None, 1, 2],
        ),
        groups=[
            group(0, f"Conv + {HOSTILE}", "FusedConv", "fused", (420, 210)),
            group(1, "Mul", "Mul", "kept", (100, 100)),
            group(2, "Gemm", "Gemm", "replaced", (300, 505)),
            group(3, "Identity", "", "removed", (100, 0)),
        ],
    )


@pytest.fixture
def show(page: Page, tmp_path: Path, allowed_origins: set[str]) -> Callable[[Any], Timeline]:
    """`show(payload)` opens a report with that timeline as a file."""
    return lambda data: open_report(data, page, tmp_path, allowed_origins)


@pytest.fixture
def inner(page: Page) -> Callable[[str, Any], Any]:
    """`inner(expression, data)` computes with the script's own functions; `data` is a payload."""
    body = script.joined("timeline.js")

    def compute(expression: str, data: Any) -> Any:
        return page.evaluate(f"(data) => {{ {body}\n return {expression}; }}", data)

    return compute


def ribbons(inner: Callable[[str, Any], Any], data: Any, mode: str = "flow") -> list[Any]:
    """(group, upper start and end, lower start and end) in µs."""
    found = inner(f'arrange(data, "{mode}").ribbons', data)
    return [(r["group"], *(round(x / US, 6) for x in r["top"] + r["bottom"])) for r in found]


def test_a_ribbon_a_piece_and_a_point_where_nothing_is_left(
    inner: Callable[[str, Any], Any],
) -> None:
    assert ribbons(inner, small()) == [
        (0, 0, 300, 0, 150),  # three quarters of the group's time, and of what replaced it
        (1, 300, 400, 250, 350),
        (0, 400, 500, 150, 200),
        (2, 500, 800, 350, 850),
        (3, 800, 900, 850, 850),  # behind the group before it
    ]
    swapped = small()
    swapped["sides"].reverse()
    assert ribbons(inner, swapped)[-1] == (3, 850, 850, 800, 900)


def test_pieces_of_both_sides_share_a_group_in_proportion(
    inner: Callable[[str, Any], Any],
) -> None:
    one, other = ("a", "A", "convolution", 0), ("b", "B", "pooling", 1)
    # Group 0 in pieces of 30 + 70 (and 100 of group 1 between), then 80 + 20.
    before = [(0, 0, 30 * US), (1, 30 * US, 100 * US), (0, 130 * US, 70 * US)]
    after = [(0, 0, 80 * US), (1, 80 * US, 100 * US), (0, 180 * US, 20 * US)]
    data = payload(
        side("baseline", [one, other], before, [0, 1]),
        side("candidate", [one, other], after, [0, 1]),
        groups=[
            group(0, "A", "A", "replaced", (100, 100)),
            group(1, "B", "B", "kept", (100, 100)),
        ],
    )
    assert ribbons(inner, data) == [
        (0, 0, 30, 0, 30),
        (1, 30, 130, 80, 180),
        (0, 130, 180, 30, 80),
        (0, 180, 200, 180, 200),
    ]


def test_groups_start_together_and_the_others_stay_in_order(
    inner: Callable[[str, Any], Any],
) -> None:
    starts = inner(
        "((all) => [all.span, ...all.places.map((side) => Array.from(side))])"
        "(alignByGroup(data.sides))",
        small(),
    )
    assert starts[0] == ALIGNED
    # Conv and Relu together, Reorder behind them, then Mul, Gemm, Identity and Cast.
    assert [x / US for x in starts[1]] == [0, 450, 300, 550, 1050, 1150]
    assert [x / US for x in starts[2]] == [0, 400, 450, 550]
    by_group = {g: (top, bottom) for g, top, _, bottom, _ in ribbons(inner, small(), "aligned")}
    assert by_group and all(top == bottom for top, bottom in by_group.values())


def test_alignment_leaves_out_idle_time_but_keeps_what_ran_together(
    inner: Callable[[str, Any], Any],
) -> None:
    operators = [("a", "A", "convolution", 0), ("b", "B", "pooling", 1)]
    # Two lanes: 0..100 and 60..120 at the same time, idle, then 500..540.
    calls = [(0, 0, 100), (1, 60, 60, 1), (0, 500, 40)]
    data = payload(
        side("baseline", operators, calls, [4, 4]),
        side("candidate", operators[:1], [(0, 7, 10)], [4]),
        groups=[group(4, "A + B", "A", "fused", (1, 1))],
    )
    aligned = inner("alignByGroup(data.sides).places.map((side) => Array.from(side))", data)
    assert aligned == [[0, 60, 120], [0]]
    assert inner("alignByGroup(data.sides).span", data) == 160


def test_modes_by_keyboard(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    modes = timeline.root.get_by_role("group", name="Place operators by")
    expect(modes.get_by_role("radio")).to_have_count(3)
    expect(modes.get_by_role("radio", name=TIME)).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(timeline.root).to_have_attribute("data-mode", "flow")
    expect(timeline.root).to_contain_text("as profiled. The change beside the pointer is the mean")
    for text in ("fused or replaced", "unchanged", "slower beyond noise"):
        expect(timeline.root.locator(".fst-note")).to_contain_text(text)
    page.keyboard.press("ArrowRight")
    expect(timeline.root).to_have_attribute("data-mode", "aligned")
    assert timeline.window() == (0, ALIGNED)
    page.keyboard.press("ArrowRight")
    expect(timeline.root).to_have_attribute("data-mode", "time")
    assert timeline.window() == (0, WHOLE)
    assert page.console_errors == []


def test_ribbon_tells_its_group_and_its_gain_as_text(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    timeline = show(small())
    timeline.mode(FLOW)
    page.mouse.move(*timeline.in_band(150 * US, 0.05))
    expect(timeline.root).to_have_attribute("data-over-group", "0")
    expect(timeline.tip).to_contain_text(f"Conv + {HOSTILE}")
    expect(timeline.tip).to_contain_text("→ FusedConv")
    expect(timeline.tip).to_contain_text("change−210 µs, mean of all runs")
    expect(timeline.tip).to_contain_text("mean of all runs420 µs → 210 µs")
    expect(timeline.tip).to_contain_text("these two runs400 µs → 200 µs")
    page.mouse.move(*timeline.in_band(600 * US, 0.05))
    expect(timeline.tip).to_contain_text("change+205 µs")
    expect(timeline.tip).to_contain_text("slower beyond noise")
    page.mouse.move(*timeline.in_band(350 * US, 0.05))
    expect(timeline.tip).to_contain_text("unchanged")
    page.mouse.move(*timeline.in_band(810 * US, 0.05))
    expect(timeline.tip).to_contain_text("→ nothing: not needed")
    page.mouse.move(*timeline.in_band(950 * US, 0.5))  # under the operator in no group
    expect(timeline.tip).to_be_hidden()
    expect(timeline.root).to_have_attribute("data-over-group", "")
    timeline.hover(100 * US)  # an operator names its group as well
    expect(timeline.tip).to_contain_text("change of its group−210 µs")
    assert page.locator("img").count() == 0
    assert page.title() == "report"
    assert page.outside_requests == []
    assert page.console_errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_hurts_stands_out(show: Callable[[Any], Timeline], page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    timeline = show(small())
    timeline.mode(FLOW)
    replaced, kept, hurts, none = (
        timeline.pixel(*timeline.in_band(us * US, 0.05)) for us in (150, 350, 600, 960)
    )
    assert replaced[2] > replaced[0] + 50  # blue
    assert max(kept[:3]) - min(kept[:3]) < 50  # grey
    assert hurts[0] > hurts[2] + 100  # red
    assert hurts[3] > 2 * max(replaced[3], kept[3])
    assert none[3] == 0


def test_click_on_a_ribbon_lights_its_group(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    timeline.mode(FLOW)
    page.mouse.click(*timeline.in_band(150 * US, 0.05))
    expect(timeline.root).to_have_attribute("data-selected-group", "0")
    expect(timeline.root).to_have_attribute("data-selected-row", "")
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "2")
    expect(timeline.root).to_have_attribute("data-highlighted-candidate", "1")
    assert timeline.colour(150 * US) == BLUE
    assert timeline.colour(950 * US) != ORANGE  # dimmed
    timeline.mode(TIME)  # what is lit stays so
    assert timeline.colour(150 * US) == BLUE
    assert timeline.colour(950 * US) != ORANGE
    timeline.click(600 * US)  # in true time an operator is an operator
    expect(timeline.root).to_have_attribute("data-selected-row", "3")
    expect(timeline.root).to_have_attribute("data-selected-group", "2")
    timeline.click(100 * US)
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "1")
    timeline.mode(BY_GROUP)  # elsewhere it stands for its group
    expect(timeline.root).to_have_attribute("data-highlighted-baseline", "2")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    timeline.canvas.focus()
    page.keyboard.press("Escape")
    expect(timeline.root).to_have_attribute("data-selected-group", "")


def test_aligned_by_group(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    timeline.mode(BY_GROUP)
    assert timeline.colour(190 * US, lane=1) == BLUE
    assert timeline.colour(300 * US, lane=1) != BLUE  # the gain: a gap
    timeline.hover(350 * US)
    expect(timeline.tip).to_contain_text("relu")
    expect(timeline.tip).to_contain_text("start0.40 ms")  # when it ran, not where it stands
    timeline.hover(1000 * US, lane=1)
    expect(timeline.tip).to_contain_text("gemm")
    timeline.hover(1000 * US)
    expect(timeline.tip).to_be_hidden()
    timeline.canvas.focus()
    page.keyboard.press("]")
    expect(timeline.root.get_by_role("status")).to_contain_text("change of its group −210 µs")
    page.keyboard.press("]")
    expect(timeline.root.get_by_role("status")).to_contain_text("2 of 6: relu")


def test_zoom_and_pan_stay_in_every_mode(show: Callable[[Any], Timeline], page: Page) -> None:
    timeline = show(small())
    timeline.mode(FLOW)
    timeline.canvas.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    assert timeline.window() == (187_500, 687_500)
    page.mouse.move(*timeline.in_band(600 * US, 0.05))
    expect(timeline.root).to_have_attribute("data-over-group", "2")
    timeline.mode(TIME)  # the call in the middle stays there: Relu, 400..500
    assert timeline.window() == (200_000, 700_000)
    timeline.mode(BY_GROUP)
    assert timeline.window() == (100_000, 600_000)
    page.get_by_role("button", name="Reset zoom").click()
    assert timeline.window() == (0, ALIGNED)


def test_without_groups_there_is_nothing_to_choose(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    for data in (payload(*small()["sides"]), {**small(), "sides": small()["sides"][:1]}):
        timeline = show(data)
        expect(timeline.root).to_have_attribute("data-mode", "time")
        expect(page.get_by_role("radio")).to_have_count(0)
        timeline.hover(100 * US)
        expect(timeline.tip).to_contain_text("conv")
    assert page.console_errors == []


def test_page_and_timeline_pick_groups_for_each_other(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    timeline = show(small())
    page.evaluate(
        """() => {
            window.told = [];
            document.getElementById("timeline")
                .addEventListener("fst-picked-group", (event) => told.push(event.detail));
        }"""
    )
    pick = """(id) => document.getElementById("timeline")
        .dispatchEvent(new CustomEvent("fst-pick-group", { detail: id }))"""
    page.evaluate(pick, 2)
    expect(timeline.root).to_have_attribute("data-selected-group", "2")
    expect(timeline.root).to_have_attribute("data-highlighted-candidate", "1")
    assert timeline.colour(950 * US) != ORANGE
    page.evaluate(pick, 4711)  # a group of no operator in these runs: nothing is dimmed
    assert timeline.colour(950 * US) == ORANGE
    page.evaluate(pick, None)
    expect(timeline.root).to_have_attribute("data-selected-group", "")
    assert page.evaluate("told") == []  # the page is told of the user's clicks only
    timeline.mode(FLOW)
    page.mouse.click(*timeline.in_band(150 * US, 0.05))
    timeline.click(950 * US)
    assert page.evaluate("told") == [0, None]


def test_a_crowd_of_groups_is_one_neutral_shape(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    count = 20_000
    operators = [("conv", "Conv", "convolution", 0)] * count
    halves = [(i, i * 500, 500) for i in range(count)]
    groups = [group(i, "Conv", "FusedConv", "fused", (1, 1)) for i in range(count)]
    groups[count // 2]["hurts"] = True
    data = payload(
        side("baseline", operators, [(i, i * 1000, 1000) for i in range(count)], [*range(count)]),
        side("candidate", operators, halves, [*range(count)]),
        groups=groups,
    )
    timeline = show(data)
    timeline.mode(FLOW)
    neutral = timeline.pixel(*timeline.in_band(5_000 * US, 0.5))
    assert neutral[3] > 20
    assert max(neutral[:3]) - min(neutral[:3]) < 50
    x, y = timeline.in_band(7_500 * US, 0.5)  # half way between 10 ms and 5 ms
    assert max(timeline.pixel(x + by, y)[0] for by in range(-3, 4)) > 150
    page.mouse.move(x, y)
    expect(timeline.root).to_have_attribute("data-over-group", str(count // 2))
    assert timeline.pixel(*timeline.in_band(19_000 * US, 0.95))[3] == 0
    timeline.mode(BY_GROUP)
    assert timeline.window() == (0, count * 1000)
    assert page.console_errors == []


def test_paper_keeps_the_mode(show: Callable[[Any], Timeline], page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    timeline = show(small())
    timeline.mode(FLOW)
    page.emulate_media(color_scheme="dark", media="print")
    expect(timeline.root).to_have_attribute("data-theme", "light")
    expect(timeline.root).to_have_attribute("data-mode", "flow")
    expect(timeline.root.locator(".fst-modes")).to_be_hidden()
    expect(timeline.root.locator(".fst-note")).to_be_visible()
    assert page.console_errors == []


def test_a_group_of_many_executions_is_lit_in_its_colour(
    show: Callable[[Any], Timeline], page: Page
) -> None:
    """228 kernels, one before each product: outlines around all of them would be a black band."""
    count = 228
    operators = [("quantise", "Quantise", "elementwise", 0), ("mm", "Gemm", "matrix_product", 1)]

    def calls(first: int) -> list[tuple[int, int, int]]:
        pairs = [((0, i * 8, first), (1, i * 8 + first, 8 - first)) for i in range(count)]
        return [(op, start * US, dur * US) for pair in pairs for op, start, dur in pair]

    data = payload(
        side("baseline", operators, calls(2), [0, 1]),
        side("candidate", operators, calls(1), [0, 1]),
        groups=[
            group(0, "Quantise", "Quantise", "fused", (456, 228)),
            group(1, "Gemm", "Gemm", "kept", (1368, 1596)),
        ],
    )
    timeline = show(data)
    timeline.mode(FLOW)
    timeline.click(1 * US)
    expect(timeline.root).to_have_attribute("data-selected-group", "0")
    x, y = timeline.in_band(900 * US, 0.5)
    band = [timeline.pixel(x + by, y) for by in range(-40, 41)]
    assert any(blue > red + 60 for red, _, blue, _ in band)  # the colour of what was replaced
    # An outline is opaque; what ribbons cover together lets the page through.
    assert max(alpha for *_, alpha in band) < 210
