"""`fusescope collect --command`: options that go together, and what is printed of the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.recording.command import typed_command
from fusescope.app.cli.recording.own_command import OF_BOTH, OF_COMMANDS
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
        (("--command", "x", "--dtype", "bfloat16"), "--dtype belongs to a model"),
        (("--command", "x", "--device", "cpu"), "--device belongs to a model"),  # as without it
        (("--command", "x", "--no-tf32"), "--tf32 belongs to a model"),
        (("--command", "x", "--flush-l2"), "--flush-l2 belongs to a model"),
        (("--command", "x", "--runtime", "onnxruntime"), "--runtime belongs to a model"),
        (("mul_add", "--names", ""), "--names belongs to --command"),
        (("--command", "no-such-program"), "There is no program 'no-such-program'"),
        (("--command", ""), "The command is empty"),
        (("--command", "x", "--names", "a,b"), "--names has 2 names for 1 variants"),
    ],
)
def test_options_that_do_not_go_together(arguments: tuple[str, ...], expected: str) -> None:
    assert expected in invoke("collect", *arguments)


def test_every_option_belongs_to_models_to_commands_or_to_both() -> None:
    """One that is new belongs to models until it is listed."""
    options = {one.opts[0] for one in get_command(app).commands["collect"].params}
    assert (OF_BOTH | OF_COMMANDS) <= options and not OF_BOTH & OF_COMMANDS
    for option in sorted(options - OF_BOTH - OF_COMMANDS - {"model", "--help"}):
        takes = option not in ("--ablate", "--spin", "--tf32", "--flush-l2")
        said = invoke("collect", "--command", "x", option, *(["1"] if takes else []))
        assert f"{option} belongs to a model" in said and "--arg" in said


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
    again = typed_command(["collect", *typed[3:], "--arg", "--token X1Y,Z1Y", "--names=X1Y,b",
                           "--profile-arg=--password p4ss"])  # fmt: skip
    assert not [one for one in ("X1Y", "Z1Y", "p4ss", "s3cret") if one in again]
    assert "ann" not in kept and "k3y" not in kept and "s3cret" not in kept
    assert "python b.py" in kept and "'{value} tok/s'" in kept and "CACHE=c,d" in kept
    assert "--unit tok/s" in kept and "'a/*.json'" in kept and "HF_TOKEN=" in kept
