"""The waterfall: its steps lead from one total to the other exactly, whatever is left out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.axis import bars_start, time_ticks_between
from fusescope.analysis.charts.waterfall import waterfall
from fusescope.analysis.colours import LIGHT
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.ledger.reconciliation import Reconciliation, SideTimes, with_typical
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.pictures.waterfall import waterfall as still
from fusescope.analysis.wording.fusion.terms import SHOWN_ROUNDING_NS, reconciliation_sentence
from fusescope.analysis.wording.waterfall import (
    MAX_PATTERNS,
    Step,
    ends_ns,
    waterfall_steps,
)
from tests.factories import experiment_zip
from tests.step_traces import Kernel, steps_of

MS = 1_000_000
NAN = float("nan")
AFTER = "mean profiled run 8.49 ms; −2 ns of rounding included"


@cache
def measured() -> Comparison:
    """Any comparison: only its labels and its ledger matter here."""
    data = experiment_zip({"unfused": [10.0] * 5, "fused": [5.0] * 5})
    return compare(*choose_sides(read(Source("e.zip", data)), None, "unfused", "fused"))


def of_ledger(ledger: Ledger) -> Comparison:
    of = measured()
    # The sums here are made up: no verdict goes with them.
    return replace(of, ledger=ledger, verdict=replace(of.verdict, times_ns=None))


def of_groups(
    groups: list[tuple[str, float]],
    *,
    ungrouped: int = 0,
    dispatch: int | None = 0,
    bias: int | None = 0,
    slow: int = 0,
    overlap: int = 0,
    beside: tuple[int, int] = (0, 0),
    rounding: int = 0,
    baseline: int = 10 * MS,
    interval: tuple[float, float] = (NAN, NAN),
) -> Comparison:
    """Groups of (pattern, gain in ns); the terms of the sum follow from them. `beside`: what the
    baseline's profile takes longer than its run, and its operators longer than their union."""
    rows = pd.DataFrame(groups, columns=["pattern", "gain_ns"])
    rows["key"] = rows["pattern"]
    patterns = rows.groupby("key", sort=False).agg(
        pattern=("pattern", "first"), gain_ns=("gain_ns", "sum"), groups=("gain_ns", "size")
    )
    patterns = patterns.reset_index().assign(kind="fused", becomes="Conv")
    patterns["low_ns"], patterns["high_ns"] = interval
    order = patterns["gain_ns"].abs().sort_values(ascending=False, kind="stable").index
    gains = -sum(round(gain) for _, gain in groups)
    terms = [gains, ungrouped, slow, overlap, dispatch or 0, bias or 0, rounding]
    inflation, side_by_side = beside
    profiled = baseline + inflation
    after = profiled + sum(terms) - (bias or 0)
    sum_ = Reconciliation(
        of="unprofiled_wall",
        delta_ns=sum(terms),
        groups_ns=gains,
        ungrouped_ns=ungrouped,
        slow_ns=slow,
        overlap_ns=overlap,
        dispatch_ns=dispatch,
        profiler_bias_ns=bias,
        rounding_ns=rounding,
        baseline_ns=baseline,
        baseline=SideTimes(baseline, profiled, profiled, profiled + side_by_side),
        candidate=SideTimes(baseline + sum(terms), after, after, after + side_by_side - overlap),
    )
    return of_ledger(Ledger(rows, patterns.loc[order], pd.DataFrame(), sum_, None, 8))


def test_totals_patterns_and_terms_in_their_order() -> None:
    comparison = of_groups(
        [("Conv + Relu", 2.0 * MS), ("Conv + Relu", 1.0 * MS), ("Gemm", -0.5 * MS)],
        ungrouped=20_000,
        slow=70_000,
        dispatch=-100_000,
        bias=300_000,
        rounding=-2,
        beside=(MS, MS),
    )
    steps = waterfall_steps(comparison)
    assert tuple(replace(step, caption="") for step in steps) == (
        Step("unfused", 10 * MS, "total"),
        Step("profiler bias, baseline", MS, "term", "mean profiled run 11.0 ms"),
        Step("overlap of streams, baseline", MS, "term", "operators 12.0 ms"),
        Step("2 groups of Conv + Relu", -3 * MS, "faster", "→ Conv"),
        Step("Gemm", 500_000, "slower", "→ Conv"),
        Step("operators in no group", 20_000, "term"),
        Step("slow executions", 70_000, "term"),
        Step("idle time", -100_000, "term"),
        Step("overlap of streams, candidate", -MS, "term", "operators 9.49 ms"),
        Step("profiler bias, candidate", -700_002, "term", AFTER),
        Step("fused", 7_789_998, "total"),
    )
    assert ends_ns(steps) == [
        *(10_000_000, 11_000_000, 12_000_000, 9_000_000, 9_500_000, 9_520_000, 9_590_000),
        *(9_490_000, 8_490_000, 7_789_998, 7_789_998),
    ]


def test_a_gain_that_may_be_none_is_neither_faster_nor_slower() -> None:
    steps = waterfall_steps(of_groups([("Conv", 1.0 * MS)], interval=(-5.0, 2.0 * MS)))
    assert [step.kind for step in steps] == ["total", "same", "total"]


@pytest.mark.parametrize(("rounding", "is_told"), [(4, False), (SHOWN_ROUNDING_NS, True)])
def test_rounding_of_a_few_ns_is_no_term_of_the_sum(rounding: int, is_told: bool) -> None:
    sum_ = of_groups([("Conv", 2_000_000)], rounding=rounding).ledger.reconciliation
    assert ("rounding" in reconciliation_sentence(sum_)) is is_told
    assert "groups" in reconciliation_sentence(sum_)


def test_small_patterns_share_a_bar_and_large_rounding_has_its_own() -> None:
    groups = [(f"Pattern {i}", 1.0 * MS) for i in range(MAX_PATTERNS + 2)] + [("Small", 900.0)]
    steps = waterfall_steps(of_groups(groups, rounding=SHOWN_ROUNDING_NS))
    labels = [step.label for step in steps]
    assert labels == [
        "unfused",
        *(f"Pattern {i}" for i in range(MAX_PATTERNS)),
        "3 other groups",
        "rounding",
        "fused",
    ]
    assert steps[-3].value_ns == -2 * MS - 900


@pytest.mark.parametrize(("small", "alone"), [(9_999.0, False), (10_000.0, True)])
def test_a_pattern_of_one_per_cent_of_the_largest_stands_alone(small: float, alone: bool) -> None:
    steps = waterfall_steps(of_groups([("Conv", 1.0 * MS), ("A", small), ("B", 500.0)]))
    labels = [step.label for step in steps[1:-1]]
    assert labels == (["Conv", "A", "B"] if alone else ["Conv", "2 other groups"])


def test_a_single_other_pattern_stands_under_its_name() -> None:
    steps = waterfall_steps(of_groups([("Conv", 1.0 * MS), ("Small", 900.0)]))
    assert [step.label for step in steps] == ["unfused", "Conv", "Small", "fused"]


def test_without_a_time_in_common_there_is_nothing_to_draw() -> None:
    empty = pd.DataFrame({"pattern": [], "gain_ns": [], "key": []})
    for sum_ in (Reconciliation("kernel_sum"), Reconciliation("unprofiled_wall", delta_ns=-5)):
        comparison = of_ledger(Ledger(empty, empty, empty, sum_, None, 0))
        assert waterfall_steps(comparison) == ()
        assert waterfall(comparison) is None
        assert still(comparison) is None


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijkl"), st.floats(-1e9, 1e9)), max_size=30),
    st.integers(-(10**9), 10**9),
    st.none() | st.integers(-(10**9), 10**9),
    st.none() | st.integers(-(10**9), 10**9),
    st.integers(-(10**9), 10**9),
    st.integers(-(10**9), 10**9),
    st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 10**9)),
    st.integers(-5000, 5000),
)
def test_the_bars_add_up_to_the_change_exactly(
    groups: list[tuple[str, float]],
    ungrouped: int,
    dispatch: int | None,
    bias: int | None,
    slow: int,
    overlap: int,
    beside: tuple[int, int],
    rounding: int,
) -> None:
    comparison = of_groups(
        groups,
        ungrouped=ungrouped,
        dispatch=dispatch,
        bias=bias,
        slow=slow,
        overlap=overlap,
        beside=beside,
        rounding=rounding,
    )
    first, *changes, last = waterfall_steps(comparison)
    assert first.value_ns + sum(step.value_ns for step in changes) == last.value_ns
    assert last.value_ns - first.value_ns == comparison.ledger.reconciliation.delta_ns


def test_slow_runs_lead_from_the_run_of_the_verdict_to_the_mean_run() -> None:
    """The page has one time a side: 9 ms and 5 ms, of which the mean runs are 10 and 5.5 ms."""
    comparison = of_groups([("Conv", 4.5 * MS)])
    times = (9.0 * MS, 5.0 * MS)
    verdict = replace(comparison.verdict, times_ns=times, of="unprofiled_wall")
    sum_ = with_typical(comparison.ledger.reconciliation, verdict)
    comparison = replace(comparison, ledger=replace(comparison.ledger, reconciliation=sum_))
    steps = [(step.label, step.value_ns, step.note) for step in waterfall_steps(comparison)]
    assert steps == [
        ("unfused", 9 * MS, ""),
        ("slow runs, baseline", MS, "mean run 10.0 ms"),
        ("Conv", -4_500_000, "→ Conv"),
        ("slow runs, candidate", -500_000, "mean run 5.50 ms"),
        ("fused", 5 * MS, ""),
    ]
    assert sum_.whole_ns == -4 * MS and sum_.outlying_ns == 500_000


def test_the_figure_shows_names_literally_and_keeps_the_axis_at_zero() -> None:
    hostile = "<a href='http://evil.example'>x</a> + <b>"
    figure = waterfall(of_groups([(hostile, 2.0 * MS)]))
    assert figure is not None
    bars = figure.data[0]
    assert list(bars.x) == [10.0, -2.0, 8.0]
    assert list(bars.base) == [0.0, 10.0, 0.0]
    assert list(bars.text) == ["10.0 ms", "−2.00 ms", "8.00 ms"]
    assert figure.layout.xaxis.range[0] == 0.0
    shown = [*figure.layout.yaxis.ticktext, *(text for row in bars.customdata for text in row)]
    assert not any("<a" in text or "<b>" in text for text in shown)


def test_a_loss_is_never_drawn_as_a_gain() -> None:
    """Nor is a term, or what may be either, drawn as one of them."""
    losses = waterfall(of_groups([("Conv", 2.0 * MS), ("Gemm", -1.0 * MS)], dispatch=-MS, slow=-MS))
    noise = waterfall(of_groups([("Conv", 2.0 * MS)], interval=(-1.0, 4.0 * MS)))
    assert losses is not None and noise is not None
    colours = list(losses.data[0].marker.color)
    assert colours[1:3] == [LIGHT.faster, LIGHT.slower]
    assert set(colours[3:-1]) == {LIGHT.neutral} and len(colours) == 6
    assert list(losses.data[0].marker.pattern.shape) == ["", "", "", "/", "/", ""]
    assert set(noise.data[0].marker.color[1:-1]) == {LIGHT.neutral}
    for figure in (losses, noise):  # the totals as in the report
        found = figure.data[0].marker.color
        assert (found[0], found[-1]) == (LIGHT.baseline, LIGHT.candidate)


def test_names_of_the_sides_are_literal_too() -> None:
    comparison = of_groups([("Conv", 2.0 * MS)])
    side = replace(comparison.baseline, short_name="<a href='http://evil.example'>x</a>")
    figure = waterfall(replace(comparison, baseline=side))
    assert figure is not None
    assert "&lt;a" in figure.layout.yaxis.ticktext[0]


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("Gemm", "Gemm"),
        ("33 × Conv + BatchNormalization + Relu", "33 × Conv + BatchNormalization +<br>Relu"),
    ],
)
def test_long_labels_take_two_lines(label: str, lines: str) -> None:
    figure = waterfall(of_groups([(label, 1.0 * MS)]))
    assert figure is not None
    assert figure.layout.yaxis.ticktext[1] == lines


@pytest.mark.parametrize(
    ("ends", "start"),
    [
        ([100.0, 95.0, 95.0], 92.5),  # half of the change before the least
        ([100.0, 99.9, 99.9], 97.9),  # 2 of 100 at least
        ([100.0, 80.0, 80.0], 0.0),  # seen beside whole bars
        ([10.0, -1.0, 4.0], 0.0),
    ],
)
def test_a_small_change_of_a_long_run_can_be_seen(ends: list[float], start: float) -> None:
    assert bars_start(ends) == pytest.approx(start)


def test_the_cut_of_the_axis_is_said_and_drawn() -> None:
    figure = waterfall(of_groups([("a", 0.5 * MS)]))  # 5 % of 10 ms
    assert figure is not None
    axis = figure.layout.xaxis
    assert axis.title.text == "mean time per run, ms; the axis begins at 9.25 ms"
    low, high = axis.range
    assert (10 - 9.5) / (high - low) > 0.5, "most of the width is the change"
    breaks = [shape for shape in figure.layout.shapes if shape.xref == "paper"]
    assert {round((shape.y0 + shape.y1) / 2) for shape in breaks} == {0, 2}
    whole = waterfall(of_groups([("a", 6 * MS)]))
    assert whole is not None and whole.layout.xaxis.range[0] == 0


def test_the_report_cuts_the_axis_as_the_page_does() -> None:
    """10 ms to 9.5 ms from 9.25 ms on: of 0.75 ms the change is two thirds."""
    cut = still(of_groups([("a", 0.5 * MS)]))
    assert cut is not None and cut.start == "the axis begins at 9.25 ms"
    assert [(bar.left, bar.width) for bar in cut.bars] == [
        (0.0, 1.0),
        (pytest.approx(1 / 3), pytest.approx(2 / 3)),
        (0.0, pytest.approx(1 / 3)),
    ]
    assert [tick.text for tick in cut.ticks] == ["9.4 ms", "9.6 ms", "9.8 ms", "10.0 ms"]
    assert [tick.at for tick in cut.ticks] == pytest.approx([0.2, 7 / 15, 11 / 15, 1.0])
    whole = still(of_groups([("a", 6 * MS)]))
    assert whole is not None and whole.start == "" and whole.ticks[0].text == "0"


@given(st.floats(1e-6, 0.14), st.floats(10, 1e12))
def test_ticks_of_a_cut_axis_lie_on_it_and_differ(change: float, total: float) -> None:
    start = bars_start([total, total * (1 - change)])
    ticks = time_ticks_between(start, total)
    assert 2 <= len(ticks) <= 6
    assert all(0 <= tick.at <= 1 + 1e-9 for tick in ticks)
    assert len({tick.text for tick in ticks}) == len(ticks)


def test_a_report_says_where_its_axis_begins_and_breaks_both_totals() -> None:
    """4.9 ms to 4.76 ms, by -200 us and +60 us: from 100 us before 4.70 ms on."""
    traces = [
        steps_of([[Kernel("gemm", 4000), Kernel("softmax", softmax), Kernel("add", add)]] * 4)
        for softmax, add in ((700, 200), (500, 260))
    ]
    page = report_html(compare(*map(side_of_trace, traces)))
    assert '<figure class="fall cut"' in page and "the axis begins at 4.60 ms" in page
    whole = report_html(measured())
    assert 'class="fall cut"' not in whole and "the axis begins" not in whole
