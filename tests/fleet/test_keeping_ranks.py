"""Ranks that are open become a store in the library: whole, or not at all."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.fleet_job import Job, write
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace
from fusescope.app.fleet import keeping, store
from fusescope.app.fleet.ingesting import ingest
from fusescope.app.fleet.keeping import Cancelled, Keeper, Ranks, keep
from fusescope.app.fleet.place import Place
from tests.patience import GIVE_UP_S

JOB = Job(nodes=1, devices=4, steps=3, layers=3, slow=2, factor=3.0)
MUCH = 2**30
DAMAGED = ("rank4.json", FuseScopeError("empty_file", where="rank4.json"))


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    write(JOB, folder)
    return folder


@pytest.fixture(scope="module")
def ranks(traces: Path) -> Ranks:
    read = {rank: read_path(traces / f"rank{rank}.json") for rank in range(4)}
    return Ranks({r: (f"rank{r}.json", t) for r, t in read.items() if isinstance(t, Trace)})


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_what_is_kept_answers_as_what_is_ingested_of_the_files(
    ranks: Ranks, traces: Path, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    keep(ranks, tmp_path / "own", DEFAULT_LIMITS, MUCH, progress=lambda *at: told.append(at))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    ingest([str(traces)], str(tmp_path / "files"), DEFAULT_LIMITS)
    own, files = (store.examined(store.opened(str(tmp_path / name))) for name in ("own", "files"))
    assert [one.rank for one in own.slow] == [2]
    assert own.slow == files.slow and own.causes == files.causes
    assert own.by_rank == files.by_rank and own.transfers == files.transfers
    assert {one.sha256 for one in own.fleet.ranks} == {one.sha256 for one in files.fleet.ranks}
    for table in ("rows", "steps", "kernels"):
        for path in (tmp_path / "files" / table).rglob("*.parquet"):
            same = tmp_path / "own" / path.relative_to(tmp_path / "files")
            assert same.read_bytes() == path.read_bytes()


def test_a_damaged_file_is_named_and_the_others_go_on(ranks: Ranks, tmp_path: Path) -> None:
    done = keep(replace(ranks, unread=[DAMAGED]), tmp_path / "own", DEFAULT_LIMITS, MUCH)
    assert [entry.path for entry in done.failed] == ["rank4.json"]
    found = store.fleet(store.opened(str(tmp_path / "own")))
    assert [one.rank for one in found.ranks] == [0, 1, 2, 3]
    [damaged] = found.damaged
    assert (damaged.file, str(damaged.said)) == ("rank4.json", str(DAMAGED[1].what))


def test_two_files_of_one_name_are_two_ranks(ranks: Ranks, tmp_path: Path) -> None:
    alike = {rank: ("trace.json", trace) for rank, (_, trace) in ranks.traces.items()}
    keep(Ranks(alike), tmp_path / "own", DEFAULT_LIMITS, MUCH)
    assert len(store.fleet(store.opened(str(tmp_path / "own"))).ranks) == 4


def test_a_full_disk_leaves_nothing(
    ranks: Ranks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole, count = Place.write, 0

    def full(self: Place, name: str, data: bytes) -> None:
        nonlocal count
        count += 1
        if count > 10:  # in the middle of the second rank
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_whole(self, name, data)

    monkeypatch.setattr(Place, "write", full)
    with pytest.raises(FuseScopeError, match="no space left") as refused:
        keep(ranks, tmp_path / "fleets" / "own", DEFAULT_LIMITS, MUCH)
    assert refused.value.code == "kept_unwritable"
    assert "--to" not in refused.value.text, "which nobody gave"
    assert left(tmp_path / "fleets") == []


def test_a_folder_that_cannot_be_made_is_a_sentence(ranks: Ranks, tmp_path: Path) -> None:
    (tmp_path / "fleets").write_text("a file stands there")
    with pytest.raises(FuseScopeError) as refused:
        keep(ranks, tmp_path / "fleets" / "own", DEFAULT_LIMITS, MUCH)
    assert refused.value.code == "kept_unwritable"


def test_more_than_the_library_may_hold_is_refused(ranks: Ranks, tmp_path: Path) -> None:
    keep(ranks, tmp_path / "whole", DEFAULT_LIMITS, MUCH)
    size = sum(path.stat().st_size for path in (tmp_path / "whole").rglob("*") if path.is_file())
    with pytest.raises(FuseScopeError) as refused:
        keep(ranks, tmp_path / "fleets" / "own", DEFAULT_LIMITS, size - 1)
    assert refused.value.code == "ranks_too_large"
    assert left(tmp_path / "fleets") == []
    keep(ranks, tmp_path / "fleets" / "own", DEFAULT_LIMITS, size)
    assert left(tmp_path / "fleets") == ["own"]


def test_more_files_than_an_ingest_takes_are_refused(ranks: Ranks, tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError) as refused:
        keep(ranks, tmp_path / "own", replace(DEFAULT_LIMITS, zip_members=3), MUCH)
    assert refused.value.code == "too_many_folder_files"
    assert left(tmp_path) == []


def test_a_cancelled_job_leaves_nothing(ranks: Ranks, tmp_path: Path) -> None:
    done: list[int] = []
    with pytest.raises(Cancelled):
        keep(
            ranks, tmp_path / "fleets" / "own", DEFAULT_LIMITS, MUCH,
            progress=lambda at, _: done.append(at), is_cancelled=lambda: len(done) == 2,
        )  # fmt: skip
    assert done == [1, 2] and left(tmp_path / "fleets") == []


def test_a_server_keeps_one_job_at_a_time_and_says_how_far_it_is(
    ranks: Ranks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = Keeper()
    seen = []
    rank_tables = keeping.rank_tables

    def watched(*rank: object) -> object:
        assert keeper.status is not None
        seen.append((keeper.status.done, keeper.status.total, keeper.status.is_running))
        assert not keeper.start(ranks, tmp_path / "other", DEFAULT_LIMITS, MUCH)
        return rank_tables(*rank)  # type: ignore[arg-type]

    monkeypatch.setattr(keeping, "rank_tables", watched)
    assert keeper.start(ranks, tmp_path / "own", DEFAULT_LIMITS, MUCH)
    until(lambda: keeper.status is not None and not keeper.status.is_running)
    assert seen == [(0, 4, True), (1, 4, True), (2, 4, True), (3, 4, True)]
    assert keeper.status is not None and keeper.status.kept is not None
    keeper.forget()
    assert keeper.status is None and left(tmp_path) == ["own"]


def test_what_nobody_foresaw_is_a_sentence(
    ranks: Ranks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "rank_tables", lambda *_: 1 / 0)
    keeper = Keeper()
    keeper.start(ranks, tmp_path / "own", DEFAULT_LIMITS, MUCH)
    until(lambda: keeper.status is not None and not keeper.status.is_running)
    assert keeper.status is not None and keeper.status.error is not None
    assert keeper.status.error.code == "internal_error" and left(tmp_path) == []
