"""Numbers of one column share a unit: by hand, and what holds of every column."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis import units
from fusescope.analysis.report.explanation.rows import SideColumns
from fusescope.analysis.units import column_beside, column_of

NS = 1.0
US, MS = 1e3, 1e6


@pytest.mark.parametrize(
    ("values", "unit", "shown"),
    [
        # 10.6 ms beside 3.9 µs: in ms the least would need four digits behind the point.
        ([10.6 * MS, 3.9 * US], "µs", ["10 600.0", "3.9"]),
        ([10.6 * MS, 3.2 * MS], "ms", ["10.6", "3.2"]),
        ([10.6 * MS, 0.39 * MS, 0.0], "ms", ["10.60", "0.39", "0.00"]),
        ([1.234 * MS, 50 * US], "µs", ["1 234", "50"]),
        # No more than six digits: what is smaller is said to be below the last place.
        ([784.3124 * MS, 1.2 * US, 0.2 * US], "µs", ["784 312", "1", "<1"]),
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


def test_values_have_the_digits_that_their_change_needs() -> None:
    """10.44 - 3.16 = 7.28: 10.4 and 3.2 would be 7.2 apart, and −7.3 stands beside them."""
    column = column_of([10.44 * MS, 3.16 * MS])
    rows = [(10.44 * MS, 3.16 * MS, -7.28 * MS)]
    finer = column_beside(column, column, rows)
    assert [finer.text(value) for value in rows[0][:2]] == ["10.44 ms", "3.16 ms"]
    assert column.number(-7.28 * MS, signed=True) == "−7.3"
    # Of another change than of these two, of a missing value, and where it reads so, none.
    for row in ((3.16 * MS, 3.17 * MS, -2.0 * MS), (3.16 * MS, math.nan, math.nan),
                (5.0 * MS, 3.0 * MS, -2.0 * MS)):  # fmt: skip
        assert column_beside(column, column, [row]) == column


def test_the_change_of_a_row_reads_as_its_sentence() -> None:
    """186.2 and 199.52 us are 13.32 apart: +13.3 us, whatever 186 and 200 are."""
    columns = SideColumns.of([(186_200.0, 199_520.0)])
    assert columns.texts(186_200.0, 199_520.0) == ("186 µs", "200 µs", "+13.3 µs")
    # Of several rows the changes share a unit of their own.
    columns = SideColumns.of([(50_000.0, 1_400_000.0), (20_000.0, 18_120.0)])
    assert columns.texts(20_000.0, 18_120.0) == ("20 µs", "18 µs", "−1.9 µs")
    assert columns.texts(50_000.0, 1_400_000.0)[2] == "+1\u202f350.0 µs"


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


@given(TIMES, TIMES)
def test_a_change_has_its_sign_and_is_what_values_are_apart(before: float, after: float) -> None:
    column, change = column_of([before, after, after - before]), after - before
    told = column.number(change, signed=True)
    place = 10.0**-column.digits
    if change:
        assert value_of(told) * change > 0
    assert abs(value_of(told) - change / column.scale) <= place * 0.51 + abs(change) / 1e12
    beside = column_beside(column, column, [(before, after, change)])
    apart = (beside.shown(after) - beside.shown(before)) / column.scale
    assert abs(column.shown(change) / column.scale - apart) <= place * 0.511 + abs(apart) / 1e12
