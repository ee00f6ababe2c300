"""dynamic: the model with its dimensions left open, beside the one with fixed sizes."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest

from fusescope.analysis.advice.finding import Finding, Findings
from fusescope.analysis.advice.remedies import held
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, parse_matches
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.exports.session_script import session_script
from tests.architectures import ARCHITECTURES
from tests.collectors.short_recordings import run, short
from tests.dynamic_models import any_rank, causal


def test_a_recording_of_open_and_of_fixed_dimensions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the open one makes the mask in every run; both compute the same, groups explain both,
    and each has a script that opens the model so."""
    model = tmp_path / "causal.onnx"
    onnx.save(causal(), model)
    shape = (2, 6, 16)
    asked = short(model, tmp_path, variants=("dynamic", "fused"), shapes={"x": shape})
    file, _ = run(asked)
    [told] = file.record.model.inputs
    assert (told.shape, told.declared) == (shape, ("batch", "length", 16))
    graph = file.graph("graphs/dynamic.json")
    of_range = next(node for node in graph.nodes if node.op_type == "Range")
    assert graph.tensor[of_range.outputs[0]].shape == (6,)
    assert graph.tensor["x"].shape == shape
    assert "Range" not in {node.op_type for node in file.graph("graphs/fused.json").nodes}
    assert parse_matches(file.read("matches/dynamic.json"), "dynamic")
    difference = file.record.variant("fused").output_difference
    assert difference is not None and difference.relative is not None
    assert difference.relative < 1e-5

    value = read_path(file.path)
    assert isinstance(value, Experiment)
    sides = (side_of_variant(value, name) for name in ("dynamic", "fused"))
    comparison = compare(*sides)
    assert comparison.fusion.source == "graphs"
    assert max(len(group.original) for group in comparison.fusion.groups) < 10
    subject = advised(value, "dynamic")
    found = Findings((Finding("dynamic_dimensions"),), (), None)  # whether it shows is noise here
    assert held(subject, found) == ("fused",)

    for name, sizes in (("dynamic", ["batch", "length", 16]), ("fused", [2, 6, 16])):
        text = session_script(file.record, name)
        assert text is not None
        script = tmp_path / f"{name}.py"
        script.write_text(text)
        monkeypatch.setattr(sys, "argv", [str(script), str(model)])
        session = runpy.run_path(str(script))["session"]
        assert session.get_inputs()[0].shape == sizes
        assert session.run(None, {"x": np.ones(shape, np.float32)})[0].shape == shape
    for declared in (("", "length", 16), ()):
        unnamed = msgspec.structs.replace(told, declared=declared)
        facts = msgspec.structs.replace(file.record.model, inputs=(unnamed,))
        record = msgspec.structs.replace(file.record, model=facts)
        assert session_script(record, "fused") is None, "no setting of a session names it"
        assert session_script(record, "dynamic") is not None


def test_a_rank_that_is_not_known_is_left_open(tmp_path: Path) -> None:
    model = tmp_path / "rank.onnx"
    onnx.save(any_rank(), model)
    file, _ = run(short(model, tmp_path, variants=("dynamic", "fused"), shapes={"y": (3, 4)}))
    assert [one.declared for one in file.record.model.inputs] == [None, ()]
    assert file.record.variant("dynamic").graph is not None


def test_fixed_dimensions_are_refused(tmp_path: Path) -> None:
    model = tmp_path / "fixed.onnx"
    onnx.save(ARCHITECTURES["gelus"](), model)
    with pytest.raises(FuseScopeError, match="fixes every dimension of its inputs, so 'dynamic'"):
        run(short(model, tmp_path, variants=("dynamic", "fused")))
