"""The groups in the timeline's payload: whose operators they are, and the ledger's times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Operator
from fusescope.analysis.compare.ledger import ledger
from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import Side, side_of_trace, side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.metrics.stretch import Stretch, after_last
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from fusescope.analysis.timeline.drawing import Drawing, Layers
from fusescope.analysis.timeline.payload import (
    drawn_at,
    first_starts,
    several_payload,
    texts,
    timeline_payload,
    trace_payload,
)
from fusescope.analysis.timeline.run import _in_order
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from tests.factories import experiment_zip
from tests.serving_traces import DECODE, PREFILL, serving_json

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
CHAIN = tuple(
    Operator(f"a/{op_type}", op_type) for op_type in ("Conv", "BatchNormalization", "Relu")
)
FUSED = (Operator("a/Conv", "FusedConv"),)
HEAD = (Operator("head/Gemm", "Gemm"),)
CONSTANT = (Operator("a/weight", "Constant"),)
GROUPS = (
    Group(2, "kept", "name", HEAD, HEAD, HEAD),
    Group(4, "fused", "name", CHAIN, CHAIN, FUSED),
    Group(9, "loaded", "name", CONSTANT, (), ()),
)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    data = experiment_zip({"unfused": [10.0] * 5, "fused": [5.0] * 5})
    return compare(*choose_sides(read(Source("e.zip", data))))


def with_groups(comparison: Comparison, *groups: Group) -> Comparison:
    fusion = Fusion("graphs", groups)
    gains = ledger(comparison.baseline, comparison.candidate, fusion)
    return replace(comparison, fusion=fusion, ledger=gains)


def groups_by_name(payload: dict, side: int) -> dict[str, int | None]:
    operators = payload["sides"][side]["ops"]
    return dict(zip(operators["name"], operators["group"], strict=True))


def test_operators_name_their_group_and_groups_their_gain(comparison: Comparison) -> None:
    payload = timeline_payload(with_groups(comparison, *GROUPS))
    assert groups_by_name(payload, 0) == {
        "a/Conv": 4,
        "a/BatchNormalization": 4,
        "a/Relu": 4,
        "head/Gemm": 2,
    }
    assert groups_by_name(payload, 1) == {"a/Conv": 4, "head/Gemm": 2}
    # Conv 100 + BatchNormalization 30 + Relu 20 µs against 110; none for what did not run.
    assert payload["groups"] == [
        {
            "id": 4,
            "pattern": "Conv + BatchNormalization + Relu",
            "becomes": "FusedConv",
            "kind": "fused",
            "before_ns": 150_000,
            "after_ns": 110_000,
            "gain_ns": 40_000,
            "hurts": False,
        },
        {
            "id": 2,
            "pattern": "Gemm",
            "becomes": "Gemm",
            "kind": "kept",
            "before_ns": 50_000,
            "after_ns": 50_000,
            "gain_ns": 0,
            "hurts": False,
        },
    ]
    assert b"NaN" not in Drawing(Layers(payload), texts(payload)).base


def test_a_name_that_two_groups_claim_is_in_neither(comparison: Comparison) -> None:
    twice = Group(5, "kept", "inferred", HEAD, HEAD, ())
    payload = timeline_payload(with_groups(comparison, *GROUPS, twice))
    assert groups_by_name(payload, 0)["head/Gemm"] is None
    assert groups_by_name(payload, 1)["head/Gemm"] == 2
    assert {group["id"] for group in payload["groups"]} == {2, 4}


def test_without_groups_the_payload_says_so(comparison: Comparison) -> None:
    payload = timeline_payload(with_groups(comparison))
    assert payload["groups"] == []
    assert set(groups_by_name(payload, 0).values()) == {None}


def test_a_gain_that_is_not_known_is_null(comparison: Comparison) -> None:
    grouped = with_groups(comparison, *GROUPS)
    rows = grouped.ledger.rows.assign(gain_ns=float("nan"), before_ns=float("nan"))
    payload = timeline_payload(replace(grouped, ledger=replace(grouped.ledger, rows=rows)))
    assert [group["gain_ns"] for group in payload["groups"]] == [None, None]
    assert b"NaN" not in Drawing(Layers(payload), texts(payload)).base


@pytest.mark.parametrize("name", ["mobilenetv2", "resnet50"])
def test_groups_of_a_sample(name: str) -> None:
    experiment = read_path(SAMPLES / f"{name}.zip")
    assert isinstance(experiment, Experiment)
    sides = [side_of_variant(experiment, variant) for variant in ("unfused", "fused")]
    comparison = compare(*sides)
    payload = timeline_payload(comparison)
    known = {group["id"] for group in payload["groups"]}
    assert len(known) > 50
    for side, role in enumerate(("baseline", "candidate")):
        shown = groups_by_name(payload, side)
        drawn = set(shown.values()) - {None}
        assert drawn and drawn <= known
        for group in comparison.fusion.groups:
            ran = [o.name for o in getattr(group, role) if o.name in shown]
            assert {shown[operator] for operator in ran} <= {group.id}
            drawn -= {group.id} if ran else set()
        assert not drawn
    # What is in no group is what the ledger says is in none.
    ungrouped = {
        (which, name)
        for side, which in enumerate(("baseline", "candidate"))
        for name, group in groups_by_name(payload, side).items()
        if group is None
    }
    told = comparison.ledger.ungrouped
    assert ungrouped == set(zip(told["side"], told["name"], strict=True))


def side_of(calls: list[tuple[int | None, int]], **more: list[Any]) -> Side:
    """A trace of one operator a call, (start, duration) each, in one run of 1000 ns from 100."""
    count = len(calls)
    trace = Trace(
        Meta("kineto", "t", file_name="a.json"),
        runs=runs_frame(run=[0], kind=["step"], start_ns=[100], dur_ns=[1000], profiled=[True]),
        operators=operators_frame(operator=range(count), name=[f"op{i}" for i in range(count)]),
        calls=calls_frame(
            operator=range(count),
            run=[0] * count,
            start_ns=[start for start, _ in calls],
            dur_ns=[dur for _, dur in calls],
            **more,
        ),
    )
    return Side("a.json", trace)


def drawn(side: Side, max_calls: int = 100) -> dict[str, Any]:
    """The baseline of the payload of a side with itself, and what it says."""
    payload = timeline_payload(compare(side, side), max_calls)
    found: dict[str, Any] = payload["sides"][0] | texts(payload)["sides"][0]
    return found


def test_what_is_not_drawn_is_said_and_never_looks_idle() -> None:
    calls: list[tuple[int | None, int]] = [(100 + 200 * i, 50 + i) for i in range(5)]
    whole = drawn(side_of(calls))
    assert (whole["not_drawn"], whole["shown_ns"], whole["dur_ns"]) == (0, 1000, 1000)
    assert "drawn" not in whole["caption"]
    cut = drawn(side_of(calls), 3)
    assert list(cut["calls"]["start_ns"]) == [0, 200, 400]
    # The fourth begins at 600: from there to the end of the run nothing is known to be idle.
    assert (cut["not_drawn"], cut["shown_ns"], cut["dur_ns"]) == (2, 600, 1000)
    assert "only the first 3 of 5 executions are here" in cut["caption"]
    assert "the time after them is not idle" in cut["caption"]


def test_operators_that_run_many_times_are_told_from_their_executions() -> None:
    side = side_of([(100 + 200 * i, 50) for i in range(4)])
    calls = side.trace.calls.assign(operator=[0, 1, 0, 0]).astype(side.trace.calls.dtypes)
    again = replace(side, trace=replace(side.trace, calls=calls))
    assert drawn(again)["caption"].startswith("2 distinct operators in 4 executions, ")
    assert drawn(side)["caption"].startswith("4 distinct operators, ")


def test_an_axis_that_is_longer_than_the_run_is_explained() -> None:
    """A run of 1000 ns from 100 on, whose last operator ends at 1200, 1100 after its start."""
    late = drawn(side_of([(100, 200), (700, 500)]))
    assert late["dur_ns"] == 1100
    assert "as profiled, on GPU; its last operator ends 100 ns after the step" in late["caption"]
    assert "after the run" not in drawn(side_of([(100, 200), (700, 200)]))["caption"]


def test_a_file_without_runs_has_the_time_in_operators_and_the_time_they_lie_in() -> None:
    """Operators of 200 and 500 ns, the second on a stream of its own from 600 on beside one of
    100 ns: 700 ns of the 1000 from 100 to 1100 have an operator, as the comparison says."""
    side = side_of([(100, 200), (600, 500), (700, 100)])
    runs = runs_frame(run=[0], kind=["file"], start_ns=[100], dur_ns=[1000], profiled=[True])
    whole = replace(side, trace=replace(side.trace, runs=runs))
    caption = drawn(whole)["caption"]
    assert "running for 700 ns of the 1.00 µs from the first to the last" in caption
    assert "as profiled" not in caption
    latency = compare(whole, whole).figure("latency")
    assert latency.baseline.value == pytest.approx(700)
    packed = side_of([(100, 1000)])
    dense = replace(packed, trace=replace(packed.trace, runs=runs))
    assert "1.00 µs as profiled" in drawn(dense)["caption"]


def test_the_axis_reaches_to_the_end_of_what_is_not_drawn() -> None:
    cut = drawn(side_of([(100, 10), (200, 5000), (300, 10)]), 1)
    assert (cut["shown_ns"], cut["dur_ns"]) == (100, 5100)


def test_without_start_times_operators_stand_in_their_order() -> None:
    side = drawn(side_of([(None, 30), (None, 10), (None, 60)]))
    assert side["in_order"]
    assert list(side["calls"]["start_ns"]) == [0, 30, 40]
    assert list(side["calls"]["dur_ns"]) == [30, 10, 60]
    assert side["dur_ns"] == 100  # not that of the run: where it idled is not known
    assert (
        "the file has no start times, so operators are drawn one after the other" in side["caption"]
    )
    assert "sum of all executions" not in side["caption"]
    assert first_starts(side) == {}
    summed = drawn(side_of([(None, 30)], n=[4]))
    assert "each box is the sum of all executions of an operator" in summed["caption"]


def test_calls_without_a_start_among_others_are_counted() -> None:
    side = drawn(side_of([(100, 30), (None, 10)]))
    assert not side["in_order"]
    assert "1 execution without a start time is not drawn" in side["caption"]
    assert first_starts(side) == {0: 0}


def test_folded_lanes_say_how_much_they_are() -> None:
    side = side_of([(100, 900), (200, 2), (300, 1)], stream=["7", "8", "9"], device=["0"] * 3)
    found = drawn(side)
    assert [lane["small"] for lane in found["lanes"]] == [False, True, True]
    assert found["folded"] == (
        "2 lanes with almost no time are folded: 2 executions, 3.00 ns (0.3 % of the operator "
        "time)."
    )
    assert drawn(side_of([(100, 900)], stream=["7"], device=["0"]))["caption"].endswith(
        "on GPU 0, stream 7"
    )


def test_first_starts_are_those_of_the_rows() -> None:
    ops = {"row": [3, None, 3]}
    calls = {"op": [2, 1, 0, 2], "start_ns": [5, 6, 7, 8]}
    assert first_starts({"in_order": False, "ops": ops, "calls": calls}) == {3: 5}


def test_several_sides_share_rows_by_name() -> None:
    """In the order of the table; Conv and Gemm ran on all sides, in fused ones as other types."""
    times = {"unfused": [10.0] * 5, "eager": [20.0] * 5, "fused": [5.0] * 5}
    experiment = read(Source("e.zip", experiment_zip(times, control=(1.0,))))
    multiple = compare_several(several_sides([experiment]))
    payload = several_payload(multiple, max_calls=3)
    sides = payload["sides"]
    assert [(side["id"], side["label"]) for side in sides] == [
        ("baseline", "unfused"), ("candidate", "fused"), ("candidate", "eager")
    ]  # fmt: skip
    # 200 µs of operators and 5 gaps of 2 µs; 160 and 3 of them.
    assert [side["dur_ns"] for side in sides] == [210_000, 166_000, 210_000]
    assert payload["span_ns"] == 210_000 and payload["groups"] == []
    # As many calls as two sides have, 6, for three of them: 2 each.
    assert [(len(side["calls"]["op"]), side["not_drawn"]) for side in sides] == [
        (2, 2), (2, 0), (2, 2)
    ]  # fmt: skip
    rows = [dict(zip(side["ops"]["name"], side["ops"]["row"], strict=True)) for side in sides]
    assert rows[0] == rows[2] and rows[1]["a/Conv"] == rows[0]["a/Conv"]
    told = [side["caption"] for side in texts(payload)["sides"]]
    assert "20.0 ms un-profiled" in told[2] and "5.00 ms un-profiled" in told[1]


def test_several_sides_show_the_unit_of_work_that_the_pair_shows() -> None:
    """Steps of 1 ms with a kernel of 200, 300 and 400 us each, of files that mark no runs, which
    take 7.2 ms and more from the first kernel to the last: two steps on each side are compared, so
    that one is drawn, which idles beside its kernel, never the whole file."""
    files = [
        serving_json([(PREFILL, 900), *[(DECODE, us)] * 7, (PREFILL, 900)])
        for us in (200, 300, 400)
    ]
    traces = [read(Source(f"{number}.json", file)) for number, file in enumerate(files)]
    sides = [side_of_trace(trace) for trace in traces if isinstance(trace, Trace)]
    several = several_payload(compare_several(sides))["sides"]
    assert [side["id"] for side in several] == ["baseline", "candidate", "candidate"]
    for other, drawn_beside in zip(sides[1:], several[1:], strict=True):
        pair = timeline_payload(compare(sides[0], other))["sides"]
        for side, beside in zip(pair, (several[0], drawn_beside), strict=True):
            assert str(beside["caption"]) == str(side["caption"])
            assert beside["host"].totals == side["host"].totals
            assert beside["dur_ns"] == side["dur_ns"] < 2_000_000
    assert [side["host"].totals["idle_ns"] for side in several] == [800_000, 700_000, 600_000]
    assert len({side["ops"]["row"][0] for side in several}) == 1, "one kernel on all sides"


def test_a_stretch_of_the_file_is_drawn_from_the_start_of_the_run() -> None:
    """The last kernel of the second run, which is shown, ends 90.625 µs after its start."""
    trace = read_path(SAMPLES / "formats" / "kineto")
    assert isinstance(trace, Trace)
    stretch = after_last(trace)
    assert stretch is not None
    side = trace_payload(side_of_trace(trace))["sides"][0]
    assert drawn_at(side, stretch) == (90_625, 300_000)
    assert drawn_at(side, Stretch(0, stretch.start_ns)) == (0, 90_625), "no more than is shown"
    assert drawn_at(side, Stretch(0, 1)) is None
    assert drawn_at({**side, "origin_ns": None}, stretch) is None
    payload = trace_payload(side_of_trace(trace))
    assert b"origin_ns" not in Drawing(Layers(payload), texts(payload)).base
    page = report_html(compare(*choose_sides(trace, trace)))
    # What is told is the longest time in which the device waits for the host.
    assert 'href="#timelines" data-spans="[null, [49375, 79375]]"' in page


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=40),
)
def test_calls_stand_by_start_and_of_equal_ones_the_longest_first(
    calls: list[tuple[int, int]],
) -> None:
    start, dur_ns = np.array(calls, dtype="int64").reshape(-1, 2).T
    assert _in_order(start, dur_ns).tolist() == np.lexsort((-dur_ns, start)).tolist()
