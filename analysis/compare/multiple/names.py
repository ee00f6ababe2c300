"""Names of several sides that tell them apart in a table or a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fusescope.analysis.compare.naming import MAX_CHARS, engine_label
from fusescope.analysis.compare.side import Side
from fusescope.analysis.units import middle_cut

_DIGEST = 6


def distinct_names(sides: Sequence[Side]) -> list[str]:
    """The labels, within MAX_CHARS, with the engine in front where there are several; where some
    are alike, the file in front of a variant, then the beginning of the file's digest behind it,
    then its place."""
    engines = {side.engine.name for side in sides if side.engine is not None}
    names = [engine_label(side) if len(engines) > 1 else side.label for side in sides]
    for tell in (_with_file, _with_digest, _with_place):
        shown = [middle_cut(name, MAX_CHARS) for name in names]
        alike = {name for name, times in Counter(shown).items() if times > 1}
        if not alike:
            break
        names = [
            tell(name, side, at) if short in alike else name
            for at, (name, short, side) in enumerate(zip(names, shown, sides, strict=True), 1)
        ]
    return [middle_cut(name, MAX_CHARS) for name in names]


def _with_file(name: str, side: Side, at: int) -> str:
    if side.experiment is None:
        return name
    room = max(8, MAX_CHARS - len(name) - 3)
    return f"{middle_cut(side.experiment.file_name, room)} · {name}"


def _with_digest(name: str, side: Side, at: int) -> str:
    return _behind(name, side.trace.meta.sha256[:_DIGEST])


def _with_place(name: str, side: Side, at: int) -> str:
    return _behind(name, str(at))


def _behind(name: str, text: str) -> str:
    return f"{middle_cut(name, MAX_CHARS - 3 - len(text))} ({text})"
