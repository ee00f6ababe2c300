"""Texts of tensors such as 'float16[8,3]:NCHW; int64[]': which of them can only be a data type, a
shape and a layout. A file may write anything in their place."""

from __future__ import annotations

import re
from collections.abc import Callable

_DTYPE = re.compile(
    r"\?|(?:bfloat|float|bf|fp|f|tf|hifloat|hif|mxfp|int|uint|qint|quint|sint|complex|c|s|u|i)"
    r"\d{1,3}(?:_?e\dm\d)?(?:fnuz|fn|b11fnuz)?|bool|pred|half|double|float|int|long|short|char|byte"
    r"|(?:long )?long int|(?:un)?signed char|string|str|token|opaque|tuple|void|none|undefined",
    re.IGNORECASE,
)
_LAYOUT = re.compile(
    r"nd|nz|any|linear|strided|blocked|plain|sparse|dense|row_major|col_major|channels_last|"
    r"fractal_[a-z0-9]{1,4}(?:_[a-z0-9]{1,6}){0,3}|fracz|nd_rnn_bias|c1hwncoc0|[ncdhwtbsl01248]{1,8}(?::\d{1,9})?"
    r"|n?[ncdhw]{1,5}\d{0,3}|\{[\d,]*(?::[TELS()\d,]*)?\}|\d+(?:,\d+)*",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:format|dt)_", re.IGNORECASE)
_BLOCKS = re.compile(r"([A-Ha-h]{1,8})((?:\d{1,3}[a-h])*)")  # of oneDNN: acdb, aBcd16b
_DIMENSION = re.compile(r"-?\d{0,19}|\?")
_PART = re.compile(r"(?P<dtype>[^\[\]]*)\[(?P<shape>[^\[\]]*)\](?::(?P<layout>.*))?", re.DOTALL)

Hide = Callable[[str], str]


def is_known(text: str) -> bool:
    """Whether a text holds tensors and nothing else."""
    return not text or all(map(_is_known_part, text.split("; ")))


def shown(text: str, hide: Hide) -> str:
    """The text with every word in it that is no data type, dimension or layout hidden."""
    return "; ".join(_shown_part(part, hide) for part in text.split("; "))


def _is_known_part(part: str) -> bool:
    return _shown_part(part, lambda word: f"{word}?") == part


def _is_word(word: str) -> bool:
    """Whether a word is a data type, a layout or a dimension; some files exchange their columns."""
    bare = _PREFIX.sub("", word)
    if any(form.fullmatch(bare) for form in (_DIMENSION, _DTYPE, _LAYOUT)):
        return True
    blocks = _BLOCKS.fullmatch(bare)
    if blocks is None:
        return False
    letters = sorted(blocks[1].lower())
    return letters == list("abcdefgh"[: len(letters)])


def _shown_part(part: str, hide: Hide) -> str:
    found = _PART.fullmatch(part)
    if found is None:
        return part if _is_word(part) else hide(part)

    def word(text: str) -> str:
        return text if _is_word(text) else hide(text)

    layout, shape = found["layout"], ",".join(map(word, found["shape"].split(",")))
    return f"{word(found['dtype'])}[{shape}]" + ("" if layout is None else f":{word(layout)}")
