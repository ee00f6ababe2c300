"""`fusescope collect --command`: options that go together, and what is printed of the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.recording.command import typed_command
from tests.command_line import app
from tests.own_commands import script_in

STEP = "step: {value} ms"


def invoke(*arguments: str) -> str:
    """What it prints, or the sentence of the error that it ends with."""
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, FuseScopeError):
        return result.exception.text
    assert result.exception is None, result.output
    return re.sub(r"\s+", " ", result.output)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "Neither a model nor a command"),
        (("mul_add", "--command", "x"), "Both a model and --command"),
        (("mul_add", "--env", "A=1,0"), "--env belongs to --command"),
        (("mul_add", "--time", "wall"), "--time belongs to --command"),
        (("--command", "x", "--runtime", "torch"), "--runtime belongs to a model"),
        (("--command", "x", "--batch", "4"), "--batch belongs to a model"),
        (("--command", "x", "--memory-limit", "4"), "--memory-limit belongs to a model"),
        (("--command", "no-such-program"), "There is no program 'no-such-program'"),
        (("--command", ""), "The command is empty"),
        (("--command", "x", "--names", "a,b"), "--names has 2 names for 1 variants"),
    ],
)
def test_options_that_do_not_go_together(arguments: tuple[str, ...], expected: str) -> None:
    assert expected in invoke("collect", *arguments)


def test_a_recording_is_compared_judged_reported_and_inspected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    script = script_in(tmp_path / "own")
    said = invoke(
        "collect", "--command", str(script), "--env", "FAST=0,1", "--names", "slow,fast",
        "--time", STEP, "--profile-env", "PROFILE=1", "--blocks", "5", "--out", "made.zip",
    )  # fmt: skip
    assert "Next: fusescope compare made.zip" in said
    compared = invoke("compare", "made.zip", "--html", "made.html")
    assert "fast is 2.00× faster than slow" in compared
    assert "Time that the command prints, 5 blocks of fresh processes, paired." in compared
    assert "in ms: step: {value} ms" in compared
    assert "not timed" in compared
    assert (
        "That is of the runs in the traces; the verdict compares those that were timed." in compared
    )
    assert "output difference 0" not in compared
    report = Path("made.html").read_text()
    assert "Command: bench" in report and "threads" not in re.findall(r"<dt>([^<]*)", report)
    assert str(tmp_path) not in report
    again = invoke("compare", "made.html")
    assert "fast is 2.00× faster than slow" in again
    assert "passed" in invoke("gate", "made.zip", "--fail-if", "speedup < 1.9")
    inspected = invoke("inspect", "made.zip")
    assert "Experiment of the command bench" in inspected and "15 un-profiled runs" in inspected
    assert invoke("advise", "made.zip")


def test_the_command_in_the_file_has_neither_folders_nor_secrets() -> None:
    typed = [
        "collect", "--command", "/opt/bin/python /home/ann/b.py --api-key k3y", "--env",
        "HF_TOKEN=s3cret", "--env=CACHE=/home/ann/c,/home/ann/d", "--time", "{value} tok/s",
        "--unit", "tok/s", "--trace", "a/*.json",
    ]  # fmt: skip
    kept = typed_command(typed)
    assert "ann" not in kept and "k3y" not in kept and "s3cret" not in kept
    assert "python b.py" in kept and "'{value} tok/s'" in kept and "CACHE=c,d" in kept
    assert "--unit tok/s" in kept and "'a/*.json'" in kept and "HF_TOKEN=" in kept
