"""A library with two traces and a recording, which all tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fusescope.app.sources import places
from fusescope.app.store import settings
from fusescope.app.store.store import Store
from tests.factories import experiment_zip
from tests.store.test_store import put

BLOCKS = {"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0 + b / 20 for b in range(8)]}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Traces 1.json and 2.json of 50 calls each, and the recording small.zip."""
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tmp_path / "library"))
    monkeypatch.setenv(places.EXPERIMENTS_VARIABLE, str(tmp_path / "recordings"))
    (tmp_path / "recordings").mkdir()
    data = experiment_zip(BLOCKS, model_name="mobilenetv2")
    (tmp_path / "recordings" / "small.zip").write_bytes(data)
    store = Store(settings.folder(), settings.max_bytes())
    put(store, 1)
    put(store, 2)
    yield store
