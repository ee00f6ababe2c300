"""Protocol buffers on the wire: fields of one message, without a schema and without recursion.

Written from the encoding's public description. A reader asks for the fields of a message and
descends into those that it knows, so depth is the reader's, never the file's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MAX_NUMBER = 2**29 - 1
_SIGN = 2**63

Value = int | memoryview


class DamagedMessage(ValueError):
    """The bytes are not a message; `position` is where in the given data that shows."""

    def __init__(self, position: int) -> None:
        super().__init__(f"no protocol buffer at byte {position}")
        self.position = position


def fields(data: memoryview, start: int = 0, end: int | None = None) -> Iterator[tuple[int, Value]]:
    """(field number, value) of one message, in file order; nothing is copied.

    A value is an unsigned 64-bit number (varint or fixed), or the bytes of a text or a message
    inside. Raises DamagedMessage where the bytes run out, or for groups and unknown wire types.
    """
    at, stop = start, len(data) if end is None else end
    while at < stop:
        key = data[at]
        if key < 0x80:
            at += 1
        else:
            key, at = _varint(data, at, stop)
        number, kind = key >> 3, key & 7
        if not 0 < number <= _MAX_NUMBER:
            raise DamagedMessage(at)
        if kind == VARINT:
            if at < stop and data[at] < 0x80:
                value: Value = data[at]
                at += 1
            else:
                value, at = _varint(data, at, stop)
            yield number, value
            continue
        if kind == BYTES:
            size, at = _varint(data, at, stop)
        elif kind == FIXED64:
            size = 8
        elif kind == FIXED32:
            size = 4
        else:
            raise DamagedMessage(at)
        if size > stop - at:
            raise DamagedMessage(at)
        inside = data[at : at + size]
        at += size
        yield number, inside if kind == BYTES else int.from_bytes(inside, "little")


def signed(value: Value) -> int | None:
    """A varint as int64; None for bytes."""
    if not isinstance(value, int):
        return None
    return value - 2 * _SIGN if value >= _SIGN else value


def double(value: Value) -> float | None:
    """A fixed 64-bit number as the double that it encodes; None for bytes."""
    if not isinstance(value, int):
        return None
    (number,) = struct.unpack("<d", value.to_bytes(8, "little"))
    return float(number)


def text(value: Value) -> str | None:
    """Bytes as UTF-8 text, what is broken replaced; None for a number."""
    return None if isinstance(value, int) else bytes(value).decode("utf-8", "replace")


def _varint(data: memoryview, at: int, stop: int) -> tuple[int, int]:
    """The number at `at`, cut to 64 bits, and where it ends; at most ten bytes."""
    value = shift = 0
    for index in range(at, min(at + 10, stop)):
        byte = data[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2 * _SIGN - 1), index + 1
        shift += 7
    raise DamagedMessage(at)
