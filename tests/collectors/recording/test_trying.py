"""Tries: recorded beside the best, or left out with the reason, and what then repeats the best."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime as ort
import pytest
from onnx import helper
from typer.testing import CliRunner

from fusescope.analysis.advice.tried import tried
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, ModelInput, PredictedPart, Try
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.session_script import session_script
from fusescope.analysis.wording.tried import from_file_text
from fusescope.app.cli.recording import trying
from fusescope.collectors.record import NothingTried, Recording, can_try, to_try
from tests.collectors.short_recordings import File, run, short
from tests.command_line import app
from tests.factories import experiment_zip

SaveModel = Callable[..., Path]
RULES = 'level = "O3"\noptimization = "all"\n'
GONE = "without:GeluFusionL2"


def chain(save_model: SaveModel, name: str = "chain") -> Path:
    """Mul, Add, Mul, Add: our own pass makes one operator of each pair."""
    size = [1, 256, 256]
    nodes = [
        helper.make_node("Mul", ["x", "a"], ["m"], name="m"),
        helper.make_node("Add", ["m", "b"], ["s"], name="s"),
        helper.make_node("Mul", ["s", "a"], ["n"], name="n"),
        helper.make_node("Add", ["n", "b"], ["y"], name="y"),
    ]
    weights = {key: np.full(size, 0.5, np.float32) for key in ("a", "b")}
    return save_model(nodes, {"x": ("float32", size)}, ["y"], weights, name)


def test_tries_that_cannot_be_recorded_are_left_out_and_said(
    save_model: SaveModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are recorded beside the best; the script of a rule file fuses as it was."""
    model = chain(save_model)
    part = PredictedPart(0.2, 0.1, 0.3)
    asked = (
        Try(GONE, "fused_slower", part),
        Try("rules:missed-1.toml", "missed_fusion", part, RULES),
        Try("custom:sub_mul_pow", "missed_fusion"),
    )
    file, _ = run(to_try(short(model, tmp_path), "fused", asked))
    assert file.record.names == ("fused", "rules:missed-1.toml")
    assert file.record.settings.baseline == "fused"
    first, second, third = file.record.tries
    assert second == asked[1]
    assert first.refused.startswith("GeluFusionL2 changes nothing in this model")
    assert third.refused
    outcomes = [one.outcome for one in tried(file.record)]
    assert outcomes == ["not_recorded", "cannot_tell", "not_recorded"], "one block tells nothing"

    text = session_script(file.record, second.variant, second.rules)
    assert text is not None
    script, fused = tmp_path / "open.py", tmp_path / "fused.onnx"
    script.write_text(text)
    monkeypatch.setattr(sys, "argv", [str(script), str(model), str(fused)])
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    opened = runpy.run_path(str(script))["session"]
    value = np.ones((1, 256, 256), np.float32)
    [expected] = ort.InferenceSession(str(model)).run(None, {"x": value})
    np.testing.assert_allclose(opened.run(None, {"x": value})[0], expected, rtol=1e-5)
    assert fused.is_file()


def test_where_nothing_can_be_recorded_it_says_why(save_model: SaveModel, tmp_path: Path) -> None:
    with pytest.raises(NothingTried, match="changes nothing in this model") as told:
        run(to_try(short(chain(save_model), tmp_path), "fused", (Try(GONE, "fused_slower"),)))
    [one] = told.value.tries
    assert "GeluFusionL2" in one.refused
    assert not list(tmp_path.glob("*.zip"))
    assert not can_try("threads:9999")
    with pytest.raises(FuseScopeError, match="Did you mean 'fused'"):
        run(short(chain(save_model), tmp_path, variants=("unfused", "fuse")))


def test_from_a_model_to_what_is_kept(save_model: SaveModel, tmp_path: Path) -> None:
    """`advise MODEL --try`: records it, tries what it asks for, and writes what to keep."""
    model = chain(save_model)
    out = tmp_path / "out"
    out.mkdir()
    arguments: list[Any] = ["advise", model, "--try", 1, "--seconds", 1, "--out", out, "--json"]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    values = json.loads(result.stdout)
    [one] = values["tried"]
    record = File.open(Path(values["experiment"])).record
    assert record.names[0] == record.settings.baseline == values["best"] == "fused"
    assert one["variant"] in record.names
    [asked] = record.tries
    assert (one["variant"], one["finding"]) == (asked.variant, asked.finding)
    assert (one["predicted_ns"] is None) == (asked.predicted is None)
    assert values["keep"] == (one["variant"] if one["outcome"] == "kept" else "fused")
    refused_for_other_models(save_model, Path(values["experiment"]))
    if one["outcome"] != "kept":  # else a kernel of one's own has no script
        assert [path.suffix for path in sorted(out.iterdir())].count(".py") == 1
        assert Path(values["script"]).parent == out


def test_what_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    """The script takes the next free name, also beside a link that leads nowhere."""
    value = read(Source("e.zip", experiment_zip({"fused": [10.0] * 8, "threads:1": [5.0] * 8})))
    assert isinstance(value, Experiment)
    settings = {"graph_optimization": "all"}
    variants = [msgspec.structs.replace(one, settings=settings) for one in value.record.variants]
    record = msgspec.structs.replace(value.record, variants=variants)
    path = tmp_path / "made.zip"
    path.with_suffix(".py").write_text("mine")
    (tmp_path / "made-2.py").symlink_to(tmp_path / "gone")
    assert trying._written(path, record, ()) == {".py": tmp_path / "made-3.py"}
    assert path.with_suffix(".py").read_text() == "mine"
    assert "onnxruntime" in (tmp_path / "made-3.py").read_text()


def refused_for_other_models(save_model: SaveModel, experiment: Path) -> None:
    """An experiment of a model of one's own needs its file, and no other."""
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="r")]
    other = save_model(nodes, {"x": ("float32", [1, 256, 256])}, ["y"], name="other")
    advise = ("advise", str(experiment), "--variant", "fused", "--try", "4")
    for arguments, said in (
        (advise, "--model MODEL.onnx"),
        (("advise", str(other), "--try", "1", "--model", str(other)), "--model needs an exper"),
        (("advise", str(experiment), "--model", str(other)), "--model needs --try"),
    ):
        error = CliRunner().invoke(app, [*arguments]).exception
        assert isinstance(error, FuseScopeError), arguments
        assert said in error.text
    with pytest.raises(FuseScopeError, match=r"its content differs \(other.onnx\)"):
        run(short(other, experiment.parent, sha256="ab" * 32))


def test_a_recording_like_another_has_its_inputs() -> None:
    """Shapes and ranges of a file's inputs; a built-in model has them by itself."""
    value = read(Source("e.zip", experiment_zip({"unfused": [10.0], "fused": [5.0]})))
    assert isinstance(value, Experiment)
    facts = msgspec.structs.replace(
        value.record.model,
        source="file",
        inputs=(
            ModelInput("ids", "int64", (1, 128), "seed 7, uniform 0 to 30521"),
            ModelInput("x", "float32", (), "seed 7, standard normal"),
            ModelInput("y", "float32", (), "uniform e to 1.2.3"),
        ),
    )
    own = Recording.like(msgspec.structs.replace(value.record, model=facts), "bert.onnx")
    assert (own.model, own.batch, own.sha256) == ("bert.onnx", None, "ab" * 32)
    assert (own.shapes, own.input_ranges) == ({"ids": (1, 128)}, {"ids": (0.0, 30521.0)})
    built_in = Recording.like(value.record)
    assert (built_in.model, built_in.batch, built_in.sha256) == ("tiny", 1, "")
    assert from_file_text(value.record) == ""
    given = (ModelInput("ids", "int64", (1, 128), "file"), *facts.inputs[1:])
    facts = msgspec.structs.replace(facts, inputs=given)
    said = from_file_text(msgspec.structs.replace(value.record, model=facts))
    assert said.startswith("The recorded values of ids came from a file")
    assert (built_in.threads, dict(built_in.shapes)) == (2, {})
