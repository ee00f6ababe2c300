"""`fusescope collect`: options, progress, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import collect as verb
from fusescope.app.cli.recording.command import typed_command
from tests import known_peaks
from tests.patience import GIVE_UP_S

pytest.importorskip("onnxruntime", reason="recording needs the extra 'collect'")

ROOT = Path(__file__).resolve().parents[2]
# A shell's background job ignores Ctrl-C, and so would its children.
HEARS_CTRL_C = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "signal.signal(signal.SIGTERM, signal.SIG_DFL); signal.signal(signal.SIGHUP, signal.SIG_DFL); "
)
RUN = (
    "import typer; from fusescope.app.cli.collect import collect; app = typer.Typer(); "
    "app.command()(collect); app(prog_name='fusescope collect')"
)
SHORT = ("mul_add", "--variants", "unfused,fused", "--rounds", "3", "--threads", "1")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def invoke(*arguments: str) -> str:
    """The sentence that the command ends with."""
    app = typer.Typer()
    app.command()(verb.collect)
    result = CliRunner().invoke(app, list(arguments))
    assert isinstance(result.exception, FuseScopeError), result.output
    return result.exception.text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("mul_ad",), "Did you mean 'mul_add'?"),
        (("mul_add", "--variants", "fuzed"), "Did you mean 'fused'?"),
        (("mul_add", "--variants", ","), "No variant"),
        (("mul_add", "--variants", "withot:X"), "Did you mean 'without:<Optimizer>'?"),
        (("mul_add", "--rounds", "0"), "--rounds cannot be 0"),
        (("mul_add", "--blocks", "-3"), "--blocks cannot be -3"),
        (("mul_add", "--threads", "0"), "--threads cannot be 0"),
        (("mul_add", "--seconds", "nan"), "--seconds cannot be nan"),
        (("mul_add", "--timeout", "0"), "--timeout cannot be 0"),
        (("mul_add", "--memory-limit", "-1"), "--memory-limit cannot be -1"),
        (("mul_add", "--shape", "input"), "Write name=1,3,224,224 with sizes"),
        (("mul_add", "--shape", "input=1,x"), "Write name=1,3,224,224 with sizes"),
        (("mul_add", "--input-range", "input=1"), "Write NAME=LO,HI."),
        (("mul_add", "--input-range", "input=1,2,3"), "Write NAME=LO,HI."),
        (("mul_add", "--runtime", "openvino,"), "comma of --runtime 'openvino,' the name of an"),
        (("mul_add", "--out", "/nowhere/x.zip"), "output folder cannot be written to"),
    ],
)
def test_bad_usage_is_one_sentence(arguments: tuple[str, ...], expected: str) -> None:
    text = invoke(*arguments)
    assert expected in text
    assert "\n" not in text


def test_an_ablation_stands_alone_or_beside_named_variants() -> None:
    own, torch = "onnxruntime", "torch"
    assert verb._names(None, ablate=False, runtime=own) == ("eager", "unfused", "fused")
    assert verb._names(None, ablate=False, runtime=torch)[:2] == ("eager", "captured")
    assert verb._names(None, ablate=True, runtime=own) == ()
    assert verb._names("eager, basic", ablate=True, runtime=own) == ("eager", "basic")


def test_several_engines_are_named_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run(recording: Any, *, progress_json: bool) -> Path:
        asked.append(recording)
        return Path("x.zip")

    monkeypatch.setattr(verb.recording_run, "run", run)
    app = typer.Typer()
    app.command()(verb.collect)
    for runtime in ("onnxruntime, openvino", "openvino"):
        result = CliRunner().invoke(app, ["mul_add", "--runtime", runtime])
        assert result.exit_code == 0, result.output
    several, one = asked
    assert several.runtimes == ("onnxruntime", "openvino")
    assert several.variants == ("onnxruntime:fused", "openvino:fused")
    assert (one.runtime, one.runtimes, one.variants) == ("openvino", (), ("marked", "fused"))


def test_ranges_are_understood() -> None:
    assert verb._range("x=-1.5,2") == ("x", (-1.5, 2.0))


def test_the_recorded_command_names_no_folders() -> None:
    command = typed_command(["collect", "/home/me/my model.onnx", "--shape", "a/b=1,2"])
    assert command == "fusescope collect 'my model.onnx' --shape a/b=1,2"


@pytest.mark.parametrize(
    ("argument", "kept"),
    [
        ("--out=/home/me/x.zip", "--out=x.zip"),
        ("--inputs=/home/me/a=b/in.npz", "--inputs=in.npz"),
        ("--out=/home/me/runs/", "--out=runs"),
        ("/home/me/runs/", "runs"),
        ("../secret/model.onnx", "model.onnx"),
        ("/home/a=b/model.onnx", "model.onnx"),
        ("--shape=/in/x=1,3", "--shape=/in/x=1,3"),
        ("--input-range=/in/x=-1,1", "--input-range=/in/x=-1,1"),
        ("--shape x=1,2", "--shape x=1,2"),
        ("--input-range /in/x=0,1 --out /home/me/x.zip", "--input-range /in/x=0,1 --out x.zip"),
        ("--variants=eager,fused", "--variants=eager,fused"),
        ("--base unfused --head model:/home/me/new.onnx", "--base unfused --head model:new.onnx"),
        ("--candidate=/home/me/new.onnx", "--candidate=new.onnx"),
    ],
)
def test_the_recorded_command_cuts_every_path(argument: str, kept: str) -> None:
    assert typed_command(["collect", *argument.split(" ")]) == f"fusescope collect {kept}"


def test_the_module_loads_nothing_heavy() -> None:
    code = (
        "import sys, fusescope.app.cli.collect; heavy = {'numpy', 'pandas', 'onnx', 'onnxruntime',"
        " 'fusescope.collectors', 'psutil'} & {*sys.modules};"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_recording_ends_with_the_next_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            known_peaks.SETUP + RUN,
            *SHORT,
            "--blocks",
            "1",
            "--out",
            str(tmp_path / "my run.zip"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    path = tmp_path / "my run.zip"
    assert path.is_file()
    assert done.stdout == f"'{path}'\nNext: fusescope compare '{path}'\n"
    assert "Block 1 of 1" in done.stderr
    assert "Recorded 1 block" in done.stderr


@pytest.mark.parametrize("polite", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_keeps_complete_blocks(tmp_path: Path, polite: signal.Signals) -> None:
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HEARS_CTRL_C + known_peaks.SETUP + RUN,
            *SHORT,
            "--blocks",
            "500",
            "--progress-json",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        step = json.loads(line)
        if step["stage"] == "blocks" and step["done"] >= 1:
            break
    child.send_signal(polite)
    if polite is not signal.SIGINT:
        child.send_signal(polite)  # as a shell and the system do
    rest, told = child.communicate(timeout=GIVE_UP_S)
    last = json.loads(rest.splitlines()[-1])
    assert child.returncode == 0, told
    assert last["stage"] == "done"
    assert "Interrupted; kept" in last["message"]
    assert [str(path) for path in tmp_path.glob("*.zip")] == [last["path"]]
    assert not list(tmp_path.glob(".*"))
