"""The matrix products of two phases of serving as lines of text, for whoever pastes the answer."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from fusescope.analysis.compare.explanation.explanation import Explanation
from fusescope.analysis.report.explanation.product_rows import ProductTable, product_table, texts_of
from fusescope.analysis.text import clean_text

_GAP = "  "
_LINE_CHARS = 1000


def product_lines(explanation: Explanation) -> list[str]:
    """Return a table of each side, with its name above and columns that stand below each other, and
    what the figures rest on; nothing where there are no products."""
    table = product_table(explanation)
    if table is None:
        return []
    lines = [line for side in (0, 1) for line in ("", table.sides[side], *_of_side(table, side))]
    return [clean_text(line, _LINE_CHARS) for line in (*lines, "", table.basis)]


def _of_side(table: ProductTable, side: int) -> list[str]:
    """Return the rows of a side below their heads: names to the left, figures to the right."""
    rows = [(table.title, *table.heads), *((r.name, *texts_of(r.sides[side])) for r in table.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths) for row in rows]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    spaces = [" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
    first, *others = zip(cells, spaces, strict=True)
    return _GAP.join(["".join(first), *(space + cell for cell, space in others)])


def _width(text: str) -> int:
    """Return how many columns a text takes where all characters have one width."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
