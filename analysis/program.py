"""Program: the operators of the host in the order of the program, and what each had a device do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MAX_PROGRAM = 1_000_000  # operators of one trace; a longer program is left out


@dataclass(frozen=True, eq=False)
class Program:
    """Operators of the framework that no other is around, in order of their starts.

    `names` are the distinct ones, `name_of` the place of each operator in them, `runs` the run in
    which each began, -1 for none. `rows` are the `source_row` of calls of the trace, ascending, and
    `launched_by` the place of the operator that each stems from, -1 where that is not known.
    """

    names: tuple[str, ...]
    name_of: np.ndarray
    runs: np.ndarray
    rows: np.ndarray
    launched_by: np.ndarray

    def __post_init__(self) -> None:
        if len(self.name_of) != len(self.runs) or len(self.rows) != len(self.launched_by):
            raise ValueError("program: columns differ in length")
        if (np.diff(self.rows) <= 0).any():
            raise ValueError("program: rows go back")
        for places, count in ((self.name_of, len(self.names)), (self.launched_by + 1, self._end)):
            if len(places) and not 0 <= places.min() <= places.max() < count:
                raise ValueError("program: an operator is not there")

    @property
    def _end(self) -> int:
        return len(self.name_of) + 1

    def of(self, source_rows: np.ndarray) -> np.ndarray:
        """The operator that each of these rows of the file stems from; -1 for none."""
        if not len(self.rows):
            return np.full(len(source_rows), -1)
        places = np.minimum(np.searchsorted(self.rows, source_rows), len(self.rows) - 1)
        return np.where(self.rows[places] == source_rows, self.launched_by[places], -1)
