"""Single values out of JSON, of the type that a reader expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec

from analysis.errors import FuseScopeError

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
def refused(what: str, where: str, hint: str) -> Iterator[None]:
    """Raises FuseScopeError in these words for JSON that cannot be decoded."""
    try:
        yield
    except UNDECODABLE as error:
        raise FuseScopeError(what, where=where, hint=hint) from error
