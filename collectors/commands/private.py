"""What a file says of a command and its settings: neither folders nor secrets."""

from __future__ import annotations

import re
import shlex

_SECRET = re.compile(r"token|secret|passw|credential|api[-_]?key|access[-_]?key", re.IGNORECASE)
_FOLDERS = re.compile(r"(?<![\w.:/])(?:~|\.{1,2})?/(?:[^\s/,=:]+/)*(?=[^\s/,=:])")
HIDDEN = "…"


def is_secret(name: str) -> bool:
    """Return True for a variable or option whose name says that its value is nobody's business."""
    return _SECRET.search(name) is not None


def without_private(text: str, *, is_setting: bool = False) -> str:
    """Return a command line, or with `is_setting` a NAME=VALUE,… as it was given, with the last
    part of each path and without the values of secrets."""
    if is_setting:
        return _setting(text)
    try:
        words = shlex.split(text)
    except ValueError:
        return HIDDEN
    made: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        hides = before.startswith("-") and "=" not in before and is_secret(before)
        made.append(HIDDEN if hides and not word.startswith("-") else _setting(word))
    return shlex.join(made)


def _setting(text: str) -> str:
    name, equals, value = text.partition("=")
    if equals and value and is_secret(name):
        return f"{name}={HIDDEN}"
    return _FOLDERS.sub("", text)
