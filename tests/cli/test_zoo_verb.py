"""`fusescope zoo`: the list, and a model as a file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

onnx = pytest.importorskip("onnx", reason="building models needs the extra 'collect'")
pytest.importorskip("onnxruntime", reason="building models needs the extra 'collect'")

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors import zoo
from fusescope.collectors.files import cache
from fusescope.collectors.workers import worker
from tests.command_line import app


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["zoo", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def refusal(*arguments: str) -> str:
    """The sentence that the command ends with; nothing is left behind."""
    before = sorted(Path.cwd().iterdir())
    result = CliRunner().invoke(app, ["zoo", "export", *arguments])
    assert isinstance(result.exception, FuseScopeError), result.output
    assert sorted(Path.cwd().iterdir()) == before
    return result.exception.text


def test_the_list_has_every_model() -> None:
    first = invoke().split("\n\n")[0]  # those of torch stand below
    lines = {line.split()[0]: line for line in first.splitlines()[1:-1]}
    assert list(lines) == [model.name for model in zoo.MODELS]
    assert "175" in lines["resnet50"]
    assert "25\u202f610\u202f152" in lines["resnet50"]
    assert " – " in lines["mynet"]
    invoke("export", "mynet", "x.onnx")
    [line] = [line for line in invoke().splitlines() if line.startswith("mynet ")]
    size = Path("x.onnx").stat().st_size
    assert f" {size} B " in line


def test_an_exported_model_is_the_one_that_is_recorded() -> None:
    output = invoke("export", "conv_bn", "x.onnx")
    assert output.splitlines()[0] == "x.onnx"
    assert "fusescope collect x.onnx" in output
    model = zoo.find("conv_bn")
    assert model is not None
    kept = (cache.folder() / model.cached).read_bytes()
    assert hashlib.sha256(Path("x.onnx").read_bytes()).digest() == hashlib.sha256(kept).digest()
    proto = onnx.load("x.onnx")
    onnx.checker.check_model(proto, full_check=True)
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"


def test_the_batch_can_be_fixed() -> None:
    invoke("export", "add_relu", "x", "--batch", "3")
    proto = onnx.load("x.onnx")
    onnx.checker.check_model(proto, full_check=True)
    values = (*proto.graph.input, *proto.graph.output)
    assert [v.type.tensor_type.shape.dim[0].dim_value for v in values] == [3, 3, 3]


def test_into_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a folder").mkdir()
    output = invoke("export", "mynet", str(tmp_path / "a folder"))
    path = tmp_path / "a folder" / "mynet.onnx"
    assert output.splitlines()[0] == f"'{path}'"
    assert [file.name for file in path.parent.iterdir()] == ["mynet.onnx"]


def test_a_backbone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def build(task: str, job: object, *_: object, **__: object) -> None:
        asked.append((task, job))
        raise FuseScopeError("interrupted_too_early")

    monkeypatch.setattr(worker, "run", build)
    refusal("deeplabv3plus", "x.onnx", "--backbone", "resnet50")
    [(task, job)] = asked
    assert task == "export"
    assert job.model == "deeplabv3plus-resnet50"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    Path("x.onnx").write_text("mine")
    assert "already a file with that name" in refusal("mynet", "x.onnx")
    assert "already a file with that name" in refusal("mynet", "x")
    assert Path("x.onnx").read_text() == "mine"
    Path("link.onnx").symlink_to(tmp_path / "nowhere")
    assert "already a file with that name" in refusal("mynet", "link.onnx")
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_appears_meanwhile_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    real = worker.run

    def slow(*arguments: object, **options: object) -> object:
        answer = real(*arguments, **options)
        Path("x.onnx").write_text("mine")
        return answer

    monkeypatch.setattr(worker, "run", slow)
    result = CliRunner().invoke(app, ["zoo", "export", "mynet", "x.onnx"])
    assert isinstance(result.exception, FuseScopeError)
    assert Path("x.onnx").read_text() == "mine"
    assert [file.name for file in Path.cwd().iterdir()] == ["x.onnx"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("mynett", "x.onnx"), "Did you mean 'mynet'?"),
        (("mynet", "missing/x.onnx"), "no such file or directory"),
        (("mynet", "x.onnx", "--batch", "0"), "--batch cannot be 0"),
        (("mynet", "x.onnx", "--batch", "-1"), "--batch cannot be -1"),
        (("mynet", "x.onnx", "--backbone", "resnet50"), "no choice of backbones"),
        (("deeplabv3plus", "x.onnx", "--backbone", "vgg"), "There is no backbone 'vgg'"),
    ],
)
def test_wrong_requests(arguments: tuple[str, ...], expected: str) -> None:
    text = refusal(*arguments)
    assert expected in text
    assert "\n" not in text


def test_models_of_torch_are_listed_with_how_they_are_recorded() -> None:
    listed = invoke()
    assert "torch:transformer" in listed
    assert "fusescope collect torch:mlp --runtime torch" in listed
