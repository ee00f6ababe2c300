"""Charts: what is drawn, and that labels are not markup."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from fusescope.analysis import units
from fusescope.analysis.charts.figure import label_text
from fusescope.analysis.charts.interval import interval
from fusescope.analysis.charts.roofline import roofline
from fusescope.analysis.charts.run_times import run_times
from fusescope.analysis.colours import LIGHT, report_sheet
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofline import roofline_picture
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.pages import asset
from fusescope.analysis.report.pictures.distribution import strip_plot
from fusescope.analysis.report.pictures.roofline import roofline as report_roofline
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import interval_key
from tests.factories import (
    CONV,
    FUSED_OPERATORS,
    RELU,
    UNFUSED_OPERATORS,
    experiment_zip,
    profile_json,
)

HOSTILE = "<a href='https://evil.example'>x</a> &amp; <b>y</b>"


def experiment(**ms: list[float]) -> Experiment:
    value = read(Source("e.zip", experiment_zip(ms)))
    assert isinstance(value, Experiment)
    return value


def profile(name: str, operators: object, runs: int) -> Trace:
    value = read(Source(name, profile_json(operators, runs)))  # type: ignore[arg-type]
    assert isinstance(value, Trace)
    return value


def test_every_unprofiled_run_is_a_dot_in_its_block() -> None:
    both = experiment(unfused=[10.0, 12.0, 11.0], fused=[5.0, 6.0, 5.5])
    sides = [side_of_variant(both, name) for name in ("unfused", "fused")]
    figure = run_times(compare(*sides))
    assert figure is not None
    dots = {trace.name: trace for trace in figure.data if trace.mode == "markers"}
    assert set(dots) == {"unfused", "unfused (A/A control)", "fused"}
    # 3 rounds a block; block 2 of the candidate stands right of 2, all its runs at 6 ms.
    second = [(x, y) for x, y in zip(dots["fused"].x, dots["fused"].y, strict=True) if 2 < x < 2.5]
    assert [y for _, y in second] == [6.0] * 3
    assert [1.5 < x < 2 for x in dots["unfused"].x[3:6]] == [True] * 3
    assert tuple(figure.layout.xaxis.range) == (0.5, 3.5)


def test_a_profile_is_one_column_of_its_runs() -> None:
    first, second = (
        profile("a", UNFUSED_OPERATORS, runs=4),
        profile("b", FUSED_OPERATORS, runs=2),
    )
    figure = run_times(compare(side_of_trace(first), side_of_trace(second)))
    assert figure is not None
    assert sorted(len(trace.x) for trace in figure.data if trace.mode == "markers") == [2, 4]
    assert list(figure.layout.xaxis.ticktext) == ["a", "b"]
    assert [trace.name for trace in figure.data if trace.mode == "lines"] == [
        "a, mean",
        "b, mean",
    ]


def test_page_and_report_draw_the_same_lines() -> None:
    """A profile's line is the mean that its verdict rests on, a block's the quartile."""
    both = experiment(unfused=[10.0, 12.0, 11.0], fused=[5.0, 6.0, 5.5])
    blocks = [side_of_variant(both, name) for name in ("unfused", "fused")]
    files = [side_of_trace(profile(name, UNFUSED_OPERATORS, runs=6)) for name in "ab"]
    for sides, what in ((blocks, "lower quartile"), (files, "mean")):
        comparison = compare(*sides)
        figure, plot = run_times(comparison), strip_plot(comparison)
        assert figure is not None and plot is not None
        [line] = [each for each in figure.data if each.name == f"{sides[1].name}, {what}"]
        told = [row.typical_ns[1] for row in plot.rows if row.typical_ns[1] is not None]
        assert [y * 1e6 for y in line.y[::3]] == pytest.approx(told)
        assert told


def test_one_run_a_side_is_left_out() -> None:
    one, two = (profile("a", UNFUSED_OPERATORS, runs=runs) for runs in (1, 2))
    assert run_times(compare(side_of_trace(one), side_of_trace(one))) is None
    assert run_times(compare(side_of_trace(one), side_of_trace(two))) is not None


def test_labels_are_text() -> None:
    assert "<" not in label_text(HOSTILE)
    named = profile(HOSTILE, FUSED_OPERATORS, runs=2)
    figure = run_times(compare(side_of_trace(named), side_of_trace(named)))
    assert figure is not None
    assert figure.data
    for trace in figure.data:
        assert "<" not in trace.name
    assert "<a" not in figure.to_json()


def drawn_roofline(comparison: Comparison) -> Any:
    picture = roofline_picture(comparison)
    assert picture is not None
    return roofline(picture, ("a", "b"))


def test_the_roofline_has_both_sides_and_hover_texts_are_no_markup() -> None:
    hostile = (f"{HOSTILE}/Conv", *CONV[1:])
    sides = [side_of_trace(profile(name, (hostile, RELU), runs=2)) for name in "ab"]
    rates = Assumptions(peak_flops_per_s=1e9, bandwidth_bytes_per_s=1e9)
    figure = drawn_roofline(compare(*sides, rates))
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [len(trace.x) for trace in dots] == [1, 1]  # Relu has no FLOPs
    assert [trace.name for trace in lines] == [
        "float32 peak ~1.00 GFLOP/s",
        "main memory ~1.00 GB/s",
    ]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    for trace in dots:
        assert "<" not in "".join(trace.customdata[0])
    assert "<a" not in figure.to_json()


def test_integers_are_drawn_without_flops() -> None:
    side = side_of_trace(profile("a", (("q/Conv", "ConvInteger", *CONV[2:]),), runs=2))
    figure = drawn_roofline(compare(side, side, Assumptions(peak_flops_per_s=1e9)))
    assert figure.data[0].name == "8-bit peak ~1.00 GOP/s"
    assert "6.22 OP/B, 138 MOP/s" in figure.data[1].customdata[0]  # as in test_roofline_report.py
    assert figure.layout.yaxis.title.text == "attained (OP/s for 8-bit numbers)"
    assert [note.text for note in figure.layout.annotations] == ["8-bit peak"]
    assert figure.data[0].line.dash == "14px,5px"


def test_no_counted_operator_no_roofline() -> None:
    side = side_of_trace(profile("a", (RELU,), runs=2))
    assert roofline_picture(compare(side, side)) is None


def test_colours_and_ticks_are_those_of_the_report() -> None:
    css = report_sheet() + asset("report.css")
    for role, colour in (("baseline", LIGHT.baseline), ("candidate", LIGHT.candidate)):
        assert f"--mark-{role}: {colour};" in css
        assert f".roof.{role} {{ stroke: var(--mark-{role}); }}" in css
    sides = [side_of_trace(profile("a", (CONV,), runs=2)) for _ in range(2)]
    comparison = compare(*sides, Assumptions(peak_flops_per_s=1e9))
    figure, still = drawn_roofline(comparison), report_roofline(comparison)
    assert still is not None
    assert tuple(figure.layout.xaxis.ticktext) == tuple(tick.text for tick in still.x_ticks)
    assert tuple(figure.layout.yaxis.ticktext) == tuple(tick.text for tick in still.y_ticks)
    assert still.y_ticks
    for value, tick in zip(figure.layout.yaxis.tickvals, still.y_ticks, strict=True):
        low, high = figure.layout.yaxis.range
        assert (math.log10(value) - low) / (high - low) == pytest.approx(tick.at)


def test_the_verdict_as_a_picture() -> None:
    both = experiment(unfused=[10.0 + b / 10 for b in range(8)], fused=[5.0] * 8)
    found = compare(*(side_of_variant(both, name) for name in ("unfused", "fused"))).verdict
    figure = interval(found)
    assert figure is not None and found.interval is not None
    control, bar, dot = (trace.hovertemplate for trace in figure.data)
    drawn = {trace.hovertemplate: list(trace.x) for trace in figure.data}
    assert bar.startswith("95 % interval: ")
    assert drawn[bar] == [found.interval.low, found.interval.high]
    speedup = f"speedup {units.factor(found.speedup)}<extra></extra>"
    assert (dot, drawn[dot]) == (speedup, [found.speedup])
    assert control.startswith("A/A control, two copies of the baseline: ")
    assert interval(replace(found, speedup=None)) is None
    # A point alone says nothing that the sentence does not; beside the control it does.
    assert interval(replace(found, interval=None, noise_floor=None)) is None
    beside = interval(replace(found, interval=None))
    assert beside is not None
    assert [trace.hovertemplate for trace in beside.data] == [control, dot]
    assert not figure.layout.showlegend  # on a phone it lay on the picture
    assert interval_key(found) == (
        f"Dot: speedup {units.factor(found.speedup)}. Bar: 95 % interval. Grey: A/A control, two "
        "copies of the baseline. Dashed: no change."
    )
