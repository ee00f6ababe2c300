"""Where a line of Chinese or Japanese may break in a terminal: rich breaks at spaces only, and cuts
off what is longer than a cell of a table."""

from __future__ import annotations

import re

from rich import _wrap
from rich.cells import cell_len
from rich.text import Text

_LETTER = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_OPENING = "（“‘《〈【「『"  # not at the end of a line
_CLOSING = "，。、；：！？）”’》〉】」』…"  # not at the start of one
# What stays together, with the spaces beside it: rich/_wrap.py has the pattern for spaces only.
WORD = re.compile(
    rf"\s*[{_OPENING}]*(?:[{_LETTER}]|[^\s{_LETTER}{_OPENING}{_CLOSING}]+)[{_CLOSING}]*\s*|\s*\S+\s*"
)


def break_between_letters() -> None:
    """From here on rich breaks lines between the letters of these scripts, too."""
    _wrap.re_word = WORD
    Text.rstrip_end = _rstrip_end  # type: ignore[method-assign,assignment]


def _rstrip_end(text: Text, size: int) -> None:
    """Removes spaces at the end beyond `size` cells; rich's own counts letters, not cells."""
    spaces = len(text.plain) - len(text.plain.rstrip())
    beyond = min(spaces, cell_len(text.plain) - size)
    if beyond > 0:
        text.right_crop(beyond)
