"""The stopping rule, the replacement of loaded blocks and the time budget, without an engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.collectors.recording import blocks, budget, series
from fusescope.collectors.recording.budget import BlockCost, Deadline
from fusescope.collectors.recording.model_blocks import ModelBlocks
from fusescope.collectors.recording.series import Series
from fusescope.collectors.workers.jobs import (
    BlockJob,
    BlockMeasured,
    Lane,
    LaneRuns,
    ProfiledRuns,
    SessionSettings,
)

LANES = blocks.lanes(("unfused", "fused"), "unfused")
SETTINGS = SessionSettings("m", "i", (), 1, spin=False)


class Clock:
    """A clock that only the fake worker moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(series, "time", made)
    monkeypatch.setattr(budget, "time", made)
    return made


@pytest.fixture
def make(tmp_path: Path, clock: Clock) -> Callable[..., Series]:
    """make(run_ms=…, fixed_s=…, **fields): a series whose worker takes the time it says."""

    def build(
        run_ms: Callable[[int], float] = lambda attempt: 10.0,
        fixed_s: float = 1.0,
        seconds: float | None = None,
        settings: SessionSettings = SETTINGS,
        lanes: tuple[Lane, ...] = LANES,
        jobs: list[BlockJob] | None = None,
        **fields: Any,
    ) -> Series:
        def work(job: BlockJob) -> BlockMeasured:
            if jobs is not None:
                jobs.append(job)
            run_ns = int(run_ms(job.attempt) * 1e6)
            clock.now += fixed_s + run_ns * job.rounds * len(job.lanes) / 1e9
            return BlockMeasured(
                [
                    LaneRuns(lane.variant, lane.copy, [run_ns] * job.rounds, [run_ns] * job.rounds)
                    for lane in job.lanes
                ],
                [
                    ProfiledRuns(variant, f"{job.profiles}/{variant}.json")
                    for variant in job.profiled_variants
                ],
            )

        run = ModelBlocks(settings, lanes, 0, 5, work)
        return Series(
            **{
                "rounds": 24,
                "looks": blocks.LOOKS,
                "folder": tmp_path,
                "cost": BlockCost(fixed_s, 0.03),
                "deadline": Deadline.after(seconds),
                "quiet_reference": None,
                "measure": run.measure,
                **fields,
            }
        )

    return build


@pytest.mark.parametrize(
    ("decides_at", "complete", "stopped"),
    [(8, 8, "decided"), (14, 14, "decided"), (24, 24, "blocks"), (99, 24, "blocks")],
)
def test_looks_are_asked_at_8_and_14_only(
    make: Callable[..., Series], decides_at: int, complete: int, stopped: str
) -> None:
    asked: list[int] = []

    def enough() -> bool:
        asked.append(len(recording.complete))
        return asked[-1] == decides_at

    recording = make()
    assert recording.run(enough, lambda: None) == stopped
    assert len(recording.complete) == complete
    assert asked == [look for look in (8, 14) if look <= complete]


def test_a_fixed_number_of_blocks(make: Callable[..., Series]) -> None:
    recording = make(looks=(3,))
    assert recording.run(lambda: True, lambda: None) == "blocks"
    assert len(recording.complete) == 3


def test_loaded_blocks_are_replaced_and_counted(make: Callable[..., Series]) -> None:
    """Quiet is 10 ms; every third attempt takes 12 ms, which is above 10 * 1.10."""
    recording = make(
        run_ms=lambda attempt: 12.0 if attempt % 3 == 0 else 10.0,
        looks=(8,),
        quiet_reference=math.log(0.010),
    )
    recording.run(lambda: False, lambda: None)
    assert len(recording.complete) == 8
    assert recording.replaced == 3  # attempts 3, 6, 9 of 11
    assert recording.loaded == 0
    assert recording.levels() == [pytest.approx(math.log(0.010))] * 8


def test_a_little_slower_is_no_load(make: Callable[..., Series]) -> None:
    recording = make(run_ms=lambda attempt: 10.9, looks=(8,), quiet_reference=math.log(0.010))
    recording.run(lambda: False, lambda: None)
    assert recording.replaced == 0


def test_replacing_ends_after_twice_the_blocks(make: Callable[..., Series]) -> None:
    recording = make(run_ms=lambda attempt: 20.0, looks=(8,), quiet_reference=math.log(0.010))
    recording.run(lambda: False, lambda: None)
    assert (len(recording.complete), recording.attempts, recording.replaced) == (8, 16, 8)
    assert recording.loaded == 8


def test_loaded_blocks_that_the_budget_keeps_are_counted(make: Callable[..., Series]) -> None:
    """A block takes 1 + 24 * 3 * 0.01 = 1.72 s, and 1.864 s under load (attempts 2 and 7 of 8).
    14.5 s leave time for eight blocks and no ninth."""
    recording = make(
        run_ms=lambda attempt: 12.0 if attempt in (2, 7) else 10.0,
        seconds=14.5,
        looks=(8,),
        quiet_reference=math.log(0.010),
    )
    recording.run(lambda: False, lambda: None)
    assert (len(recording.complete), recording.attempts, recording.replaced) == (8, 8, 0)
    assert recording.loaded == 2


def test_without_a_quiet_reference_no_block_counts_as_loaded(make: Callable[..., Series]) -> None:
    recording = make(run_ms=lambda attempt: 10.0 * attempt, looks=(3,))
    recording.run(lambda: False, lambda: None)
    assert recording.loaded == 0


def test_rounds_shrink_to_the_budget_and_blocks_do_not(make: Callable[..., Series]) -> None:
    """24 rounds would take 8 * (1 + 24 * 0.03) = 13.76 s; 12 s leave room for 16 rounds."""
    recording = make(seconds=12.0, looks=(8,))
    recording.run(lambda: False, lambda: None)
    assert len(recording.complete) == 8
    assert recording.kept_rounds == 16
    assert {len(lane.wall_ns) for block in recording.complete for lane in block.lanes} == {16}


def test_a_budget_that_is_too_small_gives_five_blocks_of_three_rounds(
    make: Callable[..., Series],
) -> None:
    recording = make(seconds=2.0)
    assert recording.run(lambda: False, lambda: None) == "seconds"
    assert len(recording.complete) == 5
    assert recording.kept_rounds == 3


def test_a_bigger_budget_goes_on_after_the_first_look(
    make: Callable[..., Series], clock: Clock
) -> None:
    recording = make(seconds=20.0)
    assert recording.run(lambda: False, lambda: None) == "seconds"
    assert len(recording.complete) == 11  # 1.72 s each; the 12th would end at 20.64 s
    assert clock.now <= 20.0


def test_blocks_keep_the_rounds_they_had_before_the_budget_shrank_them(
    make: Callable[..., Series],
) -> None:
    """The estimate was too low, so the first block has more rounds than the later ones."""
    recording = make(seconds=12.0, looks=(8,), cost=BlockCost(0.1, 0.03))
    recording.run(lambda: False, lambda: None)
    samples = recording.samples("unfused")
    assert len(recording.complete) == 8
    rounds = [len(block.lanes[0].wall_ns) for block in recording.complete]
    assert rounds[0] == 24
    assert recording.kept_rounds == min(rounds) < 24
    assert len(samples.round) == 2 * sum(rounds)
    for block, kept in enumerate(rounds):
        places = zip(samples.block, samples.round, samples.copy, strict=True)
        of_block = [place for one, place, copy in places if (one, copy) == (block, 2)]
        assert of_block == list(range(kept))


def test_spinning_measures_each_lane_in_a_worker_of_its_own(make: Callable[..., Series]) -> None:
    recording = make(looks=(1,), settings=SessionSettings("m", "i", (), 2, spin=True))
    recording.run(lambda: False, lambda: None)
    (block,) = recording.complete
    assert sorted((lane.variant, lane.copy) for lane in block.lanes) == [
        ("fused", 1), ("unfused", 1), ("unfused", 2),
    ]  # fmt: skip
    assert sorted(profile.variant for profile in block.profiles) == ["fused", "unfused"]


def test_one_variant_that_spins_gives_all_a_worker_of_their_own(
    make: Callable[..., Series],
) -> None:
    lanes = blocks.lanes(("fused", "spin"), "fused")
    jobs: list[BlockJob] = []
    recording = make(looks=(1,), lanes=lanes, jobs=jobs)
    recording.run(lambda: False, lambda: None)
    assert [len(job.lanes) for job in jobs] == [1, 1, 1]
    [block] = recording.complete
    assert {(lane.variant, lane.copy) for lane in block.lanes} == {
        ("fused", 1), ("fused", 2), ("spin", 1),
    }  # fmt: skip


def test_samples_keep_both_copies_of_the_baseline(make: Callable[..., Series]) -> None:
    recording = make(looks=(2,), rounds=3)
    recording.run(lambda: False, lambda: None)
    samples = recording.samples("unfused")
    assert samples.block == [0] * 6 + [1] * 6
    assert samples.copy == [1, 1, 1, 2, 2, 2] * 2
    assert samples.round == [0, 1, 2] * 4
    entries, files = recording.profiles("fused")
    assert [entry.file for entry in entries] == ["profiles/fused/0.json", "profiles/fused/1.json"]
    assert list(files) == [entry.file for entry in entries]


@given(st.integers(0, 2**32), st.integers(1, 50), st.integers(0, 30))
def test_a_plan_is_balanced_and_repeatable(seed: int, attempt: int, rounds: int) -> None:
    plan = blocks.plan_block(LANES, seed=seed, attempt=attempt, rounds=rounds)
    assert plan == blocks.plan_block(LANES, seed=seed, attempt=attempt, rounds=rounds)
    assert len(plan.rounds) == rounds
    for order in (plan.creation, *plan.rounds):
        assert sorted(order, key=str) == sorted(LANES, key=str)


def test_plans_differ_between_blocks_and_seeds() -> None:
    plans = {
        blocks.plan_block(LANES, seed=seed, attempt=attempt, rounds=24)
        for seed in range(3)
        for attempt in range(3)
    }
    assert len(plans) == 9


def test_lanes_are_every_variant_and_the_baseline_again() -> None:
    assert blocks.lanes(("a", "b"), "b") == (Lane("a", 1), Lane("b", 1), Lane("b", 2))
