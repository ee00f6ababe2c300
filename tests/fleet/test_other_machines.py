"""Ingest beyond one process: paths of fsspec, processes, and the workers of a scheduler."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.fleet_job import Job, traces, write
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers.input.source import Source, load_file
from fusescope.app.fleet import ingesting, schedulers, store
from fusescope.app.fleet.ingesting import Ingested
from tests.patience import GIVE_UP_S

SMALL = Job(nodes=2, devices=2, steps=2, layers=1)
LARGE = Job(nodes=6, devices=4, steps=6, layers=6)


def same(one: Fleet, other: Fleet) -> None:
    assert one.numbers == other.numbers
    for table in ("steps", "collectives", "operators", "kernels"):
        first, second = (
            getattr(fleet, table).sort_values("rank", kind="stable").reset_index(drop=True)
            for fleet in (one, other)
        )
        pd.testing.assert_frame_equal(first, second)


def test_files_and_store_may_be_paths_of_fsspec() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    for rank, data in enumerate(traces(SMALL)):
        memory.pipe_file(f"/job/rank{rank}.json", data)
    done = ingesting.ingest(["memory://job"], "memory://ranks", DEFAULT_LIMITS)
    assert (len(done.read), done.failed) == (4, ())
    found = store.fleet(store.opened("memory://ranks"))
    assert found.numbers == (0, 1, 2, 3) and len(found.rows(2, ("name",))) == 16
    again = ingesting.ingest(["memory://job"], "memory://ranks", DEFAULT_LIMITS)
    assert (again.read, again.known) == ((), 4)
    for path in ("nosuch://x/y", "memory://nothing"):
        with pytest.raises(FuseScopeError):
            ingesting.ingest([path], "memory://ranks", DEFAULT_LIMITS)


def test_a_scheduler_that_is_not_there_is_a_sentence_within_a_second(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "job")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
    for address, code in (
        ("nothing at all", "scheduler_address_wrong"),
        ("tcp://127.0.0.1", "scheduler_address_wrong"),
        ("tcp://127.0.0.1:0", "scheduler_address_wrong"),
        ("inproc://127.0.0.1:8786", "scheduler_address_wrong"),
        ("tcp://192.0.2.1:8786", "scheduler_elsewhere"),
        ("tcp://gpu-node17:8786", "scheduler_elsewhere"),
        (nobody, "scheduler_unreachable"),
    ):
        with pytest.raises(FuseScopeError) as error:
            ingest(tmp_path / "job", tmp_path / "ranks", address)
        assert error.value.code == code, address
    assert not (tmp_path / "ranks").exists()


def test_only_who_is_trusted_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of a scheduler are executed: none on another machine is taken by mistake."""
    asked: list[object] = []

    def refuse(address: object, timeout: float) -> None:
        asked.append(address)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "create_connection", refuse)
    for address, is_trusted, is_asked in (
        ("tcp://10.0.0.5:8786", False, False),
        ("tcp://10.0.0.5:8786", True, True),
        ("tls://[::1]:8786", False, True),
        ("tcp://localhost:8786", False, True),
        ("tcp://localhost.evil.example:8786", False, False),
    ):
        asked.clear()
        with pytest.raises(FuseScopeError) as error:
            schedulers.check(address, is_trusted=is_trusted)
        assert bool(asked) == is_asked, address
        assert error.value.code == ("scheduler_unreachable" if is_asked else "scheduler_elsewhere")


def test_who_answers_but_is_no_scheduler_is_a_sentence(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "job")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(FuseScopeError) as error:
            ingest(tmp_path / "job", tmp_path / "ranks", address)
    assert error.value.code == "scheduler_unreachable"


def test_a_path_that_a_package_of_fsspec_fails_on_is_a_sentence(tmp_path: Path) -> None:
    for path in ("reference://x", "zip://x"):
        with pytest.raises(FuseScopeError) as error:
            ingesting.ingest([path], str(tmp_path / "ranks"), DEFAULT_LIMITS)
        assert error.value.code == "store_unreachable", path


def test_a_file_without_an_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(FuseScopeError) as error:
            ingesting.ingest([path], str(tmp_path / "ranks"), DEFAULT_LIMITS)
        assert error.value.code == "not_regular_file"
    zero = Path("/dev/zero")
    source = Source("zero", load_file(zero, "zero", DEFAULT_LIMITS), on_disk=zero)
    with pytest.raises(FuseScopeError) as error:
        assert source.sha256
    assert error.value.code == "not_regular_file"


def test_a_file_name_that_is_no_text_is_one_of_many(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "job")
    odd = os.fsencode(tmp_path / "job") + b"/rank0-\xff.json"
    os.rename(tmp_path / "job" / "rank0.json", odd)
    done = ingest(tmp_path / "job", tmp_path / "ranks", None, processes=1)
    assert (len(done.read), done.failed) == (4, ())
    assert store.fleet(store.opened(str(tmp_path / "ranks"))).numbers == (0, 1, 2, 3)
    again = ingest(tmp_path / "job", tmp_path / "ranks", None, processes=1)
    assert (again.read, again.known) == ((), 4)
    Path(os.fsdecode(odd)).write_bytes(b"{")
    [failed] = ingest(tmp_path / "job", tmp_path / "ranks", None, processes=1).failed
    assert failed.path.endswith("rank0-\\xff.json")


def ingest(job: Path, to: Path, scheduler: str | None, **options: object) -> Ingested:
    return ingesting.ingest([str(job)], str(to), DEFAULT_LIMITS, scheduler=scheduler, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def traces_of_24(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    write(LARGE, folder)
    return folder


@pytest.fixture(scope="module")
def local(traces_of_24: Path, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Read by one process."""
    folder = tmp_path_factory.mktemp("local")
    ingest(traces_of_24, folder, None, processes=1)
    return store.fleet(store.opened(str(folder)))


@pytest.mark.exhaustive
def test_processes_read_the_same(traces_of_24: Path, local: Fleet, tmp_path: Path) -> None:
    ingest(traces_of_24, tmp_path, None, processes=2)
    same(store.fleet(store.opened(str(tmp_path))), local)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Address of a scheduler on this machine, and its two workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    dask = [sys.executable, "-m", "dask"]
    started = [
        subprocess.Popen(
            [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
            cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL,
        )
    ]  # fmt: skip
    for name in ("one", "two"):
        started.append(
            subprocess.Popen(
                [*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                 "--name", name, "--local-directory", str(tmp_path / name)],
                cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip
    import distributed

    with distributed.Client(address, timeout=GIVE_UP_S, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(2, timeout=GIVE_UP_S)  # type: ignore[no-untyped-call]
    yield address, started[1:]
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.exhaustive
def test_a_worker_that_is_killed_half_way_loses_nothing(
    traces_of_24: Path,
    local: Fleet,
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
    tmp_path: Path,
) -> None:
    address, workers = cluster
    to = tmp_path / "ranks"
    kept: dict[Path, int] = {}

    def kill(done: int, total: int) -> None:
        if done == 6 and not kept:
            kept.update({path: path.stat().st_mtime_ns for path in (to / "files").glob("*.json")})
            workers[0].send_signal(signal.SIGKILL)
            time.sleep(0.1)

    done = ingest(traces_of_24, to, address, progress=kill)
    assert workers[0].wait(GIVE_UP_S) == -signal.SIGKILL and workers[1].poll() is None
    assert (len(done.read), done.failed) == (24, ()) and 6 <= len(kept) < 24
    same(store.fleet(store.opened(str(to))), local)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept  # what was done stays
    assert len(list(to.glob("*/rank=*/*.parquet"))) == 5 * 24  # and nothing else
    again = ingest(traces_of_24, to, address)
    assert (again.read, again.known) == ((), 24)
