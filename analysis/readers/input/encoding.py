"""The encoding of text files: UTF-8 or UTF-16, byte order marks, and what is not a character."""

from __future__ import annotations

import codecs
import re

from fusescope.analysis.trace import Diagnostic, noted

_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})"
    rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def utf8(data: bytes) -> bytes:
    """The text as UTF-8 without byte order mark; UTF-16 is transcoded."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def decoded(data: bytes, notes: list[Diagnostic]) -> str:
    """UTF-8 as text; what is not a character becomes U+FFFD, counted in `notes`."""
    text = data.decode("utf-8", errors="replace")
    if replaced := text.count("\ufffd"):
        replaced -= data.count(b"\xef\xbf\xbd")
        notes += noted("warning", "bad_unicode", replaced)
    return text


def valid_utf8(data: bytes, notes: list[Diagnostic]) -> bytes:
    """The same bytes where they are UTF-8, else as `decoded` makes them."""
    text = decoded(data, notes)
    return text.encode() if "\ufffd" in text else data


def json_text(data: bytes, notes: list[Diagnostic]) -> bytes:
    """JSON as valid UTF-8, also where halves of characters are escaped (\\ud800)."""
    return valid_utf8(without_lone_surrogates(utf8(data), notes), notes)


def without_lone_surrogates(data: bytes, notes: list[Diagnostic]) -> bytes:
    """JSON whose escaped halves of characters became U+FFFD, counted in `notes`."""
    # A single byte is found ten times as fast as three, and most profiles hold no backslash.
    if b"\\" in data and (b"\\ud" in data or b"\\uD" in data):
        data, replaced = _LONE_SURROGATE.subn(rb"\\ufffd", data)
        notes += noted("warning", "bad_unicode", replaced)
    return data
