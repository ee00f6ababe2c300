"""A simulated job in which four things are wrong: these are named, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.fleet_job import Job
from fusescope.analysis.fleet.examined import Examined, examine
from tests.fleet.jobs import fleet

PLANTED = Job(nodes=5, devices=4, slow=9, link=1, unfused=14, truncated=2)


def named(found: Examined) -> tuple[list[int], list[tuple[int, ...]], list[int], list[int | None]]:
    return (
        [one.rank for one in found.slow],
        [one.ranks for one in found.links],
        [one.rank for one in found.stages.differing],
        [one.rank for one in found.fleet.damaged],
    )


@pytest.fixture(scope="module")
def found() -> Examined:
    return examine(fleet(PLANTED))


def test_what_is_wrong_is_named_and_nothing_else(found: Examined) -> None:
    assert named(found) == ([9], [(1, 5, 9, 13, 17)], [14], [2])
    assert found.stages.differing[0].what == "lost_fusion"
    assert [kernel for kernel, _ in found.stages.differing[0].missing] == [
        "triton_poi_fused_add_gelu_mul"
    ]
    assert found.fleet.damaged[0].code == "truncated" and found.fleet.missing == ()


def test_what_made_the_rank_late_are_its_matrix_products(found: Examined) -> None:
    [cause] = found.causes
    assert cause.is_measured
    assert {one.name for one in cause.operators if one.share > 0.1} == {
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn",
        "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_tn",
    }
    # 20 % of (95 + 110) µs in each voted collective; noise of single kernels adds a little
    per_vote = sum(one.excess_ns for one in cause.operators) / found.slow[0].votes
    assert 0.6 * 41_000 < per_vote < 1.6 * 41_000


def test_the_link_is_three_times_as_slow_as_the_others(found: Examined) -> None:
    [link] = found.links
    assert 2.7 < link.factor < 3.3 and (link.slowest, link.collectives) == (6, 6)
    assert link.bandwidth is not None and link.others_bandwidth is not None
    assert link.others_bandwidth / link.bandwidth == pytest.approx(link.factor)


def test_the_delays_stand_out_in_the_heat_map(found: Examined) -> None:
    typical = np.nanmedian(found.delays.shares, axis=1)
    assert found.delays.ranks[int(np.nanargmax(typical))] == 9


def test_removing_the_slow_rank_never_makes_the_step_longer(found: Examined) -> None:
    free = found.straggler_free
    assert free is not None and 0 <= free.saved < 0.2
    assert free.replayed_ns == pytest.approx(free.step_ns, rel=0.2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(8))
def test_64_ranks_with_and_without_faults(seed: int) -> None:
    order = [int(rank) for rank in np.random.default_rng(seed + 1000).permutation(64)]
    slow, unfused, truncated, link = order[0], order[1], order[2], order[3] % 8
    job = Job(seed=seed, slow=slow, unfused=unfused, truncated=truncated, link=link)
    members = tuple(rank for rank in range(link, 64, 8) if rank != truncated)
    assert named(examine(fleet(job))) == ([slow], [members], [unfused], [truncated])
    assert named(examine(fleet(Job(seed=seed)))) == ([], [], [], [])
