"""SQL about the library: the worked queries of docs/sql.md, and the tables that it describes."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pytest

from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace
from fusescope.app.library import changes
from fusescope.app.library.items import named
from fusescope.app.library.query import FACTS, TABLES, opened
from fusescope.app.sources import places
from fusescope.app.store import keeping
from fusescope.app.store.store import Store
from tests import two_processes
from tests.store.test_store import key, put

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_worked_queries_answer(library: Store) -> None:
    changes.tag(named("1.json"), ["nightly"])
    assert len(QUERIES) == 5
    with opened() as prepared:
        answers = [prepared.answer(query) for query in QUERIES]
    assert all(answer.rows for answer in answers)
    fastest = answers[0]
    assert fastest.columns == ("model", "fastest", "ms")
    [row] = fastest.rows
    assert row[:2] == ("mobilenetv2", "fused") and row[2] == pytest.approx(5.175, rel=0.05)


def test_every_column_is_described(library: Store) -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    with opened() as prepared:
        for name in TABLES:
            section = next(one for one in sections if one.startswith(f"`{name}`"))
            described = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.MULTILINE)
            columns = [column for row in described for column in re.findall(r"`(\w+)`", row)]
            found = prepared.answer(f"select * from {name} limit 0").columns
            assert columns == list(found), name
    assert list(FACTS)[:2] == ["hash", "name"]


def test_traces_and_variants_have_their_names_and_all_calls(library: Store) -> None:
    changes.rename(named("2.json"), "it's", [])
    with opened() as prepared:
        ask = prepared.answer
        assert ask("select name, kind, calls from traces where kind = 'trace' order by 1").rows == [
            ("1.json", "trace", 50),
            ("it's", "trace", 50),
        ]
        variants = ask("select name, variant, model from traces where kind = 'variant' order by 1")
        assert variants.rows == [
            ("small.zip/fused", "fused", "mobilenetv2"),
            ("small.zip/unfused", "unfused", "mobilenetv2"),
        ]
        total = "select sum(dur_ns), count(*) from calls where trace = 'it''s'"
        assert ask(total).rows == [(sum(range(2, 52)), 50)]
        joined = ask(
            "select op_type, sum(dur_ns) from calls join operators using (hash, operator) "
            "where calls.trace = '1.json' group by 1 order by 1"
        )
        assert joined.rows == [("Conv", sum(range(1, 51, 2))), ("Relu", sum(range(2, 52, 2)))]
        samples = ask("select count(*) from runs where not profiled and trace = 'small.zip/fused'")
        assert samples.rows[0][0] > 0


def test_each_process_of_a_file_has_a_row_and_all_its_calls(library: Store, tmp_path: Path) -> None:
    """Of two processes that ran 900 and 1,500 ns in 12 executions each."""
    trace = read_path(two_processes.write(tmp_path / "ranks.sqlite"))
    assert isinstance(trace, Trace) and keeping.keep(library, key(7), trace)
    with opened() as prepared:
        rows = prepared.answer(
            "select name, variant, operators_ns, sum(dur_ns), count(*) from traces "
            "join calls using (hash) where variant like 'process:%' group by all order by 1"
        ).rows
    assert rows == [
        ("ranks.sqlite/process:40", "process:40", 900, 900, 12),
        ("ranks.sqlite/process:41", "process:41", 1500, 1500, 12),
    ]


def test_an_empty_library_has_the_same_tables(
    library: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes.delete(named("small.zip"))
    changes.clear()
    with opened() as prepared:
        for name in TABLES:
            assert prepared.answer(f"select count(*) from {name}").rows == [(0,)]


def test_a_recording_that_cannot_be_read_is_named(library: Store) -> None:
    whole = (places.experiments_folder() / "small.zip").read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as given, zipfile.ZipFile(out, "w") as made:
        for name in given.namelist():
            made.writestr(name, b"[" if name.startswith("profiles/") else given.read(name))
    (places.experiments_folder() / "small.zip").write_bytes(out.getvalue())
    with opened() as prepared:
        assert prepared.unread == ("small.zip",)
        assert prepared.answer("select count(*) from traces").rows == [(2,)]


def test_damaged_entries_are_named_and_left_out(library: Store) -> None:
    """A flipped bit of a table, a truncated one, and a description that was changed."""
    put(library, 3)
    put(library, 4)
    question = "select trace, sum(dur_ns) from calls join traces using (hash) group by 1 order by 1"
    folders = {held.entry.name: held.folder for held in library.held() if held.entry.name}
    calls = folders["1.json"] / "calls.parquet"
    data = bytearray(calls.read_bytes())
    data[len(data) // 2] ^= 1
    calls.write_bytes(data)
    (folders["2.json"] / "runs.parquet").write_bytes(b"PAR1")
    (folders["3.json"] / "entry.json").write_bytes(b"{}")
    with opened() as prepared:
        names = prepared.answer("select name from traces where kind = 'trace' order by 1").rows
        assert names == [("1.json",), ("2.json",), ("4.json",)]  # none of their tables is read
        assert prepared.damaged == [f"{key(3)[:12]}…"]
        rows = prepared.answer(question.replace("join traces", "join traces t")).rows
        assert [name for name, _ in rows if name.endswith(".json")] == ["2.json", "4.json"]
        assert prepared.damaged[1:] == ["1.json"]
        assert prepared.answer("select count(distinct trace) from runs where trace like '%.json'")
        assert prepared.damaged[1:] == ["1.json", "2.json"]
        assert prepared.answer("select name from traces where kind = 'trace'").rows == [("4.json",)]
