"""Single values out of JSON, of the type that a reader expects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic

ValueT = TypeVar("ValueT")
DefaultT = TypeVar("DefaultT")

# What decoding raises: wrong types and broken syntax, text that is not UTF-8, deep nesting.
UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

# What other writers get wrong: blanks for control characters, backslashes that escape nothing
# (Windows paths), inf and nan as C++ prints them, NaN and Infinity as Python does, commas before a
# closing bracket.
_BLANKS = bytes(range(32)), b" " * 32
_ESCAPE = re.compile(rb'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+|\\')
_NO_NUMBER = re.compile(
    rb"([:\[,]\s*)[-+]?(?:inf(?:inity)?|nan(?:\(ind\))?)(?=\s*[,}\]])", re.IGNORECASE
)
_LOOSE_COMMA = re.compile(rb",(?=\s*[}\]])")


def decode(raw: bytes | msgspec.Raw, kind: type[ValueT], default: DefaultT) -> ValueT | DefaultT:
    """The value in `raw`; `default` where it is empty or holds anything else."""
    try:
        return msgspec.json.decode(raw, type=kind) if raw else default
    except UNDECODABLE:
        return default


def decoded_whole(data: bytes, kind: Any, notes: list[Diagnostic]) -> Any:
    """The value in a whole file, with what other writers get wrong mended and noted. Raises of
    `UNDECODABLE` where it holds anything else."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        if "truncated" in str(error):
            raise
        text, count = mended(data)
        try:
            value = msgspec.json.decode(text, type=kind)
        except UNDECODABLE:
            raise error from None
        notes.append(Diagnostic("warning", "json_mended", count))
        return value


def mended(data: bytes) -> tuple[bytes, int]:
    """The text without the faults that other writers make, and how many there were."""
    count = sum(data.count(bytes([code])) for code in range(32) if code not in b"\t\n\r")
    data = data.translate(bytes.maketrans(*_BLANKS))
    lone = 0

    def double(match: re.Match[bytes]) -> bytes:
        nonlocal lone
        lone += len(match[0]) == 1
        return match[0] if len(match[0]) > 1 else b"\\\\"

    data = _ESCAPE.sub(double, data)
    data, missing = _NO_NUMBER.subn(rb"\1null", data)
    data, commas = _LOOSE_COMMA.subn(b"", data)
    return data, max(1, count + lone + missing + commas)


@contextmanager
def refused(
    where: str, code: Literal["json_damaged", "openvino_report_damaged"] = "json_damaged"
) -> Iterator[None]:
    """Raises FuseScopeError of that code for JSON that cannot be decoded."""
    try:
        yield
    except RecursionError as error:
        raise FuseScopeError("json_too_deep", where=where) from error
    except UNDECODABLE as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        raise FuseScopeError(code, where=where, reason=clean_text(reason, 120)) from error
