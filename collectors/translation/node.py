"""One step while it is translated: its inputs, its attributes, and what of them is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.collectors.models.array import Array
from fusescope.collectors.translation.backend import Backend, Untranslated, Value
from fusescope.collectors.translation.program import Held, Step


@dataclass(frozen=True)
class Known:
    """A tensor whose values are known before anything runs."""

    name: str
    array: Array


@dataclass(frozen=True)
class Node:
    """`given` are the inputs in order, None for one that is left out. `held` are the tensors of
    attributes."""

    step: Step
    given: Sequence[Known | Value | None]
    held: Sequence[Array]
    backend: Backend
    opset: int

    def has(self, place: int) -> bool:
        """Whether there is an input at that place."""
        return place < len(self.given) and self.given[place] is not None

    def value(self, place: int) -> Value:
        """An input as the engine's."""
        one = self.given[place]
        return self.backend.constant(one.name, one.array) if isinstance(one, Known) else one

    def optional(self, place: int) -> Value | None:
        """The same, None where it is left out."""
        return self.value(place) if self.has(place) else None

    def known(self, place: int, what: str) -> Array:
        """An input whose values are known. Raises Untranslated where they are not."""
        one = self.given[place]
        if not isinstance(one, Known):
            raise Untranslated(f"{self.step.operator} with {what} that the model computes")
        return one.array

    def ints(self, place: int, what: str) -> list[int]:
        """A known input as a list of integers."""
        return [int(one) for one in self.known(place, what).reshape(-1)]

    def shape(self, place: int) -> tuple[int, ...]:
        """The sizes of an input."""
        one = self.given[place]
        return one.array.shape if isinstance(one, Known) else self.backend.shape(one)

    def dtype(self, place: int) -> str:
        """The type of an input by numpy's name."""
        one = self.given[place]
        return str(one.array.dtype) if isinstance(one, Known) else self.backend.dtype(one)

    def number(self, name: str, usual: float) -> float:
        """An attribute that is a number."""
        found = self.step.attributes.get(name, usual)
        return float(found) if isinstance(found, int | float) else usual

    def integer(self, name: str, usual: int) -> int:
        """An attribute that is an integer."""
        return int(self.number(name, usual))

    def text(self, name: str, usual: str) -> str:
        """An attribute that is text."""
        found = self.step.attributes.get(name, usual)
        return found if isinstance(found, str) else usual

    def many(self, name: str) -> list[int] | None:
        """An attribute that is a list of integers."""
        found = self.step.attributes.get(name)
        return [int(one) for one in found] if isinstance(found, list) else None

    def tensor(self, name: str) -> Array | None:
        """An attribute that is a tensor."""
        found = self.step.attributes.get(name)
        return self.held[found.place] if isinstance(found, Held) else None

    def axes(self, place: int, rank: int) -> list[int] | None:
        """Axes, as an attribute or from opset 13 or 18 on as an input, counted from the front; None
        where none are given."""
        found = self.many("axes")
        if found is None and self.has(place):
            found = self.ints(place, "axes")
        return None if found is None else [axis % rank for axis in found]

    def unsupported(self, what: str) -> Untranslated:
        """That this form is not in the table."""
        return Untranslated(f"{self.step.operator} {what}")


def as_number(array: Array, dtype: str) -> bool | float | int | None:
    """What is one number of the same kind as the other operand, as that; None for all else."""
    if array.size != 1 or np.dtype(dtype).kind != array.dtype.kind:
        return None
    found: bool | float | int = array.reshape(-1)[0].item()
    return found
