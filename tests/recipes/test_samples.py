"""`make samples`: which samples there are, and those that lie in sample_traces/recipes/."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from fusescope.analysis.recipes import RECIPES, find, misfit

pytest.importorskip("psutil", reason="recording needs the extra 'collect'")

ROOT = Path(__file__).resolve().parents[2]
RECORDED = sorted((ROOT / "sample_traces" / "recipes").glob("*.zip"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("samples", ROOT / "scripts/record_samples.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_sample_of_each_recipe(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--list"]) == 0
    names = capsys.readouterr().out.split()
    engines = [f"torch_{model}" for model in script.TORCH]
    engines += [f"jax_{model}" for model in script.JAX]
    engines += [f"cuda_{model}" for model in script.CUDA]
    recipes = [recipe.name for recipe in RECIPES]
    assert names == [*script.MODELS, *script.CASES, *recipes, *engines, *script.RELEASES]
    assert script.main(["--list", "--skip", names[0]]) == 0
    assert capsys.readouterr().out.split() == names[1:]
    assert script.main(["--list", "conv3x3", "three_modes"]) == 0
    assert capsys.readouterr().out.split() == ["conv3x3", "three_modes"]


@pytest.mark.parametrize(
    ("name", "engine"),
    [("torch_transformer", "torch"), ("jax_twice_read", "jax"), ("graph_kernels", "mindspore")],
)
def test_samples_of_an_engine_are_left_out_where_it_is_not_ready(
    script: ModuleType,
    name: str,
    engine: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(script, "_is_ready", lambda name: False)
    assert script.main([name]) == 0
    assert f"fusescope runtimes add {engine}." in capsys.readouterr().out


def test_an_unknown_sample_is_one_sentence(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["conv3"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("There is no sample 'conv3'. Known: mobilenetv2, ")
    assert told.count("\n") == 1


def test_the_readme_is_of_what_lies_there(script: ModuleType) -> None:
    readme = script.readme(script._records(), script._histories())
    assert readme == (ROOT / "sample_traces" / "README.md").read_text(encoding="utf-8")
    assert all(f"| releases/{name}.zip |" in readme for name in script.RELEASES)
    assert all(f"| recipes/{path.name} |" in readme for path in RECORDED)
    assert "| mobilenetv2.zip |" in readme


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_sample_fits_its_recipe(script: ModuleType, path: Path) -> None:
    recipe = find(path.stem)
    record = script.read_record(path)
    assert misfit(recipe, record) is None
    assert record.settings.command == f"fusescope recipe {recipe.name}"
    assert record.outcome.blocks >= 5, "no interval"


def test_the_sample_of_a_device_is_left_out_where_its_provider_is_not_installed(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["cuda_transformer_encoder"]) == 0
    told = "cuda_transformer_encoder: skipped, onnxruntime-gpu is not installed here.\n"
    assert capsys.readouterr().out == told
