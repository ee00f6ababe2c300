"""Numbers of one column share a unit: by hand, and what holds of every column."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis import units
from fusescope.analysis.units import change_columns, column_of, columns_apart

NS = 1.0
US, MS = 1e3, 1e6


@pytest.mark.parametrize(
    ("values", "unit", "shown"),
    [
        # 10.6 ms beside 3.9 µs: in ms the least would need four digits behind the point.
        ([10.6 * MS, 3.9 * US], "µs", ["10 600", "4"]),
        ([10.6 * MS, 3.2 * MS], "ms", ["10.6", "3.2"]),
        ([10.6 * MS, 0.39 * MS, 0.0], "ms", ["10.60", "0.39", "0.00"]),
        ([1.234 * MS, 50 * US], "µs", ["1 234", "50"]),
        ([780.375 * US, 1.24 * US], "µs", ["780.4", "1.2"]),
        ([780.375 * US, 0.52 * US], "µs", ["780.4", "0.5"]),
        ([780.375 * US, 0.05 * US], "µs", ["780.38", "0.05"]),
        # No more than five digits: what is smaller is said to be below the last place.
        ([784.3124 * MS, 12 * US, 1.2 * US], "ms", ["784.31", "0.01", "<0.01"]),
        ([999.96 * US, 600 * US], "ms", ["1.00", "0.60"]),
        ([120 * NS, 5 * NS], "ns", ["120.0", "5.0"]),
        ([2.5e9], "s", ["2.50"]),
        ([0.0], "µs", ["0"]),
    ],
)
def test_a_column_of_times_has_one_unit(values: list[float], unit: str, shown: list[str]) -> None:
    column = column_of(values)
    assert column.unit == unit
    assert [column.number(ns).replace(units.APART, " ") for ns in values] == shown


def test_a_missing_value_and_a_size() -> None:
    column = column_of([93_400_000, None, float("nan"), 2_000_000], units.BYTES)
    told = [column.text(size) for size in (93_400_000, None, float("nan"), 2_000_000)]
    assert told == ["93.4 MB", "–", "–", "2.0 MB"]
    assert column_of([], units.TIMES).text(0) == "0 µs"
    assert column_of([512, 3], units.BYTES).text(3) == "3 B"


Row = tuple[float | None, float | None, float | None]


@pytest.mark.parametrize(
    ("rows", "unit", "shown"),
    [
        # 157.3 - 780.4 = -623.1, as it is: all have one digit.
        ([(780.375 * US, 157.275 * US, -623.1 * US), (1.24 * US, 1.24 * US, 0.0)], "µs",
         [("780.4", "157.3", "−623.1"), ("1.2", "1.2", "0.0")]),
        # 10.44 - 3.16 = 7.28: 10.4 and 3.2 would be 7.2 apart, so the change has a digit more.
        ([(10.44 * MS, 3.16 * MS, -7.28 * MS), (55.2 * MS, 5.2 * MS, -50.0 * MS)], "ms",
         [("10.4", "3.2", "−7.28"), ("55.2", "5.2", "−50.00")]),
        # The largest change has digits of its own.
        ([(780.0 * US, 744.0 * US, -36.0 * US), (40.0 * US, 40.8 * US, 0.8 * US)], "µs",
         [("780", "744", "−36.0"), ("40", "41", "+0.8")]),
        ([(12.345 * MS, 12.34 * MS, -0.005 * MS)], "ms", [("12.3", "12.3", "−0.0050")]),
        # Of another change than of these two, and of one side alone.
        ([(3.16 * MS, 3.17 * MS, -2.0 * MS), (None, 5.0 * MS, 5.0 * MS), (1.0 * MS, None, None)],
         "ms", [("3.16", "3.17", "−2.00"), ("–", "5.00", "+5.00"), ("1.00", "–", "–")]),
        # Values that are not known: the unit is that of the changes.
        ([(None, None, -2.5 * MS)], "ms", [("–", "–", "−2.50")]),
    ],
)  # fmt: skip
def test_changes_agree_with_the_values_beside_them(
    rows: list[Row], unit: str, shown: list[tuple[str, str, str]]
) -> None:
    columns = change_columns(rows)
    assert columns.unit == unit
    assert [columns.numbers(*row) for row in rows] == shown


def test_the_change_of_a_row_reads_as_its_sentence() -> None:
    """186.2 and 199.52 us are 13.32 apart: +13.3 us, whatever 186 and 200 are."""
    columns = columns_apart([(186_200.0, 199_520.0)])
    assert columns.texts(186_200.0, 199_520.0) == ("186 µs", "200 µs", "+13.3 µs")
    # Of several rows the changes share a unit of their own.
    columns = columns_apart([(50_000.0, 1_400_000.0), (20_000.0, 18_120.0)])
    assert columns.texts(20_000.0, 18_120.0) == ("20 µs", "18 µs", "−2 µs")
    assert columns.texts(50_000.0, 1_400_000.0)[2] == "+1\u202f350 µs"
    # 244 and 130 would be 114 apart.
    columns = columns_apart([(243_600.0, 130_200.0)])
    assert columns.texts(243_600.0, 130_200.0) == ("244 µs", "130 µs", "−113.4 µs")


TIMES = st.floats(1e-3, 1e12)


def value_of(text: str) -> float:
    """Return the number that is shown, half of the last place for one below it."""
    digits = float(re.sub(r"[^0-9.]", "", text))
    signed = -digits if text.startswith(units.MINUS) else digits
    return signed / 2 if "<" in text else signed


@given(st.lists(TIMES, min_size=1), st.sampled_from([units.TIMES, units.BYTES]))
def test_the_order_of_what_is_shown_is_that_of_values_and_none_is_zero(
    values: list[float], scales: units.Scales
) -> None:
    column = column_of(values, scales)
    shown = [column.number(value) for value in sorted(values)]
    numbers = [value_of(text) for text in shown]
    assert numbers == sorted(numbers) and numbers[0] > 0
    assert len({len(text.partition(".")[2]) for text in shown}) == 1
    for value, text in zip(sorted(values), shown, strict=True):
        place = 10.0**-column.digits
        assert (
            abs(value / column.scale - value_of(text)) <= place * 0.51 + value / column.scale / 1e12
        )


@given(st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=5))
def test_a_change_has_its_sign_and_is_what_values_are_apart(
    pairs: list[tuple[float, float]],
) -> None:
    """To half of its last place, and to that of the values where they have a coarser one."""
    rows = [(before, after, after - before) for before, after in pairs]
    for columns in (change_columns(rows), columns_apart(pairs)):
        values, changes = columns.values, columns.changes
        for before, after, change in rows:
            told = changes.number(change, signed=True)
            assert not change or value_of(told) * change > 0
            assert (
                abs(value_of(told) * changes.scale - change)
                <= changes.step * 0.51 + abs(change) / 1e12
            )
            apart = values.shown(after) - values.shown(before)
            is_finer = changes.step < values.step * 0.999
            reach = values.step * 1.01 + changes.step / 2 if is_finer else changes.step * 0.511
            assert abs(changes.shown(change) - apart) <= reach + abs(apart) / 1e12
