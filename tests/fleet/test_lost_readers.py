"""Processes of this machine that are ended while they read a rank, as the system does for want of
memory, and those whose ingest is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.fleet_job import Job, write
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.app.fleet import ingesting, store
from fusescope.app.fleet.place import Place
from fusescope.app.fleet.reading import Work, read_unit
from fusescope.app.fleet.store import Entry
from fusescope.app.fleet.units import Unit
from tests.patience import GIVE_UP_S

JOB = Job(nodes=2, devices=2, steps=2, layers=2)


def ended_once(work: Work, unit: Unit) -> Entry:
    """Reads a rank; the first process that reads rank 2 is ended."""
    flag = Path(work.store).with_name("ended")
    if unit.name == "rank2.json" and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return read_unit(work, unit)


def ended_always(work: Work, unit: Unit) -> Entry:
    """Reads a rank; every process that reads rank 2 is ended."""
    if unit.name == "rank2.json":
        os.kill(os.getpid(), signal.SIGKILL)
    return read_unit(work, unit)


def never_done(work: Work, unit: Unit) -> Entry:
    """Reads a rank; with rank 2 it is never done."""
    if unit.name == "rank2.json":
        signal.pause()
    return read_unit(work, unit)


def ingest_without_end(given: str, to: str) -> None:
    """An ingest of which one process reads for ever, while the other one waits for work."""
    ingesting.read_unit = never_done
    ingesting.ingest([given], to, DEFAULT_LIMITS, processes=2)


def ranks(folder: Path) -> list[int | None]:
    entries, _ = store.entries(Place(str(folder)))
    return sorted(entry.facts.rank for entry in entries if entry.facts is not None)


def test_what_a_lost_process_was_reading_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(JOB, tmp_path / "job")
    monkeypatch.setattr(ingesting, "read_unit", ended_once)
    given, told = [str(tmp_path / "job")], []
    done = ingesting.ingest(
        given,
        str(tmp_path / "ranks"),
        DEFAULT_LIMITS,
        processes=2,
        progress=lambda count, total: told.append((count, total)),
    )
    assert (tmp_path / "ended").exists()
    assert len(done.read) == 4 and not done.failed
    assert told == [(count, 4) for count in (1, 2, 3, 4)]
    assert ranks(tmp_path / "ranks") == [0, 1, 2, 3]


def test_a_file_whose_process_is_ended_each_time_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(JOB, tmp_path / "job")
    monkeypatch.setattr(ingesting, "read_unit", ended_always)
    given, to = [str(tmp_path / "job")], tmp_path / "ranks"
    with pytest.raises(FuseScopeError) as lost:
        ingesting.ingest(given, str(to), DEFAULT_LIMITS, processes=2)
    assert lost.value.text == (
        "The process that reads it was ended each time, most likely for want of memory "
        "(rank2.json). Free some memory, or leave this file out, and ingest again: what is in the "
        "store stays."
    )
    assert {0, 1} <= set(ranks(to)) and 2 not in ranks(to)
    monkeypatch.setattr(ingesting, "read_unit", read_unit)
    again = ingesting.ingest(given, str(to), DEFAULT_LIMITS, processes=2)
    assert len(again.read) + again.known == 4 and ranks(to) == [0, 1, 2, 3]


def test_processes_that_read_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    given, to = tmp_path / "job", tmp_path / "ranks"
    write(JOB, given)
    call = (
        f"{ingest_without_end.__module__} as m; m.ingest_without_end({str(given)!r}, {str(to)!r})"
    )
    started = subprocess.Popen([sys.executable, "-c", f"import {call}"], stderr=subprocess.PIPE)
    give_up = time.monotonic() + GIVE_UP_S
    while ranks(to) != [0, 1, 3]:
        assert started.poll() is None and time.monotonic() < give_up
        time.sleep(0.05)
    started.kill()
    # ends once nobody has the other end any more
    _, said = started.communicate(timeout=GIVE_UP_S)
    assert said == b""  # Python would report leaked semaphores here
    assert not store.opened(str(to)).is_being_written()
    again = ingesting.ingest([str(given)], str(to), DEFAULT_LIMITS, processes=1)
    assert (len(again.read), again.known) == (1, 3) and ranks(to) == [0, 1, 2, 3]


@pytest.mark.parametrize("short", ["/tmp", "/nowhere"])
def test_a_long_temporary_folder_is_no_place_for_sockets(tmp_path: Path, short: str) -> None:
    """A path of more than 103 bytes for a socket is refused by systems: a short folder is used, or
    the sentence says what to do. Nothing stays in either."""
    write(JOB, tmp_path / "job")
    long = tmp_path / ("x" * 120)
    long.mkdir()
    script = (
        "import sys\n"
        "from fusescope.analysis.errors import FuseScopeError\n"
        "from fusescope.analysis.limits import DEFAULT_LIMITS\n"
        "from fusescope.app.fleet import ingesting\n"
        f"ingesting._SHORT = {short!r}\n"
        "try:\n"
        "    done = ingesting.ingest([sys.argv[1]], sys.argv[2], DEFAULT_LIMITS, processes=2)\n"
        "    print(len(done.read), len(done.failed))\n"
        "except FuseScopeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "job"), str(tmp_path / "ranks")],
        env={**os.environ, "TMPDIR": str(long)}, capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    if short == "/tmp":
        assert done.stdout.split() == ["4", "0"]
    else:
        assert "cannot talk to each other in one of more than 71 B" in done.stdout
        assert long.name[:20] in done.stdout and "Set TMPDIR" in done.stdout
    assert list(long.iterdir()) == []


def test_a_pool_that_breaks_while_it_is_given_files_keeps_those_it_has() -> None:
    class Pool:
        given = 0

        def submit(self, *_: object) -> object:
            Pool.given += 1
            if Pool.given == 3:
                raise BrokenProcessPool
            return object()

    units: Any = ["a", "b", "c", "d"]
    pool: Any = Pool()
    found = ingesting._submitted(pool, cast(Any, None), units)
    assert list(found.values()) == ["a", "b"]
