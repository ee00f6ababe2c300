"""What a timeline in the browser asks for: more detail, sums, hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_PIXELS = 8192
MAX_NS = 2**62
MAX_TEXT = 200
_MAX_SIDES = 64
_MAX_ROWS = 1000


@dataclass(frozen=True)
class Mark:
    """What is selected: the operators of rows, or one in no table, by its side and place."""

    rows: tuple[int, ...]
    side: int
    op: int


@dataclass(frozen=True)
class Search:
    """A text to look for from time `at` on: the first call that has it, or, `step` hits further
    than the hit on `side` with the number `call`, another."""

    text: str
    at: int
    side: int
    call: int
    step: int


@dataclass(frozen=True)
class Question:
    """Asked by the browser of the drawing with this id; what is None is not asked for.

    `windows` has from and to of each side, in ns, on so many `pixels`; `stretch` has those of
    each side to sum up, None for a side that is not.
    """

    drawing: str
    number: int
    windows: tuple[tuple[int, int], ...] | None = None
    pixels: int = 1000
    mark: Mark | None = None
    stretch: tuple[tuple[int, int] | None, ...] | None = None
    search: Search | None = None


def question_of(asked: object) -> Question | None:
    """What the browser sent, checked; None for anything else."""
    if not isinstance(asked, Mapping) or not isinstance(asked.get("drawing"), str):
        return None
    number = _whole(asked.get("number"), 0)
    if number is None:
        return None
    return Question(
        drawing=asked["drawing"],
        number=number,
        windows=_windows(asked.get("windows")),
        pixels=_whole(asked.get("pixels"), 1, MAX_PIXELS) or 1000,
        mark=_mark(asked.get("mark")),
        stretch=_stretch(asked.get("stretch")),
        search=_search(asked.get("search")),
    )


def _windows(asked: object) -> tuple[tuple[int, int], ...] | None:
    if not isinstance(asked, Sequence) or not 0 < len(asked) <= _MAX_SIDES:
        return None
    found = [_span(each) for each in asked]
    return None if None in found else tuple(span for span in found if span is not None)


def _span(asked: object) -> tuple[int, int] | None:
    if not isinstance(asked, Sequence) or isinstance(asked, str) or len(asked) != 2:
        return None
    start, end = (_whole(each, -MAX_NS, MAX_NS) for each in asked)
    return None if start is None or end is None or end <= start else (start, end)


def _mark(asked: object) -> Mark | None:
    if not isinstance(asked, Mapping):
        return None
    side, op = (_whole(asked.get(name), -1) for name in ("side", "op"))
    return Mark(_rows(asked.get("rows")), -1 if side is None else side, -1 if op is None else op)


def _rows(asked: object) -> tuple[int, ...]:
    if not isinstance(asked, Sequence) or isinstance(asked, str):
        return ()
    found = (_whole(each, 0) for each in asked[:_MAX_ROWS])
    return tuple(row for row in found if row is not None)


def _stretch(asked: object) -> tuple[tuple[int, int] | None, ...] | None:
    if not isinstance(asked, Sequence) or not 0 < len(asked) <= _MAX_SIDES:
        return None
    found = tuple(map(_span, asked))
    return found if any(found) else None


def _search(asked: object) -> Search | None:
    if not isinstance(asked, Mapping):
        return None
    text = asked.get("text")
    at = _whole(asked.get("at"), -MAX_NS, MAX_NS)
    side, call = (_whole(asked.get(name), -1) for name in ("side", "call"))
    if not isinstance(text, str) or not text.strip() or at is None or side is None or call is None:
        return None
    step = -1 if asked.get("step") == -1 else 1
    return Search(text.strip()[:MAX_TEXT].casefold(), at, side, call, step)


def _whole(asked: Any, low: int, high: int = 2**53) -> int | None:
    """A number of the browser as a whole one; None for no number and one out of range."""
    if isinstance(asked, bool) or not isinstance(asked, int | float):
        return None
    return int(asked) if low <= asked <= high else None  # false of what is not a number, too
