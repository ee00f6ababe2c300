"""Inputs of a module as people type them: `tokens=1,~512:int64`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.spelling import nearest
from fusescope.collectors.record import DTYPES, GivenInput

_FORM = re.compile(r"([A-Za-z_]\w*|\d{1,3})=([\d,~\s]*)(?::(\w+))?", re.ASCII)
_SIZE = re.compile(r"(~?)([1-9]\d{0,11})", re.ASCII)
_SHOWN_CHARS = 60


def given_inputs(
    texts: Sequence[str], ranges: Mapping[str, tuple[float, float]]
) -> tuple[GivenInput, ...]:
    """The inputs, those by place in front in their order, each with its range. Raises
    FuseScopeError for what is malformed or given twice, and for places with a gap."""
    found = [_given(text, ranges) for text in texts]
    names = [one.name for one in found]
    again = next((name for name in names if names.count(name) > 1), None)
    if again is not None:
        raise FuseScopeError("input_given_twice", input=again)
    places = sorted((one for one in found if one.name.isdigit()), key=lambda one: int(one.name))
    for place, one in enumerate(places):
        if int(one.name) != place:
            raise FuseScopeError("input_place_missing", place=place)
    return (*places, *(one for one in found if not one.name.isdigit()))


def _given(text: str, ranges: Mapping[str, tuple[float, float]]) -> GivenInput:
    match = _FORM.fullmatch(text.strip())
    sizes = [size.strip() for size in match[2].split(",")] if match and match[2].strip() else []
    matched = [_SIZE.fullmatch(size) for size in sizes]
    if match is None or None in matched:
        raise FuseScopeError(
            "option_malformed",
            option="--input",
            given=text[:_SHOWN_CHARS],
            form="NAME=1,512:int64",
        )
    dtype = match[3] or "float32"
    if dtype not in DTYPES:
        raise FuseScopeError(
            "input_type_unknown",
            dtype=dtype[:_SHOWN_CHARS],
            known=", ".join(DTYPES),
            nearest=nearest(dtype, DTYPES),
        )
    parts = [one for one in matched if one is not None]
    low, high = ranges.get(match[1], (None, None))
    return GivenInput(
        name=match[1],
        shape=tuple(int(one[2]) for one in parts),
        dtype=dtype,
        low=low,
        high=high,
        dynamic=tuple(at for at, one in enumerate(parts) if one[1]),
    )
