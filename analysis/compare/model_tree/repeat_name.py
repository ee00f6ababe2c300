"""The name of what repeats in the order of kernels, which stands where nothing names modules."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_NAME = re.compile(r"(\d+)(?:~(\d+)-(\d+))?(\+?)(?::(\d+))?")


@dataclass(frozen=True)
class RepeatName:
    """A repeat, by how many `kernels` the copies have that repeat in order, the
    `fewest` and the `most` of one, whether `copies` or fills of memory are among them, and its
    `number` of several of which all this is the same, from 1; 0 of the only one."""

    kernels: int
    fewest: int
    most: int
    copies: bool = False
    number: int = 0

    def numbered(self, number: int) -> RepeatName:
        """Return the name of that one of several."""
        return replace(self, number=number)

    def __str__(self) -> str:
        span = "" if self.fewest == self.most else f"~{self.fewest}-{self.most}"
        number = f":{self.number}" if self.number else ""
        return f"{self.kernels}{span}{'+' if self.copies else ''}{number}"


def repeat_name(text: str) -> RepeatName:
    """Return the name that `str` made this text of: '32', '32~31-34+:2'. Raises ValueError for
    others."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValueError(f"no name of a repeat: {text}")
    kernels, fewest, most, copies, number = match.groups()
    return RepeatName(
        int(kernels),
        int(fewest or kernels),
        int(most or kernels),
        bool(copies),
        int(number or 0),
    )
