"""Slow executions: what is one, what it adds, and that no gain rests on it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.advice.scorecard import scorecard
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.ledger import ledger
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.compare.timing.slow_executions import SlowExecution, excess_ns
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.metrics.spans import run_spans
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.fusion_json import fusion_values
from fusescope.analysis.report.exports.ledger_csv import ledger_csv
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.ledger import ledger_table
from fusescope.analysis.wording import (
    diagnostic_sentence,
    fusion_sentence,
    kinds_sentence,
    slow_parts,
)
from fusescope.analysis.wording.findings import times_text
from fusescope.analysis.wording.scorecard import scorecard_sentence
from fusescope.analysis.wording.waterfall import ends_ns, waterfall_steps
from tests.compare.timing.raw_times import paused
from tests.factories import experiment_zip
from tests.step_traces import Kernel, steps_of

RECORDINGS = Path(__file__).resolve().parents[3] / "sample_traces"
RECIPES = sorted(RECORDINGS.glob("recipes/**/*.zip"))
TIMES = {"unfused": [10.0] * 8, "fused": [9.9] * 8}
SHAPE = [(1, 4)]
CHAIN = tuple(
    (name, kind, us, SHAPE, SHAPE)
    for name, kind, us in (("conv", "Conv", 100), ("relu", "Relu", 30), ("view", "Unsqueeze", 3))
)
FUSED = (("conv", "FusedConv", 110, SHAPE, SHAPE), CHAIN[2])


def excess(*calls: tuple[int, int, int], resolution_ns: float = 1.0) -> list[float]:
    """Of calls of (operator, run, ns)."""
    table = pd.DataFrame(calls, columns=["operator", "run", "dur_ns"])
    return list(excess_ns(table, resolution_ns))


def test_one_run_far_above_the_median_is_slow() -> None:
    times = [10, 12, 11, 500, 10]
    assert excess(*((0, run, ns) for run, ns in enumerate(times))) == [0, 0, 0, 489, 0]
    # The same in two of five runs is what the operator is.
    twice = [10, 12, 500, 500, 10]
    assert excess(*((0, run, ns) for run, ns in enumerate(twice))) == [0] * 5
    # A quarter of the runs may be.
    times = [10, 12, 500, 600, 10, 11, 11, 12]
    assert sum(excess(*((0, run, ns) for run, ns in enumerate(times)))) == 489 + 589 - 1


@pytest.mark.parametrize(("ns", "slow"), [(33, False), (34, True)])
def test_far_is_three_times_what_the_median_may_be(ns: int, slow: bool) -> None:
    """10 ns, cut to whole ns, may be 11."""
    assert any(excess(*((0, run, value) for run, value in enumerate([10, 10, 10, 10, ns])))) == slow


def test_whole_microseconds_do_not_make_zero_slow() -> None:
    times = [0, 0, 0, 0, 3000]
    calls = [(0, run, ns) for run, ns in enumerate(times)]
    assert excess(*calls, resolution_ns=1000.0) == [0] * 5
    assert any(excess(*calls))


def test_two_runs_tell_nothing() -> None:
    assert excess((0, 0, 10), (0, 1, 20_000)) == [0, 0]


def test_a_kernel_of_several_sizes_is_compared_with_itself_place_by_place() -> None:
    calls = [(0, run, ns) for run in range(5) for ns in (10, 10, 10, 900)]
    assert excess(*calls) == [0] * 20
    calls[3] = (0, 0, 9000)
    assert excess(*calls)[3] == 8100
    # A run with one execution more is not judged: which of them is new is not known.
    assert excess(*((0, run, 10) for run in range(5)), (0, 4, 900)) == [0] * 6


def test_calls_in_any_order_are_told_by_operator_and_run() -> None:
    calls = [(operator, run, 10) for run in range(6) for operator in (0, 1)]
    calls[7] = (1, 3, 700)
    table = pd.DataFrame(calls, columns=["operator", "run", "dur_ns"], index=range(50, 62))
    assert np.flatnonzero(excess_ns(table, 1.0)).tolist() == [7]


@pytest.fixture(scope="module")
def interrupted() -> Comparison:
    """The machine paused for 20 ms in one execution of an operator of 3 µs, once in 24 runs."""
    data = experiment_zip(TIMES, {"unfused": CHAIN, "fused": FUSED})
    data = paused(data, "unfused", 3, "view", 20_000)
    experiment = read(Source("e.zip", data))
    assert isinstance(experiment, Experiment)
    return compare(*(side_of_variant(experiment, name) for name in ("unfused", "fused")))


ADDED_NS = (20_000_000 - 3_000) / 24


def test_one_execution_of_20_ms_is_neither_first_nor_the_headline(interrupted: Comparison) -> None:
    rows = interrupted.ledger.rows
    assert rows["pattern"].tolist() == ["Conv + Relu", "Unsqueeze"]
    assert rows["gain_ns"].tolist() == [20_000, 0]
    assert (rows["low_ns"] <= rows["gain_ns"]).all() and (rows["gain_ns"] <= rows["high_ns"]).all()
    assert rows["slow_before_ns"].tolist() == pytest.approx([0, ADDED_NS])
    assert interrupted.ledger.patterns["pattern"].tolist() == ["Conv + Relu", "Unsqueeze"]
    headline = fusion_sentence(interrupted)
    assert "Unsqueeze" not in headline and "1 Conv + Relu group" in headline


def test_what_it_adds_is_a_term_under_its_name(interrupted: Comparison) -> None:
    book = interrupted.ledger
    assert book.slow[0].count == 1 and book.slow[1].count == 0
    assert book.slow[0].largest == SlowExecution("view", "Unsqueeze", 20_000_000, 3_000.0)
    assert book.reconciliation.slow_ns == round(-ADDED_NS)
    assert "".join(part.text for part in slow_parts(book)) == (
        "Slow executions, more than three times their operator's median, add 833 µs to the "
        "baseline's mean (1 execution). The largest: view took 20.0 ms, its median "
        "is 3.00 µs."
    )
    assert [part.text for part in slow_parts(book) if part.role == "name"] == ["view"]
    note = "largest: view, 20.0 ms, median 3.00 µs"
    assert [s.note for s in waterfall_steps(interrupted) if s.label == "slow executions"] == [note]
    assert min(ends_ns(waterfall_steps(interrupted))) >= 0
    table = ledger_table(interrupted)
    assert table is not None
    term = next(term for term in table.terms if term.label == "slow executions")
    assert (term.text, table.units.time, term.note) == ("−833.2", "µs", note)
    assert note in report_html(interrupted)


def test_every_output_adds_up_with_it(interrupted: Comparison) -> None:
    values = fusion_values(interrupted)
    sum_ = values["reconciliation"]
    names = ("groups", "ungrouped", "slow", "overlap", "dispatch", "profiler_bias", "rounding")
    assert sum(sum_[f"{name}_ns"] for name in names) == sum_["delta_ns"] == -100_000
    assert values["slow_executions"]["candidate"] == {"count": 0, "per_run_ns": 0, "largest": None}
    assert values["slow_executions"]["baseline"]["largest"]["dur_ns"] == 20_000_000
    lines = list(csv.DictReader(io.StringIO(ledger_csv(interrupted).decode("utf-8-sig"))))
    assert sum(int(line["gain_ns"]) for line in lines) == 100_000
    # The pause was in a profiled run alone: what it adds, the profiler's bias takes back. Of
    # -100 µs the operators explain -20.
    beside = sum_["slow_ns"] + sum_["dispatch_ns"] + sum_["profiler_bias_ns"]
    assert beside == pytest.approx(-80_000, abs=2) and sum_["weak"]


def test_a_doubt_counts_the_groups_that_it_dominates(interrupted: Comparison) -> None:
    note = next(note for note in interrupted.diagnostics if note.code == "slow_executions")
    assert (note.severity, note.count, note.example) == ("warning", 1, "Unsqueeze")
    assert diagnostic_sentence(note).startswith(
        "1 group is dominated by single slow executions. These executions change a "
        "group's mean time by more than its gain and its interval."
    )


def test_no_shares_where_the_change_is_small_beside_what_makes_it_up(
    interrupted: Comparison,
) -> None:
    """-100 µs as the sum of -833 µs and as much of profiler bias."""
    assert interrupted.ledger.no_shares == "cancels"
    assert interrupted.ledger.rows["share"].isna().all()
    assert interrupted.ledger.share(5) is None
    values = fusion_values(interrupted)
    assert values["no_shares"] == "cancels"
    assert {group["share"] for group in values["groups"]} == {None}


def test_no_shares_of_a_change_that_may_be_none() -> None:
    times = {"unfused": [10.0] * 8, "fused": [9.0, 11.0, 10.0, 9.5, 10.4, 10.3, 9.6, 10.1]}
    experiment = read(Source("e.zip", experiment_zip(times, {"unfused": CHAIN, "fused": FUSED})))
    assert isinstance(experiment, Experiment)
    sides = [side_of_variant(experiment, name) for name in ("unfused", "fused")]
    book = ledger(sides[0], sides[1], group_operators(*sides))
    sum_ = book.reconciliation
    assert sum_.low_ns is not None and sum_.high_ns is not None and sum_.low_ns < 0 < sum_.high_ns
    assert book.no_shares == "within_noise" and book.patterns["share"].isna().all()


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=pytest.mark.exhaustive) for path in RECIPES],
)
def test_every_gain_of_the_recipes_is_inside_its_interval(path: Path) -> None:
    """Of every ordered pair; those of the other samples are checked with their sums."""
    experiment = read_path(path)
    assert isinstance(experiment, Experiment)
    sides = [side_of_variant(experiment, v.name) for v in experiment.record.variants]
    judged = 0
    for first in sides:
        for second in sides:
            book = ledger(first, second, group_operators(first, second))
            for table in (book.rows, book.patterns):
                known = table[table["low_ns"].notna()]
                assert known["gain_ns"].between(known["low_ns"], known["high_ns"]).all()
                judged += len(known)
    assert judged


def test_a_slow_collective_is_communication_and_no_slow_execution() -> None:
    """A collective of 20 us takes 200 in one step of four of the candidate: 45 us a step."""
    kernels = [Kernel("gemm", 50, "matrix_product"), Kernel("ncclDevKernel_X", 20, "communication")]
    late = [kernels[0], Kernel("ncclDevKernel_X", 200, "communication")]
    pair = compare(
        side_of_trace(steps_of([kernels] * 4)), side_of_trace(steps_of([*[kernels] * 3, late]))
    )
    total = pair.ledger.reconciliation
    assert (total.delta_ns, total.communication_ns, total.slow_ns) == (45_000, 45_000, 0)
    assert [slow.count for slow in pair.ledger.slow] == [0, 0]


def test_findings_leave_it_out_and_tables_of_means_say_that_they_do_not(
    interrupted: Comparison,
) -> None:
    """The pause was in an operator of 3 µs: no advice is about that operator, and the run that
    shares are of is what the file gives less the pause. Both tables of means still hold it."""
    subject = Subject(interrupted.baseline)
    assert subject.times == pytest.approx({"conv": 100_000, "relu": 30_000, "view": 3_000})
    assert subject.slow_ns == pytest.approx(ADDED_NS)
    spans = run_spans(interrupted.baseline.trace)["span_ns"].astype(float)
    assert subject.run_ns == pytest.approx(spans.mean() - ADDED_NS)
    found = findings(subject)
    assert all((one.at_most_ns or 0.0) < ADDED_NS for one in found.found)
    assert times_text(found).endswith(
        "Slow executions, which add 833 µs to the mean run, are left out."
    )
    said = (
        "Slow executions account for 833 µs and 0 ns of these means; groups and findings leave "
        "them out."
    )
    assert said in kinds_sentence(interrupted, "op_types")
    assert said in report_html(interrupted).partition('<section id="operators">')[2]
    calm = Subject(interrupted.candidate)
    assert calm.slow_ns == 0 and "Slow" not in times_text(findings(calm))


def test_a_prediction_and_what_came_leave_it_out() -> None:
    """One convolution of 75.5 µs took 1.80 ms once in 8 runs: 215.6 µs of the mean run."""
    value = read_path(RECORDINGS / "recipes" / "depthwise_mobilenetv2.zip")
    assert isinstance(value, Experiment)
    sides = [side_of_variant(value, name) for name in ("unfused", "fused")]
    card = scorecard(compare(*sides))
    assert card is not None
    means = [run_spans(side.trace)["span_ns"].astype(float).mean() for side in sides]
    assert card.run_measured_ns == pytest.approx(means[0] - means[1] - (1_800_000 - 75_500) / 8)
    said = scorecard_sentence(card)
    assert "without slow executions, the mean run as profiled changes by −" in said
    assert "Slow executions add 216 µs to the baseline's mean run and 0 ns to the" in said


def test_means_say_so_of_the_least_slow_execution() -> None:
    """GlobalAveragePool of a recording took 31.2 µs in groups and 32.9 µs in op types."""
    value = read_path(RECORDINGS / "resnet50.zip")
    assert isinstance(value, Experiment)
    sample = compare(*(side_of_variant(value, name) for name in ("unfused", "fused")))
    assert sample.ledger.slow[0].per_run_ns < 0.001 * sample.op_types["per_run_ns_baseline"].sum()
    assert "Slow executions account for 24.4 µs and 0 ns of these means" in kinds_sentence(
        sample, "op_types"
    )
