"""The invented pairs of docs/cases.md are what the script beside them writes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "sample_traces" / "invented"
MAX_BYTES = 100_000


def test_the_script_writes_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = importlib.util.spec_from_file_location("invented", FOLDER / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "HERE", tmp_path)
    module.main()
    written = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*.*")}
    lies = {
        path.relative_to(FOLDER): path
        for path in FOLDER.rglob("*.*")
        if path.suffix in (".json", ".csv")
    }
    assert written.keys() == lies.keys() and len(lies) == 12
    assert [
        str(name) for name in lies if lies[name].read_bytes() != written[name].read_bytes()
    ] == []
    assert all(path.stat().st_size < MAX_BYTES for path in lies.values())
