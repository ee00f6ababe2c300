"""What files, names and questions do to answers of agents: nothing that the bounds, the folders and
the redaction do not allow."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.agents.answers import Answers
from fusescope.app.agents.bounds import MAX_BYTES, bounded
from fusescope.app.agents.files import Files
from fusescope.app.library import baselines
from tests.agents.test_server import SAMPLES, ask
from tests.command_line import app

SECRET = "/home/jane.doe/models/secret.py"
ASCEND = SAMPLES / "formats" / "ascend_kernel_details"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FUSESCOPE_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "library"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


def write(path: Path, *names: str, us: int = 50) -> Path:
    """Write a trace of kernels of these names, each six times."""
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100 * at, "dur": us,
         "args": {"stream": 7, "device": 0}}
        for at, name in enumerate(names * 6)
    ]  # fmt: skip
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def answers(folder: Path) -> Answers:
    return Answers(Files.below([folder]))


def kept(path: Path) -> None:
    for words in (["add", str(path)], ["tag", path.name, SECRET]):
        done = CliRunner().invoke(app, ["library", *words])
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "question",
    [
        "select name from operators",
        "select list(name) from operators",
        "select {'a': name} from operators",
        "select map {'k': [name]} from operators",
        "select name::blob from operators",
        "select name || ' of jane.doe' from operators",
        "select tags from traces",
    ],
)
def test_no_form_of_a_cell_has_a_name_that_it_tells(
    question: str, folder: Path, library: Path
) -> None:
    kept(write(folder / "t.json", SECRET, "plain"))
    shown = json.dumps(answers(folder).sql(question))
    assert "jane" not in shown and "<path>" in shown


def test_tags_and_errors_have_no_name(folder: Path, library: Path) -> None:
    kept(write(folder / "t.json", SECRET))
    questions: list[Any] = [
        ("search_library", {}),
        ("sql", {"question": "select name::int from operators"}),
        ("sql", {"question": "select error(name) from operators"}),
        ("inspect", {"path": "\x1b[31m\u202e" + SECRET}),
    ]
    env = {name: os.environ[name] for name in ("FUSESCOPE_LIBRARY", "XDG_DATA_HOME")}
    _, *told = ask(questions, str(folder), env=env)
    texts = [answer.content[0].text for answer in told]
    assert [answer.is_error for answer in told] == [False, True, True, True]
    assert not any("jane" in text or "\x1b" in text or "\u202e" in text for text in texts)


def test_what_cannot_be_answered_whole_is_cut_and_counted() -> None:
    many = {f"key {at}": "x" * 100 for at in range(10_000)}
    nested: dict[str, Any] = {"in": [{"deep": ["y" * 900] * 100}]}
    for values in ({"many": many}, nested, {"many": many, "rows": [1, 2], "text": "z" * 10**6}):
        cut = bounded(values)
        assert len(msgspec.json.encode(cut)) < MAX_BYTES + 100
        assert list(cut["left_out"]) and cut.keys() >= values.keys()
    assert bounded({"many": many})["left_out"] == {"many": 10_000}
    assert bounded(nested)["left_out"] == {"in": 1}


def test_a_cell_without_an_end_is_left_out(folder: Path, library: Path) -> None:
    kept(write(folder / "t.json", "a"))
    answer = answers(folder).sql("select range(2000000), repeat('x', 50000000)")
    assert len(str(answer)) < 500_000
    assert bounded(answer)["left_out"] == {"rows": 1}


@pytest.mark.parametrize(
    "path",
    [
        "",
        "..",
        "/etc/passwd",
        "t.json\0",
        "pipe",
        "\ud800",
        "x" * 5000,
        "library:../x",
        "baseline:../in/t.json",
        "~/t.json",
        "t.json/x",
    ],
)
def test_a_path_leads_nowhere_else(path: str, folder: Path, library: Path) -> None:
    write(folder / "t.json", "a")
    os.mkfifo(folder / "pipe")
    with pytest.raises(FuseScopeError):
        answers(folder).inspect(path)


def test_a_link_in_a_folder_is_not_read(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside.json", "secret")
    (folder / "run").mkdir()
    (folder / "run" / "linked.json").symlink_to(tmp_path / "outside.json")
    with pytest.raises(FuseScopeError):
        answers(folder).inspect("run")
    write(folder / "run" / "t.json", "plain")
    assert "secret" not in json.dumps(answers(folder).operators("run", "", ("", ""), "", 0))


def test_a_link_that_takes_the_place_of_a_file_is_not_answered(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fusescope.app.agents import files

    write(tmp_path / "outside.json", "secret")
    inside = write(folder / "t.json", "plain")
    read = files.read_path

    def swapped(path: Path, *words: Any, **named: Any) -> Any:
        inside.unlink()
        inside.symlink_to(tmp_path / "outside.json")
        return read(path, *words, **named)

    monkeypatch.setattr(files, "read_path", swapped)
    with pytest.raises(FuseScopeError) as refused:
        answers(folder).inspect("t.json")
    assert refused.value.code == "not_below_folders"


def test_a_file_that_changes_is_read_again(folder: Path) -> None:
    asked = answers(folder)
    path = write(folder / "t.json", "first")
    before = path.stat()
    assert "first" in json.dumps(asked.operators("t.json", "", ("", ""), "", 0))
    write(path, "other")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as large and as old as before
    assert "other" in json.dumps(asked.operators("t.json", "", ("", ""), "", 0))


def test_a_folder_whose_file_changes_is_read_again(folder: Path) -> None:
    shutil.copytree(ASCEND, folder / "npu")
    asked = answers(folder)
    assert "renamed" not in json.dumps(asked.operators("npu", "", ("", ""), "", 0))
    table = folder / "npu" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    table.write_text(table.read_text().replace("MatMul", "renamed"))
    assert "renamed" in json.dumps(asked.operators("npu", "", ("", ""), "", 0))


def test_a_baseline_is_read_and_nothing_is_written_for_it(folder: Path, library: Path) -> None:
    large = SAMPLES / "torch_compile" / "eager.json.gz"
    baselines.save("main", large)
    assert answers(folder).inspect("baseline:main")["rows"] == 879
    assert not library.exists()


@pytest.mark.parametrize("offset", [10**30, 2**63 - 1])
def test_a_page_behind_the_end_is_empty(offset: int, folder: Path) -> None:
    write(folder / "t.json", "a")
    page = answers(folder).operators("t.json", "", ("", ""), "", offset)
    assert (page["operators"], page["total"]) == ([], 1)
