"""Why torch.compile refused a model, out of what it says at length. Needs no torch."""

from __future__ import annotations

import re

from fusescope.analysis.text import clean_text

_EXPLANATION = re.compile(r"^\s*Explanation: (.+)$", re.MULTILINE)
_GOT = re.compile(r"\bgot (\w+)\((['\"])(.+)\2\)\s*$")
_MAX_LENGTH = 240


def reason_of(said: str, kind: str) -> str:
    """What it says first, and the error below it, else its explanation; `kind` where it says
    nothing."""
    first = said.strip().partition("\n")[0] or kind
    found = _EXPLANATION.search(said)
    if found is None:
        return clean_text(first, _MAX_LENGTH)
    below = _GOT.search(found[1])
    return clean_text(f"{first}: {below[3] if below else found[1]}", _MAX_LENGTH)
