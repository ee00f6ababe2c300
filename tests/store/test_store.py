"""The store: complete or not at all, bounded, shared by processes, replaced when damaged."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from fusescope.analysis.columnar.tables import columnar
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import READER_VERSION
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.app.store import entries, facts, keeping
from fusescope.app.store import store as store_module
from fusescope.app.store.entries import DESCRIPTION, Entry
from fusescope.app.store.facts import Facts
from fusescope.app.store.store import VERSION, Store

ROOT = Path(__file__).resolve().parents[2]
LARGE = 1024**3


def trace(seed: int = 0, calls: int = 50) -> Trace:
    """So many calls of two operators; `seed` makes traces that differ."""
    return Trace(
        Meta("chrome_trace", "tool", file_name=f"{seed}.json", sha256=key(seed)),
        runs_frame(run=[0], kind=["model_run"], dur_ns=[1000], profiled=[True]),
        operators_frame(operator=[0, 1], name=["a", "b"], op_type=["Conv", "Relu"]),
        calls_frame(
            operator=[at % 2 for at in range(calls)],
            run=[0] * calls,
            dur_ns=[seed + at for at in range(calls)],
        ),
    )


def key(seed: int) -> str:
    return f"{seed:064x}"


def put(store: Store, seed: int, calls: int = 50) -> bool:
    return keeping.keep(store, key(seed), trace(seed, calls))


def durations(found: Trace | None) -> list[int]:
    assert found is not None
    return [int(ns) for ns in found.calls["dur_ns"]]


def files(folder: Path) -> list[str]:
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name not in ("lock", "library.json"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "library", LARGE)


def test_what_was_put_comes_back_and_belongs_to_this_user_alone(store: Store) -> None:
    assert store.trace(key(1)) is None and store.held() == [] and not store.folder.exists()
    assert put(store, 1)
    assert durations(store.trace(key(1))) == list(range(1, 51))
    entry = store.entry(key(1), READER_VERSION)
    assert entry is not None and (entry.name, entry.rows["calls"]) == ("1.json", 50)
    assert (entry.run_ns, entry.is_profiled, entry.operators_ns) == (1000, True, sum(range(1, 51)))
    assert store.entry(key(1), READER_VERSION + 1) is None
    for folder in (store.folder, *(path for path in store.folder.rglob("*") if path.is_dir())):
        assert folder.stat().st_mode & 0o077 == 0, folder
    assert all(".partial" not in name for name in files(store.folder))


def test_what_was_used_longest_ago_goes_first_and_what_has_a_name_last(store: Store) -> None:
    for seed in (1, 2, 3):
        put(store, seed)
    for seed, at in ((1, 300), (2, 100), (3, 200)):
        [folder] = store.folder.glob(f"traces/*/hash={key(seed)}")
        os.utime(folder / DESCRIPTION, (at, at))
    assert store.trace(key(2)) is not None  # which is a use of it: now 3 is the oldest
    small = Store(store.folder, store.bytes + 100)
    assert put(small, 4)
    assert [held.entry.name for held in small.held()] == ["4.json", "2.json", "1.json"]
    facts.put(store.folder, f"trace:{key(1)}", Facts(name="the good one"))
    assert put(small, 5)
    assert {held.entry.name for held in small.held()} == {"5.json", "4.json", "1.json"}
    assert not put(Store(store.folder, 500), 6)  # larger than the whole store may be
    assert {held.entry.name for held in small.held()} == {"5.json", "4.json", "1.json"}


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "description", "foreign"])
def test_a_damaged_entry_is_nothing_and_is_replaced(store: Store, damage: str) -> None:
    put(store, 1)
    [folder] = store.folder.glob("traces/*/hash=*")
    calls, description = folder / "calls.parquet", folder / DESCRIPTION
    data = bytearray(calls.read_bytes())
    if damage == "cut":
        calls.write_bytes(data[:-9])
    elif damage == "flipped":
        data[len(data) // 2] ^= 1
        calls.write_bytes(data)
    elif damage == "gone":
        calls.unlink()
    elif damage == "description":
        description.write_bytes(description.read_bytes().replace(b'"1.json"', b'"2.json"'))
    else:
        calls.write_bytes((folder / "runs.parquet").read_bytes())
    assert store.trace(key(1)) is None
    assert put(store, 1)
    assert durations(store.trace(key(1))) == list(range(1, 51))


def test_a_full_disk_leaves_the_store_as_it_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, 1)
    before = files(store.folder)
    written: list[str] = []
    write = pq.write_table

    def full(table: Any, *rest: Any, **options: Any) -> None:
        if len(written) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append("")
        write(table, *rest, **options)

    monkeypatch.setattr(pq, "write_table", full)
    for seed in (1, 2):
        written.clear()
        with pytest.raises(OSError, match="No space"):
            put(store, seed)
    assert files(store.folder) == before
    assert durations(store.trace(key(1))) == list(range(1, 51))


@pytest.mark.parametrize("count", ["", "7", "-9", "[]", "\x00", None])
def test_the_size_holds_whatever_was_counted(store: Store, count: str | None) -> None:
    """Other entries are not looked at each time, so their number does not matter, and the count of
    their bytes may be damaged, or older than entries that somebody else put there."""
    put(store, 1)
    one = store.bytes
    for seed in range(2, 6):
        put(store, seed)
    path = store.folder / "bytes"
    if count is None:
        path.unlink()
    else:
        path.write_text(count)
        if count in ("7", "-9"):  # valid, and far too low
            os.utime(path, (0, 0))
    small = Store(store.folder, 3 * one + one // 2)
    put(small, 6)
    assert [held.entry.name for held in small.held()] == ["6.json", "5.json", "4.json"]
    assert int(path.read_text()) == small.bytes


def test_only_a_store_without_room_looks_at_every_entry(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(1, 6):
        put(store, seed)
    one = store.bytes // 5
    looked: list[Path] = []
    size = store_module._bytes
    monkeypatch.setattr(store_module, "_bytes", lambda at: looked.append(at) or size(at))
    put(store, 6)
    assert len(looked) == 1
    for seed in range(1, 5):
        store.remove(key(seed))  # which only makes room
    small = Store(store.folder, 5 * one)
    put(small, 7)
    assert len(looked) > 2 and len(small.held()) == 3
    looked.clear()
    put(small, 8)
    assert len(looked) == 1 and len(small.held()) == 4


def test_versions_of_readers_stand_beside_each_other_until_one_reads_anew(store: Store) -> None:
    put(store, 1)
    [folder] = store.folder.glob("traces/*/hash=*")
    older = folder.parent.with_name("reader=0")
    folder.parent.rename(older)
    assert store.entry(key(1), READER_VERSION) is None  # so its file is parsed again
    assert durations(store.trace(key(1))) == list(range(1, 51))  # and until then it is there
    put(store, 1)
    assert [held.folder.parent.name for held in store.held()] == [f"reader={READER_VERSION}"]
    assert list(older.iterdir()) == []


def test_a_store_of_a_newer_version_is_left_alone(store: Store) -> None:
    put(store, 1)
    (store.folder / "library.json").write_text(f'{{"version": {VERSION + 1}}}')
    before = files(store.folder)
    with pytest.raises(FuseScopeError) as refused:
        put(store, 2)
    assert refused.value.text == (
        "The library was made by a newer FuseScope (version 2 of it, this one knows 1) and stays "
        f"as it is ({store.folder}). Use that FuseScope, or another folder with FUSESCOPE_LIBRARY."
    )
    assert store.trace(key(1)) is None and store.held() == []
    assert files(store.folder) == before


def test_what_is_removed_is_gone_with_what_was_said_of_it(store: Store) -> None:
    put(store, 1)
    put(store, 2)
    facts.put(store.folder, f"trace:{key(2)}", Facts(note="x"))
    assert store.remove(key(1)) and not store.remove(key(1)) and not store.remove("../x")
    assert [held.entry.name for held in store.held()] == ["2.json"]
    assert store.clear() > 500
    assert files(store.folder) == []
    assert facts.of(store.folder, f"trace:{key(2)}") == facts.NONE


def test_what_a_user_says_is_fit_to_be_shown(store: Store) -> None:
    hostile = Facts("a\x1b[31m\n b" * 99, ("x\u202e", "x\u202e", ""), "n" * 9999)
    facts.put(store.folder, "trace:1", hostile)
    found = facts.of(store.folder, "trace:1")
    assert found.name.startswith("a\\x1b[31m b") and len(found.name) <= 4 * facts.MAX_NAME
    assert (found.tags, len(found.note)) == (("x",), facts.MAX_NOTE)
    [path] = (store.folder / facts.FOLDER).iterdir()
    path.write_text("{}}")
    assert facts.of(store.folder, "trace:1") == facts.NONE


# Two real processes. The first argument is the folder, the second what it does.
PROCESS = """
import os, signal, sys
from pathlib import Path
import pyarrow.parquet as pq
from fusescope.app.store import store as store_module
from fusescope.app.store.store import Store
from tests.store.test_store import put

store_module._PATIENCE_S = 300.0  # of a disk that hangs for a while
store = Store(Path(sys.argv[1]), 1024**3)
if sys.argv[2] == "die":
    write, left = pq.write_table, [3]
    def dying(table, file, **options):
        if not left[0]:
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        write(table, file, **options)
    pq.write_table = dying
    put(store, 1)
else:
    for seed in range(int(sys.argv[2]), int(sys.argv[2]) + 6):
        put(store, seed)
        put(store, 99)
        assert store.trace(f"{99:064x}") is not None
"""
Start = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def start(store: Store) -> Start:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return lambda what: subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(store.folder), what], env=environment
    )


def test_a_process_that_is_killed_half_way_leaves_nothing_behind(
    store: Store, start: Start
) -> None:
    put(store, 1)
    [before] = store.held()
    dying = start("die")
    assert dying.wait() == -signal.SIGKILL
    left = [path for path in store.folder.rglob("*.partial") if path.is_dir()]
    assert len(left) == 1 and len(list(left[0].iterdir())) == 4
    assert [held.entry for held in store.held()] == [before.entry]
    assert durations(store.trace(key(1))) == list(range(1, 51))
    put(store, 2)  # whoever comes next tidies up
    assert list(store.folder.rglob("*.partial")) == []
    assert len(store.held()) == 2


@pytest.mark.exhaustive
def test_two_processes_share_a_store(store: Store, start: Start) -> None:
    both = [start("1"), start("11")]
    assert [process.wait() for process in both] == [0, 0]
    found = {held.entry.key: store.trace(held.entry.key) for held in store.held()}
    assert set(found) == {key(seed) for seed in (*range(1, 7), *range(11, 17), 99)}
    for name, kept in found.items():
        pd.testing.assert_series_equal(
            kept.calls["dur_ns"],
            trace(int(name, 16)).calls["dur_ns"],  # type: ignore[union-attr]
        )
    assert list(store.folder.rglob("*.partial")) == []


def test_an_entry_that_is_replaced_while_it_is_read_is_read_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, 1)
    described = entries.described

    def slow(folder: Path) -> Entry:
        found = described(folder)
        if not replaced:
            replaced.append(folder)
            shutil.rmtree(folder)
            put(store, 1)
            raise FileNotFoundError
        return found

    replaced: list[Path] = []
    monkeypatch.setattr(entries, "described", slow)
    assert durations(store.trace(key(1))) == list(range(1, 51))
    assert len(replaced) == 1


def test_columnar_is_what_is_on_the_disk(store: Store) -> None:
    """Anybody who reads Parquet reads texts and whole ns."""
    put(store, 1)
    [folder] = store.folder.glob("traces/*/hash=*")
    table = pq.ParquetFile(folder / "operators.parquet").read()
    assert table.column("op_type").to_pylist() == ["Conv", "Relu"]
    assert table.num_rows == columnar(trace(1)).tables["operators"].num_rows


def test_a_folder_that_a_link_leads_to_is_emptied_and_stays_linked(tmp_path: Path) -> None:
    store = Store(tmp_path / "library", LARGE)
    put(store, 1)
    shutil.move(tmp_path / "library" / "traces", tmp_path / "other disk")
    (tmp_path / "library" / "traces").symlink_to(tmp_path / "other disk")
    put(store, 2)
    assert len(store.held()) == 2
    assert store.clear() > 0
    assert store.held() == [] and list((tmp_path / "other disk").iterdir()) == []
    assert (tmp_path / "library" / "traces").is_symlink()
    put(store, 3)
    assert [held.entry.key for held in store.held()] == [key(3)]


@pytest.mark.parametrize("name", ["bytes", "lock"])
def test_no_link_is_followed_by_what_the_store_writes(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path / "library", LARGE)
    put(store, 1)
    mine = tmp_path / "mine.txt"
    mine.write_text("precious")
    (tmp_path / "library" / name).unlink()
    (tmp_path / "library" / name).symlink_to(mine)
    if name == "lock":
        with pytest.raises(OSError):
            put(store, 2)
    else:
        put(store, 2)
        assert not (tmp_path / "library" / name).is_symlink()
    assert mine.read_text() == "precious"


def test_a_disk_that_refuses_is_a_sentence_without_a_trace_of_the_stack(tmp_path: Path) -> None:
    """Whatever keeps a trace from being kept, what was asked is answered and nothing else said."""
    large = tmp_path / "large.json"
    event = '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5}'
    large.write_text("[" + ",".join(event % (10 * at) for at in range(80_000)) + "]")
    (tmp_path / "library").write_text("no folder")
    told = subprocess.run(
        [sys.executable, "-m", "fusescope.app.cli.main", "inspect", str(large)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "FUSESCOPE_LIBRARY": str(tmp_path / "library")},
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "Traceback" not in told.stderr
    assert "was not kept" in told.stderr + told.stdout or "could not be kept" in told.stderr
