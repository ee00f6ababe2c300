"""Colours of the marks: one definition, seen on every page, in both themes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from fusescope.analysis import colours
from fusescope.analysis.charts.icicle import icicle
from fusescope.analysis.charts.interval import interval
from fusescope.analysis.charts.roofline import roofline
from fusescope.analysis.charts.run_times import run_times
from fusescope.analysis.charts.waterfall import waterfall
from fusescope.analysis.colours import DARK, LIGHT, Colours, colours_of
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofline import roofline_picture
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.metrics.hierarchy import Node
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from tests.factories import experiment_zip

ROOT = Path(__file__).resolve().parents[1]
REPORT = (ROOT / "analysis" / "report" / "assets" / "report.css").read_text("utf-8")
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
MARKS = ("baseline", "candidate", "faster", "slower", "neutral")
THEMES = {"light": LIGHT, "dark": DARK}


def backgrounds(theme: str) -> list[str]:
    """The page of the report and the one of the dashboard."""
    pages = re.findall(r"--page: (#[0-9a-f]{6});", REPORT)
    return [pages[list(THEMES).index(theme)], CONFIG[theme]["backgroundColor"].lower()]


def parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def luminance(rgb: list[float]) -> float:
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in (v / 255 for v in rgb)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(mark: str, background: str, opacity: float = 1.0) -> float:
    """WCAG 2, of a mark that lets its background through."""
    below = parts(background)
    seen = [opacity * m + (1 - opacity) * b for m, b in zip(parts(mark), below, strict=True)]
    low, high = sorted((luminance(seen), luminance([float(b) for b in below])))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("background", ["#ffffff", "#111111"])
def test_marks_of_a_notebook_are_seen_on_light_and_dark(background: str) -> None:
    for mark in MARKS:
        assert contrast(getattr(colours.NOTEBOOK, mark), background) >= 3, mark


def experiment() -> Comparison:
    value = read(Source("e.zip", experiment_zip({"unfused": [10.0] * 6, "fused": [5.0] * 6})))
    assert isinstance(value, Experiment)
    sides = [side_of_variant(value, name) for name in ("unfused", "fused")]
    return compare(*sides, Assumptions(peak_flops_per_s=1e12))


@pytest.mark.parametrize("theme", THEMES)
def test_every_mark_is_seen_on_its_page(theme: str) -> None:
    palette = THEMES[theme]
    for background in backgrounds(theme):
        for name in MARKS:
            assert contrast(asdict(palette)[name], background) >= 3, (name, background)
        # Runs and operators lie on each other, and a gain's bar in the waterfall is as pale.
        for name in ("baseline", "candidate", "faster"):
            mark = asdict(palette)[name]
            assert contrast(mark, background, colours.OPACITY) >= 3, (name, background)
    for side in (palette.baseline, palette.candidate):  # in the waterfall: how long a run took
        assert contrast(palette.ink, side) >= 4.5
    assert palette.baseline != palette.candidate
    assert (palette.faster, palette.slower) == (
        CONFIG[theme]["blueColor"].lower(),
        CONFIG[theme]["redColor"].lower(),
    )


@pytest.mark.parametrize("theme", THEMES)
def test_grey_text_is_the_same_cool_grey_and_can_be_read(theme: str) -> None:
    """Numbers of a verdict that is none, labels of a chain: Streamlit's own grey is brown."""
    text = CONFIG[theme]["grayTextColor"].lower()
    red, green, blue = parts(text)
    assert red < green < blue
    assert contrast(text, CONFIG[theme]["backgroundColor"].lower()) >= 4.5
    # On a pale ground of its own colour, as badges are.
    ground = CONFIG[theme]["grayColor"].lower()
    pale = [
        round(0.2 * of + 0.8 * page)
        for of, page in zip(
            parts(ground), parts(CONFIG[theme]["backgroundColor"].lower()), strict=True
        )
    ]
    assert contrast(text, "#" + bytes(pale).hex()) >= 4.5


@pytest.mark.parametrize("name", ["blue", "red", "orange"])
def test_text_of_a_badge_can_be_read(name: str) -> None:
    """On white with a tenth of its own colour, as Streamlit draws it in the light."""
    theme = CONFIG["light"]
    pale = [round(0.9 * 255 + 0.1 * of) for of in parts(theme[f"{name}Color"])]
    text = theme[f"{name}TextColor"].lower()
    assert contrast(text, "#" + bytes(pale).hex()) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_labels_of_the_tree_can_be_read_on_every_box(theme: str) -> None:
    """Of a box with any part of the time, the whole and the least among them."""
    nodes = [Node(None, "run", "", 100.0, 1)]
    nodes += [Node(0, "operator", f"op{n}", float(n), 1) for n in range(101)]
    figure = icicle(nodes, THEMES[theme])
    assert figure is not None
    [tree] = figure.data
    pairs = list(zip(tree.marker.colors, tree.textfont.color, strict=True))
    assert len({ground for ground, _ in pairs}) > 90 and tree.leaf.opacity == 1
    for ground, text in pairs:
        assert contrast(text, ground) >= 4.5, (ground, text)
    assert colours.mixed("#000000", "#ff8040", 0.5) == "#804020"
    for grey in range(256):
        ground = "#" + bytes([grey] * 3).hex()
        assert contrast(colours.ink_on(ground), ground) >= 4.5


def test_without_a_theme_colours_are_those_of_paper() -> None:
    assert [colours_of(theme) for theme in ("light", "dark", None)] == [LIGHT, DARK, LIGHT]


def test_a_report_has_each_colour_once_and_both_themes() -> None:
    page = report_html(experiment())
    for name in MARKS:
        found = re.findall(rf"--mark-{name}: (#[0-9a-f]{{6}});", page)
        # The canvas, the still picture in a dark system, then the page.
        values = [asdict(THEMES[theme])[name] for theme in THEMES]
        assert found == [*values, values[1], *values], name
    assert set(re.findall(r"var\(--mark-([a-z]+)\)", page)) == {"opacity", *MARKS}
    named = {asdict(palette)[name] for palette in THEMES.values() for name in MARKS}
    text_colours = {"#57606a", "#9aa4af"}  # of captions
    told = set(re.findall(r"#[0-9a-f]{6}", REPORT))
    assert told and not (named - text_colours) & told


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_charts_draw_both_sides_in_the_theme_s_colours(palette: Colours) -> None:
    comparison = experiment()
    runs, steps = run_times(comparison, palette), waterfall(comparison, palette)
    picture = roofline_picture(comparison)
    assert picture is not None
    roofs = roofline(picture, ("unfused", "fused"), palette)
    assert runs is not None and steps is not None
    for figure in (runs, roofs):
        dots = [trace.marker.line.color for trace in figure.data if trace.mode == "markers"]
        assert set(dots) == {palette.baseline, palette.candidate}
    bars = steps.data[0].marker.color
    assert (bars[0], bars[-1]) == (palette.baseline, palette.candidate)
    assert steps.data[0].insidetextfont.color == palette.ink
    for outcome, colour in (
        ("faster", palette.faster),
        ("slower", palette.slower),
        ("noise_unknown", palette.neutral),
    ):
        verdict = interval(replace(comparison.verdict, outcome=outcome), palette)
        assert verdict is not None
        assert verdict.data[-1].marker.color == colour


def test_timelines_mark_both_sides_in_the_still_picture() -> None:
    heads = re.findall(r'<p class="lane-head"><i class="dot (\w+)"></i>', report_html(experiment()))
    assert heads == ["baseline", "candidate"]
