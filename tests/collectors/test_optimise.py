"""What the engine makes of models that are not timed: the same as of a recording of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import onnx
import pytest

from fusescope.analysis.advice.missed_fusions import missed_fusions, missed_untimed
from fusescope.analysis.advice.settings import conditions_of, conditions_untimed
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.fusion_changes import fusion_changes
from fusescope.analysis.gate.structure import changes_of_variants, fusion_of, structure_of
from fusescope.analysis.readers import read_path
from fusescope.analysis.releases.history import History
from fusescope.collectors.optimise import needs_no_recording, optimise
from fusescope.collectors.record import Recording
from tests.collectors.short_recordings import run, short
from tests.two_exports import export

VARIANTS = ("unfused", "fused")


def test_it_is_what_a_recording_says(tmp_path: Path) -> None:
    models = [tmp_path / "old.onnx", tmp_path / "new.onnx"]
    for model, as_product in zip(models, (False, True), strict=True):
        onnx.save(export(as_product=as_product), model)
    made = optimise([Recording(model=str(model), variants=VARIANTS) for model in models])
    for model, by_variant in zip(models, made, strict=True):
        file, _ = run(short(model, tmp_path, variants=VARIANTS))
        value = read_path(file.path)
        assert isinstance(value, Experiment)
        sides = [side_of_variant(value, name) for name in VARIANTS]
        for name in VARIANTS:
            assert _structure(by_variant[name]) == _structure(structure_of(value, name))
        changes = changes_of_variants(*(by_variant[name] for name in VARIANTS))
        assert changes == fusion_changes(group_operators(*sides))

        comparison, history = compare(*sides), by_variant["fused"]
        told = conditions_untimed("fused", history.model.opset, history.made[0].graph)
        assert told is not None and told == conditions_of(sides[1])
        version = history.releases[0].version
        misses = missed_untimed(history.graph, fusion_of(history), told, version)
        of_recording = missed_fusions(comparison)
        assert [(one.pattern, one.blocked_by, one.places, one.values) for one in misses] == [
            (one.pattern, one.blocked_by, one.places, one.values) for one in of_recording
        ]
        assert len(misses) == (1 if model.stem == "new" else 0)
        assert all(one.stake_ns is None and one.basis == "modelled" for one in misses)


def test_one_of_two_that_is_no_model_is_one_error(tmp_path: Path) -> None:
    onnx.save(export(), tmp_path / "old.onnx")
    (tmp_path / "none.onnx").write_bytes(b"none")
    paths = (tmp_path / "old.onnx", tmp_path / "none.onnx")
    with pytest.raises(FuseScopeError) as refused:
        optimise([Recording(model=str(path), variants=("fused",)) for path in paths])
    assert refused.value.code == "model_unreadable" and refused.value.where == "none"


def test_variants_that_are_made_of_the_model_need_a_recording() -> None:
    assert needs_no_recording(("unfused", "basic", "extended", "fused"))
    for name in ("eager", "int8", "without:GeluFusion", "rules:O3", "onnxruntime==1.20.1"):
        assert not needs_no_recording(("fused", name))


def _structure(history: History) -> object:
    """Without the time and the command."""
    return msgspec.structs.replace(history, created="", command="")
