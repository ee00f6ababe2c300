"""Text that others wrote, made fit to be shown: names and messages of traces, models, engines."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from fusescope.analysis.limits import DEFAULT_LIMITS

_OF_NAMES = 200  # characters from which on a text is a name, and not a part of a message
_HASH_CHARS = 8
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_BIDI = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str, chars: int = DEFAULT_LIMITS.text_chars, *, is_name: bool = True) -> str:
    """Text from a trace without what could disturb a screen or a table.

    Control characters become \\x00-style escapes, bidirectional and zero-width controls go, lone
    surrogates become U+FFFD, and the rest is cut after `chars` with '…'. A name that is
    cut (not in the line of a message) ends with a hash of the whole, '~1a2b3c4d…', so that names
    that differ behind the cut stay two names.
    """
    if len(text) > chars:
        mark = "…"
        if is_name and chars >= _OF_NAMES:
            whole = text.encode("utf-8", "surrogatepass")
            mark = f"~{hashlib.sha256(whole).hexdigest()[:_HASH_CHARS]}…"
        text = text[: chars - len(mark)] + mark
    if text.isascii() and text.isprintable():
        return text
    text = _SURROGATE.sub("\ufffd", _BIDI.sub("", text))
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def display_name(name: str) -> str:
    """A file name fit to be shown: the last part after / and \\, printable, at most 120 chars."""
    last = re.split(r"[/\\]", name)[-1]
    shown = clean_text(last, DEFAULT_LIMITS.name_chars).strip()
    return shown or "unnamed"


def distinct_names(paths: Iterable[str]) -> dict[str, str]:
    """The name of each file fit to be shown; where several are called the same, with as many of
    the folders above as tell them apart, at most four."""
    names = {path: display_name(path) for path in paths}
    for count in range(2, 6):
        often = Counter(names.values())
        for path, name in names.items():
            if often[name] > 1:
                parts = [part for part in re.split(r"[/\\]", path) if part]
                names[path] = "/".join(map(display_name, parts[-count:]))
    return names


def shown(name: object, maximum: int = 60) -> str:
    """The text of `name` in one line: '?' for what cannot be printed, cut with '…' to `most`."""
    text = "".join(char if char.isprintable() else "?" for char in str(name))
    return text if len(text) <= maximum else text[: maximum - 1] + "…"


def printable(text: str) -> str:
    """Lines of text for XML: U+FFFD for what it forbids and for what would reorder the text."""
    return "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
