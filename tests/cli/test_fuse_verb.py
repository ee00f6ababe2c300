"""`fusescope fuse` and the rule files of `fusescope collect`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli import collect as collecting
from fusescope.app.cli import fuse as fusing
from fusescope.app.sources.rule_files import read_rules
from fusescope.collectors.fusion.rules import parse

onnx = pytest.importorskip("onnx", reason="fusing needs the extra 'collect'")
pytest.importorskip("onnxruntime", reason="fusing needs the extra 'collect'")

MODULES = 'exclude = ["block/*"]\n'


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str, verb: object = fusing.fuse) -> Result:
    app = typer.Typer()
    app.command()(verb)
    return CliRunner().invoke(app, list(arguments))


def printed(*arguments: str) -> str:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.exception
    return result.output


def refused(*arguments: str, verb: object = fusing.fuse) -> str:
    result = invoke(*arguments, verb=verb)
    assert isinstance(result.exception, FuseScopeError), result.output
    assert "\n" not in result.exception.text
    return result.exception.text


def test_what_was_fused_and_what_it_removes() -> None:
    output = printed("conv_bn_relu")
    assert "3 operators become 1, level O3" in output
    assert "Conv + BatchNormalization + Relu" in output and "FusedConv" in output
    assert "MB" in output and "modelled" in output
    assert "At most 0.0001 is allowed" in output


def test_explain_says_of_every_place_why_not(tmp_path: Path) -> None:
    assert "1 opportunity was not taken. --explain" in printed("add_relu")
    output = printed("add_relu", "--explain")
    assert "Add + Relu" in output and "no kernel that runs Add + Relu as one" in output
    (tmp_path / "o1.toml").write_text('level = "O1"\npatterns = ["conv-bn", "gelu"]')
    output = printed("conv_bn_relu", "--rules", "o1.toml", "--explain")
    assert "partly fused" in output
    assert "The level is O1, but this fusion needs O2." in output
    assert "gelu: The model does not contain this pattern." in output
    assert "1 opportunity was taken in part." in printed("conv_bn_relu", "--rules", "o1.toml")
    (tmp_path / "o1.toml").write_text(
        'level = "O1"\npatterns = [["Conv", "BatchNormalization", "Relu"]]'
    )
    output = printed("conv_bn_relu", "--rules", "o1.toml", "--explain")
    assert output.count("The level is O1, but this fusion needs O2.") == 2
    assert "do not list the pattern" not in output
    assert "Every rewritten group" not in output


def test_the_report_as_json() -> None:
    report = json.loads(printed("conv_bn_relu", "--rules", "O2", "--json"))
    assert report["schema_version"] == 1 and report["level"] == "O2"
    assert (report["nodes_before"], report["nodes_after"]) == (3, 1)
    [row] = report["opportunities"]
    assert row["outcome"] == "applied" and row["makes"] == "FusedConv"
    assert row["difference"] < 1e-4 and report["difference"] < 1e-4
    assert set(row["operators"]) == {"block/Conv", "block/BatchNormalization", "block/Relu"}


def test_the_model_is_written_and_nothing_is_overwritten(tmp_path: Path) -> None:
    assert "Model: fused.onnx" in printed("conv_bn_relu", "--out", "fused.onnx")
    before = (tmp_path / "fused.onnx").read_bytes()
    output = printed("conv_bn_relu", "--rules", "O1", "--out", "fused.onnx")
    assert "fused.onnx already exists, so this file is fused-2.onnx" in output
    assert (tmp_path / "fused.onnx").read_bytes() == before
    assert [path.suffix for path in tmp_path.iterdir() if path.is_file()] == [".onnx"] * 2
    model = onnx.load("fused.onnx")
    onnx.checker.check_model(model)
    assert [node.op_type for node in model.graph.node] == ["FusedConv"]
    for value in (*model.graph.input, *model.graph.output):
        assert value.type.tensor_type.shape.dim[0].dim_param == "batch"  # open, as it was
    assert [node.op_type for node in onnx.load("fused-2.onnx").graph.node] == ["Conv", "Relu"]


def test_what_had_to_be_fixed_is_said(tmp_path: Path) -> None:
    helper = onnx.helper
    value = helper.make_tensor_value_info("x", 1, ["n", "s", 8])
    nodes = [
        helper.make_node("Mul", ["x", "two"], ["a"]),
        helper.make_node("Add", ["a", "two"], ["y"]),
    ]
    weights = [helper.make_tensor("two", 1, [], [2.0])]
    result = helper.make_tensor_value_info("y", 1, ["n", "s", 8])
    graph = helper.make_graph(nodes, "g", [value], [result], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "chain.onnx").write_bytes(model.SerializeToString())
    output = printed("chain.onnx", "--shape", "x=1,6,8", "--out", "fused.onnx")
    assert (
        "Shapes are fixed as they were when it was fused: s = 6 (with 12 the engine says: "
        in output
    )


def test_marks_and_line_ends_of_other_systems(tmp_path: Path) -> None:
    (tmp_path / "mark.toml").write_bytes(b'\xef\xbb\xbflevel = "O1"\r\npatterns = ["conv-bn"]\r\n')
    name, text = read_rules("mark.toml")
    assert text is not None
    assert (name, parse(text, name).level, parse(text, name).names) == (
        "mark.toml",
        "O1",
        {"conv-bn"},
    )


def test_rules_that_cannot_be_followed_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("level = \n")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "long.toml").write_text("#" * 70_000)
    (tmp_path / "far.toml").write_text('exclude = ["classifier/*"]')
    assert "bad.toml" in refused("conv_bn_relu", "--rules", "bad.toml")
    assert "not UTF-8 text" in refused("conv_bn_relu", "--rules", "binary.toml")
    assert "larger than 64 KiB" in refused("conv_bn_relu", "--rules", "long.toml")
    assert "no node matches" in refused("conv_bn_relu", "--rules", "far.toml", "--out", "x.onnx")
    assert "cannot be read: it is a folder" in refused("conv_bn_relu", "--rules", str(tmp_path))
    assert "file name too long" in refused("conv_bn_relu", "--rules", "x" * 5000)
    assert "does not exist" in refused("conv_bn_relu", "--rules", "no/such.toml")
    assert "Did you mean 'no-head.toml'" in refused("conv_bn_relu", "--rules", "nohead.toml")
    assert not list(tmp_path.glob("*.onnx")) and not list(tmp_path.glob(".*.partial"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("conv_bn_rel",), "Did you mean 'conv_bn_relu'"),
        (("conv_bn_relu", "--shape", "x"), "Write name=1,3,224,224"),
        (("conv_bn_relu", "--memory-limit", "0"), "--memory-limit cannot be 0"),
        (("conv_bn_relu", "--timeout", "0"), "--timeout cannot be 0"),
        (("conv_bn_relu", "--out", "no/such/folder.onnx"), "cannot be written to"),
        (("conv_bn_relu", "--out", "."), "This is a folder"),
    ],
)
def test_bad_usage_is_one_sentence(arguments: tuple[str, ...], expected: str) -> None:
    assert expected in refused(*arguments)


def test_names_of_a_hostile_model_are_shown_as_text(tmp_path: Path) -> None:
    helper = onnx.helper
    name = "\x1b[31m[red]evil[/red]"
    value = helper.make_tensor_value_info("x", 1, [2, 8])
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name=f"{name}/Relu"),
        helper.make_node("Neg", ["a"], ["y"], name=f"{name}/Neg"),
    ]
    graph = helper.make_graph(nodes, "g", [value], [helper.make_tensor_value_info("y", 1, [2, 8])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "evil.onnx").write_bytes(model.SerializeToString())
    output = printed("evil.onnx", "--explain")
    assert "\x1b" not in output and "[red]evil[/red]" in output


def test_collect_takes_rule_files_by_path_and_keeps_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(
        "fusescope.collectors.record.record", lambda recording, **_: asked.append(recording)
    )
    folder = tmp_path / "secret place"
    folder.mkdir()
    (folder / "conv.toml").write_text(MODULES)
    variants = f"unfused,rules:{folder}/conv.toml,rules:O2"
    monkeypatch.setattr("sys.argv", ["fusescope", "collect", "m", "--variants", variants])
    invoke("conv_bn_relu", "--variants", variants, verb=collecting.collect)
    [recording] = asked
    assert recording.variants == ("unfused", "rules:conv.toml", "rules:O2")
    assert recording.rules == {"rules:conv.toml": MODULES}
    assert shlex.split(recording.command)[-1] == "unfused,rules:conv.toml,rules:O2"
    other = tmp_path / "other"
    other.mkdir()
    (other / "conv.toml").write_text("")
    both = f"rules:{folder}/conv.toml,rules:{other}/conv.toml"
    said = refused("conv_bn_relu", "--variants", both, verb=collecting.collect)
    assert said.startswith("Two rule files have the name 'conv.toml'. Rename one")
    (other / "CONV.toml").write_text("")  # its files would replace the other's on some disks
    both = f"rules:{folder}/conv.toml,rules:{other}/CONV.toml"
    said = refused("conv_bn_relu", "--variants", both, verb=collecting.collect)
    assert said.startswith("Two rule files have the name 'CONV.toml'. Rename one")
    assert "upper and lower case count as the same" in said


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("rules:missing.toml", "There is no rule file 'missing.toml'"),
        ("rules:", "cannot be the name of a variant"),
        ("rules:bad.toml", "bad.toml"),
        ("rules:odd name!.toml", "Rename it"),
    ],
)
def test_collect_refuses_rules_before_anything_starts(
    variant: str, expected: str, tmp_path: Path
) -> None:
    for name in ("bad.toml", "odd name!.toml"):
        (tmp_path / name).write_text('levle = "O1"')
    assert expected in refused("conv_bn_relu", "--variants", variant, verb=collecting.collect)
