"""The files beside a recording, which may tell more of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic

ValueT = TypeVar("ValueT")


def headed(*known: Callable[[bytes], bool]) -> Callable[[Source, Source], bool]:
    """Whether the head of a file beside another is one of these, for Reader.takes."""
    return lambda source, other: any(one(other.head) for one in known)


class Beside:
    """Reads them: `files` are paths of what belongs to the recording, `notes` tell of damage.

    A damaged file costs what it says and nothing else.
    """

    def __init__(self, source: Source, notes: list[Diagnostic] | None = None) -> None:
        self.source = source
        self.files: list[str] = []
        self.notes: list[Diagnostic] = [] if notes is None else notes

    def those(self, known: Callable[[bytes], bool]) -> list[Source]:
        """Files whose head is `known`; one that cannot be looked at is told of for itself."""
        found = []
        for other in self.source.beside:
            try:
                found += [other] if known(other.head) else []
            except FuseScopeError:
                continue
        return found

    def load(self, other: Source, read: Callable[[Source], ValueT]) -> ValueT | None:
        """What `read` makes of one of them; None, and a note, where it cannot be read."""
        try:
            return read(other)
        except FuseScopeError:
            self.notes.append(Diagnostic("warning", "companion_unreadable", 1, other.name))
            return None

    def each(
        self, known: Callable[[bytes], bool], read: Callable[[Source], ValueT]
    ) -> list[tuple[Source, ValueT]]:
        """What `read` makes of every file whose head is `known`."""
        loaded = ((other, self.load(other, read)) for other in self.those(known))
        return [(other, value) for other, value in loaded if value is not None]

    def first(
        self,
        known: Callable[[bytes], bool],
        read: Callable[[Source], ValueT],
        fits: Callable[[ValueT], bool] = lambda value: True,
    ) -> ValueT | None:
        """What `read` makes of the first such file that fits the recording, which is taken."""
        for other in self.those(known):
            value = self.load(other, read)
            if value is not None and fits(value):
                self.files.append(other.path)
                return value
        return None
