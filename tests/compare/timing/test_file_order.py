"""Several files a side: in which order they were recorded, and what that lets be said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from fusescope.analysis.compare.timing.file_order import file_order
from fusescope.analysis.compare.timing.statistics import typical_log
from tests.compare.timing.file_rates import IN_TURN, MIXED, PAIRS, beyond, judged, one_each, shares


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("ABABABABAB", "pairs"),
        ("ABBAABBAAB", "pairs"),
        ("AABBAABBAB", "alternating"),
        ("ABABABABABA", "alternating"),
        ("AAABBBABAB", "one_after_other"),
        ("AAAAABBBBB", "one_after_other"),
        ("AAAAA", "one_after_other"),
        ("AABB", "one_after_other"),
    ],
)
def test_order_of_the_files_of_two_sides(order: str, expected: str) -> None:
    starts = {side: [at for at, one in enumerate(order) if one == side] for side in "AB"}
    assert file_order(starts["A"], starts["B"]) == expected
    assert file_order(starts["A"][::-1], starts["B"]) == expected  # as they were given says nothing


def test_files_of_one_second_are_taken_by_turns_and_a_file_without_a_start_hides_the_order() -> (
    None
):
    assert file_order([1, 1, 2, 2, 3], [1, 1, 2, 2, 3]) == "pairs"
    assert file_order([1, 2, 3, 4, 5], [1, 2, 3, 4, None]) == "unknown"


def drifting(processes: int) -> np.ndarray:
    """ln(seconds) of processes of one graph: 1 % apart, and from time to time a machine that is
    slower by a half for a dozen processes."""
    rng = np.random.default_rng(4)
    slow = np.zeros(processes)
    for start in range(9, processes, 37):
        slow[start : start + 12] = 0.4
    return -4.6 + slow + 0.01 * rng.standard_normal(processes)


def test_recordings_by_turns_are_told_apart_and_recordings_in_turn_only_beyond_drift() -> None:
    times = [drifting(220)]
    assert shares(PAIRS, times)[0] < 0.08 and shares(PAIRS, times, 0.05)[0] > 0.7
    assert shares(MIXED, times)[0] < 0.08
    wrong, excluding = shares(IN_TURN, times)
    assert 0.05 < wrong < excluding  # drift is in the change, and 12 % do not hold all of it
    steady = 0.001 * np.arange(10.0) % 0.003
    assert judged(IN_TURN, steady, 0.05).reason == "within_process_spread"
    assert judged(IN_TURN, steady, 0.2).outcome == judged(PAIRS, steady, 0.05).outcome == "faster"
    assert judged("ABAB", steady[:4], 1.0).reason == "few_runs"


@pytest.mark.exhaustive  # the verdicts behind these rates are judged one by one above
def test_rates_on_recorded_processes(shared_traces: Path) -> None:
    """What docs/verdict.md says: MobileNetV2, 168 processes, two graphs."""
    packed = (shared_traces.parent / "lab/blocks/mbv2.jsonl.gz").read_bytes()
    blocks = [json.loads(line)["T"] for line in gzip.decompress(packed).splitlines()]
    runs = {name: [np.array(block[name]) for block in blocks] for name in ("D1", "E1")}
    times = [np.array([typical_log(b[name]) for b in blocks]) for name in runs]
    percent = {
        "pairs": 100 * shares(PAIRS, times)[0],
        "mixed": 100 * shares(MIXED, times)[0],
        "in turn": 100 * shares(IN_TURN, times)[1],
        "in turn, 12 %": 100 * shares(IN_TURN, times)[0],
        "5 % seen": 100 * shares(PAIRS, times, 0.05)[0],
        "10 % seen": 100 * shares(PAIRS, times, 0.1)[0],
        "one each": 100 * np.mean([one_each(of, 1) for of in runs.values()]),
        "one each, far": 100 * np.mean([one_each(of, 50) for of in runs.values()]),
        **{
            f"{ratio} at {apart}": 100 * beyond(times[:1], apart, ratio)
            for apart in (1, 50)
            for ratio in (1.12, 1.3)
        },
    }
    assert {name: round(float(value), 1) for name, value in percent.items()} == {
        "pairs": 1.6, "mixed": 1.9, "in turn": 10.7, "in turn, 12 %": 5.3, "5 % seen": 75.8,
        "10 % seen": 91.5, "one each": 4.8, "one each, far": 32.2, "1.12 at 1": 10.2,
        "1.3 at 1": 7.2, "1.12 at 50": 43.2, "1.3 at 50": 36.4,
    }  # fmt: skip
