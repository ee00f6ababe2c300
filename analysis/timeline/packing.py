"""A timeline's payload as JSON: columns of numbers as base64, so that 250 000 calls stay small."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

_SMALLEST = (("u1", 2**8), ("u2", 2**16), ("u4", 2**32))
_IDS = ("row", "group")
_SHARED = ("op_type", "op_class", "inputs", "outputs", "provider")


def packed_json(
    payload: dict[str, Any], said: dict[str, Any], others: dict[str, Any] | None = None
) -> str:
    """The payload of analysis.timeline.payload as JSON text for timeline.js, with what it says
    (`payload.texts`), and of `others` in other languages, by their codes.

    Columns of calls are packed (`packed`). Of operators, ids are {ids: packed}, and texts that
    they share stand once, as {texts, of: packed}; in both 0 is none and the first is 1.
    """
    sides = [
        {
            **{name: value for name, value in side.items() if name != "origin_ns"},
            **told,
            "ops": {name: _operator_column(name, values) for name, values in side["ops"].items()},
            "calls": {name: packed(values) for name, values in side["calls"].items()},
        }
        for side, told in zip(payload["sides"], said["sides"], strict=True)
    ]
    whole = {**payload, **said, "sides": sides, **({"languages": others} if others else {})}
    return json.dumps(whole, allow_nan=False, separators=(",", ":"))


def packed(values: Any) -> dict[str, Any]:
    """Whole numbers as {type, steps, data}: little-endian in the smallest type that holds them.

    With `steps` each is the difference to the one before it, the first to 0, where that is
    smaller. Types are u1, u2, u4 and f8, which is exact below 2**53.
    """
    numbers = np.asarray(values, dtype="int64")
    steps = np.diff(numbers, prepend=0)
    plain, stepped = _type_of(numbers), _type_of(steps)
    by_steps = int(stepped[1]) < int(plain[1])
    kind, shown = (stepped, steps) if by_steps else (plain, numbers)
    data = base64.b64encode(shown.astype(f"<{kind}").tobytes()).decode("ascii")
    return {"type": kind, "steps": by_steps, "data": data}


def _type_of(numbers: np.ndarray) -> str:
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    return next((kind for kind, bound in _SMALLEST if low >= 0 and high < bound), "f8")


def _operator_column(name: str, values: list[Any]) -> Any:
    if name in _IDS:
        return {"ids": packed([0 if value is None else value + 1 for value in values])}
    return _shared(values) if name in _SHARED else values


def _shared(values: list[str | None]) -> dict[str, Any]:
    number = {text: index for index, text in enumerate(dict.fromkeys(filter(None, values)), 1)}
    return {"texts": list(number), "of": packed([number.get(text or "", 0) for text in values])}
