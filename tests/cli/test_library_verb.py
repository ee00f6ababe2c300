"""`fusescope library` and `fusescope sql`, as they are typed."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import psutil
import pytest
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.library import items
from fusescope.app.sources import places
from fusescope.app.store.store import Store
from tests.command_line import app
from tests.library.conftest import library
from tests.store.test_store import key

__all__ = ["library"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def refusal(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert isinstance(result.exception, FuseScopeError), result.output
    return result.exception.text


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_the_library_from_listing_to_clearing(library: Store) -> None:
    run("library", "rename", "1.json", "before [red]x")
    run("library", "tag", "before [red]x", "nightly", "a100")
    run("library", "note", "before [red]x", "the first")
    listed = run("library")
    assert "before [red]x" in listed and "nightly, a100" in listed and key(1)[:12] in listed
    assert "fused is 2.00× faster than unfused" in listed
    found = json.loads(run("library", "search", "first", "--json"))
    [item] = found["items"]
    assert (item["name"], item["tags"], item["note"]) == (
        "before [red]x", ["nightly", "a100"], "the first",
    )  # fmt: skip
    assert found["bytes"] > item["bytes"] > 500
    assert "Nothing in the library has these words." in run("library", "search", "nothing")
    assert refusal("library", "delete", "2.json").startswith("Nothing was removed, because nobody")
    run("library", "delete", "2.json", "--yes")
    run("library", "clear", "--yes")
    assert [one["name"] for one in json.loads(run("library", "--json"))["items"]] == ["small.zip"]
    assert refusal("library", "--sort", "colour").startswith(
        "The library cannot be sorted by 'colour'."
    )


def test_two_of_the_library_are_compared_as_files_are(library: Store) -> None:
    found = json.loads(run("library", "compare", "1.json", "2.json", "--json"))
    assert [found[side]["file"] for side in ("baseline", "candidate")] == ["1.json", "2.json"]
    alone = json.loads(run("library", "compare", "small.zip", "--json"))
    assert alone["verdict"]["speedup"]["value"] == pytest.approx(2.0, rel=0.01)
    assert "1.json" in run("inspect", "library:1.json")
    assert refusal("inspect", "library:9.json").startswith("There is no '9.json' in the library.")


def test_sql_prints_a_table_json_and_csv(library: Store) -> None:
    question = "select name, calls from traces where kind = 'trace' order by name"
    assert "1.json" in run("sql", question)
    assert json.loads(run("sql", question, "--json"))["rows"] == [["1.json", 50], ["2.json", 50]]
    rows = list(csv.reader(io.StringIO(run("sql", question, "--csv").lstrip("\ufeff"))))
    assert rows == [["name", "calls"], ["1.json", "50"], ["2.json", "50"]]
    assert "There are more than 200 rows" in run("sql", "select * from range(300)")
    assert "operators_ns" in run("sql")
    assert refusal("sql", "drop table traces").startswith("Only SELECT is answered")
    assert refusal("sql", question, "--csv", "--json").startswith("--json and --csv do not go")
    endless = "select count(*) from range(1000000000) a, range(1000) b where a.range % 7 = b.range"
    assert refusal("sql", endless, "--seconds", "0.2").startswith("This question took longer than")


def test_nothing_of_it_needs_the_dashboard(library: Store) -> None:
    """Streamlit is an extra, and takes longer to load than a question to answer."""
    code = (
        "import sys; sys.modules['streamlit'] = sys.modules['plotly'] = None;"
        "from fusescope.app.cli.main import main; main()"
    )
    for arguments in (["library"], ["library", "search", "small"], ["sql", "from traces"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert "small" in done.stdout, arguments


def test_a_question_ends_at_once_when_it_is_interrupted(library: Store) -> None:
    endless = "select count(*) from range(1000000000) a, range(1000) b where a.range % 7 = b.range"
    nested = f"{'[' * 150}x{']' * 150}"
    tables = [f"t{i + 1} as (select {nested} x from t{i})" for i in range(12)]
    # DuckDB plans this one for minutes, and heeds nothing while it does.
    planned = f"with t0 as (select 1 x), {', '.join(tables)} select x from t12"
    for question in (endless, planned):
        asked = subprocess.Popen(
            [sys.executable, "-m", "fusescope.app.cli.main", "sql", question],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        process = psutil.Process(asked.pid)
        while not any("duckdb" in file.path for file in process.memory_maps()):
            assert asked.poll() is None
            time.sleep(0.1)
        time.sleep(3)
        asked.send_signal(signal.SIGINT)
        _, said = asked.communicate(timeout=20)
        assert asked.returncode == 130, said
        assert "Something went wrong" not in said and "Traceback" not in said


def test_recordings_beyond_those_that_are_listed_are_counted(
    library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "not listed" not in run("library")
    first = places.experiments_folder() / "small.zip"
    for name in ("second.zip", "third.zip"):
        first.with_name(name).write_bytes(first.read_bytes())
    monkeypatch.setattr(items, "MAX_LISTED", 1)
    assert "2 older recordings are not listed: only the newest 1 in " in run("library")
    found = json.loads(run("library", "--json"))
    assert found["unlisted"] == 2
    assert [item["kind"] for item in found["items"]].count("experiment") == 1


def test_a_full_disk_leaves_the_recordings_as_they_are(
    library: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = places.experiments_folder()
    there = (folder / "small.zip").rename(tmp_path / "given.zip")

    def full(given: IO[bytes], to: IO[bytes]) -> None:
        to.write(given.read(100))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", full)
    assert refusal("library", "add", str(there)) == (
        f"The library cannot be written to: no space left on device ({folder}). "
        "Check its folder and the space on the disk."
    )
    assert list(folder.iterdir()) == [] and len(json.loads(run("library", "--json"))["items"]) == 2
