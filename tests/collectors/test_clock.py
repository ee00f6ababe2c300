"""A clock that is set while something is recorded spoils no file."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.files import archive
from fusescope.collectors.recording import measuring
from fusescope.collectors.workers import clock
from fusescope.collectors.workers.jobs import BlockJob, ProfiledRuns

HOUR_NS = 3600 * 10**9


@pytest.mark.parametrize(
    ("step_ns", "was_set"), [(0, False), (-HOUR_NS, True), (HOUR_NS, True), (-5_000_000, True)]
)
def test_a_clock_that_is_set_is_noticed(
    step_ns: int, was_set: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = time.monotonic_ns
    now = {"ns": 10**18}
    monkeypatch.setattr("fusescope.collectors.workers.clock.time.monotonic_ns", lambda: 0)
    monkeypatch.setattr("fusescope.collectors.workers.clock.time.time_ns", lambda: now["ns"])
    watch = clock.Watch()
    now["ns"] += step_ns
    assert watch.was_set() is was_set
    monkeypatch.undo()
    assert steady is time.monotonic_ns
    assert not clock.Watch().was_set()  # of this machine, now


def profiles(monkeypatch: pytest.MonkeyPatch, offsets: list[int]) -> list[str]:
    """What is kept where every attempt has a file of its own, and the clock these offsets."""
    readings: Iterator[int] = iter(offsets)
    attempts: list[str] = []

    def attempt(*_: object) -> list[ProfiledRuns]:
        attempts.append(f"{len(attempts) + 1}.json")
        return [ProfiledRuns("fused", attempts[-1])]

    monkeypatch.setattr(clock, "offset_ns", lambda: next(readings))
    monkeypatch.setattr(measuring, "_profiled", attempt)
    job: BlockJob = None  # type: ignore[assignment]
    opened: measuring.Opens = None  # type: ignore[assignment]
    return [kept.file for kept in measuring._profiled_steadily(job, opened)]


def test_profiles_during_which_the_clock_was_set_are_taken_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert profiles(monkeypatch, [0, 0]) == ["1.json"]
    assert profiles(monkeypatch, [0, -HOUR_NS, -HOUR_NS, -HOUR_NS]) == ["2.json"]


def test_a_clock_that_never_rests_ends_the_recording_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(FuseScopeError, match="system's clock was set") as caught:
        profiles(monkeypatch, [n * HOUR_NS for n in range(2 * measuring.PROFILE_ATTEMPTS)])
    assert "synchronised" in caught.value.hint


def test_a_file_is_written_before_1980_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards without a battery start in 1970, which a zip cannot say."""
    (tmp_path / "profile").write_bytes(b"[]")
    os.utime(tmp_path / "profile", (0, 0))
    monkeypatch.setattr("time.time", lambda: 0.0)
    monkeypatch.setattr(archive, "record_json", lambda record: b"{}")
    members: dict[str, Path | bytes] = {"a.json": tmp_path / "profile", "b.json": b"x" * 1000}
    path = archive.write(tmp_path / "x.zip", None, members)  # type: ignore[arg-type]
    with zipfile.ZipFile(path) as file:
        assert file.read("a.json") == b"[]"
        assert file.read("b.json") == b"x" * 1000
        assert {one.compress_type for one in file.infolist()} == {zipfile.ZIP_DEFLATED}
