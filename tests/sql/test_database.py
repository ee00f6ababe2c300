"""SQL over Parquet: answers, and everything that a question may not do."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB
from fusescope.analysis.sql.database import Answer, Database, Stream, files, quoted
from fusescope.analysis.sql.written import cell_text, csv_parts, is_number, json_parts


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A view `calls` of a file in a folder whose name has a quote in it, a table `traces`; a file
    lies beside the folder."""
    folder = tmp_path_factory.mktemp("sql") / "it's here"
    folder.mkdir()
    (folder.parent / "secret.csv").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"n": [1, 2, 3], "name": ["a", "b", None]}), folder / "calls.parquet")
    path = folder / "calls.parquet"
    with Database(memory_bytes=64 * MIB, threads=1) as opened:
        opened.table("traces", pa.table({"hash": ["0a"], "is_new": [True]}))
        address = opened.file("it's/calls.parquet", path, zlib.crc32(path.read_bytes()), "0a")
        opened.view("calls", f"select * from read_parquet({files([address])})")
        opened.outside = folder.parent  # type: ignore[attr-defined]
        yield opened


def test_a_question_is_answered(database: Database) -> None:
    found = database.answer("select name, sum(n) as total from calls group by name order by total")
    assert found == Answer(
        ("name", "total"), ("VARCHAR", "HUGEINT"), [("a", 1), ("b", 2), (None, 3)]
    )
    assert database.answer("select n from calls order by n desc", 2).rows == [(3,), (2,)]
    assert database.answer("with x as (select 1) select * from x, traces").rows == [(1, "0a", True)]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into traces values ('x', true)",
        "drop view calls",
        "create table mine as select 1",
        "copy traces to 'out.csv'",
        "attach 'other.db'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "reset lock_configuration",
        "pragma database_list",
        "call pragma_version()",
        "explain analyze select 1",
        "export database 'all'",
        "with x as (copy (select 1 a) to 'kept:///o.parquet') select 1",
        "with x as (copy calls to 'kept:///' (partition_by n, overwrite)) select 1",
        "with x as materialized (insert into traces values ('x', true) returning *) from x",
        "with x as (update traces set is_new = false returning *) select * from x",
        "with x as (delete from traces returning *) select * from x",
        "with x as (truncate traces) select 1",
        "select (with y as (copy (select 1 a) to 'kept:///o.csv') select 1)",
        "select 1 union (with x as (delete from traces returning 1) select * from x)",
        "select * from traces where exists (with x as (delete from traces returning 1) from x)",
    ],
)
def test_only_questions_are_answered(database: Database, statement: str) -> None:
    with pytest.raises(FuseScopeError) as refused:
        database.answer(statement)
    assert refused.value.text == (
        "Only SELECT is answered: the library is never written to. The tables and their columns "
        "are in docs/sql.md."
    )


@pytest.mark.parametrize(
    "function",
    [
        "json_execute_serialized_sql('{}')",
        "main.JSON_execute_serialized_SQL('{}')",
        "query('select 1')",
        "checkpoint()",
        "enable_logging(storage = 'file', storage_path = 'logs')",
        "copy_database('a', 'b')",
    ],
)
def test_a_function_that_writes_or_executes_a_text_is_refused(
    database: Database, function: str
) -> None:
    for question in (
        f"select * from {function}",
        f"from traces, lateral (select * from {function})",
    ):
        with pytest.raises(FuseScopeError) as refused:
            database.answer(question)
        assert refused.value.code in ("sql_function", "sql_not_a_question")
    assert database.answer("select a from range(2) t(a), unnest([1]) u(b)").rows == [(0,), (1,)]


def test_the_files_cannot_be_written_even_by_ourselves(database: Database) -> None:
    outside = database.outside  # type: ignore[attr-defined]
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    own = database._database  # what a question would have that got past the check
    for target in ("kept:///it's/calls.parquet", "kept:///new.csv", outside / "new.csv"):
        with pytest.raises(database._duckdb.Error):
            own.execute(f"copy (select 1) to {quoted(target)}")
    after = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    assert before == after


def test_a_changed_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "calls.parquet"
    pq.write_table(pa.table({"n": list(range(1000))}), path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for data in (flipped, whole[:-1], whole[:middle], b"", None):
        path.unlink(missing_ok=True)
        if data is not None:
            path.write_bytes(data)
        with Database(threads=1) as opened:
            address = opened.file("calls.parquet", path, zlib.crc32(whole), "0a")
            with pytest.raises(FuseScopeError):
                opened.view("calls", f"select * from read_parquet({files([address])})")
            assert opened.lost == {"0a"}
    path.write_bytes(whole)
    with Database(threads=2) as opened:
        address = opened.file("calls.parquet", path, zlib.crc32(whole), "0a")
        opened.view("calls", f"select * from read_parquet({files([address])})")
        assert opened.answer("select sum(n) from calls").rows == [(499500,)]
        assert opened.lost == frozenset()


def test_threads_of_one_file_read_their_own_places(tmp_path: Path) -> None:
    path = tmp_path / "calls.parquet"
    pq.write_table(pa.table({"n": list(range(200_000))}), path, row_group_size=5_000)
    with Database(threads=4) as opened:
        address = opened.file("calls.parquet", path, zlib.crc32(path.read_bytes()), "0a")
        opened.view("calls", f"select * from read_parquet({files([address])})")
        for _ in range(5):
            found = opened.answer("select sum(n), count(distinct n) from calls").rows
            assert found == [(19_999_900_000, 200_000)]


ENDLESS = (
    "select count(*) from range(1000000000) a, range(1000) b where (a.range * b.range) % 7 = 3"
)


def test_a_question_has_a_time_limit_and_can_be_interrupted() -> None:
    with Database(threads=1, seconds=0.2) as opened:
        with pytest.raises(FuseScopeError) as slow:
            opened.answer(ENDLESS)
        assert slow.value.code == "sql_time"
        assert opened.answer("select 1").rows == [(1,)]
        stream = opened.stream("select range from range(1000000000)")
        assert next(stream.batches)[0] == (0,)
        time.sleep(0.3)  # only waiting for DuckDB counts
        assert next(stream.batches)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with Database(threads=1) as opened, pytest.raises(KeyboardInterrupt):
        opened.answer(ENDLESS)


def test_nesting_is_a_sentence(database: Database) -> None:
    nested = "[" * 900 + "1" + "]" * 900
    with pytest.raises(FuseScopeError) as deep:
        database.answer(f"select {nested}")
    assert deep.value.code == "sql_deep"
    cell: list[object] = []
    for _ in range(900):
        cell = [cell]
    for write in (json_parts, csv_parts):
        with pytest.raises(FuseScopeError) as deep:
            b"".join(write(Stream(("a",), ("INTEGER[]",), iter([[(cell,)]]))))
        assert deep.value.code == "sql_deep"


def test_rows_are_written_while_they_are_found(database: Database) -> None:
    """A million rows of 1 kB, of which only a few are Python's at any time."""
    taken = 0
    for part in csv_parts(database.stream("select repeat('x', 1000) from range(1000000)")):
        taken += len(part)
        if taken > 50 * MIB:
            break
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for part in json_parts(database.stream("select repeat('x', 1000) from range(400000)")):
        taken += len(part)
    assert taken > 400 * MIB
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 100 * 1024


@pytest.mark.parametrize(
    "source",
    [
        "read_csv({secret})",
        "read_text({secret})",
        "read_blob('/etc/passwd')",
        "sniff_csv({secret})",
        "glob('/etc/*')",
        "read_parquet({secret})",
        "read_parquet('https://example.com/x.parquet')",
    ],
)
def test_no_other_file_is_read(database: Database, source: str) -> None:
    secret = quoted(database.outside / "secret.csv")  # type: ignore[attr-defined]
    with pytest.raises(FuseScopeError) as refused:
        database.answer(f"select * from {source.format(secret=secret)}")
    assert refused.value.code == "sql_elsewhere"


def test_a_file_or_a_variable_is_no_table(database: Database) -> None:
    mine = pa.table({"a": [1]})  # noqa: F841 - DuckDB would find it by its name
    secret = database.outside / "secret.csv"  # type: ignore[attr-defined]
    for name in ("mine", f'"{secret}"'):
        with pytest.raises(FuseScopeError) as refused:
            database.answer(f"select * from {name}")
        assert refused.value.code in ("sql_wrong_at", "sql_elsewhere")


def test_errors_point_at_what_is_wrong(database: Database) -> None:
    said = {
        "select nope from calls": "in line 1 at 'nope from calls': Binder Error: Referenced column",
        "select n\nfrom calls where": "in line 2 at 'where': Parser Error: syntax error at or near",
        "selec 1": "in line 1 at 'selec 1': Parser Error",
    }
    for question, told in said.items():
        with pytest.raises(FuseScopeError) as wrong:
            database.answer(question)
        assert wrong.value.text.startswith(f"This SQL cannot be answered, {told}")
        assert "\n" not in wrong.value.text
    for question, count in (("", 0), ("select 1; select 2", 2)):
        with pytest.raises(FuseScopeError) as wrong:
            database.answer(question)
        assert (wrong.value.code, wrong.value.values["n"]) == ("sql_not_one", count)


def test_memory_is_bounded_and_nothing_is_spilt(database: Database) -> None:
    with pytest.raises(FuseScopeError) as refused:
        database.answer("select range, random() r from range(50000000) order by r")
    assert refused.value.code == "sql_memory"
    assert database.answer("select 1").rows == [(1,)]


def test_an_answer_as_json_csv_and_text() -> None:
    rows = [("=1+1", 2**70, 0.5), ("a\x1b[31m", 3, float("nan"))]

    def found() -> Stream:
        return Stream(
            ("name", "n", "share"), ("VARCHAR", "HUGEINT", "DOUBLE"), iter([rows[:1], rows[1:]])
        )

    value = json.loads(b"".join(json_parts(found())))
    assert value["columns"][1] == {"name": "n", "type": "HUGEINT"}
    assert value["rows"] == [["=1+1", str(2**70), 0.5], ["a\x1b[31m", 3, None]]
    text = b"".join(csv_parts(found())).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "n", "share"],
        ["'=1+1", str(2**70), "0.5"],
        ["a\\x1b[31m", "3", ""],
    ]
    assert [cell_text(cell) for cell in rows[1]] == ["a\\x1b[31m", "3", ""]
    assert [is_number(kind) for kind in found().types] == [False, True, True]
    none = Stream(("a",), ("INTEGER",), iter([]))
    assert json.loads(b"".join(json_parts(none)))["rows"] == []
