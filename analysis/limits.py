"""Bounds under which every file is read. A trace is untrusted input."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from analysis.errors import FuseScopeError

MIB = 1024 * 1024
_MAX = 2**50


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

    def hint(self, name: str, needed: int | None = None) -> str:
        """What to do about a refusal by this limit: the option that raises it, far enough.

        Without what the file needs, twice the present value.
        """
        value = _rounded(needed or 2 * getattr(self, name), is_size=name.endswith("_bytes"))
        return f"Give less at once, or raise it: `fusescope --limit {name}={value} …`."

    def check_events(
        self, count: int, what: str, where: str | None, *, is_whole: bool = False
    ) -> None:
        """Raises FuseScopeError for more than `events`, in the words of `what`, which holds '{}'.

        The hint is exact where the count `is_whole`: counted to the end.
        """
        if count > self.events:
            hint = self.hint("events", count if is_whole else None)
            raise FuseScopeError(what.format(self.events), where=where, hint=hint)


DEFAULT_LIMITS = Limits()


def parse_limits(text: str) -> Limits:
    """Limits out of 'events=10000000,file_bytes=8G'; what is not named keeps its default.

    K, M and G, also KB, MB and GB, stand for powers of 1024. Raises FuseScopeError for an unknown
    name or a value that is no whole number from 1 on.
    """
    known = {field.name for field in dataclasses.fields(Limits)}
    given: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise FuseScopeError(
                f"There is no limit '{name[:40]}'", hint=f"There are: {', '.join(sorted(known))}."
            )
        number = _whole(value)
        if number is None:
            raise FuseScopeError(
                f"'{value[:40]}' is no value for the limit {name}",
                hint="Give a whole number such as 10000000, 512M or 8G.",
            )
        given[name] = number
    return dataclasses.replace(DEFAULT_LIMITS, **given)


def _rounded(number: int, *, is_size: bool) -> str:
    """The number rounded up to two digits, a size to whole M or G, as `parse_limits` reads it."""
    if is_size:
        scale, letter = (1024**3, "G") if number > 1024**3 else (MIB, "M")
        return f"{-(-number // scale)}{letter}"
    step = 10 ** max(0, len(str(number)) - 2)
    return str(-(-number // step) * step)


def _whole(text: str) -> int | None:
    if text[-2:].upper() in ("KB", "MB", "GB"):
        text = text[:-1]
    digits, scale = text, 1
    if text[-1:].upper() in ("K", "M", "G"):
        digits, scale = text[:-1], 1024 ** (" KMG".index(text[-1].upper()))
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        return None
    number = int(digits) * scale
    return number if 1 <= number < _MAX else None
