"""Arrays of flat objects as trtexec writes them: one object a line, not always valid JSON.

trtexec puts layer names between quotes without escaping them, and divides by zero when nothing
ran ('-nan'). A valid file is decoded whole; any other object by object, and what had to be left
out is counted.
"""

from __future__ import annotations

import json
import re
from typing import TypeVar

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.input.encoding import json_text
from fusescope.analysis.readers.input.json_array import check_length
from fusescope.analysis.readers.input.json_value import UNDECODABLE
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, noted

RowT = TypeVar("RowT", bound=msgspec.Struct)

_HINT = "Copy or record the file again."
_NO_NUMBER = re.compile(r":\s*[-+]?(?:nan|inf(?:inity)?)(?:\(ind\))?(?=\s*[,}])", re.IGNORECASE)
_GAP = re.compile(r"[\s,]*")
_NEXT_LINE = re.compile(r"\n[ \t\r,]*(?=\{)")
_MAX_RESTARTS = 20_000
_FIRST_LOOK = 4096
_LONGEST_ROW = 2**20
_LONGEST_TOKEN = 16  # of those that may be cut in two where a look ends, strings not among them


def decode_rows(
    data: bytes, row: type[RowT], where: str, limits: Limits
) -> tuple[list[RowT], list[Diagnostic]]:
    """The objects of a JSON array in file order, and what was repaired or dropped.

    Fields of `row` should be `msgspec.Raw` or take any value. Raises FuseScopeError when there is
    no array, and for more rows than the limit.
    """
    notes: list[Diagnostic] = []
    data = json_text(data, notes)
    try:
        check_length(data, where, limits, objects=True)
        rows: list[RowT] = msgspec.json.decode(data, type=list[row])  # type: ignore[valid-type]
    except UNDECODABLE:
        rows = _one_by_one(data, row, where, limits, notes)
    limits.check_events(len(rows), "more_rows_than_limit", where)
    return rows, notes


def _one_by_one(
    data: bytes, row: type[RowT], where: str, limits: Limits, notes: list[Diagnostic]
) -> list[RowT]:
    text = _NO_NUMBER.sub(": null", data.decode())
    first = _GAP.match(text)
    at = first.end() if first else 0
    if text[at : at + 1] != "[":
        raise FuseScopeError("json_not_rows", where=where)
    typed = msgspec.json.Decoder(row)
    plain = _Values(text)
    rows: list[RowT] = []
    at, dropped, example, restarts = at + 1, 0, "", 0
    while True:
        gap = _GAP.match(text, at)
        at = gap.end() if gap else at
        if at >= len(text):
            notes.append(Diagnostic("warning", "missing_bracket", 1, "", {"bytes_lost": 0}))
            break
        if text[at] == "]":
            notes += noted(
                "warning", "trailing_bytes", len(text[at + 1 :].strip().encode("utf-8", "replace"))
            )
            break
        found = plain.at(at)
        if found is None:
            following = _NEXT_LINE.search(text, at)
            if following is None or restarts >= _MAX_RESTARTS:
                lost = len(text[at:].encode("utf-8", "replace"))
                notes.append(Diagnostic("warning", "cut_short", 1, "", {"bytes_lost": lost}))
                break
            dropped, example = dropped + 1, example or clean_text(text[at : at + 80].strip())
            at, restarts = following.end(), restarts + 1
            continue
        value, end = found
        try:
            packed = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            rows.append(typed.decode(packed))
        except (*UNDECODABLE, ValueError):
            dropped, example = dropped + 1, example or clean_text(text[at:end][:80])
        at = end
        if len(rows) > limits.events:
            break
    notes += noted("warning", "bad_event", dropped, example)
    return rows


class _Values:
    """Decodes single values out of a long text.

    A row is looked at through a window that grows, since the decoder counts the lines before
    every fault, and values that end nowhere may be long. What failed looks cost together is
    bounded by the length of the text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder(
            strict=False, parse_float=str, parse_int=str, parse_constant=lambda _: None
        )
        self._spare = len(text)

    def at(self, start: int) -> tuple[object, int] | None:
        """The value that begins at `start`, and where it ends; None for damage."""
        width, spent = _FIRST_LOOK, 0
        while True:
            piece = self._text[start : start + width]
            is_last = start + width >= len(self._text) or width >= _LONGEST_ROW
            try:
                value, end = self._decoder.raw_decode(piece)
            except json.JSONDecodeError as error:
                seen, grows = len(piece), True
                if error.pos < seen - _LONGEST_TOKEN and not error.msg.startswith("Unterminated"):
                    seen, grows = error.pos, False
            except (ValueError, RecursionError):
                seen, grows = len(piece), False
            else:
                if end < len(piece) or is_last:
                    return value, start + end
                seen, grows = len(piece), True
            spent += seen
            if not grows or is_last or spent > self._spare:
                self._spare -= min(spent, self._spare)
                return None
            width *= 2
