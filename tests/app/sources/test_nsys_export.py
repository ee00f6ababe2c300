"""Reports of Nsight Systems, exported by a stand-in for `nsys` that copies a database."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.trace import Trace
from fusescope.app.cli.reading import read_given
from fusescope.app.sources import nsys
from tests import miniatures

Install = Callable[[str], None]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report under a name that a shell or an option would take for something else."""
    path = tmp_path / "-o $(touch x);.nsys-rep"
    path.write_bytes(b"NVIDIA Tegra Profiler Report 2024.5" + bytes(64))
    return path


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install(code)` makes `nsys` a program of this Python code on the PATH."""

    def put(code: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "nsys"
        program.write_text(f"#!{sys.executable}\nimport sys, time, shutil\n{code}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return put


def _copying() -> str:
    reader = next(one for one in miniatures.FORMATS if one.name == "nsys_db")
    database = miniatures.FOLDER / "nsys_db" / miniatures.main_file(reader).name
    return (
        "assert sys.argv[1:4] == ['export', '--type', 'sqlite'] and sys.argv[4] == '--output'\n"
        "assert open(sys.argv[6], 'rb').read(6) == b'NVIDIA' and len(sys.argv) == 7\n"
        f"shutil.copy({str(database)!r}, sys.argv[5])"
    )


def _whole() -> Trace:
    reader = next(one for one in miniatures.FORMATS if one.name == "nsys_db")
    return miniatures.only_trace(miniatures.files(reader))


def test_the_export_is_read_and_removed(report: Path, install: Install) -> None:
    install(_copying())
    left = set(Path(os.environ.get("TMPDIR", "/tmp")).glob("fusescope-nsys-*"))
    value = nsys.read_report(report, DEFAULT_LIMITS)
    assert isinstance(value, Trace)
    assert value.calls["dur_ns"].tolist() == _whole().calls["dur_ns"].tolist()
    assert value.meta.file_name.endswith(".sqlite")
    assert set(Path(os.environ.get("TMPDIR", "/tmp")).glob("fusescope-nsys-*")) <= left
    assert not (report.parent / "x").exists()


def test_the_folder_of_a_killed_export_goes_with_the_next_one(
    tmp_path: Path, report: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that is still being made stays."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    code = (
        "import time\nfrom fusescope.collectors.files import scratch\n"
        "with scratch.folder(scratch.EXPORT) as path:\n"
        "    (path / 'half.sqlite').write_bytes(b'SQLite')\n"
        "    print(path, flush=True)\n    time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "TMPDIR": str(folder)}
    root = Path(__file__).parents[3]
    children = [
        subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=root)
        for _ in range(2)
    ]
    try:
        made = [
            Path(child.stdout.readline().decode().strip()) for child in children if child.stdout
        ]
        children[0].kill()
        children[0].wait()
        assert [path.is_dir() for path in made] == [True, True]
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        install(_copying())
        nsys.read_report(report, DEFAULT_LIMITS)
        assert [path.is_dir() for path in made] == [False, True]
    finally:
        for child in children:
            child.kill()
            child.wait()
            if child.stdout:
                child.stdout.close()


@pytest.mark.parametrize(
    ("code", "expected", "limits", "most_s"),
    [
        ("sys.exit('the report is of a newer nsys')", "nsys_export_failed", DEFAULT_LIMITS, 60.0),
        ("pass", "nsys_export_failed", DEFAULT_LIMITS, 60.0),
        ("time.sleep(600)", "nsys_export_too_long", DEFAULT_LIMITS, 0.5),
        (
            "open(sys.argv[5], 'wb').write(bytes(2**21)); time.sleep(600)",
            "nsys_export_too_large", Limits(file_bytes=2**20), 60.0,
        ),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence(
    report: Path, install: Install, code: str, expected: str, limits: Limits, most_s: float
) -> None:
    install(code)
    with pytest.raises(FuseScopeError) as refused:
        nsys.read_report(report, limits, most_s)
    assert refused.value.code == expected
    if code.startswith("sys.exit"):
        assert "the report is of a newer nsys" in refused.value.text


def test_a_program_of_a_relative_folder_is_not_run(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("pass")
    monkeypatch.chdir(tmp_path / "bin")
    monkeypatch.setenv("PATH", ".")
    assert nsys.program() is None


@pytest.mark.parametrize(("agrees", "is_terminal"), [(True, True), (False, True), (True, False)])
def test_the_command_line_asks_first(
    report: Path, install: Install, monkeypatch: pytest.MonkeyPatch, agrees: bool, is_terminal: bool
) -> None:
    install(_copying())
    asked: list[str] = []

    def confirm(question: str, **_: object) -> bool:
        asked.append(question)
        return agrees

    monkeypatch.setattr(typer, "confirm", confirm)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: is_terminal)
    if agrees and is_terminal:
        assert isinstance(read_given(report), Trace)
    else:
        with pytest.raises(FuseScopeError) as refused:
            read_given(report)
        assert refused.value.code == "nsys_report"
    assert len(asked) == is_terminal
