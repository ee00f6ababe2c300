"""What a side of several files is called: by their folder, or by what their names begin with."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from fusescope.analysis.compare.side import Side
from fusescope.analysis.text import display_name

# What tells recordings of one side apart: numbers, stamps and what stands between.
_NUMBERS = re.compile(r"[\W_\d]+$")
_MIN_LETTERS = 2


def common_name(names: Sequence[str]) -> str:
    """A name for all of these files: their folder, else what their names begin with."""
    return _folder(names) or _beginning(names) or display_name(names[0] if names else "")


def named_apart(first: Side, second: Side) -> tuple[Side, Side]:
    """Both sides, those of several files under names that differ where anything of theirs does."""
    sides = (first, second)
    if not any(side.files for side in sides):
        return sides
    names = [[one.name for one in side.files] or [side.label] for side in sides]
    for name in (_folder, _beginning):
        labels = [
            name(of) if side.files else side.label for side, of in zip(sides, names, strict=True)
        ]
        if all(labels) and labels[0] != labels[1]:
            return replace(first, label=labels[0]), replace(second, label=labels[1])
    return sides


def group_of(name: str) -> str:
    """What a file's name begins with, without the numbers behind it; '' for too little of it."""
    return _beginning([name])


def _folder(names: Sequence[str]) -> str:
    """The innermost folder that all of these files are in; '' for none."""
    folders = [name.split("/")[:-1] for name in names]
    shared = os.path.commonprefix(folders) if folders else []
    return display_name(shared[-1]) if shared else ""


def _beginning(names: Sequence[str]) -> str:
    """What all names begin with, without numbers at its end; '' for too little of it."""
    shared = os.path.commonprefix([name.split("/")[-1].rpartition(".")[0] for name in names])
    shared = _NUMBERS.sub("", shared)
    is_name = sum(letter.isalpha() for letter in shared) >= _MIN_LETTERS
    return display_name(shared) if is_name else ""
