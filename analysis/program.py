"""Program: the operators of the host in the order of the program, and what each had a device do or
captured into a graph of the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

MAX_PROGRAM = 1_000_000  # operators of one trace; a longer program is left out
MAX_CAPTURED = 1_000_000  # kernels of one trace; what is beyond is left out
# A text that the file does not say is ''.
CAPTURED_COLUMNS = {
    "source_row": "int64",  # of the call of the host, by which stacks have its place in the code
    "graph": "int64",  # among the captures of the file, from 0
    "start_ns": "int64",
    "dur_ns": "int64",  # of the call
    "name": "category",  # of the kernel
    "launched_by": "category",
    "inputs": "category",
}


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


@dataclass(frozen=True, eq=False)
class Captured:
    """Kernels, copies and fills that the host recorded into graphs, a row each in the order of the
    file; columns as in CAPTURED_COLUMNS."""

    table: pd.DataFrame

    def __post_init__(self) -> None:
        found = {str(name): str(dtype) for name, dtype in self.table.dtypes.items()}
        if found != CAPTURED_COLUMNS:
            raise ValueError("captured: other columns than they must have")
        if (np.diff(self.table["source_row"].to_numpy()) <= 0).any():
            raise ValueError("captured: rows go back")

    def texts(self, column: str) -> list[str]:
        """Return a column as text, a row each."""
        return list(map(str, self.table[column]))

    def graphs(self) -> list[np.ndarray]:
        """Return the rows of each graph, in order of time."""
        graphs, starts = (self.table[name].to_numpy() for name in ("graph", "start_ns"))
        order = np.lexsort((starts, graphs))
        edges = np.flatnonzero(np.diff(graphs[order])) + 1
        return np.split(order, edges) if len(order) else []


def captured_frame(**columns: object) -> pd.DataFrame:
    """Return the table of `Captured` from its columns."""
    return pd.DataFrame(
        {
            name: pd.array(columns[name], dtype=dtype)  # type: ignore[call-overload]
            for name, dtype in CAPTURED_COLUMNS.items()
        }
    )
