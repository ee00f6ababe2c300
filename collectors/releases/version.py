"""Versions of releases: their order, and what a user means by `onnxruntime==1.20.1..1.32.0`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fusescope.analysis.errors import FuseScopeError

ENGINE = "onnxruntime"
_VERSION = r"\d{1,6}(?:\.\d{1,6}){0,4}(?:\.post\d{1,6})?"
_ASKED = re.compile(
    rf"(?P<engine>[A-Za-z][\w.-]{{0,60}})==(?P<first>{_VERSION})(?:\.\.(?P<last>{_VERSION}))?",
    re.ASCII,
)
_FINAL = re.compile(_VERSION, re.ASCII)


@dataclass(frozen=True)
class Span:
    """Releases that a user asks for: `first` to `last`, which are equal where one is named."""

    first: str
    last: str


def parse_span(text: str) -> Span:
    """What `onnxruntime==A..B` or `onnxruntime==A` names. Raises FuseScopeError."""
    found = _ASKED.fullmatch(text.strip())
    if found is None:
        raise FuseScopeError("release_malformed", given=text[:80])
    if found["engine"] != ENGINE:
        raise FuseScopeError("release_other_engine", engine=found["engine"])
    first, last = found["first"], found["last"] or found["first"]
    if order(first) > order(last):
        first, last = last, first
    return Span(first, last)


def parse_release(text: str) -> str:
    """The version that `onnxruntime==A` names. Raises FuseScopeError."""
    span = parse_span(text)
    if span.first != span.last:
        raise FuseScopeError("release_not_one", given=text[:80])
    return span.first


def is_release(text: str) -> bool:
    """Whether a text means a release of an engine, rather than a variant or a file."""
    return "==" in text


def is_final(version: str) -> bool:
    """Whether this is the version of a release, not of a preview of one."""
    return _FINAL.fullmatch(version) is not None


def order(version: str) -> tuple[int, ...]:
    """The place of a version among others, oldest first; 1.20 is 1.20.0."""
    plain, _, post = version.partition(".post")
    numbers = [int(part) for part in plain.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return (*(number + 1 for number in numbers), 0, int(post or 0))


def ascending(versions: Iterable[str]) -> tuple[str, ...]:
    """The releases among these versions, oldest first."""
    return tuple(sorted({one for one in versions if is_final(one)}, key=order))


def nearest(version: str, known: Sequence[str]) -> str | None:
    """The release next to a version that does not exist: the one just below or just above it, by
    what their numbers begin with; None where none is known."""
    wanted = order(version)
    below = [one for one in known if order(one) < wanted][-1:]
    above = [one for one in known if order(one) > wanted][:1]
    return max((*below, *above), key=lambda one: _shared(order(one), wanted), default=None)


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Numbers that both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), len(one))
