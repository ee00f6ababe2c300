"""Single values out of JSON, of the type that a reader expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

import msgspec

from analysis.errors import FuseScopeError
from analysis.text import clean_text

ValueT = TypeVar("ValueT")
DefaultT = TypeVar("DefaultT")

# What decoding raises: wrong types and broken syntax, text that is not UTF-8, deep nesting.
UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def decode(raw: bytes | msgspec.Raw, kind: type[ValueT], default: DefaultT) -> ValueT | DefaultT:
    """The value in `raw`; `default` where it is empty or holds anything else."""
    try:
        return msgspec.json.decode(raw, type=kind) if raw else default
    except UNDECODABLE:
        return default


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
