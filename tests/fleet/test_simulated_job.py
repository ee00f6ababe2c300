"""The simulated job: its files are written piece by piece, and are the same as in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import fleet_job
from benchmarks.fleet_job import Job, traces, write


@pytest.mark.parametrize("size", [1, 10_000, 10**9])
def test_files_are_the_same_however_much_is_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(fleet_job, "_PART_BYTES", size)
    job = Job(nodes=2, devices=2, steps=2, layers=2, truncated=3)
    for _ in range(2):  # also over files that are there
        paths = write(job, tmp_path)
    assert [path.read_bytes() for path in paths] == list(traces(job))
    assert paths[3].stat().st_size < paths[0].stat().st_size * 0.7


def test_no_rank_is_held_in_memory_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_job, "_PART_BYTES", 5_000)
    held: list[int] = []
    flush = fleet_job._flush
    monkeypatch.setattr(
        fleet_job, "_flush", lambda path, part: (held.append(len(part)), flush(path, part))
    )
    paths = write(Job(nodes=1, devices=2, steps=2, layers=12), tmp_path)
    assert max(held) < 7_000 < min(path.stat().st_size for path in paths) / 5
