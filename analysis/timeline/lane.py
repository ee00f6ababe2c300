"""Lanes of a timeline: what they are called, in which order they stand, which are folded."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.messages import Message, say

# A lane with less than this part of the side's time is folded, where at least FOLD_FROM are.
SMALL_SHARE = 0.005
FOLD_FROM = 2
_NPU = ("ascend", "msprof", "mindspore_legacy", "akg")  # how names of formats start
_GPU = ("kineto", "nsys", "rocpd", "rocprof", "tensorrt")
_NUMBERED = re.compile(r".*\((\d{1,4})\)")  # NVIDIA A10G (0)
_TYPED = re.compile(r"([A-Za-z]+):(\d{1,4})")  # TPU:0
_NUMBERED_LANES = {
    "stream": Message("stream {number:name}"),
    "thread": Message("thread {number:name}"),
}
_XLA_STREAM = re.compile(r"Stream #(\d+)\s*(?:\((.*)\))?")


@dataclass(frozen=True)
class Lane:
    """One row of a timeline: `calls` executions that took `busy_ns` together."""

    label: str
    calls: int
    busy_ns: int
    is_small: bool = False


def lanes(
    calls: pd.DataFrame, communicates: np.ndarray, format_: str
) -> tuple[tuple[Lane, ...], np.ndarray]:
    """The lanes of these calls and the place of each call's lane among them.

    `communicates` says of each call whether it is communication, which runs beside the operators:
    it has a lane of its own where the file does not tell streams. Lanes stand in the order of
    their devices and streams, numbers as numbers.
    """
    places = [calls[name] for name in ("device", "stream")]
    codes = [place.array.codes for place in places]
    index, firsts = _factorized([*codes, communicates & (codes[1] < 0)])
    pairs = [tuple(_text(place.iloc[first]) for place in places) for first in firsts]
    count = np.bincount(index, minlength=len(pairs))
    busy = np.bincount(index, weights=calls["dur_ns"].to_numpy(), minlength=len(pairs))
    is_communication = np.bincount(index, weights=communicates, minlength=len(pairs)) == count
    names = [
        lane_name(device, stream, format_, is_communication=bool(only))
        for (device, stream), only in zip(pairs, is_communication, strict=True)
    ]
    small = busy < SMALL_SHARE * busy.sum()
    folds = small.sum() >= FOLD_FROM
    order = sorted(range(len(pairs)), key=lambda at: [_natural(text) for text in pairs[at]])
    rank = np.empty(len(pairs), dtype="int64")
    rank[order] = np.arange(len(pairs))
    found = tuple(
        Lane(names[at], int(count[at]), int(busy[at]), bool(folds and small[at])) for at in order
    )
    return found, rank[index]


def lane_name(device: str, stream: str, format_: str, *, is_communication: bool = False) -> str:
    """What the lane of a device and a stream is called: 'GPU 0, stream 7'; '' where neither is
    known. `talks` is true where it holds nothing but communication."""
    where, on = _device(device, format_), _stream(stream)
    if where and not on and is_communication:
        on = "communication"
    return ", ".join(filter(None, (where, on)))


def spoken_name(name: str) -> str:
    """Return the name of a lane in the language that is spoken: 'GPU 0, 流 7'."""
    return ", ".join(map(_spoken, name.split(", ")))


def _spoken(part: str) -> str:
    if part == "communication":
        return say("communication")
    kind, _, number = part.partition(" ")
    spoken = _NUMBERED_LANES.get(kind) if number else None
    return part if spoken is None else spoken.text(number=number)


def _device(device: str, format_: str) -> str:
    kind = "NPU" if format_.startswith(_NPU) else "GPU" if format_.startswith(_GPU) else "device"
    if not device:
        return "" if kind == "device" else kind
    if device.isdecimal():
        return f"{kind} {device}"
    numbered, typed = _NUMBERED.fullmatch(device), _TYPED.fullmatch(device)
    if numbered and kind != "device":
        return f"{kind} {numbered[1]}"
    return f"{typed[1]} {typed[2]}" if typed else device


def _stream(stream: str) -> str:
    xla = _XLA_STREAM.fullmatch(stream)
    if xla:
        return f"stream {xla[1]}" + (f" ({xla[2]})" if xla[2] else "")
    return f"stream {stream}" if stream[:1].isdecimal() else stream


def _text(value: object) -> str:
    return "" if pd.isna(value) else str(value)  # type: ignore[call-overload]


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """A key that sorts 'stream 7' before 'stream 20'."""
    parts = re.split(r"(\d{1,18})", text)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _factorized(keys: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A number for each combination of values, and the first row of each."""
    joined = np.zeros(len(keys[0]), dtype="int64")
    for key in keys:
        codes = pd.factorize(key)[0]
        joined = joined * (codes.max(initial=0) + 1) + codes
    index, found = pd.factorize(joined, sort=True)
    firsts = np.empty(len(found), dtype="int64")
    firsts[index[::-1]] = np.arange(len(index))[::-1]  # what is written last is the first one
    return index, firsts
