"""Times of profiler files as whole ns, without passing through a double where it would round.

Epoch times in µs with three decimals need 61 bits; a double keeps a quarter of a µs of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Unit = Literal["s", "ms", "us", "ns", "ps"]

_NS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}  # of units that are whole ns
_EXPONENT = {"s": 9, "ms": 6, "us": 3, "ns": 0, "ps": -3}
LATEST_NS = 2**61  # the span of any two such times fits 64 bits
_MAX_NS = 2**62  # sums of two such times still fit 64 bits
_SAFE_US = 2**52  # that many are fewer than _MAX_NS
_PLAIN = re.compile(r"([+-]?)([0-9]{1,20})(?:\.([0-9]{0,18}))?", re.ASCII)
_MAX_CHARS = 60
_SAMPLES = 16
_DISTINCT_NS = 10**12  # shorter times are found in any file
_MOST = 0.5  # of the samples: a file may leave out some of what another holds
_NEW_LINE, _ZERO, _POINT = b"\n0."
_NINE = 9
_MAX_DIGITS = 19  # of a number of ns: those of 64 bits without sign hold them
_LINES = 8192  # looked at together, so that they stay in the cache
_TENS = 10 ** np.arange(_MAX_DIGITS + 1, dtype="uint64")
_SQLITE = b"SQLite format 3\x00"


def exact_ns(value: object, unit: Unit = "us") -> int | None:
    """A time as whole ns, half a ns rounded to even; None when it is not a time.

    Takes int, float, text in decimal notation (also with exponent, blanks or quotes around it), and
    the undecoded number of a JSON file. Booleans, NaN, infinity and what does not fit are none.
    """
    if type(value) is int:
        return (
            value * 1000 if unit == "us" and -_SAFE_US < value < _SAFE_US else _whole(value, unit)
        )
    if isinstance(value, msgspec.Raw):
        value = bytes(value).decode("ascii", "replace")
    if isinstance(value, str):
        return _from_text(value.strip(' \t\r\n"'), unit)
    if isinstance(value, float) and math.isfinite(value):
        return _from_text(repr(value), unit)
    return None


def _from_text(text: str, unit: Unit) -> int | None:
    match = _PLAIN.fullmatch(text)
    exponent = _EXPONENT[unit]
    if match is not None and exponent >= 0:
        fraction = match[3] or ""
        if len(fraction) <= exponent:
            ns = int(match[2] + fraction.ljust(exponent, "0"))
            ns = -ns if match[1] == "-" else ns
            return ns if abs(ns) < _MAX_NS else None
    if not text or len(text) > _MAX_CHARS:
        return None
    try:
        number = Decimal(text)
        if not number.is_finite() or number.adjusted() > 25:
            return None
        ns = int(number.scaleb(exponent).to_integral_value())
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return ns if abs(ns) < _MAX_NS else None


def _whole(value: int, unit: Unit) -> int | None:
    if abs(value) >= _MAX_NS:
        return None
    factor = _NS.get(unit)
    ns = round(Decimal(value).scaleb(_EXPONENT[unit])) if factor is None else value * factor
    return ns if abs(ns) < _MAX_NS else None


def holds_times(blocks: Iterable[bytes], times_ns: Sequence[object], *others: bytes) -> bool:
    """True when most of a sample of exact times, in ns, stand in a file as it is, and all `others`;
    the file comes in blocks, of which only so many are taken as that needs."""
    known = [ns for ns in times_ns if isinstance(ns, int)]
    count = min(_SAMPLES, len(known))
    picked = [known[at * (len(known) - 1) // max(1, count - 1)] for at in range(count)]
    picked = [ns for ns in picked if ns >= _DISTINCT_NS]
    if not picked:
        return False
    before, left = b"", list(others)
    texts: list[bytes] | None = None
    for block in blocks:
        if texts is None:
            texts = [_stored(ns, is_database=block.startswith(_SQLITE)) for ns in picked]
        both = before + block
        texts = [text for text in texts if text not in both]
        left = [text for text in left if text not in both]
        if len(texts) <= len(picked) * (1 - _MOST) and not left:
            return True
        before = both[-_MAX_CHARS:]
    return False


def _stored(ns: int, *, is_database: bool) -> bytes:
    """The time as files hold it: µs in text, ns with the high byte first in a database."""
    if is_database:
        return ns.to_bytes(6 if ns < 2**47 else 8, "big")
    whole, rest = divmod(ns, 1000)
    return f"{whole}.{rest:03d}".rstrip("0").rstrip(".").encode()


def exact_column(raws: Sequence[msgspec.Raw], unit: Unit = "us") -> tuple[Ints, Bools]:
    """Times as `exact_ns` reads each, in ns, and which of them are times; 0 where not.

    Plain decimals are read all at once.
    """
    count = len(raws)
    numbers, known = np.zeros(count, dtype="int64"), np.zeros(count, dtype=bool)
    if not count:
        return numbers, known
    text = np.frombuffer(b"\n".join(raws).translate(None, b'"') + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(text == _NEW_LINE)
    if len(ends) == count:
        starts = np.concatenate([[0], ends[:-1] + 1])
        numbers, known = exact_lines(text, starts, ends, unit)
    for at in np.flatnonzero(~known).tolist():
        ns = exact_ns(raws[at], unit) if len(raws[at]) else None
        if ns is not None:
            numbers[at], known[at] = ns, True
    return numbers, known


def exact_lines(
    text: npt.NDArray[np.uint8], starts: Ints, ends: Ints, unit: Unit
) -> tuple[Ints, Bools]:
    """The parts of a text that are digits and at most one point as whole ns, half a ns rounded to
    even, and which are such; others, and very long ones, are 0 and not known."""
    exponent = _EXPONENT[unit]
    numbers, known = np.zeros(len(starts), dtype="int64"), np.zeros(len(starts), dtype=bool)
    if exponent < 0:
        return numbers, known
    for begin in range(0, len(starts), _LINES):
        part = slice(begin, begin + _LINES)
        numbers[part], known[part] = _plain_decimals(text, starts[part], ends[part], exponent)
    return numbers, known


def _plain_decimals(
    text: npt.NDArray[np.uint8], starts: Ints, ends: Ints, exponent: int
) -> tuple[Ints, Bools]:
    """Digit by digit of all lines at once."""
    lengths = ends - starts
    numbers = np.zeros(len(starts), dtype="uint64")
    digits, points, decimals = (np.zeros(len(starts), dtype="int64") for _ in range(3))
    first_is_digit = np.zeros(len(starts), dtype=bool)
    longest = min(int(lengths.max(initial=0)), _MAX_DIGITS + 1)
    for place in range(longest):
        is_inside = place < lengths
        codes = text[np.where(is_inside, starts + place, 0)]
        values = codes - np.uint8(_ZERO)  # what is below wraps around
        is_digit = is_inside & (values <= _NINE)
        if place == 0:
            first_is_digit = is_digit
        numbers = np.where(is_digit, numbers * 10 + values, numbers)
        digits += is_digit
        decimals += is_digit & (points > 0)
        points += is_inside & (codes == _POINT)
    known = first_is_digit & (points <= 1) & (digits + points == lengths)
    known &= digits - decimals <= _MAX_DIGITS - exponent
    beyond = decimals - exponent
    known &= (beyond <= 0) | (digits <= _MAX_DIGITS)
    rounded = np.flatnonzero(known & (beyond > 0))
    if len(rounded):
        numbers[rounded] = _rounded(numbers[rounded], beyond[rounded])
    numbers = numbers * _TENS[np.clip(-beyond, 0, exponent)]
    known &= numbers < _MAX_NS
    return np.where(known, numbers, 0).astype("int64"), known


def _rounded(numbers: npt.NDArray[np.uint64], decimals: Ints) -> npt.NDArray[np.uint64]:
    """Without so many of their last digits; half is rounded to even."""
    unit = _TENS[decimals]
    whole, rest = np.divmod(numbers, unit)
    below = unit - rest
    is_up = (rest > below) | ((rest == below) & (whole % 2 == 1))
    return np.where(is_up, whole + np.uint64(1), whole)
