"""SQL over Parquet: answers, and everything that a question may not do."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import FuseScopeError
from analysis.limits import MIB
from analysis.sql.database import Answer, Database, files, quoted
from analysis.sql.written import answer_csv, answer_json, cell_text, is_number


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A view `calls` of a file in a folder whose name has a quote in it, a table `traces`; a file
    lies beside the folder."""
    folder = tmp_path_factory.mktemp("sql") / "it's here"
    folder.mkdir()
    (folder.parent / "secret.csv").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"n": [1, 2, 3], "name": ["a", "b", None]}), folder / "calls.parquet")
    with Database([folder], memory_bytes=64 * MIB, threads=1) as opened:
        opened.table("traces", pa.table({"hash": ["0a"], "is_new": [True]}))
        opened.view("calls", f"select * from read_parquet({files([folder / 'calls.parquet'])})")
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
    found = Answer(
        ("name", "n", "share"),
        ("VARCHAR", "HUGEINT", "DOUBLE"),
        [("=1+1", 2**70, 0.5), ("a\x1b[31m", 3, float("nan"))],
    )
    value = json.loads(answer_json(found))
    assert value["columns"][1] == {"name": "n", "type": "HUGEINT"}
    assert value["rows"] == [["=1+1", str(2**70), 0.5], ["a\x1b[31m", 3, None]]
    rows = list(csv.reader(io.StringIO(answer_csv(found).decode("utf-8-sig"))))
    assert rows == [
        ["name", "n", "share"],
        ["'=1+1", str(2**70), "0.5"],
        ["a\x1b[31m", "3", ""],
    ]
    assert [cell_text(cell) for cell in found.rows[1]] == ["a\\x1b[31m", "3", ""]
    assert [is_number(kind) for kind in found.types] == [False, True, True]
