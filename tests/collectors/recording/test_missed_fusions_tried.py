"""An exported transformer: what the engine leaves is found, recorded beside it, and judged."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.remedies import remedies
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.advice.tried import tried
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.collectors.record import to_try
from tests.architectures import ARCHITECTURES
from tests.collectors.short_recordings import run, short

again = pytest.mark.exhaustive


@pytest.mark.parametrize(
    "name",
    [
        "transformer_encoder",
        pytest.param("bert", marks=again),
        pytest.param("transformer_whole_operators", marks=again),
    ],
)
def test_a_missed_fusion_of_a_transformer_is_found_tried_and_measured(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So short a recording on a busy machine can have one long run, of which nothing is 2 %.
    monkeypatch.setattr("fusescope.analysis.advice.subject.MIN_SHARE", 0.001)
    model = tmp_path / f"{name}.onnx"
    onnx.save(ARCHITECTURES[name](), model)
    file, _ = run(
        short(model, tmp_path / "first.zip", variants=("unfused", "fused"), own_pass=True)
    )
    first = read_path(file.path)
    assert isinstance(first, Experiment)
    subject = advised(first, "fused")
    found = findings(subject)
    [miss] = [
        one for one in found.found
        if one.code == "missed_fusion" and one.values["pattern"] == "Attention"
    ]  # fmt: skip
    assert miss.values["places"] == miss.values["own_places"] == 2
    assert miss.gain is not None and miss.gain.value > 0
    [remedy] = [one for one in remedies(subject, found) if one.rules]
    assert 'patterns = ["attention"]' in remedy.rules
    assert remedy.predicted is not None
    assert remedy.predicted.low < remedy.predicted.value < remedy.predicted.high

    second = to_try(short(model, tmp_path / "second.zip", blocks=5), "fused", [remedy])
    [result] = tried(run(second)[0].record)
    assert result.outcome in ("kept", "taken_back", "cannot_tell")
    assert result.verdict is not None and result.verdict.times_ns is not None
    assert result.difference is not None and result.difference < 1e-4
