"""Numbers to text: what a user reads must round right and never lie about zero."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis import units


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "–"), (0, "0 ns"), (5, "5.00 ns"), (999.4, "999 ns"), (999.6, "1.00 µs"),
        (1_234_567, "1.23 ms"), (12_345_678, "12.3 ms"), (999_960_000, "1.00 s"), (61e9, "61.0 s"),
    ],
)  # fmt: skip
def test_durations(ns: float | None, text: str) -> None:
    assert units.duration(ns) == text


def test_signs() -> None:
    assert units.duration(-1500, signed=True) == "−1.50 µs"
    assert units.duration(1500, signed=True) == "+1.50 µs"
    assert units.percent(-0.588, signed=True) == "−58.8 %"
    assert units.percent(0.0001, signed=True) == "0.0 %"
    assert units.points(-0.256) == "−25.6 pt"


def test_a_change_that_leaves_something_is_not_the_whole() -> None:
    assert units.percent(-1.0, signed=True) == "−100.0 %"
    assert units.percent(-0.99972, signed=True) == "−99.97 %"  # 69.9 ms to 19.9 µs
    assert units.percent(-1 + 1e-9, signed=True) == "−99.99 %"


def test_points_are_the_difference_of_what_is_printed_beside_them() -> None:
    assert (units.percent(0.0256), units.percent(0.0254)) == ("2.6 %", "2.5 %")
    assert units.points_between(0.0256, 0.0254) == "−0.1 pt"
    assert units.points_between(0.22254, 0.18806) == "−3.5 pt"
    assert units.points_between(0.2, 0.2) == "0.0 pt"
    assert units.points_between(None, 0.2) == units.MISSING


def test_durations_beside_their_change_have_the_digits_with_which_they_agree() -> None:
    assert units.duration(113_400) == "113 µs"
    assert units.durations_apart(243_600, 130_200, 113_400) == ("243.6 µs", "130.2 µs")
    assert units.durations_apart(130_200, 243_600, 113_400) == ("130.2 µs", "243.6 µs")
    assert units.durations_apart(1_990_000, 861_000, -1_129_000) == ("1.99 ms", "861 µs")
    assert units.durations_apart(8_826_500, 8_872_800, 46_300) == ("8.83 ms", "8.87 ms")
    # Read as 58.7 and 1.18 ms they are 57.5 ms apart; 1.18 needs no further digit for that.
    assert units.durations_apart(58_734_000, 1_183_500, -57_550_500) == ("58.73 ms", "1.18 ms")
    assert units.durations_apart(7_000, 7_000, 0) == ("7.00 µs", "7.00 µs")
    assert units.durations_apart(None, 7_000, None) == ("–", "7.00 µs")


@given(st.floats(1, 1e11), st.floats(1, 1e11))
def test_two_durations_are_as_far_apart_as_printed(before: float, after: float) -> None:
    shown = units.durations_apart(before, after, after - before)
    numbers = [_parsed(text) for text in (*shown, units.duration(after - before, signed=True))]
    (first, _), (second, _), (change, step) = numbers
    if step >= max(fine for _, fine in numbers[:2]):
        assert abs(change - (second - first)) <= 0.51 * step, shown


def _parsed(text: str) -> tuple[float, float]:
    """A duration in ns, and what its last digit stands for."""
    value, unit = text.split(" ")
    scale = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    return float(value.replace(units.MINUS, "-")) * scale, scale / 10 ** len(
        value.partition(".")[2]
    )


def test_digits_stand_in_groups_of_three_wherever_there_are_more() -> None:
    assert units.rate(2169.4) == "2\u202f169 /s"
    assert units.factor(11_345.0) == "11\u202f345×"
    assert units.duration(61_234e9, signed=True) == "+61\u202f234 s"
    assert units.data_size(2.5e12) == "2\u202f500 GB"
    sizes = (512, 4e9, 1.5e9, 200e6, 20e9)
    assert [units.capacity(one) for one in sizes] == ["512 B", "4 GB", "1.5 GB", "200 MB", "20 GB"]
    assert units.percent(12.345, signed=True) == "+1\u202f234.5 %"
    assert units.flop_rate(1.5e15) == "1\u202f500 TFLOP/s"
    assert units.bandwidth(1234.56) == "1\u202f235 GB/s"
    assert units.count(12_345) == "12\u202f345" and units.count(1234.5) == "1\u202f234.5"
    assert units.grouped(1_234_567, "+d") == "+1\u202f234\u202f567"


def test_factors_near_one_keep_a_digit_more() -> None:
    assert units.factor(2.1234) == "2.12×"
    assert units.factor(1.0042) == "1.004×"
    assert units.factor(0.000802) == "0.0008×"
    # A bound above 1 leaves 1 out, and one below it does not.
    assert [units.factor(bound) for bound in (1.0003, 0.99996)] == ["1.0003×", "0.99996×"]
    assert units.factor(1.0) == units.factor(1.0000004) == "1.000×"
    assert units.factor(None) == "–"


def test_a_cut_keeps_both_ends() -> None:
    assert units.middle_cut("abcdefghij", 5) == "ab…ij"
    assert units.middle_cut("abc", 5) == "abc"


@given(st.floats(1, 1e12))
def test_the_text_of_a_duration_is_within_one_percent(ns: float) -> None:
    match = re.fullmatch(r"([\d.]+) (ns|µs|ms|s)", units.duration(ns).replace("1\u202f000", "1000"))
    assert match is not None
    scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[match[2]]
    assert float(match[1]) * scale == pytest.approx(ns, rel=0.01)


def test_counters_of_devices() -> None:
    assert units.flop_count(4.5e12) == "4.50 TFLOP"
    assert units.flop_count(999.7e9) == "1.00 TFLOP"
    assert units.flop_count(1500.0) == "1.50 kFLOP"
    assert units.bandwidth(12.345) == "12.3 GB/s"
    assert units.bandwidth(1234.56) == "1\u202f235 GB/s"
    assert units.bandwidth(0.0036) == "3.60 MB/s"
    assert units.kilobytes(2048.0) == "2\u202f048 KB"
    assert units.flop_rate(1.134e11) == "113 GFLOP/s"
    assert units.flop_rate(999.7e9) == "1.00 TFLOP/s"
    assert units.op_rate(4.567e11) == "457 GOP/s"
    assert units.op_rate(2e6) == "2.00 MOP/s"
    for text in (
        units.flop_rate,
        units.op_rate,
        units.flop_count,
        units.bandwidth,
        units.kilobytes,
    ):
        assert text(None) == units.MISSING


def test_a_figure_that_is_mostly_small_is_no_power_of_ten_where_it_is_not() -> None:
    told = {
        0.0000213: "2.1e-05",
        0.0: "0",
        3.54: "3.5",
        99.4: "99",
        126.2: "126",
        -1234.5: "−1\u202f235",
    }
    assert {value: units.small_number(value) for value in told} == told


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ([1 / 3, 1 / 3, 1 / 3], ["33.4 %", "33.3 %", "33.3 %"]),  # each by itself: 99.9 %
        ([0.00051, 0.00051, 0.99898], ["0.1 %", "0.0 %", "99.9 %"]),  # each by itself: 100.1 %
        ([1.2, -0.2], ["120.0 %", "−20.0 %"]),
        ([0.9996, 0.0004], ["100.0 %", "0.0 %"]),
        ([], []),
    ],
)
def test_shares_of_a_whole_add_up_as_they_read(parts: list[float], shown: list[str]) -> None:
    read = [units.percent(share) for share in units.shares_of_whole(parts)]
    assert sorted(read) == sorted(shown)


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=30))
def test_no_share_is_a_tenth_of_a_percent_off(parts: list[int]) -> None:
    whole = sum(parts) or 1
    exact = [part / whole for part in parts]
    if max(map(abs, exact)) > 1e6:
        return
    shown = units.shares_of_whole(exact)
    assert all(abs(a - b) < 0.001 + 1e-9 for a, b in zip(exact, shown, strict=True))
    assert round(sum(shown), 3) == round(sum(exact), 3)


@given(st.integers(3000, 10**10), st.floats(0.5, 2))
def test_two_times_give_their_ratio_when_divided(before: int, ratio: float) -> None:
    """At most the last digit of a percentage below 100 % is another."""
    after = round(before * ratio)
    change = units.percent(after / before - 1, signed=True)
    read = units.durations_in_ratio(before, after, [change])
    scales = {"µs": 1e3, "ms": 1e6, "s": 1e9}
    first, last = (
        float(number.replace(units.APART, "")) * scales[unit]
        for number, _, unit in (text.rpartition(" ") for text in read)
    )
    said = float(change.rstrip(" %").replace(units.MINUS, "-"))
    assert abs(100 * (last / first - 1) - said) <= 0.1 * 1.01


@pytest.mark.parametrize(
    ("ns", "sentence", "cell"),
    [
        (20_500, "20.5 µs", "21"),
        (10_500, "10.5 µs", "11"),
        (118_500, "119 µs", "119"),
        (119_500, "120 µs", "120"),
        (120_500, "121 µs", "121"),
        (-118_500, "−119 µs", "−119"),
    ],
)
def test_halves_go_away_from_zero(ns: float, sentence: str, cell: str) -> None:
    assert units.duration(ns) == sentence
    column = units.Column(1e3, "µs", 0)
    assert column.number(ns) == cell
    assert column.shown(ns) == float(cell.replace("−", "-")) * 1e3


def test_halves_of_percent_go_away_from_zero() -> None:
    assert units.percent(0.0625) == "6.3 %"
    assert units.points_between(0.0, 0.0625) == "+6.3 pt"
