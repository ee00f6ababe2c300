"""A recording by an execution provider of ONNX Runtime, for real: OpenVINO's, whose build of ONNX
Runtime is installed into an environment of this test (2 minutes, network, 1 GB of disk)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.graph import COMPILED_DOMAIN
from fusescope.analysis.readers import read_path
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of an environment with FuseScope's own packages, and onnxruntime-openvino in place of
    onnxruntime."""
    folder = tmp_path_factory.mktemp("providers")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    there = folder / "bin" / "python"
    pip = [str(there), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    pinned = ["-c", str(ROOT / "constraints.txt"), "-r", str(ROOT / "requirements.txt")]
    subprocess.run([*pip, "install", *pinned], check=True)
    subprocess.run([*pip, "uninstall", "--yes", "onnxruntime"], check=True)
    subprocess.run([*pip, "install", "onnxruntime-openvino>=1.24"], check=True)
    return there


def collect(python: Path, model: str, variants: str, to: Path) -> subprocess.CompletedProcess[str]:
    command = [
        str(python),
        "-m",
        "fusescope.app.cli.main",
        "collect",
        model,
        "--variants",
        variants,
    ]
    command += ["--blocks", "5", "--rounds", "3", "--out", str(to)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=GIVE_UP_S, check=False
    )


def test_a_model_that_openvino_takes_as_a_whole(python: Path, tmp_path: Path) -> None:
    file = tmp_path / "mobilenetv2.zip"
    ran = collect(python, "mobilenetv2", "unfused,fused,provider:openvino", file)
    assert ran.returncode == 0, ran.stderr
    experiment = read_path(file)
    assert isinstance(experiment, Experiment)
    variant = next(v for v in experiment.record.variants if v.name == "provider:openvino")
    told = variant.settings
    assert (told["subgraphs"], told["nodes_on_cpu"]) == (1, 0)
    assert told["operators_in_subgraphs"] == 100  # 152 less 52 normalisations inside convolutions
    assert variant.output_difference is not None
    assert variant.output_difference.relative is not None
    assert 0 < variant.output_difference.relative < 1e-4  # float32, by other code
    found = compare(*choose_sides(experiment, baseline="unfused", candidate="provider:openvino"))
    graph = found.candidate.graph
    assert graph is not None and [n.domain for n in graph.nodes] == [COMPILED_DOMAIN]
    rows = list(found.candidate.trace.operators["name"])
    assert rows == [node.name for node in graph.nodes]  # in every block, and in the graph
    assert len(found.fusion.groups) == 1
    assert len(found.fusion.groups[0].original) == 152
    assert variant.engine is not None and variant.engine.provider == "OpenVINOExecutionProvider"
    codes = {note.code for note in found.diagnostics}
    assert {"compiled_subgraphs", "paired_providers"} <= codes
    assert not codes & {"paired", "not_in_graph", "untimed_operators", "boundary_mismatch"}


def test_a_provider_that_is_not_there_is_one_sentence(python: Path, tmp_path: Path) -> None:
    ran = collect(python, "mul_add", "fused,provider:cuda", tmp_path / "no.zip")
    assert ran.returncode != 0 and "Traceback" not in ran.stderr
    assert "has no provider for CUDA" in " ".join(ran.stderr.split())
    assert list(tmp_path.iterdir()) == []
