"""Timed events of a Kineto trace as columns: millions of them stay small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

import msgspec
import numpy as np
import numpy.typing as npt

from fusescope.analysis.readers.building.coded import Coded
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.pytorch.event import Args, Kind, Span

Floats = npt.NDArray[np.float64]
Lane = tuple[bytes, bytes]  # process and thread
MessageTexts = tuple[tuple[bytes, ...], float]  # as Arguments makes them of a collective
InputTexts = tuple[bytes, bytes, bytes]  # shapes, types and values of the inputs, as JSON
NONE = -1


@dataclass
class Tables:
    """What the numbers in columns stand for; `kinds` in the order of the numbers of Spans."""

    names: list[str] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    inputs: list[InputTexts] = field(default_factory=list)
    labels: list[bytes] = field(default_factory=list)  # ids of devices and streams, launch sizes
    messages: list[MessageTexts] = field(default_factory=list)


KINDS: tuple[Kind, ...] = ("op", "kernel", "memcpy", "memset", "launch", "annotation")


@dataclass(frozen=True)
class Spans(Sequence[Span]):
    """Timed events in the order of the file; numbers of KINDS and of texts in `tables`.

    `external` and `correlation` are ids: numbers, NONE where there is none, others below for texts
    that are not plain numbers. `more` are columns of one kind of event.
    """

    tables: Tables
    rows: Ints
    kinds: Ints
    names: Ints
    lanes: Ints
    starts: Ints
    lengths: Ints
    external: Ints
    correlation: Ints
    more: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def ends(self) -> Ints:
        """When each ended, in ns."""
        return self.starts + self.lengths

    def coded_names(self) -> Coded:
        """The names as a column."""
        return Coded(self.names, self.tables.names)

    def distinct_names(self) -> list[str]:
        """The names that an event of these has, each once."""
        return [self.tables.names[at] for at in distinct(self.names).tolist()]

    def processes(self) -> Coded:
        """The process of each, None where it is not told."""
        return _known_ids(self.lanes, [process for process, _ in self.tables.lanes])

    def take(self, places: Ints) -> Spans:
        """The events at these places."""
        columns = {name: getattr(self, name)[places] for name in COLUMNS}
        more = {name: column[places] for name, column in self.more.items()}
        return Spans(self.tables, **columns, more=more)

    def joined(self, other: Spans) -> Spans:
        """These and others, in the order of the file, with the columns that both have."""
        if not len(other):
            return self
        order = np.argsort(np.concatenate([self.rows, other.rows]), kind="stable")
        both = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])[order]
            for name in COLUMNS
        }
        more = {
            name: np.concatenate([column, other.more[name]])[order]
            for name, column in self.more.items()
            if name in other.more
        }
        return Spans(self.tables, **both, more=more)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, at: int) -> Span: ...
    @overload
    def __getitem__(self, at: slice) -> Spans: ...
    def __getitem__(self, at: int | slice) -> Span | Spans:
        if isinstance(at, slice):
            return self.take(np.arange(len(self))[at])
        return Span(
            int(self.rows[at]),
            KINDS[self.kinds[at]],
            self.tables.names[self.names[at]],
            self.tables.lanes[self.lanes[at]],
            int(self.starts[at]),
            int(self.lengths[at]),
            self._args(at),
        )

    def _args(self, at: int) -> Args:
        """What the event says of its inputs."""
        inputs = self.more.get("inputs")
        if inputs is None:
            return Args()
        dims, types, values = self.tables.inputs[inputs[at]]
        counted = float(self.more["flops"][at])
        return Args(
            input_dims=msgspec.Raw(dims),
            input_types=msgspec.Raw(types),
            concrete_inputs=msgspec.Raw(values),
            flops=msgspec.Raw(repr(counted).encode() if not math.isnan(counted) else b""),
        )


COLUMNS = ("rows", "kinds", "names", "lanes", "starts", "lengths", "external", "correlation")


def _known_ids(codes: Ints, ids: Sequence[bytes]) -> Coded:
    numbers: dict[bytes, int] = {}
    of = [numbers.setdefault(id_, len(numbers)) if id_ else NONE for id_ in ids]
    return Coded(np.array([*of, NONE], dtype="int64")[codes], list(numbers))
