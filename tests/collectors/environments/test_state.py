"""What is there of an engine: nothing, half of it, all of it, or what no longer works."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments import catalogue, needs, state
from tests.collectors.environments.standin import ENGINE, place_ready

REAL = catalogue.ENGINES


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(catalogue, "ENGINES", {"toy": ENGINE})


def refusal(name: str = "toy") -> str:
    with pytest.raises(FuseScopeError) as caught:
        state.python_of(name)
    return caught.value.text


def test_an_engine_that_is_absent_names_the_command_that_adds_it(tmp_path: Path) -> None:
    assert state.state_of(ENGINE).kind == "absent"
    assert refusal() == "The engine toy is not installed. Run: fusescope runtimes add toy."
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_ready_says_where_its_python_is(tmp_path: Path) -> None:
    place_ready()
    found = state.state_of(ENGINE)
    assert (found.kind, found.version, found.disk_bytes) == ("ready", "1.5.0+cpu", 20_000_000)
    python = state.python_of("toy")
    version = ".".join(map(str, sys.version_info[:2]))
    assert python == tmp_path / "fusescope" / "engines" / f"toy-1.5.0-py{version}/bin/python"


def test_onnx_runtime_runs_in_the_tools_own_python() -> None:
    assert state.python_of("onnxruntime") == Path(sys.executable)


def test_a_folder_without_the_last_file_is_unfinished() -> None:
    folder = place_ready()
    (folder / state.READY).unlink()
    assert state.state_of(ENGINE).kind == "unfinished"
    assert refusal() == (
        f"Adding the engine toy was not finished ({folder}). Run: fusescope runtimes add toy. What "
        "was fetched is used again."
    )


def test_what_no_longer_works_says_why() -> None:
    folder = place_ready()
    (state.packages_in(folder) / "toy_engine.py").unlink()
    assert refusal() == (
        "The environment of the engine toy does not work: the package toy_engine is not in it "
        f"({folder}). Run: fusescope runtimes add toy. It is made anew."
    )
    state.python_in(folder).unlink()
    state.python_in(folder).symlink_to("/no/such/python")
    assert "does not work: its Python (/no/such/python) cannot be run (" in refusal()
    state.python_in(folder).unlink()
    state.python_in(folder).symlink_to(sys.executable)
    state.write_ready(folder, state.Ready("toy", "1.5.0", "toy", "/other/python", 1))
    assert "does not work: it was made with another Python (/other/python) (" in refusal()
    (folder / state.READY).write_text("{")
    assert "does not work: the file fusescope-ready.json in it is damaged (" in refusal()


def test_an_unknown_engine_names_the_known_ones() -> None:
    assert refusal("toi") == (
        "There is no engine 'toi'. Did you mean 'toy'? The engines are: onnxruntime, toy."
    )


def test_an_engine_that_compiles_needs_a_compiler_and_header_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiling = replace(ENGINE, needs=("compiler", "headers"))
    (tmp_path / "Python.h").touch()
    monkeypatch.setattr(needs, "_headers", lambda: str(tmp_path))
    monkeypatch.setenv("CXX", f"{sys.executable} -O2")
    assert needs.missing_need(compiling) is None
    (tmp_path / "Python.h").unlink()
    missing = needs.missing_need(compiling)
    assert missing is not None and missing.code == "runtime_headers"
    monkeypatch.setenv("CXX", "/no/such/compiler")
    missing = needs.missing_need(compiling)
    assert missing is not None
    assert missing.text == (
        "The engine toy needs a C++ compiler, and none was found (/no/such/compiler). Install one "
        "(Debian, Ubuntu: apt install g++; macOS: xcode-select --install), or name it with CXX in "
        "the environment."
    )
    assert needs.missing_need(ENGINE) is None


def test_a_python_that_an_engine_does_not_exist_for() -> None:
    missing = needs.missing_need(replace(ENGINE, newest_python=(3, 10)))
    assert missing is not None and missing.code == "runtime_python"
    assert missing.values["newest"] == "3.10"


def test_the_catalogue_gives_exact_versions() -> None:
    for engine in REAL.values():
        for build in engine.builds:
            assert build.requirement.partition("==")[2].partition("+")[0] == engine.version
            assert 0 < build.download_bytes < build.disk_bytes
