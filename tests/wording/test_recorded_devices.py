"""What is said of two files of other numbers of devices, and of kernels of one size by class."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import Change, Explanation, KernelTime
from fusescope.analysis.wording.explanation import change_sentence, leading_sentence
from tests.step_traces import Kernel, steps_of

STEP = [Kernel("gemm", 100, "matrix_product"), Kernel("add", 20)]


def explained(before: int, after: int) -> Explanation:
    """Two equal traces, of files that have such kernels of so many devices."""
    found = explain(steps_of([STEP] * 3), steps_of([STEP] * 3))
    assert found is not None and found.sides is not None
    sides = zip(found.sides, (before, after), strict=True)
    one, other = (replace(side, devices_alike=count) for side, count in sides)
    return replace(found, sides=(one, other))


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((1, 8), "The baseline's file has the same kernels of 1 device, the candidate's of 8; one"),
        (
            (8, 1),
            "The baseline's file has the same kernels of 8 devices, the candidate's of 1; one",
        ),
    ],
)
def test_other_numbers_of_devices_are_named(counts: tuple[int, int], told: str) -> None:
    sentence = leading_sentence(explained(*counts))
    assert sentence.startswith("No change stands out")
    assert told in sentence


def test_as_many_devices_are_not_named() -> None:
    assert "devices" not in leading_sentence(explained(8, 8))


def test_kernels_over_one_size_are_told_by_class() -> None:
    """10 + 6 ms of products, 4 ms element by element, and 0.1 ms of a cast, which is little."""
    kernels = (
        KernelTime("gemm_a", 2, 10_000_000, "matrix_product"),
        KernelTime("gemm_b", 2, 6_000_000, "matrix_product"),
        KernelTime("exp", 2, 4_000_000, "elementwise"),
        KernelTime("cast", 1, 100_000, "cast"),
    )
    values = MappingProxyType({"size": 151936, "head": 1})
    unit = explained(1, 1).unit
    change = Change("added", 20_100_000, 1, (), (), kernels, values=values)
    assert "(matrix product 16.0 ms and elementwise 4.00 ms)" in change_sentence(change, unit)
    two = replace(change, after=kernels[:2])
    assert "(matrix product (gemm_a and gemm_b))" in change_sentence(two, unit)
