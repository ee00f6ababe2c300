"""Seeded damage to a file: what discs, networks, editors and enemies do to traces."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_JSON_VALUE = re.compile(rb'(?<=:)\s*(?:"[^"\\]{0,80}"|-?\d[\d.eE+-]*|true|false|null|\{\}|\[\])')
_HOSTILE_NUMBERS = (
    b"0", b"-1", b"-0.0", b"1e999", b"-1e999", b"NaN", b"Infinity", b"9" * 25, b"9" * 4200,
    b"9223372036854775807", b"-9223372036854775809", b"18446744073709551616", b"1e-400", b"0x10",
    b"1_000", b"4294967295", b"9007199254740993.5", b"1" + b"0" * 60, b"",
)  # fmt: skip
_HOSTILE_VALUES = (
    b"null", b"true", b"false", b"[]", b"{}", b'""', b"[[[]]]", b'{"a":{"b":[null]}}', b"-1",
    b"1e999", b"123456789012345678901234567890", b'"12.5"', b'"\\ud800"', b'"\\u0000"', b"1.5",
    b'"' + b"x" * 3000 + b'"', b'["float"]', b'[{"float":[1,null,-3]}]', b'"<script>alert(1)"',
    b'"' + b"\xe2\x80\xae" + b'"',
)  # fmt: skip
_HOSTILE_TEXT = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b",", b"\t", b"]",
    b"}", b"[" * 300, b'{"a":' * 300, b"N/A", b"(" * 200, b"</script>", b";", b"|", b"\x1b[31m",
)  # fmt: skip


def mutated(data: bytes, seed: int) -> bytes:
    """`data` with one to four kinds of damage; the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 4))):
        data = chance.choice(_KINDS)(data, chance)
    return data


def _flip_bits(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 20))):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def _random_bytes(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return data
    start = chance.randrange(len(data))
    size = chance.choice((1, 4, 16, 200))
    return data[:start] + chance.randbytes(size) + data[start + size :]


def _cut_end(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _cut_piece(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.choice((1, 3, 17, 400)) :]


def _repeat_piece(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.choice((1, 7, 60, 500))]
    return data[:start] + piece * chance.choice((2, 3, 50)) + data[start + len(piece) :]


def _move_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    if len(lines) < 2:
        return data
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.choice((0, 1, 2))):
        lines.insert(chance.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _move_cells(data: bytes, chance: random.Random) -> bytes:
    """Swap, drop or repeat one column of a table, in every row or in one."""
    lines = data.split(b"\n")
    separator = max((b",", b";", b"\t"), key=data.count)
    rows = range(len(lines)) if chance.random() < 0.5 else [chance.randrange(len(lines))]
    column, other = chance.randrange(12), chance.randrange(12)
    kind = chance.randrange(3)
    for row in rows:
        cells = lines[row].split(separator)
        if max(column, other) >= len(cells):
            continue
        if kind == 0:
            cells[column], cells[other] = cells[other], cells[column]
        elif kind == 1:
            del cells[column]
        else:
            cells.insert(other, cells[column])
        lines[row] = separator.join(cells)
    return b"\n".join(lines)


def _change_number(data: bytes, chance: random.Random) -> bytes:
    return _replace(data, _NUMBER, _HOSTILE_NUMBERS, chance)


def _change_value(data: bytes, chance: random.Random) -> bytes:
    return _replace(data, _JSON_VALUE, _HOSTILE_VALUES, chance)


def _insert_text(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + chance.choice(_HOSTILE_TEXT) + data[start:]


def _swap_words(data: bytes, chance: random.Random) -> bytes:
    """A word of the file in the place of another: a key for a value, a type for a name."""
    words = [match.span() for match in re.finditer(rb"[\w.-]+", data)]
    if len(words) < 2:
        return data
    (start, end), (first, last) = chance.choice(words), chance.choice(words)
    return data[:start] + data[first:last] + data[end:]


def _replace(
    data: bytes, pattern: re.Pattern[bytes], hostile: tuple[bytes, ...], chance: random.Random
) -> bytes:
    spans = [match.span() for match in pattern.finditer(data)]
    if not spans:
        return data
    for start, end in sorted(chance.sample(spans, min(len(spans), chance.choice((1, 1, 4)))))[::-1]:
        data = data[:start] + chance.choice(hostile) + data[end:]
    return data


_KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip_bits, _random_bytes, _cut_end, _cut_piece, _repeat_piece, _move_lines, _move_cells,
    _change_number, _change_number, _change_value, _change_value, _insert_text, _swap_words,
)  # fmt: skip
