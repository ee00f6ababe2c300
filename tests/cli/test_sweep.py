"""Sweeps: what `collect` records of several settings, and `scaling` on their folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.recording import sweep
from fusescope.collectors.record import Recording
from tests.command_line import app
from tests.compare.multiple.test_scaling import recorded
from tests.factories import experiment_zip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Recording]:
    """What would be recorded; each leaves a file, the third is interrupted."""
    made: list[Recording] = []

    def record(recording: Recording, *, progress_json: bool) -> Path:
        made.append(recording)
        stopped = "interrupted" if len(made) == 3 else "blocks"
        outcome = {"blocks": 8, "blocks_replaced": 0, "stopped": stopped}
        assert recording.out is not None
        recording.out.write_bytes(
            experiment_zip({"unfused": [1.0] * 8}, changes={"outcome": outcome})
        )
        return recording.out

    monkeypatch.setattr(recording_run, "run", record)
    monkeypatch.chdir(tmp_path)
    return made


def test_one_recording_a_setting_until_an_interruption(asked: list[Recording]) -> None:
    arguments = ["collect", "mul_add", "--batch", "1,4", "--threads", "1,2", "--seconds", "80"]
    done = CliRunner().invoke(app, [*arguments, "--out", "here"])
    assert done.exit_code == 0, done.output
    assert [(one.batch, one.threads, one.seconds) for one in asked] == [
        (1, 1, 20.0), (1, 2, 20.0), (4, 1, 20.0)
    ]  # fmt: skip
    assert [str(one.out) for one in asked][-1] == "here/batch4-threads1.zip"
    assert "Setting 2 of 4: batch size 1, 2 threads" in done.output
    assert done.output.endswith("here\nNext: fusescope scaling here\n")


def test_an_early_interruption_keeps_the_settings_before(
    asked: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = recording_run.run

    def record(recording: Recording, *, progress_json: bool) -> Path:
        if recording.batch == early:
            raise FuseScopeError("interrupted_too_early")
        return kept(recording, progress_json=progress_json)

    monkeypatch.setattr(recording_run, "run", record)
    arguments = ["collect", "mul_add", "--batch", "1,4", "--out", "here"]
    early = 4
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0 and done.output.endswith("Next: fusescope scaling here\n")
    early = 1
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, FuseScopeError)


def test_one_setting_is_one_file(asked: list[Recording]) -> None:
    done = CliRunner().invoke(app, ["collect", "mul_add", "--batch", "4", "--out", "x.zip"])
    assert done.exit_code == 0, done.output
    assert [(one.batch, one.threads, one.out) for one in asked] == [(4, None, Path("x.zip"))]
    assert done.output.endswith("Next: fusescope compare x.zip\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--batch", "1,x"), "option_malformed"),
        (("--batch", "1,0"), "number_out_of_range"),
        (("--batch", "1,2", "--out", "x.zip"), "sweep_needs_folder"),
        (("--batch", "1,2", "--out", "no/where"), "output_folder_missing"),
        (("--batch", ",".join(map(str, range(1, 34)))), "sweep_too_large"),
    ],
)
def test_what_cannot_be_recorded_is_refused_first(
    asked: list[Recording], arguments: tuple[str, ...], code: str
) -> None:
    done = CliRunner().invoke(app, ["collect", "mul_add", *arguments])
    assert isinstance(done.exception, FuseScopeError) and done.exception.code == code
    assert not asked and sweep.MAX_SETTINGS == 32


def test_scaling_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "s").mkdir()
    for threads in (1, 2):
        times = {"unfused": [10.0 / threads] * 8, "fused": [5.0] * 8}
        settings = recorded(1, threads, 1.0).record.settings
        data = experiment_zip(times, changes={"settings": settings})
        (tmp_path / "s" / f"threads{threads}.zip").write_bytes(data)
    out = CliRunner().invoke(app, ["scaling", "s"]).output
    assert "unfused: highest measured throughput 200 /s with batch size 1, 2 threads" in out
    row = next(line.split() for line in out.splitlines() if line.split()[:2] == ["1", "2"])
    assert row[2:] == ["5.00", "ms", "200", "/s", "100.0", "%", "25.0", "%"]
    told = json.loads(
        CliRunner().invoke(app, ["scaling", "s", "--variants", "fused", "--json"]).output
    )
    assert [point["efficiency"] and point["efficiency"]["value"] for point in told["points"]] == [
        None, 0.5
    ]  # fmt: skip
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(app, ["scaling", "empty"])
    assert isinstance(done.exception, FuseScopeError)
    assert done.exception.code == "folder_without_experiments"
