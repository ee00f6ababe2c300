"""Figures of fleets, computed by hand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.charts.delays import delays as delays_figure
from fusescope.analysis.fleet.binomial import share_interval
from fusescope.analysis.fleet.causes import causes
from fusescope.analysis.fleet.differing import stages
from fusescope.analysis.fleet.examined import examine
from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.links import slow_links, transfers
from fusescope.analysis.fleet.outliers import outliers
from fusescope.analysis.fleet.slow_ranks import slow_ranks, votes
from fusescope.analysis.fleet.step_split import Delays, Split, by_rank, by_stage, delays
from fusescope.analysis.fleet.straggler_free import straggler_free
from fusescope.analysis.fleet.sweep import union_between
from fusescope.analysis.fleet.versus import versus
from fusescope.analysis.ranks.aligned import Aligned
from fusescope.analysis.ranks.aligned import aligned as aligned_rows
from fusescope.analysis.ranks.bus import bus_bandwidth
from fusescope.analysis.ranks.grouped import Grouped
from fusescope.analysis.wording.fleet.sentences import (
    cause_parts,
    free_parts,
    state_sentences,
    text_of,
)
from tests.fleet.jobs import by_hand

# Four ranks, twenty collectives in two steps: rank 2 comes 40 ns late in each, transfers take 60.
LATE = [
    {"rank": rank, "index": at, "place": at, "step": at // 10,
     "start_ns": at * 200 + 40 * (rank == 2), "dur_ns": 60 if rank == 2 else 100 + rank,
     "before_ns": 140 if rank == 2 else 100, "before_busy_ns": 130 if rank == 2 else 90}
    for rank in range(4)
    for at in range(20)
]  # fmt: skip
STEPS = [
    {"rank": rank, "number": step, "split_ns": 2000, "computing_ns": 1000, "uncovered_ns": 800,
     "free_ns": 200, "communication_ns": 900}
    for rank in range(4)
    for step in range(2)
]  # fmt: skip


def aligned(fleet: Fleet) -> Aligned:
    """The collectives of a fleet side by side."""
    return aligned_rows(fleet.collectives)


def test_the_rank_of_the_shortest_execution_has_every_vote() -> None:
    fleet = by_hand(LATE, STEPS)
    found = aligned(fleet)
    assert votes(found).rank.tolist() == [2] * 20
    [slow] = slow_ranks(fleet, found)
    assert (slow.rank, slow.votes, slow.collectives, slow.steps) == (2, 20, 20, 2)
    assert slow.chance == pytest.approx(0.25)
    # all of twenty: (alpha / 2) ** (1 / 20), alpha = 1 % / 4 ranks
    assert slow.low == pytest.approx((0.0025 / 2) ** (1 / 20)) and slow.high == 1
    # the others took 100, 101 and 103 ns, their median is 41 more than 60
    assert slow.waited_ns == pytest.approx(41 * 10) and slow.cost == pytest.approx(820 / 4000)


def test_a_rank_that_was_itself_kept_waiting_has_no_vote() -> None:
    waited = [{**row, "before_ns": 100} for row in LATE]
    assert votes(aligned(by_hand(waited, STEPS))).rank.tolist() == [-1] * 20


def test_pairs_do_not_vote_and_jitter_names_nobody() -> None:
    pairs = [{**row, "is_pair": True} for row in LATE]
    assert slow_ranks(by_hand(pairs, STEPS), aligned(by_hand(pairs, STEPS))) == ()
    turns = [
        {**row, "dur_ns": 60 if row["rank"] == row["index"] % 4 else 100 + row["rank"],
         "before_ns": 140 if row["rank"] == row["index"] % 4 else 100}
        for row in LATE
    ]  # fmt: skip
    fleet = by_hand(turns, STEPS)
    assert set(votes(aligned(fleet)).rank) == {0, 1, 2, 3}
    assert slow_ranks(fleet, aligned(fleet)) == ()


def test_collectives_that_are_not_whole_are_left_out() -> None:
    rows = [row for row in LATE if not (row["rank"] == 1 and row["index"] == 3)]
    rows = [{**row, "bytes": 7} if (row["rank"], row["index"]) == (0, 5) else row for row in rows]
    found = aligned(by_hand([*rows, LATE[0]], STEPS))  # once more: the first is there twice
    assert (len(found.table), found.left_out) == (17, 3)
    assert found.wait_ns.min() == 0 and found.wait_ns.max() == 43


def test_a_collective_of_a_group_of_one_rank_lacks_nobody() -> None:
    alone = [{"rank": rank, "group": f"own {rank}", "size": 1} for rank in range(4)]
    lost = {"rank": 0, "group": "pair", "size": 2}  # of which the other rank is missing
    assert aligned(by_hand([*LATE, *alone], STEPS)).left_out == 0
    assert aligned(by_hand([*LATE, *alone, lost], STEPS)).left_out == 1


def test_without_the_slow_rank_the_replay_is_shorter_by_what_it_was_late() -> None:
    fleet = by_hand(LATE, STEPS)
    found = aligned(fleet)
    free = straggler_free(fleet, found, slow_ranks(fleet, found))
    assert free is not None
    # Rank 0 leaves a collective at 100 and comes 100 later; rank 2 comes at 240 in place of 200.
    # 20 transfers of 60, 19 times 140 before them, or 100, the median of its group.
    assert free.replayed_ns == pytest.approx((20 * 60 + 19 * 140) / 2)
    assert free.saved == pytest.approx(1 - (20 * 60 + 19 * 100) / (20 * 60 + 19 * 140))
    assert free.modelled_ns == pytest.approx(free.step_ns - free.saved_ns)
    assert straggler_free(fleet, found, ()) is None
    # Rank 0 has them in the other order, so that none can ever begin.
    turned = by_hand([row if row["rank"] else {**row, "place": 20 - row["place"]} for row in LATE])
    turned = replace(turned, steps=fleet.steps)
    assert straggler_free(turned, aligned(turned), slow_ranks(fleet, found)) is None
    # The others wait 40 of 200 ns for it, and as much is saved of 200: nothing more to say.
    slow = slow_ranks(fleet, found)
    more = "then waits for another rank"
    assert more not in text_of(free_parts(free, slow))
    assert more in text_of(free_parts(replace(free, saved=0.0), slow))


def test_what_made_it_late_is_measured_or_said_not_to_be() -> None:
    def rows(mm: int) -> pd.DataFrame:
        return pd.DataFrame({"segment": range(20), "name": ["mm"] * 20, "dur_ns": [mm] * 20})

    for mm, coverage in ((130, 1.0), (100, 0.25)):
        fleet = by_hand(
            LATE, STEPS, rows={rank: rows(mm if rank == 2 else 90) for rank in range(4)}
        )
        found = aligned(fleet)
        [cause] = causes(fleet, found, slow_ranks(fleet, found))
        assert (cause.late_ns, cause.idle_ns, cause.others) == (800, 0, 3)
        assert cause.coverage == pytest.approx(coverage)
        assert cause.is_measured == (coverage >= 0.8)
        assert [(one.name, one.excess_ns) for one in cause.operators] == [("mm", 20 * (mm - 90))]


def test_the_parts_of_a_delay_add_up_to_it() -> None:
    """Two steps of ten collectives: 40 ns late before each, of which mm takes 50 more and the rest
    10 less: 400 ns a step = 500 - 100."""
    rows = {
        rank: pd.DataFrame(
            {"segment": [*range(20)] * 2, "name": ["mm"] * 20 + ["add"] * 20,
             "dur_ns": ([90] * 20 + [10] * 20) if rank == 2 else ([40] * 20 + [20] * 20)}
        )
        for rank in range(4)
    }  # fmt: skip
    found = examine(by_hand(LATE, STEPS, rows=rows))
    [cause] = found.causes
    assert text_of(cause_parts(cause, found.steps)) == (
        "Before those collectives rank 2 took 400 ns a step longer than the median of 3 other "
        "ranks: mm took 500 ns longer and everything else took 100 ns less."
    )


def test_collectives_of_one_rank_are_counted_apart() -> None:
    """Two ranks share two collectives; each has another group by itself, of 100 and 300 ns."""
    shared = [
        {"rank": rank, "group": "all", "index": at, "size": 2, "dur_ns": 50}
        for rank in range(2)
        for at in range(2)
    ]
    alone = [
        {"rank": rank, "group": f"own {rank}", "index": 0, "size": 1, "dur_ns": 100 + 200 * rank}
        for rank in range(2)
    ]
    found = examine(by_hand([*shared, *alone]))
    assert (found.collectives, found.left_out) == (2, 0)
    first, *_ = state_sentences(found)
    assert "2 executions of collectives in groups of one rank, of 200 ns each" in text_of(first)


@pytest.mark.parametrize(
    ("share", "ticks"),
    [(0.001, ["0.0 %", "0.5 %", "1.0 %"]), (0.2, ["0.0 %", "20.0 %", "40.0 %"])],
)
def test_the_scale_of_delays_has_a_text_for_each_tick(share: float, ticks: list[str]) -> None:
    """From 0 to twice the median of the latest rank, 1 % at the least."""
    figure = delays_figure(Delays((0, 1), (0,), np.array([[0.0], [share]])))
    assert figure is not None
    [heat] = figure.data
    assert list(heat.colorbar.ticktext) == ticks
    assert heat.colorbar.tickvals[-1] == heat.zmax


def test_a_slow_link_is_the_group_that_is_slowest_beyond_chance() -> None:
    rows = [
        {"rank": 2 * group + rank, "group": str(group), "index": at, "size": 2, "bytes": 4000,
         "dur_ns": (300 if group == 1 else 100) + 20 * rank}
        for group in range(4)
        for rank in range(2)
        for at in range(8)
    ]  # fmt: skip
    found = aligned(by_hand(rows))
    [link] = slow_links(found)
    assert (link.ranks, link.factor, link.slowest, link.collectives) == ((2, 3), 3.0, 8, 8)
    assert link.bandwidth == pytest.approx(4000 * 2 * 0.5 / 300e-9)
    [one] = transfers(found)
    assert (one.transfer_ns, one.wait_ns, one.skew_ns, one.groups) == (100, 10, 20, 4)
    assert slow_links(aligned(by_hand([row for row in rows if row["rank"] < 4]))) == ()


def test_a_transfer_that_the_profiler_counted_is_no_guess() -> None:
    """Of 1000 ns both ranks wait for a third one that is not here: data moved for 40 and 60 ns, so
    each waits 940 on top of the transfer of 60. Of the second collective nothing was counted; its
    shortest execution of 500 ns is assumed to be the transfer, and the other one waits 200."""
    counted = [
        {"rank": rank, "dur_ns": 1000, "transfer_ns": moved, "kind": "all_gather"}
        for rank, moved in enumerate([40, 60])
    ]
    uncounted = [
        {"rank": rank, "group": "2", "dur_ns": dur_ns, "transfer_ns": moved}
        for rank, (dur_ns, moved) in enumerate([(500, 0), (700, None)])
    ]
    told = {one.kind: one for one in transfers(aligned(by_hand([*counted, *uncounted])))}
    one, other = told["all_gather"], told["all_reduce"]
    assert (one.transfer_ns, one.wait_ns, one.basis) == (60, 940, "counter")
    assert (other.transfer_ns, other.wait_ns, other.basis) == (500, 100, "measured")
    # The bandwidth is that of 60 ns, not of 1000.
    assert one.bandwidth == pytest.approx(1000 * 0.5 / 60e-9)


def test_bus_bandwidth() -> None:
    assert bus_bandwidth("all_reduce", 4, 1000, 500) == pytest.approx(1000 * 2 * 3 / 4 / 500e-9)
    assert bus_bandwidth("all_gather", 4, 1000, 500) == pytest.approx(1000 * 3 / 4 / 500e-9)
    assert bus_bandwidth("broadcast", 4, 1000, 500) == pytest.approx(1000 / 500e-9)
    assert bus_bandwidth("all_reduce", 4, None, 500) is None


def test_ranks_differ_from_peers_and_stages_from_each_other() -> None:
    group = [{"rank": rank, "group": "a" if rank < 4 else "b"} for rank in range(8)]

    def kernels(**changes: dict[int, tuple[str, int]]) -> list[dict[str, object]]:
        told: list[dict[str, object]] = []
        for rank in range(8):
            told.append({"rank": rank, "kernel": "embed" if rank < 4 else "head"})
            kernel, count = changes.get("of", {}).get(rank, ("triton_poi_fused_add", 2))
            told.append({"rank": rank, "kernel": kernel, "least": count, "median": float(count),
                         "most": count, "op_class": "elementwise"})  # fmt: skip
        return told

    found = stages(by_hand(group, kernels=kernels()))
    assert found.of == dict.fromkeys(range(4), 0) | dict.fromkeys(range(4, 8), 1)
    assert found.differing == ()
    found = stages(by_hand(group, kernels=kernels(of={5: ("add", 2)})))
    [one] = found.differing
    assert (one.rank, one.what, one.missing, one.extra, one.alike) == (
        5, "lost_fusion", (("triton_poi_fused_add", 2.0),), (("add", 2.0),), 3,
    )  # fmt: skip
    assert found.of[5] == 1
    [one] = stages(by_hand(group, kernels=kernels(of={1: ("triton_poi_fused_add", 3)}))).differing
    assert (one.rank, one.what) == (1, "other_counts")
    [one] = stages(by_hand(group, kernels=kernels(of={1: ("triton_poi_fused_mul", 2)}))).differing
    assert one.what == "recompiled"
    halves = {0: ("add", 2), 1: ("add", 2)}
    assert stages(by_hand(group, kernels=kernels(of=halves))).differing == ()  # no majority


def test_counts_that_overlap_over_steps_do_not_differ() -> None:
    kernels = [{"rank": rank, "least": 1, "median": 1.0 + rank % 2, "most": 3} for rank in range(8)]
    assert stages(by_hand([{"rank": rank} for rank in range(8)], kernels=kernels)).count == 1


def test_split_by_rank_and_stage() -> None:
    splits = by_rank(by_hand(LATE, STEPS), {0: 0, 1: 0, 2: 1, 3: 1})
    assert [(one.rank, one.stage, one.steps) for one in splits] == [
        (0, 0, 2), (1, 0, 2), (2, 1, 2), (3, 1, 2),
    ]  # fmt: skip
    assert splits[0].step_ns == 2000 == splits[0].computing_ns + splits[0].uncovered_ns + 200
    assert [(one.stage, one.ranks) for one in by_stage(splits)] == [(0, 2), (1, 2)]
    # of steps of 1, 1 and 4 ms the mean, in which 1 + 0.5 + 0.5 ms are computing and so on
    uneven = [
        {"rank": rank, "number": n, "split_ns": ms * 1000, "computing_ns": ms * 500,
         "uncovered_ns": ms * 250, "free_ns": ms * 250, "communication_ns": 0}
        for rank in range(2)
        for n, ms in enumerate((1, 1, 4))
    ]  # fmt: skip
    for one in (*(splits := by_rank(by_hand((), uneven), {0: 0, 1: 0})), *by_stage(splits)):
        assert (one.step_ns, one.computing_ns, one.uncovered_ns, one.free_ns) == (
            2000, 1000, 500, 500,
        )  # fmt: skip


def test_delays_are_the_share_of_a_step_that_a_rank_came_late() -> None:
    found = delays(by_hand(LATE, STEPS), aligned(by_hand(LATE, STEPS)))
    assert (found.ranks, found.steps) == ((0, 1, 2, 3), (0, 1))
    assert found.shares[2].tolist() == [10 * 40 / 2000] * 2 and found.shares[0].tolist() == [0, 0]


def test_an_operator_far_from_the_median_of_the_ranks() -> None:
    rows = [
        {"rank": rank, "calls": 10, "median_ns": 130.0 if rank == 3 else 100.0 + rank % 2}
        for rank in range(8)
    ]
    fleet = by_hand(STEPS and LATE, STEPS, operators=rows)
    [one] = outliers(fleet, dict.fromkeys(range(8), 0))
    # the median of 100, 101, 100, 130, 100, 101, 100, 101 is 100.5, deviations from it 0.5
    assert (one.rank, one.median_ns) == (3, 100.5)
    assert one.score == pytest.approx(0.6745 * 29.5 / (0.01 * 100.5))
    assert one.total_ns == pytest.approx(295)


def test_two_fleets_are_paired_by_rank() -> None:
    def splits(step: float, ranks: range) -> list[Split]:
        return [Split(0, r, 1, 2, step * (1 + r / 100), 10, 5, 0, 5) for r in ranks]

    found = versus(splits(100, range(8)), splits(80, range(1, 9)))
    assert (found.paired, found.alone) == (7, (0, 8))
    step, computing, _, free = found.changes
    assert step.ratio == pytest.approx(0.8) and computing.ratio == pytest.approx(1)
    assert step.low is not None and step.high is not None and step.low <= 0.8001 <= step.high + 1e-3
    assert free.ratio is None and free.ranks == 0
    assert versus(splits(100, range(3)), splits(80, range(3))).changes[0].low is None


def test_share_interval_is_that_of_clopper_and_pearson() -> None:
    assert share_interval(0, 10, 0.05) == (0.0, pytest.approx(1 - 0.025 ** (1 / 10)))
    assert share_interval(10, 10, 0.05) == (pytest.approx(0.025 ** (1 / 10)), 1.0)
    low, high = share_interval(3, 10, 0.05)  # by the tails of the binomial
    assert sum(math.comb(10, k) * low**k * (1 - low) ** (10 - k) for k in range(3, 11)) == (
        pytest.approx(0.025)
    )
    assert sum(math.comb(10, k) * high**k * (1 - high) ** (10 - k) for k in range(4)) == (
        pytest.approx(0.025)
    )


INTERVALS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15)), max_size=8)


@given(INTERVALS, INTERVALS)
def test_unions_in_windows_count_each_moment_once(
    spans: list[tuple[int, int]], windows: list[tuple[int, int]]
) -> None:
    starts, ends = (np.array([f(s) for s in spans], dtype="int64") for f in
                    (lambda s: s[0], lambda s: s[0] + s[1]))  # fmt: skip
    begins = np.array([w[0] for w in windows], dtype="int64")
    stops = np.array([w[0] + w[1] for w in windows], dtype="int64")
    covered = set(itertools.chain(*(range(a, a + n) for a, n in spans)))
    assert union_between(starts, ends, begins, stops).tolist() == [
        len(covered & set(range(a, a + n))) for a, n in windows
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), min_size=1, max_size=30))
def test_quantiles_by_group_are_those_of_numpy(values: list[tuple[int, int]]) -> None:
    groups = np.array([g for g, _ in values], dtype="int64")
    numbers = np.array([v for _, v in values], dtype="float64")
    found = Grouped(groups, numbers)
    for group in set(groups.tolist()):
        mine = np.sort(numbers[groups == group])
        assert found.median()[group] == pytest.approx(np.median(mine))
        assert found.quantile(0.75)[group] == pytest.approx(np.quantile(mine, 0.75))
        assert numbers[found.first()[group]] == mine[0]
        if len(mine) > 1:
            assert found.median(skip=1)[group] == pytest.approx(np.median(mine[1:]))
