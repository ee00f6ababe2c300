"""Rows of a CSV, also where a quote opens that nothing closes.

Such a quote makes one cell of all that follows up to the next quote, often thousands of rows. What
it swallowed is told by its lines: they are rows themselves.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterator

from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic


class CsvRows:
    """The rows of a text one by one; `width` is that of the head, once it is known.

    A line with a quote that does not close is a row of its own where its cells can be told by
    their number, and left out where not. Raises csv.Error as the csv module does.
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self.width = 0
        self._delimiter = delimiter
        self._lines = iter(io.StringIO(text, newline=""))
        self._taken: list[str] = []  # lines that the present row is made of
        self._ready: deque[list[str]] = deque()
        self._reader = csv.reader(self._taking(), delimiter=delimiter)
        self._usual = 0  # cells of the last whole row
        self._mended = self._left_out = 0
        self._example = ""

    @property
    def line(self) -> int:
        """Lines read so far."""
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        if self._ready:
            return self._ready.popleft()
        while True:
            self._taken.clear()
            row = next(self._reader)
            if len(self._taken) < 2:
                self._usual = len(row) or self._usual
                return row
            alone = [self._alone(line) for line in self._taken]
            if not self._swallowed(row, alone):
                return row
            self._ready.extend(self._mend(alone))
            if self._ready:
                return self._ready.popleft()

    def notes(self) -> list[Diagnostic]:
        """A note on quotes that do not close, once all rows were read."""
        count = self._mended + self._left_out
        if not count:
            return []
        values = {"left_out": self._left_out}
        return [Diagnostic("warning", "unclosed_quotes", count, self._example, values)]

    def _taking(self) -> Iterator[str]:
        for line in self._lines:
            self._taken.append(line)
            yield line

    def _alone(self, line: str) -> list[str]:
        return next(csv.reader([line], delimiter=self._delimiter), [])

    def _swallowed(self, row: list[str], alone: list[list[str]]) -> bool:
        """True where lines inside a cell are rows, and the row that holds them is none."""
        widths = {self.width, self._usual} - {0, 1}
        rows = sum(len(cells) in widths for cells in alone[1:])
        if not rows:
            return False
        is_odd = sum(line.count('"') for line in self._taken) % 2 == 1
        if is_odd or len(row) not in widths:
            return True
        # A cell may hold a line break: then its first line ends in the middle of the row.
        begins_whole = len(self._taken[0].rstrip("\r\n").split(self._delimiter)) in widths
        return begins_whole and 2 * rows >= len(alone)

    def _mend(self, alone: list[list[str]]) -> Iterator[list[str]]:
        for line, cells in zip(self._taken, alone, strict=True):
            if line.count('"') % 2 == 0:
                yield cells
                continue
            self._example = self._example or clean_text(line.rstrip("\r\n"), 80)
            bare = line.rstrip("\r\n").split(self._delimiter)
            if len(bare) in (self.width, self._usual):
                self._mended += 1
                yield [cell.strip('"') for cell in bare]
            else:
                self._left_out += 1
