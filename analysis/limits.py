"""Bounds under which every file is read. A trace is untrusted input."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError

if TYPE_CHECKING:
    from fusescope.analysis.messages.errors.limits import UncountedError

MIB = 1024 * 1024
_MAX = 2**50
# Distinct operators of a side, beyond which neither their order is compared nor are groups formed:
# where as many have names of their own, nothing repeats.
MOST_DISTINCT = 200_000


@dataclass(frozen=True)
class Limits:
    """Upper bounds for one input; sizes in bytes, the rest are counts. docs/limits.md."""

    file_bytes: int = 2048 * MIB
    unpacked_bytes: int = 2048 * MIB
    zip_members: int = 20_000
    zip_ratio: int = 200
    recordings: int = 200
    events: int = 5_000_000
    text_chars: int = 512
    name_chars: int = 120

    def raised(self, name: str, needed: int | None = None) -> str:
        """What `--limit` takes to raise this limit far enough: 'events=6000000'.

        Without what the file needs, twice the present value.
        """
        value = _rounded(needed or 2 * getattr(self, name), is_size=name.endswith("_bytes"))
        return f"{name}={value}"

    def check_events(self, count: int, code: UncountedError, where: str | None) -> None:
        """Raises FuseScopeError for more than `events`, of which there may be more to come."""
        if count > self.events:
            raise FuseScopeError(code, where=where, limit=self.events, raised=self.raised("events"))


DEFAULT_LIMITS = Limits()


def parse_limits(text: str) -> Limits:
    """Limits out of 'events=10000000,file_bytes=8G'; what is not named keeps its default.

    K, M and G, also KB, MB and GB, stand for powers of 1024. Raises FuseScopeError for an unknown
    name or a value that is not a whole number from 1 on.
    """
    known = {field.name for field in dataclasses.fields(Limits)}
    given: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise FuseScopeError("unknown_limit", name=name[:40], known=", ".join(sorted(known)))
        number = whole_number(value)
        if number is None:
            raise FuseScopeError("bad_limit_value", name=name, value=value[:40])
        given[name] = number
    return dataclasses.replace(DEFAULT_LIMITS, **given)


def _rounded(number: int, *, is_size: bool) -> str:
    """The number rounded up to two digits, a size to whole M or G, as `parse_limits` reads it."""
    if is_size:
        scale, letter = (1024**3, "G") if number > 1024**3 else (MIB, "M")
        return f"{-(-number // scale)}{letter}"
    step = 10 ** max(0, len(str(number)) - 2)
    return str(-(-number // step) * step)


def whole_number(text: str) -> int | None:
    """The number that a text like '20000', '8G' or '500MB' stands for, from 1 on; else None."""
    if text[-2:].upper() in ("KB", "MB", "GB"):
        text = text[:-1]
    digits, scale = text, 1
    if text[-1:].upper() in ("K", "M", "G"):
        digits, scale = text[:-1], 1024 ** (" KMG".index(text[-1].upper()))
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        return None
    number = int(digits) * scale
    return number if 1 <= number < _MAX else None
