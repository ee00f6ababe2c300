"""A sketch of a tensor: a few numbers by which equal tensors are found without keeping them.

Values are squashed by arcsinh first: a mask of -1e9 would otherwise hide everything beside it.
A sketch holds their mean, their norm around it and a random projection that adds each value, its
sign flipped at random, to one of 64 sums (count sketch; Charikar, Chen and Farach-Colton, 2002):
distances between sketches estimate those between tensors, to 18 % in one standard deviation,
and are 0 for equal ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fusescope.collectors.models.array import Array

SUMS = 64
BLOCK = 1 << 18  # values at a time; a multiple of SUMS
SEED = 20_240
DISTINCT = 4  # tensors of fewer different values are equal by chance
DISTINCT_SAMPLE = 4096
SAMPLED = 256
SAMPLE_TOLERANCE = 0.3

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sketch:
    """Of a tensor in C order: `kind` is numpy's ("f", "i", "u"), `odd` counts values that are not
    finite, `mean`, `norm` (around the mean), `sums` and `sample` are of squashed values."""

    kind: str
    shape: tuple[int, ...]
    count: int
    odd: int
    mean: float
    norm: float
    sums: Floats
    sample: Floats

    def permutes(self, other: Sketch, tolerance: float) -> bool:
        """Whether both may hold the same values in another order, by what order does not change."""
        scale = max(self.norm, other.norm)
        apart = max(abs(self.norm - other.norm), abs(self.mean - other.mean) * self.count**0.5)
        return (self.kind, self.odd) == (other.kind, other.odd) and apart <= tolerance * scale

    def resembles(self, taken: Floats) -> bool:
        """Whether a sample at the same positions is near this one's."""
        spread = float(np.linalg.norm(self.sample - self.sample.mean()))
        return float(np.linalg.norm(self.sample - taken)) <= SAMPLE_TOLERANCE * spread


def signed(values: Array) -> Array:
    """Bytes around 128 as bytes around 0: engines store a quantised tensor as either."""
    return values.astype(np.int16) - 128 if values.dtype == np.uint8 else values


def sketch(values: Array) -> Sketch | None:
    """Of the array in C order; None where equal values prove nothing: fewer than 4 of them."""
    values = signed(values)
    if values.dtype.kind not in "fiu" or not _has_distinct(values):
        return None
    flat = values.reshape(-1)
    total = squares = 0.0
    odd = 0
    sums, signs_sum = np.zeros(SUMS), np.zeros(SUMS)
    for number, block, bad in _blocks(flat):
        odd += bad
        total += float(block.sum())
        squares += float(block @ block)
        signs = _signs(number, block.size)
        sums += _folded(block * signs)
        signs_sum += _folded(signs)
    mean = total / flat.size
    norm = float(np.sqrt(max(squares - flat.size * mean * mean, 0.0)))
    sums -= mean * signs_sum
    return Sketch(values.dtype.kind, values.shape, flat.size, odd, mean, norm, sums, sample(values))


def sample(values: Array) -> Floats:
    """Squashed values at some random positions of the array in C order, the same for each size."""
    positions = np.random.default_rng([SEED, values.size]).integers(0, values.size, SAMPLED)
    return _squashed(values[np.unravel_index(positions, values.shape)])[0]


def distances(one: Sketch, others: Sequence[Sketch]) -> Floats:
    """||a-b|| / max of the norms around the means, estimated; the others are as long as `one`."""
    sums = np.stack([other.sums for other in others]) - one.sums
    means = np.array([other.mean for other in others]) - one.mean
    norms = np.maximum(np.array([other.norm for other in others]), one.norm)
    squares = (sums * sums).sum(axis=1) + one.count * means * means
    return np.asarray(np.sqrt(squares) / np.maximum(norms, np.finfo(np.float64).tiny))


def distance(one: Array, other: Array) -> float:
    """The same, exactly, of two arrays of one length in C order.

    Values that are not finite must be the same, or the distance is infinite. Where both arrays
    hardly vary, the scale is their norm instead.
    """
    total = squares = error = 0.0
    other_total = other_squares = 0.0
    pairs = zip(_blocks(one.reshape(-1)), _blocks(other.reshape(-1)), strict=True)
    for (_, a, bad), (_, b, other_bad) in pairs:
        if bad != other_bad:
            return np.inf
        error += float((a - b) @ (a - b))
        total, squares = total + float(a.sum()), squares + float(a @ a)
        other_total, other_squares = other_total + float(b.sum()), other_squares + float(b @ b)
    if error == 0.0:
        return 0.0
    count = max(one.size, 1)
    around = max(squares - total**2 / count, other_squares - other_total**2 / count)
    largest = max(squares, other_squares)
    return float(np.sqrt(error / (around if around > 1e-9 * largest else largest)))


def _blocks(flat: Array) -> Iterator[tuple[int, Floats, int]]:
    """Number, squashed values and how many were not finite (infinite ones become huge)."""
    for number, first in enumerate(range(0, flat.size, BLOCK)):
        block, bad = _squashed(flat[first : first + BLOCK])
        yield number, block, bad


def _squashed(values: Array) -> tuple[Floats, int]:
    """arcsinh of floats, and how many were not finite: those become 0 or huge."""
    squashed = values.astype(np.float64)
    if values.dtype.kind == "f":
        squashed = np.arcsinh(squashed)
    bad = int(squashed.size - np.isfinite(squashed).sum())
    return np.nan_to_num(squashed, nan=0.0, posinf=1000.0, neginf=-1000.0) if bad else squashed, bad


def _signs(number: int, count: int) -> Floats:
    """The first signs of one block; each block has its own, so that swapped blocks differ."""
    random = np.random.default_rng([SEED, number]).bytes(-(-count // 8))
    return np.asarray(1.0 - 2.0 * np.unpackbits(np.frombuffer(random, np.uint8), count=count))


def _folded(block: Floats) -> Floats:
    """SUMS sums of every SUMS-th value."""
    rest = -block.size % SUMS
    whole = np.pad(block, (0, rest)) if rest else block
    return np.asarray(whole.reshape(-1, SUMS).sum(axis=0))


def _has_distinct(values: Array) -> bool:
    """Whether there are enough different values; a sample is mostly enough to say yes."""
    flat = values.reshape(-1)
    step = max(1, flat.size // DISTINCT_SAMPLE)
    return any(np.unique(part).size >= DISTINCT for part in (flat[::step], flat))
