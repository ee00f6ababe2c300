"""Markdown that shows text as it is: nothing that comes from a file is interpreted."""

from __future__ import annotations

from collections.abc import Iterable

_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#!|~&"})


def plain(text: str) -> str:
    """Text that Markdown shows as it is, without a link in it."""
    if set(text) <= set("-: "):
        return text
    shown = text.translate(_MARKUP).replace("://", ":\\/\\/").replace("www.", "www\\.")
    return shown.replace("@", "&#64;")


def table_row(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(plain(cell) for cell in cells)} |"
