"""Adding an engine for real, with an engine that is one small wheel in a folder."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments import adding, catalogue, state
from fusescope.collectors.environments.catalogue import Build, Engine
from fusescope.collectors.environments.pip import Pip
from fusescope.collectors.environments.pip_process import quoted, step_of
from fusescope.collectors.files import cache
from tests.collectors.environments.standin import (
    ENGINE,
    install_at_once,
    make_with_our_pip,
    only_wheels_of,
    place_ready,
    write_wheel,
)

MAKE = adding._make
WHOLE = replace(ENGINE, shared=("msgspec",))
PLAIN = Build("toy-engine==1.5.0", 10_000, 20_000_000)


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "ENGINES", {"toy": ENGINE})
    only_wheels_of(tmp_path / "wheels", monkeypatch)
    monkeypatch.setattr(adding, "_make", make_with_our_pip)


@pytest.fixture
def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pip, "available", lambda pip: pip.engine.builds[0])
    monkeypatch.setattr(Pip, "install", install_at_once)


@pytest.fixture
def without_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in has no msgspec beside it: no worker runs there."""
    monkeypatch.setattr(adding, "try_import", lambda engine: "1.5.0+cpu")


def add(engine: Engine = ENGINE) -> state.State:
    with adding.adding(engine, lambda said, on_disk: None) as found:
        assert isinstance(found, adding.Addition)
        return found.install()


def refusal(engine: Engine = ENGINE) -> FuseScopeError:
    with pytest.raises(FuseScopeError) as caught:
        add(engine)
    assert not state.folder_of(engine).exists()
    return caught.value


def test_an_engine_comes_is_used_and_goes(
    tmp_path: Path, without_worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adding, "_make", MAKE)
    write_wheel(tmp_path / "wheels")
    told: list[str] = []
    with adding.adding(ENGINE, lambda said, on_disk: told.append(str(said))) as found:
        assert isinstance(found, adding.Addition)
        assert found.build.requirement == "toy-engine==1.5.0+cpu"
        assert state.state_of(ENGINE).kind == "unfinished"
        ready = found.install()
    assert list(dict.fromkeys(told)) == [
        "Making an environment", "Asking pip for the engine", "Installing 1 package",
        "Trying whether the engine can be imported",
    ]  # fmt: skip
    assert (ready.kind, ready.version) == ("ready", "1.5.0+cpu")
    assert ready.disk_bytes == adding.disk_bytes(ready.folder) - record_bytes(ready.folder)
    python = state.python_of("toy")
    code = "import toy_engine, sys; print(toy_engine.__version__, sys.prefix)"
    said = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == f"1.5.0+cpu {ready.folder}\n"
    assert stat.S_IMODE(ready.folder.parent.stat().st_mode) == 0o700
    assert not (ready.folder / "fusescope-temporary").exists()

    with adding.adding(ENGINE, lambda said, on_disk: None) as again:
        assert again == ready  # nothing is added twice

    older = ready.folder.with_name("toy-1.4.0-py3.10")
    older.mkdir()
    assert adding.remove(ENGINE) > 1_000_000
    assert not ready.folder.exists() and not older.exists()
    assert adding.remove(ENGINE) == 0


def record_bytes(folder: Path) -> int:
    return (folder / state.READY).stat().st_blocks * 512


def test_the_engine_is_tried_by_a_worker_in_its_environment(without_pip: None) -> None:
    """A worker needs msgspec, which is not there: what is installed does not work."""
    error = refusal()
    assert error.text.startswith(
        "The engine toy was installed, and does not work on this machine: The engine's process "
        "ended with status 1. Check what the engine needs"
    )


def test_an_engine_of_another_version_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = adding.EngineVersion("1.6.0")
    monkeypatch.setattr(adding.worker, "run", lambda *_, **__: answer)
    with pytest.raises(FuseScopeError, match="this machine: it calls itself version 1.6.0"):
        adding.try_import(ENGINE)


def test_without_the_first_build_the_next_one_is_taken(tmp_path: Path) -> None:
    write_wheel(tmp_path / "wheels", local="")
    both = replace(ENGINE, builds=(*ENGINE.builds, PLAIN))
    with adding.adding(both, lambda said, on_disk: None) as found:
        assert isinstance(found, adding.Addition)
        assert found.build == PLAIN
    assert not state.folder_of(both).exists()  # it was not installed after all


def test_what_pip_does_not_have_is_named() -> None:
    python = ".".join(map(str, sys.version_info[:2]))
    assert refusal().text == (
        f"The package index that pip uses has no toy-engine for Python {python} on this machine. "
        "Check which index pip uses (pip config list), then run fusescope runtimes add toy again."
    )


def test_a_shared_package_comes_in_the_version_that_the_tool_has(tmp_path: Path) -> None:
    write_wheel(tmp_path / "wheels")
    assert refusal(WHOLE).values["requirement"] == f"msgspec=={version('msgspec')}"


def test_an_interrupted_addition_leaves_nothing_and_can_be_repeated(
    without_pip: None, without_worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(pip: Pip, requirements: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Pip, "install", interrupt)
        add()
    assert state.state_of(ENGINE).kind == "absent"
    assert add().kind == "ready"


def test_what_a_killed_addition_left_is_made_anew(without_pip: None, without_worker: None) -> None:
    folder = place_ready()
    (folder / state.READY).unlink()
    (state.packages_in(folder) / "half.py").touch()
    assert state.state_of(ENGINE).kind == "unfinished"
    assert add().kind == "ready"
    assert not (state.packages_in(folder) / "half.py").exists()


def test_one_that_no_longer_works_is_made_anew(
    without_pip: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every part is in its place, but it cannot be imported."""
    place_ready()
    answers: Iterator[str | FuseScopeError] = iter([FuseScopeError("engine_ended", status=1), "1"])

    def try_import(engine: Engine) -> str:
        answer = next(answers)
        if isinstance(answer, FuseScopeError):
            raise answer
        return answer

    monkeypatch.setattr(adding, "try_import", try_import)
    assert add().version == "1"


def test_two_at_once_do_not_meet(without_pip: None) -> None:
    """The second is refused, also while only pip of the first is left."""
    with adding.adding(ENGINE, lambda said, on_disk: None) as found:
        assert isinstance(found, adding.Addition)
        with pytest.raises(FuseScopeError) as caught:
            add()
        assert caught.value.text == (
            "The engine toy is being added or removed by another process. Wait until it has ended, "
            "then run the same command again."
        )
        with pytest.raises(FuseScopeError, match="by another process"):
            adding.remove(ENGINE)
        [handle] = found.pip.handles
        kept = os.dup(handle)  # as a child of a killed process has it
    with pytest.raises(FuseScopeError, match="by another process"):
        add()
    os.close(kept)
    assert adding.remove(ENGINE) == 0


def test_too_little_disk_is_said_before_anything_is_made() -> None:
    vast = replace(ENGINE, builds=(Build("toy-engine==1.5.0", 10**17, 10**18),))
    error = refusal(vast)
    assert error.code == "runtime_little_disk"
    assert error.values["needed"] == 12 * 10**17
    assert not state.folder_of(vast).exists()


def test_a_disk_that_fills_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(engine: Engine, folder: Path) -> None:
        folder.mkdir(parents=True)
        raise OSError(errno.ENOSPC, "x")

    monkeypatch.setattr(adding, "_make", full)
    assert refusal().text == (
        "The disk was full before the engine toy was installed: no space left on device "
        f"({state.root()}). Free some space there, or set XDG_CACHE_HOME in the environment to a "
        "folder on another disk, then run the same command again. Nothing that was installed stays."
    )


def test_a_python_without_venv_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    python = ".".join(map(str, sys.version_info[:2]))
    assert f"apt install python{python}-venv)" in refusal().text


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    cache.folder().parent.mkdir()
    cache.folder().write_text("")
    with pytest.raises(FuseScopeError, match="cannot be written to: file exists"):
        add()


@pytest.mark.parametrize(
    ("said", "code", "quote"),
    [
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError('<at 0x7f>: Failed: "
            + "[Errno -2] Name or service not known')': /simple/toy/\n"
            + "ERROR: No matching distribution found for toy==1",
            "runtime_no_network",
            "Name or service not known",
        ),
        (
            'ERROR: Exception: ReadTimeoutError("Pool(port=443): Read timed out.")\n',
            "runtime_no_network",
            'Exception: ReadTimeoutError("Pool(port=443): Read timed out.")',
        ),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left",
            "runtime_disk_full",
            None,
        ),
        ("ERROR: No matching distribution found for toy==1\n", "runtime_no_version", None),
        (
            "Collecting toy\n\nERROR: Cannot install toy==1 because \x1b[31mthese conflict\n\n",
            "runtime_pip_failed",
            "Cannot install toy==1 because [31mthese conflict",
        ),
        ("Killed\n", "runtime_pip_failed", "Killed"),
    ],
)
def test_what_pip_says_becomes_one_sentence(
    said: str, code: str, quote: str | None, tmp_path: Path
) -> None:
    pip = Pip(ENGINE, tmp_path, tmp_path, (), lambda said: None, lambda: None)
    error = pip._error(said, "toy==1")
    assert error.code == code
    assert error.values.get("said") == quote
    assert error.text.isprintable()


def test_pip_without_a_word_has_no_reason() -> None:
    assert quoted("\n \n") == "no reason"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Downloading torch-2.13.0.whl (191.3 MB)", "Fetching torch-2.13.0.whl (191.3 MB)"),
        ("  Using cached jax-0.10.2.whl (3 MB)", "Using jax-0.10.2.whl, which was fetched before"),
        ("Installing collected packages: mpmath, torch", "Installing 2 packages"),
        ("Downloading torch-2.13.0.whl.metadata (29 kB)", None),
        ("Requirement already satisfied: x", None),
    ],
)
def test_lines_of_pip_that_a_user_waits_for(line: str, expected: str | None) -> None:
    step = step_of(line.strip())
    assert (None if step is None else str(step)) == expected


def test_what_an_engine_does_not_declare_comes_in_the_version_that_it_needs(
    without_pip: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def install(pip: Pip, requirements: Sequence[str]) -> None:
        asked.extend(requirements)
        raise KeyboardInterrupt

    monkeypatch.setattr(Pip, "install", install)
    engine = replace(WHOLE, shared=("msgspec", "numpy"), beside=("decorator==5.3.1", "numpy==1.2"))
    with pytest.raises(KeyboardInterrupt):
        add(engine)
    assert asked == [engine.builds[0].requirement, "decorator==5.3.1", "numpy==1.2",
                     f"msgspec=={version('msgspec')}"]  # fmt: skip
