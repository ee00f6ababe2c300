"""Numbers to text, in one place. Data stays in ns, bytes and fractions everywhere else."""

from __future__ import annotations

import math

MISSING = "–"


def duration(ns: float | None, *, signed: bool = False) -> str:
    """`ns` as ns, µs, ms or s with three significant digits: 1234567 -> '1.23 ms'."""
    if ns is None:
        return MISSING
    if ns == 0:
        return "0 ns"
    scale, unit = _scale(ns)
    return f"{_three(ns / scale, signed)} {unit}"


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
        (before, first), (after, second) = _printed(before_ns, more), _printed(after_ns, more)
        is_finer = step < max(first, second) * 0.999
        if not more and is_finer or abs(told - abs(after - before)) <= step * 0.501:
            break
    return _duration(before_ns, more), _duration(after_ns, more)


def _duration(ns: float, more: int) -> str:
    """`duration` with so many more digits."""
    if ns == 0:
        return "0 ns"
    scale, unit = _scale(ns)
    return f"{grouped(ns / scale, f'.{_digits(ns / scale) + more}f')} {unit}"


def _printed(ns: float, more: int) -> tuple[float, float]:
    """What `_duration` prints, in ns, and the step of its last digit."""
    scale, _ = _scale(ns)
    digits = _digits(ns / scale) + more
    return round(ns / scale, digits) * scale, 0.0 if ns == 0 else scale / 10**digits


def _scale(ns: float) -> tuple[float, str]:
    for limit, scale, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if abs(ns) < limit * 0.9995:
            return scale, unit
    return 1e9, "s"


def data_size(count: float | None, *, signed: bool = False) -> str:
    """Bytes with decimal prefixes: 93400000 -> '93.4 MB'."""
    if count is None:
        return MISSING
    if abs(count) < 999.5:
        whole = round(count)
        return f"{whole:+d} B" if signed and whole else f"{whole} B"
    for limit, scale, unit in ((1e6, 1e3, "kB"), (1e9, 1e6, "MB")):
        if abs(count) < limit * 0.9995:
            return f"{_three(count / scale, signed)} {unit}"
    return f"{_three(count / 1e9, signed)} GB"


def percent(fraction: float | None, *, signed: bool = False) -> str:
    """A fraction as a percentage: 0.2634 -> '26.3 %'. Above -0.05 and below 0.05 %, '0.0 %'.

    A change that leaves something is not told as -100 %: -0.99972 -> '-99.97 %'.
    """
    if fraction is None:
        return MISSING
    value = round(fraction * 100, 1)
    if value == 0:
        return "0.0 %"
    if value == -100 and fraction > -1:
        return f"{math.ceil(fraction * 1e4) / 100:.2f} %"
    return f"{grouped(value, '+.1f' if signed else '.1f')} %"


def points(fraction: float | None) -> str:
    """The difference of two percentages, in percentage points: -0.256 -> '-25.6 pt'."""
    if fraction is None:
        return MISSING
    value = round(fraction * 100, 1)
    return "0.0 pt" if value == 0 else f"{value:+.1f} pt"


def points_between(before: float | None, after: float | None) -> str:
    """`points` of two percentages as `percent` prints them: 0.0256 to 0.0254 -> '-0.1 pt'."""
    if before is None or after is None:
        return MISSING
    return points((round(after * 100, 1) - round(before * 100, 1)) / 100)


def factor(value: float | None) -> str:
    """A speedup: 2.1234 -> '2.12×'."""
    if value is None:
        return MISSING
    if 0 < abs(value) < 0.00995:
        return f"{value:.2g}×"
    return f"{value:.3f}×" if 0.95 < value < 1.05 else f"{_three(value, False)}×"


def rate(per_second: float | None) -> str:
    """Runs per second: 204.4 -> '204 /s'."""
    return MISSING if per_second is None else f"{_three(per_second, False)} /s"


def flop_rate(per_second: float | None) -> str:
    """FLOP/s with decimal prefixes: 1.134e11 -> '113 GFLOP/s'."""
    return _operations(per_second, "FLOP/s")


def op_rate(per_second: float | None) -> str:
    """OP/s, operations on integers, with decimal prefixes: 4.5e11 -> '450 GOP/s'."""
    return _operations(per_second, "OP/s")


def flop_count(value: float | None) -> str:
    """Floating-point operations with decimal prefixes: 4.5e12 -> '4.50 TFLOP'."""
    if value is None:
        return MISSING
    for limit, scale, unit in ((1e6, 1e3, "kFLOP"), (1e9, 1e6, "MFLOP"), (1e12, 1e9, "GFLOP")):
        if abs(value) < limit * 0.9995:
            return f"{_three(value / scale, False)} {unit}"
    return f"{_three(value / 1e12, False)} TFLOP"


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


def count(value: float | None) -> str:
    """A whole number with thin groups: 12345 -> '12 345'; halves are kept."""
    if value is None:
        return MISSING
    if value == int(value):
        return grouped(int(value))
    return grouped(value, ".1f")


def grouped(value: float, form: str = "") -> str:
    """A number in that format, its digits in groups of three: 12345.6, '.1f' -> '12 345.6'."""
    sign = "+" if form.startswith("+") else ""
    return f"{value:{sign},{form.removeprefix('+')}}".replace(",", " ")


def small_number(value: float | None) -> str:
    """A dimensionless small figure: 0.0000213 -> '2.1e-05', 0 -> '0'."""
    if value is None:
        return MISSING
    return "0" if value == 0 else f"{value:.2g}"


def middle_cut(text: str, chars: int = 40) -> str:
    """`text` cut in the middle to at most `chars` characters."""
    if len(text) <= chars:
        return text
    head = (chars - 1) // 2
    return f"{text[:head]}…{text[len(text) - (chars - 1 - head) :]}"


def _operations(per_second: float | None, unit: str) -> str:
    if per_second is None:
        return MISSING
    for limit, scale, prefix in ((1e9, 1e6, "M"), (1e12, 1e9, "G")):
        if abs(per_second) < limit * 0.9995:
            return f"{_three(per_second / scale, False)} {prefix}{unit}"
    return f"{_three(per_second / 1e12, False)} T{unit}"


def _three(value: float, signed: bool) -> str:
    digits = _digits(value)
    text = grouped(value, f"{'+' if signed else ''}.{digits}f")
    return text.lstrip("+-") if round(value, digits) == 0 else text


def _digits(value: float) -> int:
    """Digits behind the point that make three significant ones."""
    return 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
