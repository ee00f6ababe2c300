"""Numbers to text, in one place: with a true minus sign, U+2212. Data stays in ns, bytes and
fractions everywhere else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
APART = "\N{NARROW NO-BREAK SPACE}"  # between groups of three digits, where no line may break
Scales = Sequence[tuple[float, str]]  # (what divides a value, its unit), ascending
TIMES: Scales = ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"))
BYTES: Scales = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"))
_COUNTS: Scales = ((1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"))
# A digit more than three significant ones of the largest value for the least to show two digits,
# and another for it to show one: how many of the last place it is then.
_MORE_DIGITS = (9.5, 0.95)
_MOST_OF_A_CHANGE = 3  # digits more than the values beside it have


def duration(ns: float | None, *, signed: bool = False) -> str:
    """`ns` as ns, µs, ms or s with three significant digits: 1234567 -> '1.23 ms'."""
    return "0 ns" if ns == 0 else _scaled(ns, TIMES, signed)


def durations_apart(
    before_ns: float | None, after_ns: float | None, change_ns: float | None
) -> tuple[str, str]:
    """Two durations beside which `duration(change_ns)` stands, their difference either way round.

    With three significant digits each, 243.6 µs and 130.2 µs are 114 µs apart and their change is
    113 µs: where it reads like that, the two have a digit or two more.
    """
    if before_ns is None or after_ns is None or not change_ns:
        return duration(before_ns), duration(after_ns)
    told, step = _printed(abs(change_ns), 0)
    if abs(abs(after_ns - before_ns) - abs(change_ns)) > step / 2:
        return duration(before_ns), duration(after_ns)  # another change than of these two
    for more in range(3):
        digits = [_more_digits(ns, more, step / 10**more) for ns in (before_ns, after_ns)]
        (before, first), (after, second) = map(_printed, (before_ns, after_ns), digits)
        is_finer = step < max(first, second) * 0.999
        if not more and is_finer or abs(told - abs(after - before)) <= step * 0.501:
            break
    return _duration(before_ns, digits[0]), _duration(after_ns, digits[1])


def _more_digits(value_ns: float, more: int, finest: float) -> int:
    """Return how many of that many further digits are worth printing: the last one stands for no
    less than `finest`, as of 1.18 beside 58.73 ms."""
    while more and _printed(value_ns, more)[1] < finest * 0.999:
        more -= 1
    return more


def durations_in_ratio(before_ns: float, after_ns: float, ratios: Sequence[str]) -> tuple[str, str]:
    """Two durations beside which their `ratios` stand as `percent` and `factor` print them, either
    way round: who divides the two gets each within its last digit.

    19.9 and 17.4 ms are 14.4 % apart where 19.94 and 17.37 ms are 14.8 %: where it reads like that,
    the two have a digit or two more. What is no ratio of these two counts for nothing.
    """
    if not before_ns or not after_ns:
        return duration(before_ns), duration(after_ns)
    read = [_read(text) for text in ratios]
    own = _ratios(before_ns, after_ns)
    wanted = [
        (told, step, at)
        for told, step in read
        for at, ratio in enumerate(own)
        if abs(ratio - told) <= step * 0.501
    ]
    for more in range(3):
        shown = _ratios(_printed(before_ns, more)[0], _printed(after_ns, more)[0])
        if all(abs(shown[at] - told) <= step * 1.001 for told, step, at in wanted):
            break
    return _duration(before_ns, more), _duration(after_ns, more)


def is_ratio(before_ns: float, after_ns: float, ratio: float) -> bool:
    """Return True where a fraction or a factor is one of two durations, either way round."""
    if not before_ns or not after_ns:
        return False
    return any(math.isclose(ratio, one, rel_tol=1e-6) for one in _ratios(before_ns, after_ns))


def _ratios(before: float, after: float) -> tuple[float, ...]:
    """What a percentage or a factor beside two values may say of them."""
    up, down = after / before, before / after
    return up, down, up - 1, down - 1, 1 - up, 1 - down


def _read(text: str) -> tuple[float, float]:
    """Return a printed percentage or factor as a number, and what its last digit stands for."""
    number = Decimal(text.rstrip(" %×").replace(MINUS, "-").replace(APART, ""))
    hundred = 100 if text.endswith("%") else 1
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return float(number) / hundred, 10.0**exponent / hundred


def _duration(ns: float, more: int) -> str:
    """`duration` with so many more digits."""
    if ns == 0:
        return "0 ns"
    scale, unit = scale_of(ns, TIMES)
    return f"{grouped(ns / scale, f'.{digits_of(ns / scale) + more}f')} {unit}"


def _printed(ns: float, more: int) -> tuple[float, float]:
    """What `_duration` prints, in ns, and the step of its last digit."""
    scale, _ = scale_of(ns, TIMES)
    digits = digits_of(ns / scale) + more
    return rounded(ns / scale, digits) * scale, 0.0 if ns == 0 else scale / 10**digits


def scale_of(value: float, scales: Scales) -> tuple[float, str]:
    """The largest scale in which `value` reads as one or more of three significant digits."""
    fits = (found for found, (larger, _) in pairwise(scales) if abs(value) < larger * 0.9995)
    return next(fits, scales[-1])


def data_size(count: float | None, *, signed: bool = False) -> str:
    """Bytes with decimal prefixes: 93400000 -> '93.4 MB'."""
    if count is not None and abs(count) < 999.5:
        whole = round(count)
        return f"{grouped(whole, '+d' if signed and whole else 'd')} B"
    return _scaled(count, BYTES, signed)


def capacity(count: float) -> str:
    """A limit or a size that somebody chose, in bytes: '4 GB', not '4.00 GB'."""
    number, _, unit = data_size(count).rpartition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def percent(fraction: float | None, *, signed: bool = False) -> str:
    """A fraction as a percentage: 0.2634 -> '26.3 %'. Above -0.05 and below 0.05 %, '0.0 %'.

    A change that leaves something is not told as −100 %: -0.99972 -> '−99.97 %'.
    """
    if fraction is None:
        return MISSING
    value = rounded(fraction * 100, 1)
    if value == 0:
        return "0.0 %"
    if value == -100 and fraction > -1:
        return f"{grouped(math.ceil(fraction * 1e4) / 100, '.2f')} %"
    return f"{grouped(value, '+.1f' if signed else '.1f')} %"


def shares_of_whole(fractions: Sequence[float]) -> list[float]:
    """Return parts of a whole in steps of 0.1 %, each less than a step from its own value, that add
    up as shown: the largest remainders are rounded up. 1/3, 1/3, 1/3 -> 33.4 %, 33.3 %, 33.3 %.
    """
    steps = [1000 * fraction for fraction in fractions]
    down = [math.floor(step) for step in steps]
    order = sorted(range(len(steps)), key=lambda at: down[at] - steps[at])
    for at in order[: round(math.fsum(steps)) - sum(down)]:
        down[at] += 1
    return [step / 1000 for step in down]


def points(fraction: float | None) -> str:
    """The difference of two percentages, in percentage points: -0.256 -> '−25.6 pt'."""
    if fraction is None:
        return MISSING
    value = rounded(fraction * 100, 1)
    return "0.0 pt" if value == 0 else f"{grouped(value, '+.1f')} pt"


def points_between(before: float | None, after: float | None) -> str:
    """`points` of two percentages as `percent` prints them: 0.0256 to 0.0254 -> '−0.1 pt'."""
    if before is None or after is None:
        return MISSING
    return points((rounded(after * 100, 1) - rounded(before * 100, 1)) / 100)


def factor(value: float | None) -> str:
    """A speedup: 2.1234 -> '2.12×', near 1 with three decimals.

    A bound that is not 1 does not read as 1, since its side of 1 decides: 1.0003 -> '1.0003×'.
    """
    if value is None:
        return MISSING
    if 0 < abs(value) < 0.00995:
        return f"{value:.2g}×"
    if not 0.95 < value < 1.05:
        return f"{_three(value, False)}×"
    digits = next((digits for digits in (3, 4, 5) if round(value, digits) != 1), 3)
    return f"{value:.{digits}f}×"


def rate(per_second: float | None) -> str:
    """Runs per second: 204.4 -> '204 /s'."""
    return MISSING if per_second is None else f"{_three(per_second, False)} /s"


def flop_rate(per_second: float | None) -> str:
    """FLOP/s with decimal prefixes: 1.134e11 -> '113 GFLOP/s'."""
    return _scaled(per_second, _COUNTS[1:], end="FLOP/s")


def op_rate(per_second: float | None) -> str:
    """OP/s, operations on integers, with decimal prefixes: 4.5e11 -> '450 GOP/s'."""
    return _scaled(per_second, _COUNTS[1:], end="OP/s")


def flop_count(value: float | None) -> str:
    """Floating-point operations with decimal prefixes: 4.5e12 -> '4.50 TFLOP'."""
    return _scaled(value, _COUNTS, end="FLOP")


def bandwidth(value: float | None) -> str:
    """GB/s as profilers print them: 1234.56 -> '1 235 GB/s'; 0.0036 -> '3.60 MB/s'."""
    if value is None:
        return MISSING
    if 0 < abs(value) < 0.995:
        return f"{_three(value * 1e3, False)} MB/s"
    return f"{_three(value, False)} GB/s"


def kilobytes(value: float | None) -> str:
    """KB of a profiler, which says not whether of 1000 or 1024 bytes: 2048.0 -> '2 048 KB'."""
    return MISSING if value is None else f"{grouped(value, '.0f')} KB"


def megabytes(value: float | None) -> str:
    """MB of a profiler, which may be of 1000² or of 1024² bytes: 2048.0 -> '2 048 MB'."""
    return MISSING if value is None else f"{grouped(value, '.0f')} MB"


def count(value: float | None) -> str:
    """A whole number with thin groups: 12345 -> '12 345'; halves are kept."""
    if value is None:
        return MISSING
    if value == int(value):
        return grouped(int(value))
    return grouped(value, ".1f")


def grouped(value: float, form: str = "") -> str:
    """A number in that format, its digits in groups of three, which stay on one line: -12345.6,
    '.1f' -> '−12 345.6'. Halves go away from zero: 20.5, '.0f' -> '21'."""
    if form.endswith("f"):
        value = _past_half(value)
    sign = "+" if form.startswith("+") else ""
    text = f"{value:{sign},{form.removeprefix('+')}}".replace(",", APART)
    return with_minus(text)


def rounded(value: float, digits: int) -> float:
    """Return a number as `grouped` prints it with that many digits behind the point."""
    return round(_past_half(value), digits)


def _past_half(value: float) -> float:
    """Return the next number farther from zero: printing rounds exact halves to even digits."""
    return math.nextafter(value, math.copysign(math.inf, value)) if value else value


def with_minus(number: str) -> str:
    """Return a printed number with the true sign of minus; an exponent keeps its hyphen."""
    return f"{MINUS}{number[1:]}" if number.startswith("-") else number


def small_number(value: float | None) -> str:
    """A dimensionless figure, mostly small: 0.0000213 -> '2.1e-05', 0 -> '0', 126.2 -> '126'."""
    if value is None:
        return MISSING
    if 99.5 <= abs(value) < 1e6:
        return grouped(value, ".0f")
    return "0" if value == 0 else with_minus(f"{value:.2g}")


def middle_cut(text: str, chars: int = 40) -> str:
    """`text` cut in the middle to at most `chars` characters."""
    if len(text) <= chars:
        return text
    head = (chars - 1) // 2
    return f"{text[:head]}…{text[len(text) - (chars - 1 - head) :]}"


def _scaled(value: float | None, scales: Scales, signed: bool = False, end: str = "") -> str:
    """`value` in the scale that fits, with three significant digits."""
    if value is None:
        return MISSING
    scale, unit = scale_of(value, scales)
    return f"{_three(value / scale, signed)} {unit}{end}"


def three_digits(value: float | None) -> str:
    """A number with three significant digits: 1234.56 -> '1 235', 0.0036 -> '0.0036'."""
    if value is None:
        return MISSING
    return small_number(value) if 0 < abs(value) < 0.995 else _three(value, False)


def _three(value: float, signed: bool) -> str:
    digits = digits_of(value)
    text = grouped(value, f"{'+' if signed else ''}.{digits}f")
    return text.lstrip(f"+{MINUS}") if rounded(value, digits) == 0 else text


def digits_of(value: float) -> int:
    """Return how many digits behind the point that make three significant ones."""
    return 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2


@dataclass(frozen=True)
class Column:
    """`scale` divides a value to be one in `unit`; `digits` stand behind the point."""

    scale: float
    unit: str
    digits: int

    def number(self, value: float | None, *, signed: bool = False) -> str:
        """Return a value without its unit, a missing one as '–'. One that is not 0 is never shown
        as 0: '<0.1' is below half of the last place."""
        if value is None or math.isnan(value):
            return MISSING
        form = f".{self.digits}f"
        if value and rounded(value / self.scale, self.digits) == 0:
            return self._below(value, signed=signed)
        # 0.0 added to it, a zero has no sign.
        return grouped(value / self.scale + 0.0, f"+{form}" if signed and value else form)

    def text(self, value: float | None, *, signed: bool = False) -> str:
        """Return a value with its unit."""
        number = self.number(value, signed=signed)
        return number if number == MISSING else f"{number} {self.unit}"

    def at_least_three(self, value: float | None) -> str:
        """Return a value with its unit, in three significant digits where the column has fewer: in
        cells of intervals, whose ends would read as one."""
        digits = max(self.digits, digits_of((value or 0.0) / self.scale))
        return replace(self, digits=digits).text(value)

    @property
    def step(self) -> float:
        """Return what the last place of a number stands for."""
        return self.scale / 10.0**self.digits

    def shown(self, value: float) -> float:
        """Return a value as it is read."""
        return rounded(value / self.scale, self.digits) * self.scale

    def _below(self, value: float, *, signed: bool) -> str:
        sign = MINUS if value < 0 else "+" if signed else ""
        return f"{sign}<{10.0**-self.digits:.{self.digits}f}"


def column_of(values: Iterable[float | None], scales: Scales = TIMES) -> Column:
    """Return the unit of these values, in that of the first scale (ns, bytes): the largest value
    has three significant digits, and up to two more where the least one that is not 0 needs them.
    Three digits behind the point are none in the next smaller unit."""
    known = [abs(value) for value in values if value and not math.isnan(value)]
    largest = max(known, default=0.0)
    if not largest:
        scale, unit = scales[min(1, len(scales) - 1)]
        return Column(scale, unit, 0)
    scale, unit = scale_of(largest, scales)
    digits, least = digits_of(largest / scale), min(known) / scale
    for few in _MORE_DIGITS:
        digits += least < few * 10.0**-digits
    smaller = [found for found in scales if found[0] < scale]
    if digits >= 3 and smaller:
        (scale, unit), digits = smaller[-1], digits - 3
    return Column(scale, unit, 0 if unit == "B" else digits)


@dataclass(frozen=True)
class ChangeColumns:
    """The columns of values on two sides and of their changes. Changes have digits of their own,
    and more than the values where the difference of two values would read otherwise."""

    values: Column
    changes: Column

    @property
    def unit(self) -> str:
        """Return the unit of the values."""
        return self.values.unit

    def numbers(
        self, before: float | None, after: float | None, change: float | None
    ) -> tuple[str, str, str]:
        """Return the three without units."""
        return (
            self.values.number(before),
            self.values.number(after),
            self.changes.number(change, signed=True),
        )

    def texts(self, before: float, after: float) -> tuple[str, str, str]:
        """Return two values and their change with units."""
        change = self.changes.text(after - before, signed=True)
        return self.values.text(before), self.values.text(after), change


ChangeRow = tuple[float | None, float | None, float | None]  # before, after, change


def change_columns(rows: Sequence[ChangeRow], scales: Scales = TIMES) -> ChangeColumns:
    """Return one unit for the values and changes of rows. The largest change has three significant
    digits, in the unit of values that are much larger two, and no change has fewer than values."""
    values = [value for before, after, _ in rows for value in (before, after)]
    known = [abs(change) for *_, change in rows if change and not math.isnan(change)]
    column = column_of(values if any(values) else known, scales)
    largest = max(known, default=0.0) / column.scale
    digits = max(column.digits, digits_of(largest) if largest else 0)
    while 0 < largest < 9.5 * 10.0**-digits and digits < column.digits + _MOST_OF_A_CHANGE:
        digits += 1
    return ChangeColumns(column, changes_beside(column, replace(column, digits=digits), rows))


def columns_apart(pairs: Sequence[tuple[float, float]]) -> ChangeColumns:
    """Return the unit that durations in ns on two sides share, and that of their changes, which
    have three significant digits of their own, as sentences say them."""
    durations = column_of(ns for both in pairs for ns in both)
    changes = column_of(after - before for before, after in pairs)
    rows = [(before, after, after - before) for before, after in pairs]
    return ChangeColumns(durations, changes_beside(durations, changes, rows))


def changes_beside(values: Column, changes: Column, rows: Sequence[ChangeRow]) -> Column:
    """Return the column of changes beside values on two sides: where the difference of two values
    would read otherwise than their change, changes have a digit more than the values."""
    digits = changes.digits
    if not all(_reads_apart(values, changes, *row) for row in rows):
        while changes.scale / 10.0**digits > values.step * 0.999:
            digits += 1
    return replace(changes, digits=digits)


def _reads_apart(
    values: Column,
    changes: Column,
    before: float | None,
    after: float | None,
    change: float | None,
) -> bool:
    """Return True where two values as shown are as far apart as their change says, where their last
    place is coarser than its, and where it is another change than of these two."""
    if before is None or after is None or change is None:
        return True
    is_of_these = abs(after - before - change) <= changes.step / 2  # False without a value
    if not is_of_these or changes.step < values.step * 0.999:
        return True
    apart = values.shown(after) - values.shown(before)
    return abs(changes.shown(change) - apart) <= changes.step * 0.501
