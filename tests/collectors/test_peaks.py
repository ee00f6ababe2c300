"""What a machine can do: measured, bounded, and left out where it cannot be known."""

from __future__ import annotations

import pytest

from fusescope.analysis.experiment import Cache
from fusescope.collectors.tasks import peaks
from fusescope.collectors.workers.jobs import PeaksJob

KIB, MIB = 2**10, 2**20
CACHES = (
    Cache(1, "data", 32 * KIB, 2),
    Cache(1, "instruction", 32 * KIB, 2),
    Cache(2, "unified", 384 * KIB, 2),
    Cache(3, "unified", 3 * MIB, 1),
)


def job(caches: tuple[Cache, ...] = CACHES, memory_bytes: int | None = None) -> PeaksJob:
    return PeaksJob(threads=1, spin=False, caches=caches, memory_bytes=memory_bytes)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMM_SECONDS", "INT8_SECONDS", "LEVEL_SECONDS", "MEMORY_SECONDS"):
        monkeypatch.setattr(peaks, name, 0.01)
    monkeypatch.setattr(peaks, "MIN_ARRAY_BYTES", 4 * MIB)
    monkeypatch.setattr(peaks, "MAX_ARRAY_BYTES", 8 * MIB)


@pytest.mark.usefixtures("short")
def test_every_peak_lies_in_its_spread() -> None:
    found = peaks.run(job())
    assert found.gemm_flops_per_s and found.int8_ops_per_s and found.gemm_spread
    assert found.int8_spread and found.int8_n in peaks.PRODUCT_SIZES
    for best, spread in (
        (found.gemm_flops_per_s, found.gemm_spread),
        (found.int8_ops_per_s, found.int8_spread),
        *((one.bytes_per_s, one.spread) for one in found.bandwidths),
    ):
        assert 0 < spread.low <= spread.high <= best
    assert [one.level for one in found.bandwidths] == [2, 3, None]
    second, third, memory = (one.working_set_bytes for one in found.bandwidths)
    assert second <= 192 * KIB and third <= 1.5 * MIB  # half of the cache
    assert memory == 3 * 6 * MIB  # arrays of twice the last cache


@pytest.mark.usefixtures("short")
def test_what_does_not_fit_into_memory_is_left_out() -> None:
    assert [one.level for one in peaks._bandwidths(job(memory_bytes=MIB))] == [2]


@pytest.mark.usefixtures("short")
def test_a_cache_that_arrays_cannot_exceed_leaves_main_memory_unknown() -> None:
    large = (Cache(3, "unified", 64 * MIB, 4),)
    assert peaks._memory_array_bytes({3: large[0]}, job(large)) == 0
    small = Cache(2, "unified", 512 * KIB, 8)
    assert peaks._memory_array_bytes({2: small}, job((small,))) == 4 * MIB
    assert peaks._memory_array_bytes({}, job(())) == 4 * MIB


def test_a_machine_that_refuses_the_arrays_has_no_bandwidth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("Failed to allocate memory")

    monkeypatch.setattr(peaks, "_bound", refuse)
    assert peaks._bandwidth(2, MIB, 1, job()) is None


def test_spread_is_of_the_rate() -> None:
    """Times 1, 2, 3, 4, 5 µs: quartiles 2 and 4 µs, so rates of 1000 / 4 µs and 1000 / 2 µs."""
    spread = peaks._spread(1000, [1000, 2000, 3000, 4000, 5000])
    assert (spread.low, spread.high) == pytest.approx((1000 / 4e-6, 1000 / 2e-6))
    assert peaks._spread(10, [1000]) == peaks._spread(10, [1000, 1000])
