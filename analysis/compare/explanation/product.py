"""Matrix products of one kind in a unit: which of a layer they are, their sizes, time and rates."""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis.operators.factors import Factors
from fusescope.analysis.operators.projections import Projection
from fusescope.analysis.work_units.units import UnitEvidence

_INTENSE = 100.0  # FLOP/B below which memory, not arithmetic, may set the rate


@dataclass(frozen=True)
class Product:
    """Matrix products of one kind in a unit: how many on average, and their time in ns.

    `projection` is which product of a layer they are, None where nothing says it; `module` the
    innermost type of module around them, '' for none. `evidence` says what both rest on: *named* by
    modules of the file, *ordered* by their place in a layer or in a replayed graph, or *guessed*,
    of a kernel by its name.
    With `is_of_other` the `factors` have the weight that the same product has in the other file.
    """

    projection: Projection | None
    module: str
    kernel: str
    count: float
    ns: int
    factors: Factors | None
    evidence: UnitEvidence
    is_of_other: bool = False

    @property
    def flops_per_s(self) -> float | None:
        """Return operations / time; None where the sizes are not known."""
        return self._rate(self.factors.flops) if self.factors else None

    @property
    def weight_bytes_per_s(self) -> float | None:
        """Return bytes of the weights / time, each weight read once; None likewise."""
        return self._rate(self.factors.weight_bytes) if self.factors else None

    def _rate(self, of_one: float) -> float:
        return of_one * self.count / max(1, self.ns) * 1e9

    @property
    def computes(self) -> bool:
        """Return whether arithmetic rather than memory sets how fast they are."""
        return self.factors is not None and self.factors.intensity >= _INTENSE


@dataclass(frozen=True)
class Faster:
    """Products that would take `ns` less at the rate that the others reach together."""

    product: Product
    others_per_s: float
    ns: int
