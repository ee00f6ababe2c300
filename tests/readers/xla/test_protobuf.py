"""The wire format: numbers, texts and messages inside messages, and bytes that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.readers.xla.protobuf import DamagedMessage, double, fields, signed, text


def values(data: bytes) -> list[tuple[int, object]]:
    return [
        (number, value if isinstance(value, int) else bytes(value))
        for number, value in fields(memoryview(data))
    ]


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number % 128 + 128])
        number //= 128
    return out + bytes([number])


def test_the_examples_of_the_encodings_description() -> None:
    # 08 96 01: field 1, varint 150. 12 07 testing: field 2, seven bytes.
    assert values(bytes.fromhex("089601")) == [(1, 150)]
    assert values(bytes.fromhex("120774657374696e67")) == [(2, b"testing")]
    assert text(memoryview(b"testing")) == "testing"
    assert values(b"") == []


def test_fixed_numbers_and_negative_ones() -> None:
    assert values(bytes.fromhex("0d0a000000")) == [(1, 10)]
    ((_, bits),) = values(bytes.fromhex("11000000000000f83f"))
    assert isinstance(bits, int) and double(bits) == 1.5
    ((_, minus),) = values(b"\x08" + b"\xff" * 9 + b"\x01")
    assert isinstance(minus, int) and signed(minus) == -1
    assert signed(memoryview(b"x")) is None and double(memoryview(b"x")) is None
    assert text(7) is None and text(memoryview(b"a\xff")) == "a\ufffd"


@pytest.mark.parametrize(
    "data",
    [
        b"\x08",  # no value
        b"\x0a\x05abc",  # shorter than it says
        b"\x0d\x01\x02",  # a fixed number cut
        b"\x0b",  # a group
        b"\x00\x01",  # field 0
        b"\x08" + b"\xff" * 11,  # a number without an end
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # a length beyond all memory
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedMessage):
        values(data)


@given(st.lists(st.tuples(st.integers(1, 2**29 - 1), st.integers(0, 2**64 - 1) | st.binary())))
def test_what_is_written_is_read_back(written: list[tuple[int, int | bytes]]) -> None:
    data = b""
    for number, value in written:
        if isinstance(value, int):
            data += varint(number << 3) + varint(value)
        else:
            data += varint(number << 3 | 2) + varint(len(value)) + value
    assert values(data) == written


FIELDS = st.lists(
    st.sampled_from([b"\x08\x01", b"\x12\x01a", b"\x1a\x00", b"\x25\0\0\0\0"])
    | st.binary(max_size=1)
).map(b"".join)


@given(st.binary(max_size=200) | FIELDS)
def test_any_bytes_are_fields_or_damage(data: bytes) -> None:
    try:
        found = values(data)
    except DamagedMessage as error:
        assert 0 <= error.position <= len(data)
    else:
        assert all(number > 0 for number, _ in found)
