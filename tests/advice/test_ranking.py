"""What several models miss: ranked by what fusing it saves in all of them."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fusescope.analysis.advice import Finding, Gain, Subject
from fusescope.analysis.advice.ranking import Judged, judged, ranking
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.app.cli.recording.models import collection_at
from tests.app.test_fusion_page import MISSED
from tests.command_line import app
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json

TIMES = {"unfused": [10.0] * 6, "fused": [10.0] * 6}


def missed(pattern: str, gain_us: tuple[float, float, float], places: int = 1) -> Finding:
    value, low, high = (us * 1e3 for us in gain_us)
    values = {"pattern": pattern, "blocked_by": "no_kernel", "places": places}
    return Finding("missed_fusion", values=values, gain=Gain(value, low, high, "modelled"))


def test_gains_of_all_models_add() -> None:
    """Mul + Add saves 30 + 50 µs, Add + Relu 60; runs of 100 and 300 µs are 400 together."""
    mul, add, more = (
        missed("Mul + Add", (30, 10, 40), 2),
        missed("Add + Relu", (60, 20, 90)),
        missed("Mul + Add", (50, -10, 70), 3),
    )
    models = [
        Judged("a", "fused", 100e3, (mul, add)),
        Judged("b", "fused", 300e3, (more,)),
        Judged("c", "fused", 900e3, unanswered="no_graph"),
    ]
    whole = ranking(models)
    assert whole.run_ns == 400e3
    first, second = whole.missed
    assert (first.pattern, first.places, first.models) == ("Mul + Add", 5, ("b", "a"))
    assert (first.gain.value, first.gain.low, first.gain.high) == (80e3, 0, 110e3)
    assert first.largest is more
    assert (second.pattern, second.gain.value) == ("Add + Relu", 60e3)
    assert ranking([]).missed == ()


def test_a_profile_says_why_it_is_not_judged() -> None:
    trace = read(Source("p.json", profile_json(UNFUSED_OPERATORS)))
    assert isinstance(trace, Trace)
    assert judged("p", Subject(side_of_trace(trace))).unanswered == "no_graph"


def advise(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["advise", *map(str, arguments)], env={"COLUMNS": "300"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two experiments that miss Mul + Add: 40 and 30 of 120 µs, 10 ms un-profiled; one broken."""
    rows = {"unfused": MISSED, "fused": MISSED}
    for name in ("a", "b"):
        content = hashlib.sha256(name.encode()).hexdigest()
        data = experiment_zip(TIMES, rows, model_name=name, model_sha256=content)
        (tmp_path / f"{name}.zip").write_bytes(data)
    (tmp_path / "broken.zip").write_bytes(b"PK\3\4 no more")
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


def test_a_folder_of_experiments(folder: Path) -> None:
    """All but the longest operator: 65 % of 30 of 120 µs, of twice 10 ms: 3.25 ms, 16.25 %."""
    values = json.loads(advise(folder, "--json").stdout)
    assert [model["name"] for model in values["models"]] == ["a.zip", "b.zip"]
    [one] = values["missed"]
    assert (one["pattern"], one["blocked_by"], one["places"]) == ("Mul + Add", "no_kernel", 2)
    assert one["gain_ns"]["value"] == pytest.approx(3.25e6, rel=0.01)
    assert one["share"] == pytest.approx(0.1625)
    assert [failed["file"] for failed in values["failed"]] == ["broken.zip"]
    section = (Path(__file__).parents[2] / "docs/json.md").read_text()
    section = section.partition("### ranking")[2].partition("\n### ")[0]
    assert [name for name in (*list(values)[1:], *one) if f"`{name}" not in section] == []
    text = advise(folder, "--redact").stdout
    assert text.startswith("What to write next for 2 models")
    assert "1. Mul + Add: saves 3.25 ms (−500 µs to 6.00 ms), 16.3 % of all runs." in text
    assert "In 2 of 2 models, at 2 places: a.zip and b.zip." in text
    assert "- broken.zip: " in text


def test_what_is_one_recording_is_advised_on_as_before(folder: Path, tmp_path: Path) -> None:
    """A folder with one trace, with a model beside it, and one with one experiment."""
    (folder / "b.zip").unlink()
    assert collection_at(folder) is None
    traced = tmp_path / "traced"
    traced.mkdir()
    (traced / "profile.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    (traced / "model.onnx").write_bytes(b"x")
    assert collection_at(traced) is None
    told = advise(traced).stdout
    assert told.startswith("traced\nA run takes 210 µs, the mean of 3.")
    assert "\nWhat limits" in told
    empty = tmp_path / "empty"
    empty.mkdir()
    error = advise(empty).exception
    assert "\n" not in str(error)
    assert str(error)


def test_a_recording_is_of_the_model_whose_content_it_has(folder: Path) -> None:
    """Whatever the names, and whichever is younger; external data is judged by name and age."""
    (folder / "other name.onnx").write_bytes(b"a")
    (folder / "a.onnx").write_bytes(b"changed since")
    os.utime(folder / "a.onnx", (0, 0))
    (folder / "b.onnx").write_bytes(b"tensors at a location beside it")
    found = collection_at(folder)
    assert found is not None
    assert found.unrecorded == (folder / "a.onnx", folder / "b.onnx")
    os.utime(folder / "b.onnx", (0, 0))
    assert found.unrecorded == (folder / "a.onnx",)
    undated = experiment_zip(TIMES, model_name="b", changes={"created": "yesterday"})
    (folder / "b.zip").write_bytes(undated)
    os.utime(folder / "b.onnx")
    found = collection_at(folder)
    assert found is not None
    assert folder / "b.onnx" in found.unrecorded, "nobody knows which is younger"


def test_a_model_counts_once(folder: Path) -> None:
    """With its newest recording."""
    later = experiment_zip(
        TIMES,
        {"unfused": MISSED, "fused": MISSED},
        model_sha256=hashlib.sha256(b"a").hexdigest(),
        changes={"created": "2026-02-02T03:04:05Z"},
    )
    (folder / "again.zip").write_bytes(later)
    values = json.loads(advise(folder, "--json").stdout)
    assert [model["name"] for model in values["models"]] == ["again.zip", "b.zip"]
    assert values["failed"][0] == {
        "file": "a.zip",
        "reason": "again.zip is a newer recording of the same model.",
    }


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_a_budget_that_is_none_is_refused(folder: Path, seconds: str) -> None:
    error = advise(folder, "--seconds", seconds).exception
    assert isinstance(error, FuseScopeError)
    assert error.what == f"--seconds cannot be {seconds}"


def test_a_folder_of_which_nothing_is_judged_fails(tmp_path: Path) -> None:
    for name in ("a", "b"):
        data = experiment_zip({"unfused": [1.0] * 8, "fused": [1.0] * 8}, model_name=name)
        (tmp_path / f"{name}.zip").write_bytes(data[: len(data) // 2])
    (tmp_path / "c.onnx").write_bytes(b"no model")
    done = advise(tmp_path, "--json", "--seconds", "1")
    assert done.exit_code == 1
    assert [one["file"] for one in json.loads(done.stdout)["failed"]] == [
        "a.zip",
        "b.zip",
        "c.onnx",
    ]
