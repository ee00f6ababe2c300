"""Shapes of inputs as people type them: `name=1,3,224,224`."""

from __future__ import annotations

import re

from fusescope.analysis.errors import FuseScopeError

_SIZE = re.compile(r"[0-9]{1,18}")
_SHOWN_CHARS = 60


def shapes_of(text: str) -> dict[str, tuple[int, ...]]:
    """The shapes in `text`, by input name, parted by ';'. Raises FuseScopeError."""
    found: dict[str, tuple[int, ...]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, shape = shape_of(part)
        if name in found:
            raise FuseScopeError("shape_given_twice", input=name[:_SHOWN_CHARS])
        found[name] = shape
    return found


def shape_of(text: str) -> tuple[str, tuple[int, ...]]:
    """Name and shape in `name=1,3,224,224`. Raises FuseScopeError."""
    name, _, sizes = text.rpartition("=")  # tensor names may hold '=', sizes do not
    parts = [size.strip() for size in sizes.split(",")]
    if not name.strip() or not all(_SIZE.fullmatch(part) and int(part) for part in parts):
        raise FuseScopeError("shape_malformed", given=text[:_SHOWN_CHARS])
    return name.strip(), tuple(map(int, parts))
