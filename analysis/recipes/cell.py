"""Cell: one field of a recipe's table."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis.quantity import Quantity


@dataclass(frozen=True)
class Cell:
    """A figure, or a text where it is none.

    `low` and `high` bound a ratio's 95 % interval, None without one. `text` can come from a file.
    """

    quantity: Quantity | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""

    @property
    def is_empty(self) -> bool:
        """True where there is neither a value nor a text."""
        return not self.text and (self.quantity is None or self.quantity.value is None)
