"""`fusescope gate` from its arguments to exit codes and files."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.releases.history import RECORD_NAME, parse_history
from fusescope.app.cli.gating.gate import gate
from fusescope.app.cli.gating.keeping import kept_structure
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

LOST = ("--baseline", "fused", "--candidate", "unfused")


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})
    Path("e.zip").write_bytes(data)
    return "e.zip"


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(gate)
    return CliRunner().invoke(app, list(arguments))


def test_a_lost_fusion_fails_and_is_written(recording: str) -> None:
    files = ("--junit", "g.xml", "--markdown", "g.md", "--html", "g.html")
    asked = ("--fail-if", "fusion.lost > 0", "--fail-if", "speedup < 0.97")
    result = invoke(recording, *LOST, *asked, *files)
    assert result.exit_code == 1
    assert "The gate failed: 2 of its 2 conditions are true." in result.stdout
    assert "FusedConv became Conv + BatchNormalization + Relu in 1 group: a." in result.stdout
    assert 'failures="2"' in Path("g.xml").read_text()
    assert "The gate failed" in Path("g.md").read_text()
    assert Path("g.html").read_text().startswith("<!doctype html>")


def test_what_is_kept_and_written_names_no_user_when_that_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    operators = {
        "unfused": [("/home/alice/secret/Conv", *UNFUSED_OPERATORS[0][1:]), *UNFUSED_OPERATORS[1:]],
        "fused": [("/home/alice/secret/Conv", *FUSED_OPERATORS[0][1:]), *FUSED_OPERATORS[1:]],
    }
    Path("e.zip").write_bytes(
        experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8}, operators)
    )
    files = ("--html", "r.html", "--markdown", "m.md", "--junit", "j.xml")
    asked = ("e.zip", *LOST, "--fail-if", "p50 slower 3%", *files)
    assert invoke(*asked).exit_code == 1
    written = {name: Path(name).read_bytes() for name in files[1::2]}
    assert b"alice" in written["r.html"]
    assert invoke(*asked, "--redact").exit_code == 1
    for name in files[1::2]:
        assert b"alice" not in Path(name).read_bytes(), name


def test_what_is_not_true_passes(recording: str) -> None:
    result = invoke(recording, "--fail-if", "fusion.lost > 0", "--json")
    assert result.exit_code == 0
    values = json.loads(result.stdout)
    assert (values["baseline"], values["candidate"], values["failed"]) == (
        "unfused", "fused", False,
    )  # fmt: skip
    assert invoke(recording, *LOST, "--structure", "--fail-if", "operators > 99").exit_code == 0


def test_a_recording_of_two_releases_is_no_model_to_be_optimised(recording: str) -> None:
    old, new = "onnxruntime==9.1.0", "onnxruntime==9.2.0"
    operators = {new: UNFUSED_OPERATORS, old: FUSED_OPERATORS}
    Path(recording).write_bytes(experiment_zip({new: [9.0] * 8, old: [5.0] * 8}, operators))
    sides = ("--baseline", old, "--candidate", new, "--structure")
    result = invoke(recording, *sides, "--fail-if", "fusion.lost > 0")
    assert result.exit_code == 1, result.output
    assert "FusedConv became Conv + BatchNormalization + Relu in 1 group: a." in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("e.zip",), "gate_needs_condition"),
        (("e.zip", "--fail-if", "nothing > 3"), "condition_of_unknown"),
        (("e.zip", "--structure", "--fail-if", "p50 slower 3%"), "gate_structure_only"),
        (("e.zip", "--head", "fusd", "--fail-if", "fusion.lost > 0"), "no_such_variant"),
        (("e.zip", "--fail-if", "agreement_top1 < 0.9"), "gate_not_judged"),
        (("mynet", "--fail-if", "fusion.lost > 0"), "gate_needs_variants"),
        (("mynt", "--fail-if", "fusion.lost > 0"), "model_unknown_in_zoo"),
        (("gone.onnx", "--fail-if", "fusion.lost > 0"), "model_unknown"),
        (("net.py:build", "--fail-if", "fusion.lost > 0"), "gate_of_code"),
        (
            ("net.py:build", "--fail-if", "operators > 0", "--base", "eager", "--head", "fused"),
            "gate_of_code",
        ),
        (
            ("net.py:build", "new.onnx", "--structure", "--fail-if", "fusion.lost > 0"),
            "gate_of_code",
        ),
        (("p.json", "--fail-if", "fusion.lost > 0"), "one_side"),
        (("e.zip", "--fail-if", "fusion.lost > 0", "--html", "e.zip"), "output_is_an_input"),
    ],
)
def test_what_cannot_be_judged_is_one_error(
    recording: str, arguments: tuple[str, ...], code: str
) -> None:
    Path("p.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    refused = invoke(*arguments).exception
    assert isinstance(refused, FuseScopeError), refused
    assert refused.code == code and refused.hint


def test_two_models_are_compared_by_their_fusions(recording: str) -> None:
    """The second one's engine fuses nothing."""
    plain = {"unfused": UNFUSED_OPERATORS, "fused": UNFUSED_OPERATORS}
    times = {"unfused": [10.0] * 8, "fused": [9.0] * 8}
    Path("new.zip").write_bytes(experiment_zip(times, plain, model_sha256="cd" * 32))
    asked = (recording, "new.zip", "--structure", "--fail-if", "fusion.lost > 0")
    result = invoke(*asked, "--markdown", "g.md")
    assert result.exit_code == 1 and "e.zip → new.zip" in result.stdout
    assert "The gate failed: its condition is true." in result.stdout
    told = "FusedConv became Conv + BatchNormalization + Relu in 1 group: a."
    assert told in result.stdout and "FusedConv became" in Path("g.md").read_text()
    assert invoke("new.zip", *asked[:1], *asked[2:]).exit_code == 0
    for wrong, code in (
        ((), "gate_models_without_file"),
        (("--structure", "--base", "fused"), "options_exclude"),
    ):
        refused = invoke(recording, "new.zip", "--fail-if", "fusion.lost > 0", *wrong).exception
        assert isinstance(refused, FuseScopeError) and refused.code == code


def test_a_kept_structure_stands_for_the_model_that_it_was_kept_of(recording: str) -> None:
    kept = ("--base", "unfused", "--head", "fused", "--structure", "--keep", "kept.zip")
    first = invoke(recording, *kept)
    assert first.exit_code == 0 and "gate" not in first.stdout
    assert invoke(recording, *kept).exit_code == 0, "it is replaced"
    history = parse_history(Path("kept.zip").read_bytes(), "kept.zip")
    assert [release.made for release in history.releases] == [0]
    asked = ("--structure", "--fail-if", "fusion.lost > 0")
    assert invoke("kept.zip", recording, *asked).exit_code == 0
    plain = {"unfused": UNFUSED_OPERATORS, "fused": UNFUSED_OPERATORS}
    times = {"unfused": [10.0] * 8, "fused": [9.0] * 8}
    Path("new.zip").write_bytes(experiment_zip(times, plain, model_sha256="cd" * 32))
    lost = invoke("kept.zip", "new.zip", *asked, "--keep", "later.zip")
    assert lost.exit_code == 1
    assert "FusedConv became Conv + BatchNormalization + Relu in 1 group: a." in lost.stdout
    assert invoke("later.zip", "new.zip", *asked).exit_code == 0


def test_what_keeps_no_structure_is_one_error(recording: str) -> None:
    Path("p.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    Path("damaged.zip").write_bytes(history_zip(b"{}"))
    times = {"unfused": [10.0] * 8, "fused": [5.0] * 8}
    Path("bare.zip").write_bytes(experiment_zip(times, changes={"model_graph": None}))
    asked = ("--structure", "--fail-if", "fusion.lost > 0")
    for arguments, code in (
        (("damaged.zip", recording, *asked), "releases_file_damaged"),
        ((recording, "--structure", "--keep", recording), "output_is_an_input"),
        ((recording, "--structure", "--keep", "none.zip", "--json"), "gate_needs_condition"),
        (("bare.zip", "--structure", "--keep", "none.zip"), "gate_no_structure"),
    ):
        refused = invoke(*arguments).exception
        assert isinstance(refused, FuseScopeError) and refused.code == code, refused
        assert not Path("none.zip").exists()


def test_a_file_that_cannot_be_read_keeps_nothing(
    recording: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert kept_structure(Path(recording)) is None


def history_zip(record: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(RECORD_NAME, record)
    return whole.getvalue()
