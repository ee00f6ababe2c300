"""Another model as a variant: paired with the recorded one, and never taken for it by its names."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
import typer
from typer.testing import CliRunner, Result

from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.fusion_changes import fusion_changes
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.exports.session_script import session_script
from fusescope.app.cli.gating.gate import gate
from fusescope.app.sources.model_files import read_models
from fusescope.collectors.models.renaming import origins, rename, without_clashes
from tests.collectors.short_recordings import run, short
from tests.two_exports import export

NEW = "model:new.onnx"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    onnx.save(export(), "old.onnx")
    onnx.save(export(as_product=True), "new.onnx")
    return tmp_path


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(gate)
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


def test_two_exports_are_recorded_together(models: Path) -> None:
    """/Mul scales in the old one and squares in the new one, where /Mul_1 scales."""
    asked = short("old.onnx", models, variants=("fused", NEW), models={NEW: Path("new.onnx")})
    file, _ = run(asked)
    told = file.record.variant(NEW)
    assert (told.settings["model_file"], told.settings["model_nodes"]) == ("new.onnx", 11)
    assert told.output_difference is not None and told.output_difference.relative is not None
    assert told.output_difference.relative < 1e-5
    graph = file.graph(told.graph or "")
    assert "/Mul_output_0'" in graph.tensor and "/Mul_output_0" not in graph.tensor
    assert session_script(file.record, NEW) is None

    value = read_path(file.path)
    assert isinstance(value, Experiment)
    comparison = compare(*(side_of_variant(value, name) for name in ("fused", NEW)))
    assert comparison.verdict.pairing == "blocks"
    changes = fusion_changes(comparison.fusion)
    assert changes is not None
    (lost,) = changes.of("lost")
    assert lost.before == ("LayerNormalization",) and len(lost.after) == 9
    findings = advised(value, NEW)
    assert findings.side.label == NEW


def test_a_gate_on_times_of_two_models(models: Path) -> None:
    """Their structure is that of each by itself, as with --structure."""
    asked = ("--fail-if", "fusion.lost > 0", "--fail-if", "speedup < 0.01", "--blocks", "1")
    timed = invoke("old.onnx", "new.onnx", *asked, "--html", "g.html", "--out", "both.zip")
    assert timed.exit_code == 1, timed.output
    assert "old.onnx → new.onnx" in timed.stdout and "An interval needs 5 blocks" in timed.stdout
    assert Path("g.html").stat().st_size and Path("both.zip").stat().st_size
    assert "LayerNorm is not fused in 1 place." in timed.stdout
    alone = invoke("old.onnx", "new.onnx", "--structure", *asked[:2], "--keep", "kept.zip")
    assert alone.exit_code == 1
    for line in alone.stdout.splitlines()[3:]:
        assert line in timed.stdout
    again = invoke("kept.zip", "--head", "old.onnx", "--structure", "--fail-if", "fusion.lost > 0")
    assert again.exit_code == 0, again.output
    assert sorted(path.name for path in models.iterdir()) == [
        "both.zip", "g.html", "kept.zip", "new.onnx", "old.onnx",
    ]  # fmt: skip


def test_what_cannot_be_timed_together_is_one_error(models: Path) -> None:
    other = export(rows=7)
    onnx.save(other, "rows.onnx")
    two_outputs = export()
    two_outputs.graph.output.append(
        onnx.helper.make_tensor_value_info("/Div_output_0", onnx.TensorProto.FLOAT, None)
    )
    onnx.save(two_outputs, "outputs.onnx")
    Path("none.onnx").write_bytes(b"no model")
    asked = ("--fail-if", "speedup < 0.97", "--blocks", "1")
    for arguments, code in (
        (("old.onnx", "rows.onnx", *asked), "other_inputs_differ"),
        (("old.onnx", "outputs.onnx", *asked), "other_outputs_differ"),
        (("old.onnx", "none.onnx", *asked), "model_unreadable"),
        (("old.onnx", "gone.onnx", *asked), "other_model_missing"),
        (("old.onnx", "new.onnx", *asked, "--head", "basic"), "options_exclude"),
        (
            ("old.onnx", "--base", "basic", "--head", "new.onnx", *asked),
            "gate_variant_beside_model",
        ),
        (("old.onnx", "--base", "new.onnx", "--head", "rows.onnx", *asked), "gate_third_model"),
    ):
        refused = invoke(*arguments).exception
        assert isinstance(refused, FuseScopeError), refused
        assert refused.code == code and refused.hint
    assert not list(models.glob("*.zip"))


def test_inputs_and_outputs_of_other_names_are_taken_in_order(models: Path) -> None:
    model = export(rows="rows")
    rename(model, {"x": "tokens", model.graph.output[0].name: "logits"})
    onnx.save(model, "renamed.onnx")
    name = "model:renamed.onnx"
    file, _ = run(
        short("old.onnx", models, variants=("fused", name), models={name: Path("renamed.onnx")})
    )
    told = file.record.variant(name)
    assert told.output_difference is not None and told.output_difference.absolute == 0
    graph, same = (file.graph(f"graphs/{one}.json") for one in ("fused", "model-renamed.onnx"))
    assert graph.nodes == same.nodes


def test_other_weights_are_other_tensors() -> None:
    """What is computed from the input alone is the same; from the first weight on nothing is."""
    one, other = origins(export().graph), origins(export(seed=1).graph)
    alike = {name for name in one if one[name] == other[name]}
    assert {"/Sub_output_0", "/Div_output_0", "weight"} <= alike
    assert not alike & {"/Mul_output_0", "/Add_1_output_0", "scale", "/MatMul_output_0"}


def test_names_that_are_in_the_way_get_another() -> None:
    model = export()
    first, second = "/Sub_output_0", "/Div_output_0"
    names = without_clashes(model, {first: second})
    assert names == {first: second, second: f"{second}'"}
    before = [(node.op_type, len(node.input)) for node in model.graph.node]
    rename(model, names)
    onnx.checker.check_model(model)
    assert [(node.op_type, len(node.input)) for node in model.graph.node] == before


def test_files_of_one_name_are_told_by_their_folders() -> None:
    names, files = read_models(("fused", "model:a/model.onnx", "model:b/model.onnx"))
    assert names == ("fused", "model:a-model.onnx", "model:b-model.onnx")
    assert files["model:b-model.onnx"] == Path("b/model.onnx")
    assert read_models(("model:x/my model (1).onnx",))[0] == ("model:my-model-1-.onnx",)
    with pytest.raises(FuseScopeError, match="Two other models have the name"):
        read_models(("model:1/a/m.onnx", "model:2/a/m.onnx"))
