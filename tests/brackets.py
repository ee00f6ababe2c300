"""What of a text stands outside brackets, in the language where every text of ours is in them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable
from typing import Any

BRACKETED = re.compile(r"⟦[^⟦⟧]*⟧")
# Markdown and Plotly: icons, colours, code, markup, placeholders, entities.
MARKUP = re.compile(
    r":material/\w+:|:(?:small|violet|blue|red|gray|orange|\w+-badge)\[|`+[^`]*`+|<[^>]*>|"
    r"%\{[^}]*\}|&\w+;|\\"
)
UNITS = re.compile(
    r"\b(?:[kMGT]?i?B|ns|µs|ms|s|min|pt|[MGT]?FLOP|[GT]?OP|L[1-4]|[kMGT]?FLOPS?|dt|us|h)\b"
)
# Products, formats, and the names that their own tools print.
PRODUCTS = re.compile(
    r"FuseScope|ONNX Runtime|ONNX|Ascend|kernel_details|JSON|CSV|HTML|Markdown|CPU\b|"
    r"float\d+|int\d+"
)
WORD = re.compile(r"[^\W\d_]{2,}")


def outside(text: str) -> str:
    """What of the text stands in no brackets."""
    while BRACKETED.search(text):  # a text may stand in another one
        text = BRACKETED.sub("", text)
    return text.strip()


def is_told(text: str, names: str) -> bool:
    """True for a text whose every word is in brackets, or in `names`."""
    return untold_words([text], names) == set()


def untold_words(texts: Iterable[str], names: str) -> set[str]:
    """Words that stand outside brackets and in no `names`."""
    found = set()
    for text in texts:
        rest = outside(text)
        for known in (MARKUP, PRODUCTS, UNITS):
            rest = known.sub(" ", rest)
        found |= {word for word in WORD.findall(rest) if word not in names}
    return found


def names_in(*files: bytes) -> str:
    """Every text in these files: what may stand on a page without being told."""
    found: set[str] = set()  # a sample says most of its texts a thousand times

    def gather(value: Any) -> None:
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, dict):
            found.update(value)
            for one in value.values():
                gather(one)
        elif isinstance(value, list):
            for one in value:
                gather(one)

    for data in files:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                found.add(name)
                gather(json.loads(archive.read(name)))
    return " ".join(sorted(found))
