"""Releases as variants of a recording, and a gate on two of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
import typer
from typer.testing import CliRunner, Result

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.fusion_changes import fusion_changes
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.exports.session_script import session_script
from fusescope.app.cli.gating.gate import gate
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.releases.bisect import bisect
from fusescope.collectors.record import Recording, record
from tests.collectors.short_recordings import run, short
from tests.pattern_cases import gelu
from tests.stand_in_releases import use_as_index, write_wheel

OLD, NEW = "onnxruntime==9.1.0", "onnxruntime==9.2.0"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Gelu that the second of two releases does not fuse."""
    folder = tmp_path_factory.mktemp("recorded")
    write_wheel(folder / "links", "9.1.0")
    write_wheel(folder / "links", "9.2.0", ["GeluFusionL1", "GeluFusionL2", "BiasGeluFusion"])
    write_wheel(folder / "links", "9.3.0", refused=True)
    onnx.save(gelu(), str(folder / "model.onnx"))
    with pytest.MonkeyPatch.context() as patch:
        use_as_index(patch, folder / "links", folder / "cache")
        yield str(folder / "model.onnx")


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(gate)
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


def test_two_releases_are_recorded_as_variants(model: str, tmp_path: Path) -> None:
    file, _ = run(short(model, tmp_path, variants=(OLD, NEW), baseline=OLD))
    record = file.record
    assert record.releases == (OLD, NEW)
    why = {one.settings["releases_alone_because"] for one in record.variants}
    assert why == {"the package of a release has no library of its own"}  # of a stand-in
    assert [one.settings["engine_release"] for one in record.variants] == ["9.1.0", "9.2.0"]
    assert {(v.name, copy) for v in record.variants for copy in v.samples.copy} == {
        (OLD, 1), (OLD, 2), (NEW, 1),
    }  # fmt: skip
    value = read_path(file.path)
    assert isinstance(value, Experiment)
    comparison = compare(*(side_of_variant(value, name) for name in (OLD, NEW)))
    codes = {note.code for note in comparison.diagnostics}
    assert "paired_releases" in codes and "paired" not in codes
    changed = fusion_changes(comparison.fusion)
    assert changed is not None
    (lost,) = changed.of("lost")
    assert "Gelu" in lost.before[0] and "Erf" in lost.after
    assert session_script(record, OLD) is None  # settings of a session do not make another release


def test_a_gate_on_structure_names_the_lost_group(model: str) -> None:
    asked = ("--base", OLD, "--head", NEW, "--structure", "--fail-if")
    result = invoke(model, *asked, "fusion.lost > 0")
    assert result.exit_code == 1, result.output
    assert "fusion.lost > 0: failed\n  There is 1." in result.stdout
    assert "became Div + Erf + Add + Mul ×2 in 1 group" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--base", OLD, "--head", "onnxruntime==9.3.0"), "release_left_out"),
        (("--base", OLD, "--head", "onnxruntime==9.1.0..9.2.0"), "release_not_one"),
        (("--base", OLD, "--head", NEW, "--blocks", "3"), "options_exclude"),
    ],
)
def test_what_a_gate_refuses(model: str, arguments: tuple[str, ...], code: str) -> None:
    result = invoke(model, *arguments, "--structure", "--fail-if", "fusion.lost > 0")
    assert isinstance(result.exception, FuseScopeError), result.output
    assert result.exception.code == code


@pytest.mark.exhaustive  # recorded as two releases are above, and compared like any recording
def test_what_a_change_costs_is_measured(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both neighbours are recorded together; one block gives no interval."""

    def short_run(recording: Recording) -> Path:
        brief = replace(recording, blocks=1, rounds=3, profiled_rounds=2, seconds=None)
        return record(brief, on_progress=lambda step: None)

    monkeypatch.setattr(recording_run, "run", short_run)
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(bisect)
    asked = [model, "--engine", "onnxruntime==9.1.0..9.2.0", "--measure"]
    result = CliRunner().invoke(app, asked, env={"COLUMNS": "500"})
    assert result.exit_code == 0, (result.output, result.exception)
    why = "the package of a release has no library of its own"
    assert "Both ran in processes of their own" in result.stdout and why in result.stdout
    lines = [line for line in result.stdout.splitlines() if "a run, without an interval" in line]
    assert len(lines) == 1 and "became Div + Erf + Add + Mul ×2 in 1 group:" in lines[0]
    assert Path("model-9.1.0-9.2.0.zip").is_file()
