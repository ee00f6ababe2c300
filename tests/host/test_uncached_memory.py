"""An allocator that keeps no memory, by how often the host allocates and frees in each step."""

from __future__ import annotations

import numpy as np
import pytest

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.host.uncached import Uncached, uncached_memory
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import change_sentence
from fusescope.analysis.wording.explanation.trace import trace_sentence
from tests.host.hosts import Span, host_of
from tests.step_traces import Kernel, steps_of

EDGES = (np.array([0, 1000]), np.array([1000, 2000]))


def calls(names: tuple[str, str], of_units: tuple[int, int]) -> list[Span]:
    """So many calls of 10 ns that allocate and of 20 ns that free in each of two units."""
    spans: list[Span] = []
    for unit, count in enumerate(of_units):
        for at in range(count):
            begin = unit * 1000 + at * 40
            spans.append((0, "runtime", names[0], begin, begin + 10))
            spans.append((0, "runtime", names[1], begin + 15, begin + 35))
    return spans


@pytest.mark.parametrize(
    "names",
    [
        ("cudaMalloc", "cudaFree"),
        ("hipMalloc", "hipFree"),
        ("cuMemAlloc_v2", "cuMemFree_v2"),
        ("aclrtMalloc", "aclrtFree"),
    ],
)
def test_memory_freed_in_every_unit_is_not_kept(names: tuple[str, str]) -> None:
    host = host_of(calls(names, (20, 20)))
    assert host is not None
    assert uncached_memory(host, *EDGES) == Uncached(names[1], 40, 40, 40 * 20, (20, 20))


@pytest.mark.parametrize(
    ("names", "of_units"),
    [
        (("cudaMalloc", "cudaFree"), (20, 0)),  # at the start only
        (("cudaMalloc", "cudaFree"), (24, 4)),  # as at the start
        (("cudaMalloc", "cudaFree"), (5, 5)),  # seldom
        (("cudaMallocAsync", "cudaFreeAsync"), (20, 20)),  # whose pool keeps it
        (("cudaMallocHost", "cudaFreeHost"), (20, 20)),  # memory of the host
    ],
)
def test_other_allocations_are_no_allocator_that_keeps_nothing(
    names: tuple[str, str], of_units: tuple[int, int]
) -> None:
    host = host_of(calls(names, of_units))
    assert host is not None
    assert uncached_memory(host, *EDGES) is None


def test_memory_that_grows_is_kept() -> None:
    """12 of 40 allocations are freed again."""
    spans = [
        span
        for unit in (0, 1000)
        for at in range(20)
        for span in (
            (0, "runtime", "cudaMalloc", unit + at * 40, unit + at * 40 + 10),
            *([(0, "runtime", "cudaFree", unit + at * 40 + 15, unit + at * 40 + 35)]
              if at < 6 else []),
        )
    ]  # fmt: skip
    host = host_of(spans)
    assert host is not None
    assert uncached_memory(host, *EDGES) is None


def steps(frees: int, short_us: int = 20) -> Trace:
    """3 steps of a kernel of 100 us, the host in `frees` calls of 20 us, in the first step of
    `short_us`, and as many short ones that allocate, and a kernel of 100 us."""
    spans: list[Span] = []
    launches: list[tuple[int, float]] = []
    length = 200 + frees * 21
    for step in range(3):
        begin = step * length * 1000
        for at in range(frees):
            now = begin + 100_000 + at * 21_000
            spans.append((0, "runtime", "cudaMalloc", now, now + 900))
            takes = (20 if step else short_us) * 1000
            spans.append((0, "runtime", "cudaFree", now + 1000, now + 1000 + takes))
        launches += [(0, max(0, begin / 1000 - 1)), (0, begin / 1000 + length - 100)]
    kernels = [Kernel("first", 100), Kernel("second", 100, after_us=frees * 21)]
    return steps_of([kernels] * 3, spans=spans, launches=launches)


def test_one_trace_is_told_that_its_allocator_keeps_no_memory() -> None:
    """20 calls of 20 us a step: 400 us of 620 in which the device waits."""
    found = explain_trace(steps(20))
    assert found is not None
    saving = found.savings[0]
    assert (saving.code, saving.values["frees"], saving.values["freeing_ns"]) == (
        "idle", 20, 400_000,
    )  # fmt: skip
    text = trace_sentence(found)
    assert "The allocator keeps no memory" in text
    assert "cudaFree is called 20 times per step, which takes the host 400 µs" in text
    assert "PYTORCH_NO_CUDA_MEMORY_CACHING" in text
    assert "A call takes" not in text  # as long in every step


def test_calls_that_take_longer_in_some_steps_are_told_with_both_times() -> None:
    found = explain_trace(steps(20, short_us=5))
    assert found is not None
    text = trace_sentence(found)
    assert "cudaFree is called 20 times per step, which takes the host 300 µs" in text
    told = "A call takes 5.00 µs on average in the fastest step, 20.0 µs in the slowest."
    assert told in text


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((1, 20), "The candidate's allocator keeps no memory: cudaFree is called 20 times"),
        ((20, 1), "The baseline's allocator keeps no memory: cudaFree is called 20 times"),
        ((20, 40), "On neither side the allocator keeps memory: cudaFree is called 40 times"),
    ],
)  # fmt: skip
def test_a_pair_is_told_whose_allocator_keeps_no_memory(counts: tuple[int, int], told: str) -> None:
    found = explain(steps(counts[0]), steps(counts[1]))
    assert found is not None
    [change] = [each for each in found.changes if each.values.get("cause") == "cudaFree"]
    assert told in change_sentence(change, found.unit)
    assert ("MEMORY_CACHING" in change_sentence(change, found.unit)) == (counts[1] > 1)
