"""Verdicts: what is said, and above all when nothing may be said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare.timing.samples import (
    BlockTimes,
    block_times,
    paired_differences,
    record_times,
)
from fusescope.analysis.compare.timing.statistics import trimmed_mean
from fusescope.analysis.compare.timing.verdict import (
    Verdict,
    decided,
    paired_verdict,
    unpaired_verdict,
)
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording.sentences import interval_name, verdict_interval
from tests.factories import experiment_zip

NOISE = np.array([0.00, 0.01, -0.01, 0.005, -0.004, 0.012, -0.011, 0.002] * 3)


def record_of(unfused: np.ndarray, fused: np.ndarray, **options: object) -> ExperimentRecord:
    experiment = read(
        Source(
            "e.zip",
            experiment_zip({"unfused": list(unfused), "fused": list(fused)}, **options),  # type: ignore[arg-type]
        )
    )
    assert isinstance(experiment, Experiment)
    return experiment.record


def judge(unfused: np.ndarray, fused: np.ndarray, **options: object) -> Verdict:
    return paired_verdict(record_of(unfused, fused, **options), "unfused", "fused")


def test_a_clear_gain() -> None:
    times = 10 * np.exp(NOISE[:8])
    verdict = judge(times, times / 2)
    assert verdict.outcome == "faster" and verdict.reason is None
    assert verdict.speedup == pytest.approx(2, rel=1e-3)
    assert verdict.interval is not None
    assert verdict.interval.low <= verdict.speedup <= verdict.interval.high
    assert verdict.latency_change == pytest.approx(1 / verdict.speedup - 1)
    assert verdict.throughput_change == pytest.approx(verdict.speedup - 1)
    assert verdict.samples == (8, 8) and verdict.of == "unprofiled_wall"


def test_swapping_sides_swaps_the_verdict() -> None:
    times = 10 * np.exp(NOISE[:8])
    record = record_of(times, times / 2)
    there, back = (
        paired_verdict(record, "unfused", "fused"),
        paired_verdict(record, "fused", "unfused"),
    )
    assert back.outcome == "slower"
    assert there.speedup is not None and back.speedup is not None
    assert there.speedup * back.speedup == pytest.approx(1)
    assert there.latency_change == pytest.approx(back.throughput_change)


def test_drift_of_the_machine_cancels_inside_blocks() -> None:
    """Blocks twice as slow as others do not widen a paired interval."""
    drift = np.array([10.0, 20.0, 12.0, 19.0, 11.0, 18.0, 10.0, 20.0])
    verdict = judge(drift, drift * 0.97 * np.exp(NOISE[:8] / 10))
    assert verdict.outcome == "faster"
    assert verdict.interval is not None
    assert verdict.interval.high / verdict.interval.low < 1.01


def test_no_difference_is_cannot_tell() -> None:
    verdict = judge(10 * np.ones(8), 10 * np.exp(NOISE[:8] * 3))
    assert (verdict.outcome, verdict.reason) == ("cannot_tell", "within_noise")
    assert verdict.smallest_detectable is not None and verdict.smallest_detectable > 0


@pytest.mark.parametrize(("blocks", "reason"), [(1, "one_process"), (4, "few_runs")])
def test_few_blocks_give_a_guess_without_interval(blocks: int, reason: str) -> None:
    verdict = judge(np.full(blocks, 10.0), np.full(blocks, 5.0))
    assert (verdict.outcome, verdict.reason) == ("noise_unknown", reason)
    assert verdict.interval is None and verdict.smallest_detectable is None
    assert verdict.speedup == pytest.approx(2, rel=1e-3)


def test_copies_of_the_baseline_that_differ_forbid_a_verdict() -> None:
    times = np.full(8, 10.0)
    verdict = judge(times, times / 2, control=(1.2,))
    assert (verdict.outcome, verdict.reason) == ("cannot_tell", "control_differs")
    assert verdict.noise_floor is not None and verdict.noise_floor.high < 1


def test_planned_looks_decide_in_order() -> None:
    noisy = np.concatenate([NOISE[:8] * 8, NOISE[8:]])
    times = np.full(24, 10.0)
    verdict = judge(times, times * 0.98 * np.exp(noisy), looks=(8, 14, 24))
    assert verdict.outcome == "faster" and verdict.decided_at in (14, 24)
    assert verdict.alpha == pytest.approx(0.0221)
    record = record_of(times[:8], (times * 0.98 * np.exp(noisy))[:8], looks=(8, 14, 24))
    assert not decided(record)
    assert decided(record_of(times[:8], times[:8] / 2, looks=(8, 14, 24)))


def test_a_recording_cut_short_is_judged_on_all_its_blocks() -> None:
    """11 blocks of 8, 14, 24: the first 8 are too noisy, all 11 settle it."""
    noisy = np.concatenate([NOISE[:8] * 8, np.zeros(3)])
    times = np.full(11, 10.0)
    verdict = judge(times, times * 0.93 * np.exp(noisy), looks=(8, 14, 24))
    assert (
        judge(times[:8], (times * 0.93 * np.exp(noisy))[:8], looks=(8, 14, 24)).decided_at is None
    )
    assert (verdict.outcome, verdict.decided_at) == ("faster", 11)


def test_more_candidates_need_more_evidence() -> None:
    times = {"unfused": [10.0] * 8, "fused": [9.9] * 8, "basic": [9.9] * 8}
    experiment = read(Source("e.zip", experiment_zip(times)))
    assert isinstance(experiment, Experiment)
    assert paired_verdict(experiment.record, "unfused", "fused").alpha == pytest.approx(0.025)


def test_blocks_that_one_side_lacks_are_left_out() -> None:
    record = record_of(np.full(6, 10.0), np.full(6, 5.0))
    whole = record_times(record.variant("unfused"))
    part = record_times(record.variant("fused"))
    assert len(paired_differences(whole, BlockTimes(part.table.drop(index=[1, 4])))) == 4


def test_times_of_zero_and_warm_up_do_not_count() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "block": [0, 0, 0, 1],
            "copy": [1, 1, 1, 1],
            "dur_ns": [0, 10**9, 5 * 10**9, 10**9],
            "warmup": [False, False, True, False],
        }
    )
    assert block_times(frame).mean.tolist() == [0.0, 0.0]


def unpaired(speedup: float, runs: int = 12, pairing: str = "unpaired_runs") -> Verdict:
    base = NOISE[:runs]
    return unpaired_verdict(
        base,
        base - math.log(speedup),
        "run_span",
        pairing,  # type: ignore[arg-type]
    )


def test_two_files_beyond_the_spread_of_processes() -> None:
    verdict = unpaired(1.5)
    assert verdict.outcome == "faster" and verdict.speedup == pytest.approx(1.5)
    assert unpaired(1 / 1.5).outcome == "slower"
    assert verdict_interval(verdict).startswith("95 % interval of these runs ")
    assert interval_name(verdict) == "95 % interval of these runs"
    files = unpaired(1.5, pairing="separate_files")  # of several processes
    assert verdict_interval(files).startswith("95 % interval 1.")


def test_two_processes_within_what_they_differ_by_are_told_without_an_interval() -> None:
    """Two processes that run the same graph can differ by 30 %, however many runs each has."""
    verdict = unpaired(1.25)
    assert (verdict.outcome, verdict.reason) == ("noise_unknown", "one_process")
    assert verdict.interval is None and verdict.smallest_detectable is None
    assert verdict.speedup == pytest.approx(1.25) and verdict.times_ns is not None
    assert unpaired(1.0).outcome == "noise_unknown"


def test_recordings_of_several_processes_need_more_than_drift() -> None:
    verdict = unpaired(1.06, pairing="unpaired_blocks")
    assert (verdict.outcome, verdict.reason) == ("cannot_tell", "within_process_spread")
    assert verdict.interval is not None and verdict.interval.low > 1
    assert unpaired(1.2, pairing="unpaired_blocks").outcome == "faster"
    assert unpaired(1.06, pairing="alternating_files").outcome == "faster"


def test_files_of_few_runs() -> None:
    for runs, reason in ((4, "few_runs"), (1, "single_run")):
        verdict = unpaired(2.0, runs=runs)
        assert (verdict.outcome, verdict.reason) == ("noise_unknown", reason)
        assert not verdict.is_decided
    empty = unpaired_verdict(np.empty(0), np.empty(0), "run_span", "unpaired_runs")
    assert (empty.reason, empty.speedup) == ("no_times", None)


BLOCKS_AND_RATIOS = (
    st.lists(st.floats(1.0, 100.0), min_size=1, max_size=9),
    st.lists(st.floats(0.5, 2.0), min_size=9, max_size=9),
)


@settings(max_examples=8)
@given(*BLOCKS_AND_RATIOS)
def test_what_is_shown_of_both_sides_has_the_sign_of_the_change(
    blocks: list[float], ratios: list[float]
) -> None:
    """Paired ratios and the typical time of each side by itself can have different signs."""
    times = np.array(blocks)
    verdict = judge(times, times * np.array(ratios[: len(blocks)]))
    assert verdict.times_ns is not None and verdict.latency_change is not None
    before, after = verdict.times_ns
    assert after / before - 1 == pytest.approx(verdict.latency_change, abs=1e-9)
    if verdict.interval is not None and verdict.speedup is not None:
        assert verdict.interval.low <= verdict.speedup <= verdict.interval.high


@pytest.mark.exhaustive
@given(*BLOCKS_AND_RATIOS)
def test_what_is_shown_of_many_pairs_has_the_sign_of_the_change(
    blocks: list[float], ratios: list[float]
) -> None:
    few = test_what_is_shown_of_both_sides_has_the_sign_of_the_change
    few.hypothesis.inner_test(blocks, ratios)


def test_values_of_their_own_would_contradict_the_paired_change() -> None:
    """Four of five blocks take 1 % longer, so the trimmed ratio is 1.01; what is kept of either
    side by itself is 10, 10, 20 ms and 10.1, 10.1, 11 ms: 17 % less."""
    before = np.array([10.0, 10.0, 20.0, 10.0, 20.0])
    after = before * np.array([1.01, 1.01, 0.55, 1.01, 1.01])
    own = [trimmed_mean(np.log(times)) for times in (before, after)]
    assert math.exp(own[1] - own[0]) == pytest.approx((10.1 * 10.1 * 11 / 2000) ** (1 / 3))
    verdict = judge(before, after)
    typical_ns = 2000 ** (1 / 3) * 1e6  # the factory's copies of the baseline differ by 0.2 %
    assert verdict.times_ns == pytest.approx((typical_ns, 1.01 * typical_ns), rel=1e-3)
    assert verdict.latency_change == pytest.approx(0.01, abs=1e-3)
