"""Scaling over batch sizes and threads: figures and intervals by hand, what does not compare."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fusescope.analysis.charts.scaling import scaling as picture
from fusescope.analysis.compare.multiple.scaling import Scaling, scaling
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, Machine, ModelFacts, Settings
from fusescope.analysis.report.exports.scaling_json import scaling_json
from fusescope.analysis.wording.multiple.scaling import (
    best_sentence,
    column_of_points,
    doubt_lines,
    interval_text,
    value_text,
)
from tests.compare.test_comparison import experiment_of
from tests.factories import experiment_zip


def recorded(batch: int, threads: int, ms: float, **more: Any) -> Experiment:
    """`recorded_zip` as it is read."""
    data = recorded_zip(batch, threads, ms, **more)
    return experiment_of(data, f"batch{batch}-threads{threads}.zip")


def recorded_zip(batch: int, threads: int, ms: float, **more: Any) -> bytes:
    """unfused takes `ms` in every block, 5 % more or less in turn; fused half of `ms`."""
    times = {"unfused": [ms * 1.05, ms / 1.05] * 4, "fused": [ms / 2] * 8}
    name = more.pop("model", "tiny")
    changes = {
        "model": ModelFacts(name, "zoo", f"{batch}" * 64, 4, 17, (), batch),
        "settings": Settings("unfused", threads, False, 0, 3, 3, 1, (8,)),
        **more,
    }
    return experiment_zip(times, changes=changes)


@pytest.fixture(scope="module")
def four() -> Scaling:
    return scaling(
        [recorded(4, 2, 24.0), recorded(1, 1, 10.0), recorded(4, 1, 36.0), recorded(1, 2, 8.0)]
    )


def test_figures_of_each_setting(four: Scaling) -> None:
    points = four.of("unfused")
    assert [(p.batch, p.threads) for p in points] == [(1, 1), (1, 2), (4, 1), (4, 2)]
    # The copies of the baseline differ by 0.1 % up and down, so means are 0 to 0.05 % off.
    close = [pytest.approx(ms * 1e6, rel=1e-3) for ms in (10.0, 8.0, 36.0, 24.0)]
    assert [p.latency.value for p in points] == close
    assert [p.throughput.value for p in points] == pytest.approx(
        [100.0, 125.0, 4000 / 36, 4000 / 24], rel=1e-3
    )
    assert [p.speedup and p.speedup.value for p in points] == [
        None, pytest.approx(1.25, rel=1e-3), None, pytest.approx(1.5, rel=1e-3)
    ]  # fmt: skip
    assert [p.efficiency and p.efficiency.value for p in points] == [
        None, pytest.approx(0.625, rel=1e-3), None, pytest.approx(0.75, rel=1e-3)
    ]  # fmt: skip
    # Four times the samples in 3.6 and 3 times the time.
    assert [p.batch_gain and p.batch_gain.value for p in points] == [
        None, None, pytest.approx(40 / 36, rel=1e-3), pytest.approx(32 / 24, rel=1e-3)
    ]  # fmt: skip
    assert points[0].small_op_ratio == 50 / 200  # BatchNormalization and Relu, of the profile


def test_intervals_are_those_of_unpaired_recordings(four: Scaling) -> None:
    """Logs are ± ln 1.05, four each: s = ln 1.05 sqrt(8 / 7), SE² = s² 7 / 30 a recording."""
    single = math.log(1.05) * math.sqrt(8 / 30)
    first, second = four.of("unfused")[:2]
    assert first.latency.interval is not None and second.speedup is not None
    half = 2.571 * single  # t(0.975, 5)
    assert first.latency.interval.low == pytest.approx(10e6 * math.exp(-half), rel=2e-3)
    assert first.latency.interval.high == pytest.approx(10e6 * math.exp(half), rel=2e-3)
    both = 2.228 * single * math.sqrt(2)  # t(0.975, 10): equal spreads
    assert second.speedup.interval is not None
    assert second.speedup.interval.low == pytest.approx(1.25 * math.exp(-both), rel=2e-3)
    assert second.speedup.interval.high == pytest.approx(1.25 * math.exp(both), rel=2e-3)
    assert interval_text(first, "latency") == "9.37 to 10.7 ms"


def test_latencies_of_a_table_share_a_unit() -> None:
    """0.5 ms is written in ms beside 10 ms: e^(±2.571 ln 1.05 √(8 / 30)) is 0.937 and 1.067 of
    it."""
    points = scaling([recorded(1, 1, 10.0), recorded(1, 2, 0.5)]).of("unfused")
    unit = column_of_points(points, "latency")
    assert [value_text(point, "latency", unit) for point in points] == ["10.00 ms", "0.50 ms"]
    assert interval_text(points[1], "latency", unit) == "0.47 to 0.53 ms"
    assert interval_text(points[1], "latency") == "468 to 534 µs"
    assert column_of_points(points, "throughput") is None


def test_what_is_said_and_drawn(four: Scaling, golden: Callable[[str, Any], None]) -> None:
    assert best_sentence(four, "unfused") == (
        "unfused: highest measured throughput 167 /s with batch size 4, 2 threads, shortest "
        "typical run 8.00 ms with batch size 1, 2 threads."
    )
    close = scaling([recorded(1, 1, 10.0), recorded(1, 2, 9.5), recorded(1, 4, 11.0)])
    told = best_sentence(close, "unfused")
    assert told.endswith(
        "A run with batch size 1, 1 thread is within the 12.0 % by which two recordings of the "
        "same graph can differ."
    )
    assert len(doubt_lines(four)) == 1
    figure = picture(four.of("fused"), "throughput", "threads")
    assert figure is not None
    assert [line.name for line in figure.data] == ["batch size 1", "batch size 4"]
    assert list(figure.data[1].y) == pytest.approx([4000 / 18, 4000 / 12])
    only = picture(four.of("fused"), "efficiency", "batch")
    assert only is not None
    # As in the other figures, the line of 2 threads is the second.
    assert [(line.name, line.marker.symbol) for line in only.data] == [("2 threads", "square")]
    golden("compare/scaling.json", json.loads(scaling_json(four)))


def test_what_does_not_compare_is_refused_or_told() -> None:
    one, other = recorded(1, 1, 10.0), recorded(1, 2, 8.0)
    newer = recorded(1, 2, 9.0, created="2026-02-02T00:00:00Z")
    board = Machine("Board", "aarch64", 4, 4, 2**30, (), "Linux")
    found = scaling([newer, one, other, recorded(2, 1, 20.0, machine=board)])
    assert found.repeated == 1 and len(found.points) == 6
    assert found.of("fused")[1].latency.value == pytest.approx(4.5e6)
    lines = doubt_lines(found)
    assert lines[0] == (
        "They were recorded on several machines, which do not compare: Test CPU, Board."
    )
    assert lines[-1].startswith("1 recording has the same setting as a newer one")
    for given, code in (
        ([one, recorded(1, 1, 9.0)], "scaling_of_one_setting"),
        ([one, recorded(1, 2, 9.0, model="large")], "scaling_of_several_models"),
    ):
        with pytest.raises(FuseScopeError) as raised:
            scaling(given)
        assert raised.value.code == code


def test_threads_variants_and_few_blocks_are_left_out_and_said() -> None:
    times = {"unfused": [10.0] * 3, "threads:1": [20.0] * 3}
    experiments = [
        experiment_of(experiment_zip(times, changes={"settings": settings}))
        for settings in (
            Settings("unfused", threads, False, 0, 3, 3, 1, (3,)) for threads in (1, 2)
        )
    ]
    found = scaling(experiments)
    assert found.variants == ("unfused",) and found.threads_variants == ("threads:1",)
    assert found.points[0].latency.interval is None
    assert [line[:7] for line in doubt_lines(found)[1:]] == ["Fewer t", "Left ou"]
    assert msgspec.json.decode(scaling_json(found))["points"][1]["speedup"]["low"] is None
