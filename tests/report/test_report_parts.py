"""The report's still pictures and commands, on values that can be checked by hand."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.axis import LogScale, decades, log_time_ticks, plain, time_ticks
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.groups.fusion import Operator
from fusescope.analysis.compare.timing.verdict import Interval, Verdict
from fusescope.analysis.interval import interval_picture
from fusescope.analysis.messages import Message, language
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.inputs import input_source
from fusescope.analysis.report.ledger import MAX_NAMES, _names
from fusescope.analysis.report.method import recorded, without_folders
from fusescope.analysis.report.pictures.distribution import StripPlot, strip_plot
from fusescope.analysis.report.pictures.still import MAX_LANES, WIDTH, still
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json


def test_ticks_have_groups_of_digits() -> None:
    assert [tick.text for tick in decades(LogScale(10, 1e5), plain)] == [
        "10", "100", "1\u202f000", "10\u202f000", "100\u202f000",
    ]  # fmt: skip
    assert plain(0.05) == "0.05"
    assert time_ticks(20e12, 2)[-1].text == "20\u202f000 s"


def test_time_ticks_are_round() -> None:
    ticks = time_ticks(17.4e6)
    assert [tick.text for tick in ticks] == ["0", "5 ms", "10 ms", "15 ms"]
    assert ticks[1].at == pytest.approx(5 / 17.4)
    assert time_ticks(0) == ()
    assert time_ticks(3)[-1].text == "3 ns"


@given(low=st.floats(1, 1e10), factor=st.floats(1.0001, 1e6))
def test_log_ticks_lie_inside_and_apart(low: float, factor: float) -> None:
    places = [tick.at for tick in log_time_ticks(LogScale(low, low * factor))]
    assert all(0 <= place <= 1 for place in places)
    assert all(after - before >= 0.12 for before, after in itertools.pairwise(places))


def payload(*boxes: tuple[int, int, str], lanes: int = 1, span: int = 1200) -> dict[str, Any]:
    """One side: (start, duration, class) of each call, all in lane 0; one unit is one ns."""
    classes = sorted({name for _, _, name in boxes})
    return {
        "span_ns": span,
        "classes": [{"id": name, "label": Message(name)} for name in classes],
        "sides": [
            {
                "id": "candidate",
                "label": "a",
                "caption": "",
                "folded": "",
                "dur_ns": span,
                "shown_ns": span,
                "not_drawn": 0,
                "lanes": [{"label": f"lane {n}", "small": False} for n in range(lanes)],
                "ops": {"op_class": classes},
                "calls": {
                    "op": [classes.index(name) for _, _, name in boxes],
                    "lane": [0] * len(boxes),
                    "start_ns": [start for start, _, _ in boxes],
                    "dur_ns": [dur for _, dur, _ in boxes],
                },
            }
        ],
    }


def test_still_keeps_neighbours_apart_and_thin_boxes_visible() -> None:
    lane = still(payload((0, 100, "convolution"), (100, 50, "convolution"))).sides[0].lanes[0]
    assert lane.paths == (("convolution", "M0 0h99.2v1h-99.2zM100 0h49.2v1h-49.2z"),)
    # 0.1, 0.3 and 0.1 of a unit: the class with most time stands for all, as wide as their sum
    boxes = [(10, 1, "activation"), (12, 3, "pooling"), (15, 1, "activation")]
    lane = still(payload(*boxes, span=12_000)).sides[0].lanes[0]
    assert lane.paths == (("pooling", "M1 0h0.5v1h-0.5z"),)


def test_still_of_nothing_and_of_many_lanes() -> None:
    empty = still(payload(span=0))
    assert empty.ticks == ()
    assert empty.sides[0].lanes[0].paths == ()
    many = still(payload((0, 9, "layout"), lanes=MAX_LANES + 3)).sides[0]
    assert len(many.lanes) == MAX_LANES
    assert many.lanes_cut == 3


@given(durations=st.lists(st.integers(0, 10**9), min_size=1, max_size=200))
def test_still_stays_inside_and_small(durations: list[int]) -> None:
    starts = [sum(durations[:n]) for n in range(len(durations))]
    boxes = [(start, dur, "layout") for start, dur in zip(starts, durations, strict=True)]
    ((_, path),) = still(payload(*boxes, span=sum(durations) or 1)).sides[0].lanes[0].paths
    drawn = [(float(x), float(w)) for x, w in re.findall(r"M([\d.]+) 0h([\d.]+)", path)]
    assert drawn and all(width > 0 for _, width in drawn)
    assert all(x + width <= WIDTH + 1 for x, width in drawn)


def times_of(block_ms: dict[str, list[float]], **more: Any) -> StripPlot:
    value = read(Source("e.zip", experiment_zip(block_ms, **more)))
    found = strip_plot(compare(*choose_sides(value)))
    assert found is not None
    return found


def test_distribution_has_the_blocks_of_the_verdict() -> None:
    found = times_of({"unfused": [10.0, 12.0], "fused": [5.0, 4.0]}, control=(1.0,))
    assert [row.name for row in found.rows] == ["block 1", "block 2"]
    assert [row.runs for row in found.rows] == [(6, 3), (6, 3)]
    assert found.rows[0].typical_ns == pytest.approx((10e6, 5e6))
    assert [row.speedup for row in found.rows] == pytest.approx([2.0, 3.0])
    assert [mark.role for mark in found.marks] == ["baseline", "baseline_copy", "candidate"]
    assert found.marks[0].dots.count("M") == 6
    assert found.marks[0].lines.count("M") == 2
    assert found.paired
    assert found.far == 0


def test_distribution_does_not_let_one_run_flatten_the_rest() -> None:
    value = read(Source("e.zip", experiment_zip({"unfused": [10.0] * 5, "fused": [5.0] * 5})))
    sides = list(choose_sides(value))
    runs = sides[0].trace.runs
    runs.loc[runs.index[~runs["profiled"]][0], "dur_ns"] = 10**10
    found = strip_plot(compare(*sides))
    assert found is not None
    assert found.far == 1
    assert {tick.text for tick in found.ticks} >= {"10 ms"}
    assert found.rows[0].largest_ns[0] == 10**10


def test_distribution_of_recordings_made_apart() -> None:
    first, second = (
        read(Source(name, experiment_zip({"unfused": [10.0] * 2, "fused": [ms] * 2})))
        for name, ms in (("a.zip", 5.0), ("b.zip", 4.0))
    )
    found = strip_plot(compare(*choose_sides(first, second, "fused", "unfused")))
    assert found is not None
    assert not found.paired
    assert [row.name for row in found.rows] == [
        "fused, block 1",
        "fused, block 2",
        "unfused, block 1",
        "unfused, block 2",
    ]
    assert all(row.speedup is None for row in found.rows)


def test_distribution_of_profiles_is_their_runs() -> None:
    first = read(Source("a.json", profile_json(UNFUSED_OPERATORS, 6)))
    second = read(Source("b.json", profile_json(FUSED_OPERATORS, 2)))
    found = strip_plot(compare(*choose_sides(first, second)))
    assert found is not None
    assert not found.in_blocks
    assert [(row.name, row.runs) for row in found.rows] == [("a.json", (6, 0)), ("b.json", (0, 2))]
    # 100 + 30 + 20 + 50 µs and five gaps of 2 µs
    assert found.rows[0].typical_ns[0] == pytest.approx(210_000)


def test_many_blocks_are_cut_and_counted() -> None:
    rows = 60
    found = times_of({"unfused": [10.0] * rows, "fused": [5.0] * rows}, profiled_runs=1)
    assert len(found.columns) + found.columns_cut == rows
    assert found.columns_cut > 0
    assert len(found.rows) == rows


def verdict(speedup: float | None, low: float, high: float) -> Verdict:
    return Verdict(
        outcome="faster",
        reason=None,
        of="unprofiled_wall",
        pairing="blocks",
        speedup=speedup,
        interval=Interval(low, high),
        noise_floor=None,
        smallest_detectable=None,
        samples=(8, 8),
    )


def test_interval_picture_is_logarithmic() -> None:
    assert interval_picture(verdict(None, 1, 1)) is None
    picture = interval_picture(verdict(2.0, 1.0, 4.0))
    assert picture is not None
    assert picture.interval is not None
    low, high = picture.interval
    assert picture.one == pytest.approx(low)
    assert picture.point == pytest.approx((low + high) / 2)
    assert {"1×", "2×"} <= {tick.text for tick in picture.ticks}


@given(middle=st.floats(1e-3, 1e3), width=st.floats(0, 5))
def test_interval_picture_shows_everything(middle: float, width: float) -> None:
    picture = interval_picture(verdict(middle, middle * math.exp(-width), middle * math.exp(width)))
    assert picture is not None
    assert picture.interval is not None
    assert 0 < picture.interval[0] <= picture.point <= picture.interval[1] < 1
    assert 0 < picture.one < 1


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("fusescope collect /home/x/net.onnx", "fusescope collect net.onnx"),
        ("fusescope collect 'C:\\x\\my net.onnx'", "fusescope collect 'my net.onnx'"),
        (
            "/opt/x/fusescope collect ~x/a.onnx --out=/y/z.zip",
            "fusescope collect a.onnx --out=z.zip",
        ),
        (
            "f --shape /in/x=1,3 --input-range=/in/x=0,1",
            "f --shape /in/x=1,3 --input-range=/in/x=0,1",
        ),
        ("f 'unclosed /home/x", ""),
    ],
)
def test_commands_lose_their_folders(command: str, shown: str) -> None:
    assert without_folders(command) == shown


def test_recording_date() -> None:
    assert recorded("2026-11-20T10:18:43Z") == "2026-11-20 10:18 UTC"
    assert recorded("2026-11-20T10:18:43.5+00:00") == "2026-11-20 10:18 UTC"
    assert recorded("yesterday") == "yesterday"


@pytest.mark.usefixtures("translations")
@pytest.mark.parametrize(
    ("source", "english", "chinese"),
    [
        ("uniform -1 to 2.5", "uniform -1 to 2.5", "-1 至 2.5 均匀分布"),
        ("file", "from a file", "取自文件"),
        ("made by the model's function", "made by the model's function", "由模型的函数生成"),
        ("of another release", "of another release", "of another release"),
    ],
)
def test_where_the_inputs_come_from_is_in_the_language(
    source: str, english: str, chinese: str
) -> None:
    assert input_source(source) == english
    with language.speaking("zh"):
        assert input_source(source) == chinese


def test_operators_of_a_group_that_have_one_name_stand_once() -> None:
    casts = tuple(Operator("block/cast", "Cast") for _ in range(3))
    found = _names((*casts, Operator("block/add", "Add")), "block")
    assert found.shown == (("cast ×3", "block/cast"), ("add", "block/add"))
    assert found.more == 0
    many = tuple(Operator(f"op{at}", "Add") for at in range(MAX_NAMES + 2))
    assert (len(_names(many).shown), _names(many).more) == (MAX_NAMES, 2)
