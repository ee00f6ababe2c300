"""How long an array of JSON is, counted in its bytes before anything of it is decoded.

Decoding makes an object of every element, however short: '{},' of three bytes becomes a hundred.
Counting braces would be quicker, but text may hold them too, as C++ names with lambdas do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits

_BLOCK = 1024 * 1024
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_OPENS, _CLOSES = b"[{", b"]}"
_KINDS = np.zeros(256, dtype=np.uint8)
_KINDS[list(b'",[]{}')] = 1


def check_length(
    array: bytes | msgspec.Raw, where: str, limits: Limits, *, objects: bool = False
) -> None:
    """Refuse an array of more elements than `limits.events`, before it is decoded.

    With `objects` only arrays of objects need be looked at: what decodes them stops at the first
    element that is none. What stands before the array and behind it does not count.
    """
    if len(memoryview(array)) // 2 <= limits.events:  # an element and its comma are two bytes
        return
    maximum = _count(array, b"{") if objects else _count(array, b",") + 1
    if maximum <= limits.events:
        return
    count = array_length(array)
    if count > limits.events:
        raise FuseScopeError(
            "too_many_events",
            where=where,
            n=count,
            limit=limits.events,
            raised=limits.raised("events", count),
        )


def array_length(array: bytes | msgspec.Raw, block_bytes: int = _BLOCK) -> int:
    """Number of elements of the array with which the JSON begins, at least 1.

    Of damaged JSON it is an estimate. Takes memory for one block, whatever the length.
    """
    commas = 0
    for codes, depths, _ in _marks(array, 0, block_bytes):
        commas += int(((codes == ord(",")) & (depths == 1)).sum())
    return commas + 1


def element_end(elements: bytes, room: int, block_bytes: int = _BLOCK) -> tuple[int, bool]:
    """Where the last element ends of those that begin `elements`, with a comma behind it within
    `room` bytes; 0 for none. True where the array ends within `room`.

    `elements` is what stands in an array behind its '[', or behind one of its commas.
    """
    end = 0
    for codes, depths, places in _marks(memoryview(elements)[:room], 1, block_bytes):
        commas = places[(codes == ord(",")) & (depths == 1)]
        if len(commas):
            end = int(commas[-1])
        if len(depths) and depths[-1] <= 0:
            return end, True
    return end, False


def _marks(
    array: bytes | memoryview | msgspec.Raw, depth: int, block_bytes: int
) -> Iterator[tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Commas and brackets outside of texts, how deep each is, and where; the bracket that ends the
    array is the last."""
    in_text = False
    carried = b""
    begin = 0
    for part in _blocks(array, block_bytes):
        block = carried + part
        carried = b""
        if b"\\" in block:
            block = _ESCAPED.sub(b"__", block)
            if block.endswith(b"\\"):
                block, carried = block[:-1], b"\\"
        codes = np.frombuffer(block, dtype=np.uint8)
        places = np.flatnonzero(_KINDS[codes] == 1)
        codes = codes[places]
        quotes = codes == ord('"')
        within = (np.cumsum(quotes) + in_text) % 2 == 1
        in_text = bool((int(quotes.sum()) + in_text) % 2)
        outside = ~(within | quotes)
        codes, places = codes[outside], places[outside] + begin
        steps = np.isin(codes, list(_OPENS)).astype(np.int64) - np.isin(codes, list(_CLOSES))
        depths = depth + np.cumsum(steps)
        ends = np.flatnonzero(depths <= 0)
        if len(ends):
            last = ends[0] + 1
            yield codes[:last], depths[:last], places[:last]
            return
        yield codes, depths, places
        depth = int(depths[-1]) if len(depths) else depth
        begin += len(block)


def _count(array: bytes | msgspec.Raw, code: bytes) -> int:
    return sum(block.count(code) for block in _blocks(array, _BLOCK))


def _blocks(array: bytes | memoryview | msgspec.Raw, size: int) -> Iterator[bytes]:
    view = memoryview(array)
    return (bytes(view[at : at + size]) for at in range(0, len(view), size))
