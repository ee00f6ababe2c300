"""Lines of code in texts: in them @ multiplies matrices, except in a string or a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fusescope.analysis.redaction.forms import MAIL

_CODE = re.compile(r"[^:\r\n]{1,200}:\d{1,9}: ")  # what stands before it: 'model.py:9: '
_LITERAL = re.compile(r"\"[^\"]*\"?|'[^']*'?|#.*")
_BEFORE = re.compile(r"(?:[=(\[{,+\-*/%&|^~<>:]|\b(?:return|yield|and|or|not|in|if|else))\s*\Z")
_BEHIND = re.compile(r"\s*(?:\Z|[…)(\]\[},+\-*/%&|^<>=:]|(?:if|else|for|and|or|in|is)\b)")


def with_spaced_products(place: str) -> str:
    """'model.py:9: y = q @ k.T' of 'model.py:9: y = q@k.T', so that it does not look like an
    address; addresses in strings and comments, and among words, stay as they are."""
    head = _CODE.match(place)
    if head is None or "@" not in place:
        return place
    made, at = [], 0
    for product in _products(place, head.end()):
        made += [place[at:product], " @ "]
        at = product + 1
    return "".join((*made, place[at:]))


def _products(text: str, start: int) -> Iterator[int]:
    """Where an @ stands that multiplies what would else be an address."""
    literals = [found.span() for found in _LITERAL.finditer(text, start)]
    for found in MAIL.finditer(text, start):
        first, last = found.span()
        is_quoted = any(begin < last and first < end for begin, end in literals)
        is_first, is_last = not text[start:first].strip(), not text[last:].strip()
        before = is_first or _BEFORE.search(text, start, first)
        if before and _BEHIND.match(text, last) and not is_quoted and not (is_first and is_last):
            yield found.start("mailhost") - 1
