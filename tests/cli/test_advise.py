"""`fusescope advise`: one file or variant, what limits it, in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fusescope.analysis.errors import FuseScopeError
from tests.command_line import app
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json

RECIPES = Path(__file__).resolve().parents[2] / "sample_traces" / "recipes"
TIMES = {"unfused": [10.0] * 6, "fused": [5.0] * 6}


def advise(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["advise", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "e.zip"
    path.write_bytes(experiment_zip(TIMES))
    return path


def test_a_variant_that_optimises_nothing(experiment: Path) -> None:
    """BatchNormalization of 30 and Relu of 20 µs beside Conv of 100, in a run of 210 µs: the
    engine would fuse both into it, and 30 % of the three are predicted to go."""
    result = advise(experiment, "--variant", "unfused")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert text.startswith("What limits unfused now 1. Optimisation is off. 2 operators that the")
    assert "can fuse away take 50.0 µs" in text
    assert "Predicted saving: 21.4 % of the time (7.1 % to 46.4 %)." in text
    assert "Try: Compare with the variant fused; record it where it is missing." in text


def test_the_most_optimised_variant_unless_named(experiment: Path) -> None:
    values = json.loads(advise(experiment, "--json").stdout)
    assert (values["schema_version"], values["label"]) == (1, "fused")
    assert "not_optimised" not in [one["code"] for one in values["findings"]]
    named = json.loads(advise(experiment, "--json", "--variant", "unfused").stdout)
    [first] = [one for one in named["findings"] if one["code"] == "not_optimised"]
    assert first["gain_ns"] == {"value": 45000, "low": 15000, "high": 97500, "basis": "modelled"}
    assert first["where"]["names"] == ["a/BatchNormalization", "a/Relu"]


def test_a_chain_that_has_no_kernel_is_json_too() -> None:
    """65 % of the shorter operator of Mul + Add, modelled: 291 µs, as the page shows it."""
    values = json.loads(advise(RECIPES / "mul_add.zip", "--json").stdout)
    [first] = values["findings"]
    assert (first["code"], round(first["gain_ns"]["value"] / 1e3)) == ("missed_fusion", 291)


def test_one_profile_says_what_it_cannot_answer(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    values = json.loads(advise(path, "--json").stdout)
    assert {"code": "missed_fusion", "reason": "no_graph"} in values["not_answerable"]
    text = advise(path).stdout
    assert "What cannot be answered" in text
    assert "This needs the graphs, which only an experiment contains. Not judged: " in text


def test_refusals_are_one_sentence(experiment: Path, tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_bytes(profile_json(UNFUSED_OPERATORS))
    for arguments, said in (
        ((experiment, "--variant", "fusd"), "Did you mean 'fused'?"),
        ((profile, "--variant", "fused"), "A profile does not have variants"),
        ((tmp_path / "none.zip",), "none.zip"),
    ):
        error = advise(*arguments).exception
        assert isinstance(error, FuseScopeError)
        assert said in error.text


def test_redacted_names_are_placeholders(tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    operators = (("/home/alice/Mul", "Mul", 50, [(8,)], [(8,)]), *UNFUSED_OPERATORS)
    path.write_bytes(experiment_zip({"unfused": [10.0] * 6}, {"unfused": operators}))
    assert "alice" not in advise(path, "--json", "--redact").stdout


def test_the_report_is_written_and_takes_the_place_of_nothing(
    experiment: Path, tmp_path: Path
) -> None:
    profile, report = tmp_path / "profile.json", tmp_path / "report.html"
    profile.write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    printed = advise(profile, "--html", report)
    assert printed.stdout.endswith(f"\nReport: {report}\n")
    page = report.read_text(encoding="utf-8")
    assert "This is about one trace by itself, <bdi>profile.json</bdi>." in page
    before = profile.read_bytes()
    models = tmp_path / "models"
    models.mkdir()
    (models / "one.onnx").write_bytes(b"x")
    for arguments, said in (
        ((profile, "--html", profile), "would overwrite a file that is read"),
        ((experiment, "--try", "1", "--html", report), "--try and --html do not go together"),
        ((models, "--html", report), "--html and a folder of models do not go together"),
    ):
        error = advise(*arguments).exception
        assert isinstance(error, FuseScopeError)
        assert said in error.text, arguments
    assert profile.read_bytes() == before
