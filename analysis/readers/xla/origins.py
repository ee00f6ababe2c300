"""Original operators of the instructions of a program: the framework's names with their source.

An original is what the program calls itself, `jit(f)/add model.py:8:18`: the name that the
framework gave the operator, and the line that wrote it. Both stay with an instruction through every
pass of the compiler, also inside a fusion. A line that runs several times, such as the layers of a
loop of Python, gives several operators one name; they are numbered by how many of them lie on the
longest path to them, which fusion does not change: `… (2 of 12)`. Those that no path connects keep
one name, so that their groups are larger, never wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from fusescope.analysis.readers.xla.computations import Frames, Module, Raw
from fusescope.analysis.readers.xla.flat import Item, flattened
from fusescope.analysis.text import clean_text

_FUNCTION = re.compile(r"p?jit\(([^()]*)\)")
_MAX_CELLS = 8_000_000  # of the table of numbers; a program that needs more has no names
_MAX_STACK = 24
_SHOWN_FRAMES = 3
_MAX_NAME = 240
_MAX_ORIGINS = 256  # of an instruction


def origins(module: Module) -> dict[str, tuple[str, ...]]:
    """Instruction -> its originals, in the order of the program; an empty tuple for one that the
    compiler put in. Nothing is said of a program without the framework's names, nor of
    instructions with too many."""
    flat = flattened(module)
    names = _names(flat[0], module.frames) if flat is not None else []
    if flat is None or not any(names):
        return {}
    items, calls = flat
    numbers = _numbers(items, names)
    if numbers is None:
        return {}
    found: dict[str, dict[str, None]] = {}
    for item, text in zip(items, _numbered(items, names, numbers), strict=True):
        own = found.setdefault(item.runs_in, {})
        if text:
            own[text] = None
    told = {name: tuple(texts) for name, texts in found.items()}
    _adopt(items, told)
    for call in calls:  # runs nothing itself
        told.setdefault(call.name, ())
    return {name: texts for name, texts in told.items() if len(texts) <= _MAX_ORIGINS}


def _names(items: Sequence[Item], frames: Frames) -> list[str]:
    """The name of each instruction, '' for one that the framework did not name."""
    known: dict[tuple[str, str, int, int], str] = {}
    names = []
    for raw in (item.raw for item in items):
        key = (raw.op_name, raw.file, raw.line, raw.frame)
        if key not in known:
            known[key] = _name(raw, frames) if raw.op_name else ""
        names.append(known[key])
    return names


def _numbers(items: Sequence[Item], names: Sequence[str]) -> list[int] | None:
    """How many instructions of the same name lie on the longest path to each, those that follow
    each other directly as one: an operator may have become many. None where that is too much."""
    uses = Counter(
        name for item, name in zip(items, names, strict=True) if name and not item.is_source
    )
    columns = {name: at for at, name in enumerate(name for name, n in uses.items() if n > 1)}
    if len(columns) * len(items) > _MAX_CELLS:
        return None
    # Twice the number, and 1 more while the path's end is still in the last of them.
    paths = np.zeros((len(items), len(columns)), dtype=np.int32)
    numbers = []
    for place, (item, name) in enumerate(zip(items, names, strict=True)):
        row = paths[place]
        if item.reads:
            np.maximum.reduce(paths[list(item.reads)], out=row)
        column = columns.get(name)
        if name:
            row &= ~1
        if column is None or item.is_source:
            numbers.append(1)
            continue
        ends = [int(paths[read, column]) for read in item.reads] or [0]
        row[column] = max(end if end & 1 else end + 3 for end in ends)
        numbers.append(int(row[column]) >> 1)
    return numbers


def _numbered(items: Sequence[Item], names: Sequence[str], numbers: list[int]) -> list[str]:
    """The originals, with numbers where a name has several. What only hands on weights belongs to
    the one of its name that reads it; '' where none does and several have that name."""
    several: dict[str, set[int]] = {}
    for item, name, number in zip(items, names, numbers, strict=True):
        if name and not item.is_source:
            several.setdefault(name, set()).add(number)
    moves = Counter(name for item, name in zip(items, names, strict=True) if item.is_source)
    ranks = {
        name: {number: at for at, number in enumerate(sorted(found), start=1)}
        for name, found in several.items()
        if len(found) > 1
    }
    readers: dict[int, set[int]] = {}
    texts = [""] * len(items)
    for place in reversed(range(len(items))):
        item, name = items[place], names[place]
        rank = ranks.get(name)
        if rank is None:
            texts[place] = name if name in several or moves[name] == 1 else ""
            continue
        own: int | None = numbers[place]
        if item.is_source:
            of_readers = readers.get(place, set())
            own = min(of_readers) if len(of_readers) == 1 else None
        if own is None:
            continue
        texts[place] = f"{name} ({rank[own]} of {len(rank)})"
        for read in item.reads:
            if names[read] == name and items[read].is_source:
                readers.setdefault(read, set()).add(own)
    return texts


def _adopt(items: Sequence[Item], told: dict[str, tuple[str, ...]]) -> None:
    """What has no name belongs to the one instruction that reads it, else to what it copies."""
    readers: dict[str, set[str]] = {}
    reads: dict[str, set[str]] = {}
    for item in items:
        for read in item.reads:
            writer = items[read].runs_in
            if writer != item.runs_in:
                readers.setdefault(writer, set()).add(item.runs_in)
                reads.setdefault(item.runs_in, set()).add(writer)
    for name in reversed(told):
        of_readers = {told[reader] for reader in readers.get(name, ())}
        if not told[name] and len(of_readers) == 1:
            told[name] = of_readers.pop()
    for name, texts in told.items():
        before = {told[writer] for writer in reads.get(name, ())}
        if not texts and not readers.get(name) and len(before) == 1:
            told[name] = before.pop()


def _name(raw: Raw, frames: Frames) -> str:
    """The framework's name, and the lines that wrote the operator up to the compiled function."""
    op_name = clean_text(raw.op_name.replace(" + ", "+"), _MAX_NAME)
    stack = frames.stack(raw.frame, _MAX_STACK)
    function = _FUNCTION.match(raw.op_name)
    own = [
        at
        for at, place in enumerate(stack)
        if function and place.function.rpartition(".")[2] == function[1]
    ]
    stack = stack[: own[-1] + 1] if own else stack[:1]
    places = [f"{_file(p.file)}:{p.line}:{p.column}" for p in stack if p.file]
    if not places and raw.file:
        places = [f"{_file(raw.file)}:{raw.line}"]
    shown = " < ".join(list(dict.fromkeys(places))[:_SHOWN_FRAMES])
    return f"{op_name} {shown}".strip()


def _file(path: str) -> str:
    """The file's own name: the folders differ between machines, and may name people."""
    name = re.split(r"[/\\]", path)[-1]
    return clean_text(name.replace(" + ", "+"), 80)
