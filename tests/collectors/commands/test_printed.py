"""Times that a command prints: where they stand, and what they are in ns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.commands.printed import time_reading, values_of
from fusescope.collectors.commands.units import unit_of

NOWHERE = Path("/nowhere")


@pytest.mark.parametrize(
    ("time", "unit", "output", "values", "found"),
    [
        ("throughput: {value} tok/s", "", "throughput:  1,234.5  tok/s\n", [1234.5], "tok/s"),
        ("Mean TPOT (ms): {value}", "", "Mean TPOT (ms):     12.25\n", [12.25], "ms"),
        ("took {value}s", "", "took 3s\ntook 4.5s", [3.0, 4.5], "s"),
        ("{value} tokens per second", "", "at 50 tokens per second", [50.0], "tokens per second"),
        ("{value} it/s]", "", "100%| 10/10 [00:01<00:00, 7.5 it/s]", [7.5], "it/s"),
        ("re:^lat=(\\S+)$", "ms", "x\nlat=1e-1\nlat=2\n", [0.1, 2.0], "ms"),
        ("speed {value}", "fps", "\x1b[1mspeed\x1b[0m 25", [25.0], "fps"),
        ("json:mean.latency_ms", "", 'log\n{"mean": {"latency_ms": 7}}\n', [7.0], "ms"),
        ("json:runs.1.s", "s", '{"runs": [{"s": 1}, {"s": [2, 3]}]}', [2.0, 3.0], "s"),
        ("re:(a )?ms", "ms", "ms", [], "ms"),  # a group that takes no part in it
        ("re:t=(\\d+)?;", "ms", "t=; t=7;", [7.0], "ms"),
        ("re:(?!(x))t", "ms", "t", [], "ms"),
        ("json:t." + "9" * 5000, "ms", '{"t": [1]}', [], "ms"),
        ("json:t", "ms", json.dumps({"t": 5, "u": 1}, indent=2), [5.0], "ms"),
    ],
)
def test_where_a_time_stands(
    time: str, unit: str, output: str, values: list[float], found: str
) -> None:
    reading = time_reading(time, unit)
    assert values_of(reading, output, "", NOWHERE) == values
    assert reading.unit is not None and reading.unit.text == found


def test_standard_error_counts_where_standard_output_says_nothing() -> None:
    reading = time_reading("took {value} ms", "")
    assert values_of(reading, "", "INFO took 3 ms", NOWHERE) == [3.0]
    assert values_of(reading, "took 1 ms", "took 3 ms", NOWHERE) == [1.0]
    assert values_of(reading, "nothing", "", NOWHERE) == []


def test_a_file_of_the_run_may_hold_it(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"output_throughput": 40}')
    reading = time_reading("json:result.json:output_throughput", "tok/s")
    assert values_of(reading, "", "", tmp_path) == [40.0]
    assert values_of(reading, "", "", NOWHERE) == []


@pytest.mark.parametrize(
    ("unit", "value", "ns", "scale"),
    [
        ("ms", 12.5, 12_500_000, 1),
        ("us", 3.0, 3_000_000, 1000),  # 1 000 of 3 µs
        ("ms/step", 2.0, 2_000_000, 1),
        ("tok/s", 200.0, 5_000_000, 1),
        ("tok/s", 500_000.0, 2_000_000, 1000),  # 2 µs each
        ("samples/min", 120.0, 500_000_000, 1),
        ("fps", 25.0, 40_000_000, 1),
        ("tokens per second", 1000.0, 1_000_000, 1),
    ],
)
def test_a_value_in_ns(unit: str, value: float, ns: int, scale: int) -> None:
    found = unit_of(unit)
    assert found is not None
    assert found.scale(value) == scale
    assert found.sample_ns(value, scale) == ns


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_no_time(value: float) -> None:
    for text in ("ms", "tok/s"):
        unit = unit_of(text)
        assert unit is not None and unit.sample_ns(value, 1) is None


@pytest.mark.parametrize("text", ["", "furlong", "GB", "s/s", "tok/", "a/b/c"])
def test_no_unit(text: str) -> None:
    assert unit_of(text) is None


@given(st.floats(1e-3, 1e9))
def test_more_of_a_rate_is_less_time(rate: float) -> None:
    unit = unit_of("tok/s")
    assert unit is not None
    scale = unit.scale(rate)
    one, other = unit.sample_ns(rate, scale), unit.sample_ns(rate * 2, scale)
    assert one is not None and other is not None and other < one
    assert abs(one / (scale * 1e9 / rate) - 1) < 1e-4


@pytest.mark.parametrize(
    ("time", "unit", "code"),
    [
        ("speed", "", "command_time_form"),
        ("{value} and {value}", "", "command_time_form"),
        ("re:(", "ms", "command_expression"),
        ("re:(a)(b)", "ms", "command_groups"),
        ("re:ab", "ms", "command_groups"),
        ("re:(?P<n>a", "ms", "command_expression"),
        ("re:(a){99999999999}", "ms", "command_expression"),
        ("json:/tmp/x.json:a", "ms", "command_time_elsewhere"),
        ("json:../x.json:a", "ms", "command_time_elsewhere"),
        ("json:a..b", "ms", "command_time_form"),
        ("loss {value}", "", "command_unit_missing"),
        ("loss {value}", "GB", "command_unit_unknown"),
        ("wall", "ms", "command_unit_of_wall"),
    ],
)
def test_what_says_no_time(time: str, unit: str, code: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        time_reading(time, unit)
    assert caught.value.code == code


@given(st.text(max_size=200), st.text(max_size=30))
def test_no_output_breaks_the_reading(output: str, before: str) -> None:
    if "{value}" in before:
        return
    values_of(time_reading(before + "{value}", "ms"), output, "", NOWHERE)
    values_of(time_reading("json:a.b", "ms"), output, "", NOWHERE)
