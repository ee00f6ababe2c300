"""Databases are opened in memory and only scanned, however hostile they are."""

from __future__ import annotations

import gzip
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read, read_all, read_path
from fusescope.analysis.readers.input import sqlite
from fusescope.analysis.readers.input.folder import folder_sources, source_with_neighbours
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.sqlite import MAGIC, integer, open_database, schema_names
from fusescope.analysis.readers.input.sqlite_wal import laid_over
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests import miniatures


def database(tmp_path: Path, script: str, page_size: int = 512) -> bytes:
    """The bytes of a database that this SQL makes."""
    path = tmp_path / "made.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.executescript(f"BEGIN;{script};COMMIT;")
    connection.commit()
    connection.close()
    return path.read_bytes()


TASKS = """
CREATE TABLE Task (startNs TEXT, "end ns" INTEGER, value REAL, extra BLOB);
INSERT INTO Task VALUES ('12', 15, 1.5, x'ff00');
INSERT INTO Task VALUES (NULL, 9223372036854775807, 'x', 'text');
"""


def test_columns_by_name_and_what_cells_become(tmp_path: Path) -> None:
    source = Source("made.db", database(tmp_path, TASKS))
    with open_database(source) as db:
        assert db.has("task") and not db.has("task", "other")
        table = db.read("TASK", "start_ns", "endNs", "value", "extra", "missing")
        assert len(table) == 2 and "START_NS" in table and "missing" not in table
        assert table.integers("startNs") == [12, None]
        assert table.integers("endNs") == [15, None]  # beyond what sums may reach
        assert table.numbers("value") == [1.5, None]
        assert table.texts("extra") == [None, "text"]
        assert table.cells("missing") == [None, None]
        assert len(db.read("nothing", "a")) == 0


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_one_too_large_for_memory_is_read_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(sqlite, "_MAX_IN_MEMORY", 100)
    path = tmp_path / "a name? with #signs%20.db"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.executescript(TASKS)
    connection.close()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for source in (source_with_neighbours(path), folder_sources(tmp_path)[0]):
        with open_database(source) as db:
            assert db.read("Task", "startNs").integers("startNs") == [12, None]
            with pytest.raises(FuseScopeError, match="readonly"):
                list(db._query("DELETE FROM Task"))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_one_too_large_for_memory_is_not_read_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_MAX_IN_MEMORY", 100)
    path = tmp_path / "made.db.gz"
    path.write_bytes(gzip.compress(database(tmp_path, TASKS)))
    for source in (source_with_neighbours(path), Source("made.db", database(tmp_path, TASKS))):
        with (
            pytest.raises(FuseScopeError, match="too large to be read packed"),
            open_database(source),
        ):
            pass


def test_views_virtual_tables_and_generated_columns_are_not_read(tmp_path: Path) -> None:
    data = database(
        tmp_path,
        TASKS + "CREATE VIEW Sums AS SELECT * FROM Task, Task AS b, Task AS c;"
        "CREATE VIRTUAL TABLE Words USING fts5(word);"
        "CREATE TABLE Made (a INTEGER, b INTEGER AS (zeroblob(900000000)) VIRTUAL);"
        "INSERT INTO Made (a) VALUES (7);"
        "CREATE TRIGGER t AFTER INSERT ON Task BEGIN DELETE FROM Task; END;",
    )
    with open_database(Source("made.db", data)) as db:
        assert db.has("Task", "Made")
        assert not db.has("Sums") and not db.has("Words") and not db.has("sqlite_master")
        made = db.read("Made", "a", "b")
        assert made.integers("a") == [7] and "b" not in made


def test_names_of_columns_are_quoted(tmp_path: Path) -> None:
    data = database(
        tmp_path, 'CREATE TABLE T ("a""; DROP TABLE T; --" INTEGER); INSERT INTO T VALUES (5);'
    )
    with open_database(Source("made.db", data)) as db:
        assert db.read("T", 'a"; DROP TABLE T; --').integers('a"; DROP TABLE T; --') == [5]


def test_a_database_that_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    data = bytearray(database(tmp_path, TASKS))
    data[18:20] = b"\x02\x02"
    with open_database(Source("made.db", bytes(data))) as db:
        assert len(db.read("Task", "startNs")) == 2


def test_broken_text_is_replaced(tmp_path: Path) -> None:
    data = database(
        tmp_path, "CREATE TABLE T (a TEXT); INSERT INTO T VALUES (CAST(x'41ff' AS TEXT));"
    )
    with open_database(Source("made.db", data)) as db:
        assert db.read("T", "a").texts("a") == ["A\ufffd"]


@pytest.mark.parametrize("data", [b"", b"[]", MAGIC, MAGIC + bytes(5000), b"\x00" * 5000])
def test_no_database_is_one_sentence(data: bytes) -> None:
    with pytest.raises(FuseScopeError) as raised, open_database(Source("x.db", data)) as db:
        db.read("T", "a")
    assert raised.value.where == "x.db" and raised.value.hint


def test_more_rows_than_the_limit_are_refused(tmp_path: Path) -> None:
    script = "CREATE TABLE T (a INTEGER);" + "INSERT INTO T VALUES (1);" * 50
    source = Source("made.db", database(tmp_path, script), Limits(events=20))
    with (
        pytest.raises(FuseScopeError, match="more rows than the limit of 20"),
        open_database(source) as db,
    ):
        db.read("T", "a")


def test_pages_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    script = "CREATE TABLE T (a INTEGER);" + "INSERT INTO T VALUES (1234567);" * 2000
    data = bytearray(database(tmp_path, script))
    root = next(
        page for page in range(1, len(data) // 512) if data[page * 512] == 5
    )  # the table's interior page
    cells = int.from_bytes(data[root * 512 + 3 : root * 512 + 5], "big")
    for cell in range(cells):
        at = root * 512 + 12 + 2 * cell
        where = root * 512 + int.from_bytes(data[at : at + 2], "big")
        data[where : where + 4] = (root + 1).to_bytes(4, "big")  # each child is the page itself
    with pytest.raises(FuseScopeError), open_database(Source("made.db", bytes(data))) as db:
        db.read("T", "a")


def test_any_damage_is_a_sentence_or_a_table(tmp_path: Path) -> None:
    whole = database(tmp_path, TASKS + "INSERT INTO Task SELECT * FROM Task;" * 5)
    rng = random.Random(3)
    read = 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            with open_database(Source("made.db", bytes(data))) as db:
                table = db.read("Task", "startNs", "endNs", "value", "extra")
                assert len(table.integers("startNs")) == len(table)
                read += 1
        except FuseScopeError as error:
            assert error.what and error.hint
    assert 0 < read < 300


def test_nothing_is_written(tmp_path: Path) -> None:
    data = database(tmp_path, TASKS)
    before = sorted(tmp_path.iterdir()), data
    with open_database(Source(str(tmp_path / "made.db"), data)) as db:
        db.read("Task", "startNs")
    assert (sorted(tmp_path.iterdir()), (tmp_path / "made.db").read_bytes()) == before


def test_schema_names_knows_what_it_cannot_see(tmp_path: Path) -> None:
    small = database(tmp_path, TASKS)
    assert schema_names(small, [b"Task"]) is True
    assert schema_names(small, [b"Other"]) is False
    large = database(tmp_path, "".join(f"CREATE TABLE t{n} (a, b, c);" for n in range(60)))
    assert schema_names(large[:512], [b"Other"]) is None
    assert schema_names(large, [b"Other"], [b"CREATE"]) is False
    assert schema_names(b"[]", [b"Other"]) is False


@pytest.mark.parametrize(
    ("cell", "expected"),
    [(5, 5), ("5", 5), (5.0, 5), (5.5, None), ("x", None), (None, None), (2**62, None),
     (float("inf"), None), (True, None), (-3, -3)],
)  # fmt: skip
def test_integer(cell: object, expected: int | None) -> None:
    assert integer(cell) == expected


def test_rows_that_share_one_long_text_are_refused(tmp_path: Path) -> None:
    """Seven rows of 1 MB each, all of which point at the pages of the first."""
    page, letters = 4096, b"abcdefg"
    size = 489 + 256 * (page - 4) - 4  # so that as little as can be stands in the row itself
    script = "CREATE TABLE T (a TEXT);" + "".join(
        f"INSERT INTO T VALUES ('{chr(letter) * size}');" for letter in letters
    )
    data = bytearray(database(tmp_path, script, page))
    root = page  # the table's only page of its own
    assert data[root] == 13 and int.from_bytes(data[root + 3 : root + 5], "big") == 7
    ends = []
    for cell, letter in enumerate(letters):
        at = root + int.from_bytes(data[root + 8 + 2 * cell : root + 10 + 2 * cell], "big")
        tail = data.index(bytes([letter]) * 64, at)
        while data[tail] == letter:
            tail += 1
        ends.append(tail)  # where the number of the next page stands
    first = bytes(data[ends[0] : ends[0] + 4])
    second = int.from_bytes(data[ends[1] : ends[1] + 4], "big")
    for tail in ends[1:]:
        data[tail : tail + 4] = first
    del data[(second - 1) * page :]  # the pages of the others
    data[28:32] = (len(data) // page).to_bytes(4, "big")
    with (
        pytest.raises(FuseScopeError, match="more than fits into the file"),
        open_database(Source("made.db", bytes(data))) as db,
    ):
        db.read("T", "a")


# --- the log beside a database ----------------------------------------------------------------


def written(path: Path, page_size: int, *, checkpoint: bool = True) -> None:
    """A copy of the Ascend miniature at `path` whose last kernels are only in its log."""
    made = miniatures.FOLDER / "ascend_db" / "ascend_pytorch_profiler_0.db"
    live = path.with_name("live.db")
    connection = sqlite3.connect(live)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    old = sqlite3.connect(made)
    connection.executescript("BEGIN;" + "".join(old.iterdump()).removeprefix("BEGIN TRANSACTION;"))
    old.close()
    if checkpoint:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("UPDATE TASK SET endNs = endNs + 1000000")
        connection.commit()
    path.write_bytes(live.read_bytes())
    path.with_name(path.name + "-wal").write_bytes(live.with_name("live.db-wal").read_bytes())
    connection.close()
    live.unlink()


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
@pytest.mark.parametrize("checkpoint", [True, False])
def test_the_log_beside_a_database_is_read_with_it(
    tmp_path: Path, page_size: int, checkpoint: bool
) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    written(path, page_size, checkpoint=checkpoint)
    log = path.with_name(path.name + "-wal")
    sample = miniatures.only_trace(miniatures.files(_ascend_db()))
    kernels = int((~sample.operators["is_communication"])[sample.calls["operator"]].sum())
    more = kernels * 1_000_000 if checkpoint else 0
    expected = int(sample.calls["dur_ns"].sum()) + more
    both = (Source(path.name, path.read_bytes()), Source(log.name, log.read_bytes()))
    archive = Source("a.zip", miniatures.zipped(both))
    values = [
        read_path(path),
        read_path(tmp_path),
        read_all(both).recordings[0].value,
        read_all([archive]).recordings[0].value,
    ]
    for value in values:
        assert isinstance(value, Trace)
        assert value.calls["dur_ns"].sum() == expected
        [note] = [one for one in value.diagnostics if one.code == "log_read"]
        assert note.count > 0 and "write-ahead log" in diagnostic_sentence(note)
        assert [name.rpartition("/")[2] for name in value.meta.files] == [log.name]


def _ascend_db() -> Any:
    return next(reader for reader in miniatures.FORMATS if reader.name == "ascend_db")


def test_one_too_large_for_memory_is_not_read_without_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_MAX_IN_MEMORY", 100)
    path = tmp_path / "a.db"
    written(path, 4096)
    with pytest.raises(FuseScopeError, match="too large to be read with its log"):
        read_path(path)


def test_a_log_that_is_cut_or_foreign_spoils_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    written(path, 512)
    data, log = path.read_bytes(), path.with_name("a.db-wal").read_bytes()
    merged, count = laid_over(data, log)
    assert merged is not None and count > 0
    assert laid_over(data, log[:-1]) == (data, 0)  # its only commit is not whole
    for place in (24 + 32 + 5, len(log) - 5):  # a salt, the last page
        damaged = bytearray(log)
        damaged[place] ^= 1
        assert laid_over(data, bytes(damaged)) == (data, 0)
    for foreign in (b"", b"x" * 100, log[:4] + b"\0" * 60, log[:24] + b"\0" * 8 + log[32:]):
        assert laid_over(data, foreign) == (None, 0)
    log_source = Source("a.db-wal", b"\x37\x7f\x06\x82" + b"\0" * 40, path="a.db-wal")
    trace = read(Source("a.db", data, path="a.db", beside=(log_source,)))
    assert isinstance(trace, Trace)
    assert "log_unreadable" in {note.code for note in trace.diagnostics}


def test_a_log_alone_and_a_database_without_it_are_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    written(path, 4096, checkpoint=False)
    log = path.with_name("a.db-wal").read_bytes()
    with pytest.raises(FuseScopeError, match="last writes to a database") as caught:
        read(Source("a.db-wal", log))
    assert "database of the same name" in caught.value.hint
    with pytest.raises(FuseScopeError, match="any tables") as caught:
        read(Source("a.db", path.read_bytes()))
    assert "-wal" in caught.value.hint


def test_a_write_that_was_interrupted_is_said() -> None:
    data = (miniatures.FOLDER / "ascend_db" / "ascend_pytorch_profiler_0.db").read_bytes()
    journal = Source("a.db-journal", bytes.fromhex("d9d505f920a163d7") + b"\0" * 100)
    trace = read(Source("a.db", data, path="a.db", beside=(journal,)))
    assert isinstance(trace, Trace)
    [note] = [one for one in trace.diagnostics if one.code == "database_half_written"]
    assert note.severity == "warning"
