"""The notebook of docs/api.md runs from top to bottom, and shows a comparison as a picture."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # nothing of the user's own is loaded
    notebook = nbformat.read(ROOT / "examples" / "traces.ipynb", as_version=4)
    client = NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}}, kernel_name="python3"
    )
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = cells[0].outputs[-1].data["text/html"]
    assert "took 0.73× the time of" in shown and "<script" not in shown
    assert "fused" in cells[1].outputs[-1].data["text/html"]
    assert "aten::addmm" in cells[2].outputs[-1].data["text/plain"]
    assert "<td>low</td>" in cells[3].outputs[-1].data["text/html"]  # its confidence
