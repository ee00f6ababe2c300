"""Answers of a bounded size: long lists are cut, and what was cut is counted."""

from __future__ import annotations

from typing import Any

import msgspec

from fusescope.analysis.text import clean_text

MAX_BYTES = 24_000  # of an answer as JSON: some 8,000 tokens
MAX_CHARS = 1_000  # of one text


def bounded(values: dict[str, Any], maximum: int = MAX_BYTES) -> dict[str, Any]:
    """Return the values with texts cut to MAX_CHARS, and so much of their longest lists that all is
    at most `maximum` bytes of JSON; `left_out` counts the entries of each list that are missing,
    and of whatever else had to go whole."""
    cut = {name: _cut_texts(value) for name, value in values.items()}
    left_out: dict[str, int] = {}
    sizes = {name: _size(value) for name, value in cut.items()}
    while sum(sizes.values()) > maximum:
        lists = [name for name, value in cut.items() if isinstance(value, list) and value]
        name = max(lists or sizes, key=sizes.__getitem__)
        before = cut[name]
        cut[name] = before[: len(before) // 2] if isinstance(before, list) else None
        count = len(before) if isinstance(before, list | dict) else 1
        left_out[name] = left_out.get(name, 0) + count - len(cut[name] or ())
        sizes[name] = _size(cut[name])
    return {**cut, "left_out": left_out} if left_out else cut


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))


def _cut_texts(value: Any) -> Any:
    """Return the value with each text, also in lists and mappings inside it, fit to be shown."""
    if isinstance(value, str):
        return clean_text(value, MAX_CHARS)
    if isinstance(value, dict):
        return {clean_text(str(name), MAX_CHARS): _cut_texts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cut_texts(each) for each in value]
    return value
