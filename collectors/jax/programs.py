"""What became of a program, by the text of its optimised HLO."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

_HEAD = re.compile(r"^(?:ENTRY )?%?([\w.-]+) \(.*\{$")
_LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.-]+) = .*?[\])}] ([a-z][\w-]*)\(")
_FUSION = re.compile(r" fusion\(.*?kind=(\w+), calls=%?([\w.-]+)")
_LIBRARY = re.compile(r'"kind":"_*(\w+?)"')
_NO_OPERATORS = frozenset(("parameter", "constant", "tuple", "get-tuple-element", "bitcast"))


def mixed_fusion(text: str) -> tuple[str, list[str]] | None:
    """The first fusion of several operators that is not a library's, and those operators."""
    inside: dict[str, list[str]] = {}
    own: list[str] = []
    for line in text.splitlines():
        if head := _HEAD.match(line):
            own = inside.setdefault(head[1], [])
        elif (found := _LINE.match(line)) and found[2] not in _NO_OPERATORS:
            own.append(found[2])
    for name, kind, called, _ in _fusions(text):
        operators = inside.get(called, [])
        if kind != "kCustom" and len(operators) > 1:
            return name, operators
    return None


def library_fusions(text: str) -> str:
    """What libraries fuse whatever the compiler is told: 'ynn_fusion ×5'."""
    counts = Counter(
        library[1] if (library := _LIBRARY.search(line)) else "custom"
        for _, kind, _, line in _fusions(text)
        if kind == "kCustom"
    )
    return ", ".join(f"{name} ×{n}" for name, n in sorted(counts.items()))


def _fusions(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Name, kind, computation and line of every fusion."""
    for line in text.splitlines():
        found, fusion = _LINE.match(line), _FUSION.search(line)
        if found and fusion:
            yield found[1], fusion[1], fusion[2], line
