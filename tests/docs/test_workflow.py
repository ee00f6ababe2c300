"""The workflow of docs/ci.md, run as a runner does: its steps in order, in a clean folder, each by
`bash -e`, with a summary file of its own. Only what is fetched and the number of blocks differ."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
import yaml
from onnx import TensorProto, helper, numpy_helper

from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from tests.docs.examples import ROOT, blocks

WHEEL = "./fusescope-0.1.0-py3-none-any.whl[collect]"
GELUS = 12  # as many as the page asks for


def steps(page: str) -> list[dict[str, Any]]:
    """Those of the job of the page's first workflow."""
    text, *_ = blocks((ROOT / page).read_text("utf-8"), "yaml")
    (job,) = yaml.safe_load(text)["jobs"].values()
    return job["steps"]


def model_of(gelus: int) -> onnx.ModelProto:
    """So many BiasGelu, which the engine leaves as they are, and a Relu."""
    names = ["x", *(f"t{number}" for number in range(gelus)), "y"]
    nodes = [
        helper.make_node("BiasGelu", [names[at], "bias"], [names[at + 1]], domain="com.microsoft")
        for at in range(gelus)
    ]
    nodes.append(helper.make_node("Relu", [names[-2]], ["y"]))
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 8]) for name in "xy"]
    bias = numpy_helper.from_array(np.ones(8, np.float32), "bias")
    graph = helper.make_graph(nodes, "main", tensors[:1], tensors[1:], [bias])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    "passes", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["fails", "passes"]
)
def test_the_workflow_runs_as_written(passes: bool, tmp_path: Path) -> None:
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    asked = tmp_path / "asked"
    write_program(programs / "pip", f'printf "%s\\n" "$@" >> "{asked}"')
    verb = "import sys; sys.argv[0] = 'fusescope'; from fusescope.app.cli.main import main; main()"
    write_program(programs / "fusescope", f'exec "{sys.executable}" -c "{verb}" "$@" --blocks 1')
    onnx.save(model_of(GELUS if passes else GELUS - 1), work / "model.onnx")  # what is checked out
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
    }
    summaries, codes, kept = [], [], []
    for number, step in enumerate(steps("docs/ci.md")):
        has_failed = any(codes)
        if has_failed and step.get("if") != "always()":
            continue
        if "run" not in step:
            kept += [step["with"]["path"]] if "upload-artifact" in step["uses"] else []
            continue
        script, summary = tmp_path / f"{number}.sh", tmp_path / f"summary_{number}"
        script.write_text(step["run"])
        summary.write_text("before\n")
        ran = subprocess.run(
            ["bash", "-e", str(script)],
            cwd=work,
            env={**environment, "GITHUB_STEP_SUMMARY": str(summary)},
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(ran.returncode)
        summaries.append(summary.read_text())
        assert ran.returncode in (0, 1), ran.stderr
        assert "Traceback" not in ran.stderr
    assert codes == [0, 0 if passes else 1]
    assert asked.read_text().split() == ["install", WHEEL]
    assert summaries[0] == "before\n" and summaries[1].startswith("before\n### The gate")
    told = "BiasGelu) \\< 12 | " + ("passed" if passes else "failed")
    assert told in summaries[1]
    (pattern,) = kept
    files = {path.name: path for path in work.glob(pattern)}
    assert set(files) == {"gate.html", "gate.xml", "gate.zip"}
    assert ElementTree.parse(files["gate.xml"]).getroot().get("failures") == str(int(not passes))
    assert isinstance(read_path(files["gate.zip"]), Experiment)


def test_the_workflow_is_the_same_on_both_pages() -> None:
    assert steps("docs/ci.md") == steps("docs/zh/ci.md")
