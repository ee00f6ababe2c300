"""Markdown that shows text as it is: nothing that comes from a file is interpreted."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#!|~&"})

# GitHub looks for mentions, numbers of issues, emoji and formulas in what is left once all escapes
# are resolved: something invisible has to stand in them.
_NOTHING = "&#8203;"
_REFERENCE = re.compile(r"\\#(?=\d)|\b[Gg][Hh]-(?=\d)|:(?=[\w+\\-]{1,40}:)")


def plain(text: str) -> str:
    """Text that Markdown shows as it is, without a link in it."""
    if set(text) <= set("-: "):
        return text
    shown = text.translate(_MARKUP).replace("://", ":\\/\\/").replace("www.", "www\\.")
    shown = shown.replace("$", "<span>$</span>").replace("@", "&#64;" + _NOTHING)
    return _REFERENCE.sub(rf"\g<0>{_NOTHING}", shown)


def table_row(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(plain(cell) for cell in cells)} |"
