"""`fusescope runtimes`: the list, and what adding and removing an engine says."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import runtimes
from fusescope.app.cli.printing import runtimes as printing
from fusescope.collectors.environments import adding, catalogue, named, state
from fusescope.collectors.environments.looking import Seen
from fusescope.collectors.environments.pip import Pip
from tests.collectors.environments.standin import (
    ENGINE,
    install_at_once,
    make_with_our_pip,
    place_ready,
)
from tests.command_line import app

HUNGRY = replace(ENGINE, name="hungry", needs=("compiler",))


@pytest.fixture(autouse=True)
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two engines that need neither pip nor a worker; the second needs a compiler as well."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("CXX", "/no/such/compiler")
    for module in (catalogue, printing):
        monkeypatch.setattr(module, "ENGINES", {"toy": ENGINE, "hungry": HUNGRY})
    monkeypatch.setattr(adding, "_make", make_with_our_pip)
    monkeypatch.setattr(adding, "try_import", lambda engine: "1.5.0+cpu")
    monkeypatch.setattr(adding, "disk_bytes", lambda folder: 21_000_000)
    monkeypatch.setattr(Pip, "available", lambda pip: pip.engine.builds[0])
    monkeypatch.setattr(Pip, "install", install_at_once)
    ended = {polite: signal.getsignal(polite) for polite in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for polite, handler in ended.items():
        signal.signal(polite, handler)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["runtimes", *arguments])


def said(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refusal(*arguments: str) -> FuseScopeError:
    result = run(*arguments)
    assert isinstance(result.exception, FuseScopeError), result.output
    return result.exception


def test_the_list_says_of_each_engine_what_to_do(tmp_path: Path) -> None:
    lines = {line.split("  ")[0]: line for line in map(str.rstrip, said().splitlines())}
    assert lines["onnxruntime"].split() == [
        "onnxruntime", version("onnxruntime"), "–", "–", "ready",
    ]  # fmt: skip
    assert "1.5.0 " in lines["toy"] and " ~10 kB " in lines["toy"] and " ~20 MB " in lines["toy"]
    assert lines["toy"].endswith("not installed: fusescope runtimes add toy")
    assert "The engine hungry needs a C++ compiler" in lines["hungry"]
    assert f"below {tmp_path}/fusescope/engines." in said()
    assert list(tmp_path.iterdir()) == []

    folder = place_ready()
    [line] = [line for line in said().splitlines() if line.startswith("toy ")]
    assert line.split() == ["toy", "1.5.0+cpu", "–", "20", "MB", "ready"]
    (folder / state.READY).unlink()
    assert "Adding the engine toy was not finished" in said()


def test_the_list_as_json(tmp_path: Path) -> None:
    place_ready()
    values = json.loads(said("--json"))
    assert values["schema_version"] == 1
    own, toy, hungry = values["engines"]
    assert (own["engine"], own["state"], own["error"]) == ("onnxruntime", "ready", None)
    assert toy["state"] == "ready" and toy["version"] == "1.5.0+cpu" and toy["error"] is None
    assert toy["disk_bytes"] == 20_000_000 and toy["download_bytes"] is None
    assert hungry["state"] == "absent" and hungry["download_bytes"] == 10_000
    assert hungry["error"]["code"] == "runtime_compiler"
    assert hungry["error"]["where"] == "/no/such/compiler"


def test_an_engine_is_added_and_removed(tmp_path: Path) -> None:
    result = run("add", "toy", "--yes")
    assert result.exit_code == 0
    assert result.stdout == "toy 1.5.0+cpu is ready. It takes 21 MB on the disk.\n"
    assert result.stderr.splitlines() == [
        "Making an environment",
        "Asking pip for the engine",
        "PyTorch with TorchInductor, its compiler: pip fetches about 10 kB, and 20 MB are taken "
        + f"on the disk, below {tmp_path}/fusescope/engines. It takes about 2 minutes on a fast "
        "connection.",
        "Trying whether the engine can be imported",
    ]
    assert said("add", "toy") == (
        "toy 1.5.0+cpu is ready, so nothing was added. It takes 21 MB on the disk.\n"
    )
    assert said("remove", "toy") == "toy was removed, which frees 21 MB.\n"
    assert said("remove", "toy") == "toy is not installed, so nothing was removed.\n"
    assert json.loads(said("add", "toy", "--yes", "--json"))["engines"][0]["state"] == "ready"
    assert json.loads(said("remove", "toy", "--json"))["removed_bytes"] == 21_000_000


def test_nothing_is_added_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal("add", "toy").text == (
        "Nothing was added: there is no terminal on which to ask first. Run the same command with "
        "--yes."
    )
    monkeypatch.setattr(runtimes, "_is_agreed", lambda: False)
    assert said("add", "toy") == ""
    assert state.state_of(ENGINE).kind == "absent"


def test_a_larger_build_than_expected_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    note = catalogue.Message("It is larger.")
    build = catalogue.Build("toy-engine==1.5.0", 3_000, 7_000, note)
    monkeypatch.setattr(Pip, "available", lambda pip: build)
    assert "about 3 kB, and 7 kB are" in (result := run("add", "toy", "--yes")).stderr
    assert "connection. It is larger.\n" in result.stderr


def test_ctrl_c_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(pip: Pip, requirements: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Pip, "install", interrupt)
    assert refusal("add", "toy", "--yes").text == (
        "Adding the engine toy was interrupted. Run the same command again. What pip has fetched "
        "is used again."
    )
    assert state.state_of(ENGINE).kind == "absent"


def test_what_cannot_be_added_or_removed() -> None:
    assert refusal("add", "hungry", "--yes").code == "runtime_compiler"
    assert refusal("add", "tot").values["nearest"] == "toy"
    assert refusal("remove", "tot").code == "runtime_unknown"
    assert refusal("remove", "onnxruntime").code == "runtime_own"
    assert said("add", "onnxruntime") == "onnxruntime comes with FuseScope: it is ready.\n"


def test_the_question_can_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda text, **options: text == "Add it?")
    assert runtimes._is_agreed()

    def abort(text: str, **options: bool) -> bool:
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", abort)
    assert not runtimes._is_agreed()


def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "nightly") -> named.Named:
    """An environment of the user's that was seen: only what starts a Python is replaced."""
    python, module = tmp_path / "python", tmp_path / "toy_engine.py"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    module.write_text("")
    seen = Seen(
        python, "3.12.4", "/include", module, ("msgspec",), "1.6.0.dev2+cu130", "CUDA 13.0",
        "TorchInductor, Triton 3.8.0", ("GPU 0",),
    )  # fmt: skip
    monkeypatch.setattr(named, "look", lambda engine, python: seen)
    return named.use("toy", str(python), name)[0]


def test_an_environment_of_ones_own_is_listed_with_what_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(tmp_path, monkeypatch)
    python = tmp_path / "python"
    told = (
        "Its build: CUDA 13.0. Its compiler: TorchInductor, Triton 3.8.0. Devices that it sees "
        "beside the CPU: GPU 0. It lacks msgspec, which FuseScope brings along."
    )
    assert said("use", "toy", "--python", str(python), "--name", "nightly") == (
        "toy@nightly was looked at anew and is ready: toy 1.6.0.dev2+cu130 for Python 3.12.4. "
        f"Nothing was installed. {told}\nRecord with it: --runtime toy@nightly\n"
    )
    monkeypatch.setattr(named.sys, "version_info", (3, 12, 0))
    assert said("use", "toy", "--python", str(python)).startswith("toy@1.6.0.dev2 is ready: ")
    monkeypatch.setenv("COLUMNS", "400")
    lines = [line.rstrip() for line in said().splitlines() if line.startswith("toy@")]
    assert [line.split()[:5] for line in lines] == [
        ["toy@1.6.0.dev2", "1.6.0.dev2+cu130", "–", "–", "ready:"],
        ["toy@nightly", "1.6.0.dev2+cu130", "–", "–", "ready:"],
    ]
    assert lines[0].endswith(f"ready: Python 3.12.4 ({python}). {told}")

    [row] = json.loads(said("use", "toy", "--python", str(python), "--json"))["engines"]
    assert (row["engine"], row["state"], row["error"]) == ("toy@1.6.0.dev2", "ready", None)
    assert row["environment"]["devices"] == ["GPU 0"]
    assert row["environment"]["brought"] == ["msgspec"]
    listed = json.loads(said("--json"))["engines"]
    assert [one["engine"] for one in listed if one["environment"]] == [
        "toy@1.6.0.dev2", "toy@nightly",
    ]  # fmt: skip

    python.unlink()
    values = json.loads(said("--json"))["engines"][-1]
    assert values["state"] == "broken" and values["error"]["code"] == "runtime_named_broken"
    assert "The environment toy@nightly cannot be used as it was seen" in said()


def test_removing_one_of_ones_own_leaves_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(tmp_path, monkeypatch)
    assert said("remove", "toy@nightly") == (
        "toy@nightly is no longer listed. Its environment stays.\n"
    )
    assert (tmp_path / "python").exists()
    assert refusal("remove", "toy@nightly").code == "runtime_no_such_name"
    own(tmp_path, monkeypatch)
    assert json.loads(said("remove", "toy@nightly", "--json"))["engine"] == "toy@nightly"
    assert refusal("add", "toy@nightly").code == "runtime_named_twice"
