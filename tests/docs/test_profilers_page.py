"""docs/profilers.md: what can run here runs, and leads to a file that says what the page claims."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace
from tests.command_line import app
from tests.docs.examples import ROOT, blocks

PAGE = ROOT / "docs" / "profilers.md"


def test_the_snippet_of_onnx_runtime_records_30_runs(tmp_path: Path) -> None:
    [snippet] = [
        block
        for block in blocks(PAGE.read_text(encoding="utf-8"), "python")
        if "import onnxruntime" in block
    ]
    model = tmp_path / "model.onnx"
    exported = CliRunner().invoke(app, ["zoo", "export", "mul_add", str(model)])
    assert exported.exit_code == 0, exported.output
    typed = subprocess.run(
        [sys.executable, "-c", f"import fusescope.collectors\n{snippet}"],
        cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    trace = read_path(tmp_path / typed.stdout.strip())
    assert isinstance(trace, Trace)
    assert trace.meta.format == "onnxruntime"
    assert len(trace.runs) == 30
    assert set(trace.operators["op_type"]) == {"Mul", "Add"}
