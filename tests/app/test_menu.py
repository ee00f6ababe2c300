"""Pages that few need stand in a menu until there is something of the user's own for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.app.sources import places
from fusescope.app.sources.filled import filled
from tests.compare.multiple.test_scaling import recorded_zip
from tests.engine_experiments import two_engines
from tests.factories import experiment_zip


def test_samples_fill_no_page(tree: Path) -> None:
    (tree / "samples" / "engines").mkdir()
    (tree / "samples" / "engines" / "both.zip").write_bytes(two_engines())
    recording = experiment_zip({"unfused": [9.0] * 8, "fused": [5.0] * 8})
    (tree / "recordings" / "one.zip").write_bytes(recording)
    assert filled({}) == []


def test_recordings_of_two_engines_and_of_two_batch_sizes(tree: Path) -> None:
    (tree / "recordings" / "both.zip").write_bytes(two_engines())
    assert filled({}) == ["engines"]
    for batch in (1, 2):
        data = recorded_zip(batch, 1, 10.0 * batch, model="grows")
        (tree / "recordings" / f"grows-{batch}.zip").write_bytes(data)
    assert filled({}) == ["engines", "scaling"]


def test_a_store_of_ranks_and_a_file_of_releases(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "open" / "ranks").mkdir()
    (tree / "open" / "ranks" / places.FLEET_MARK).write_text("{}")
    assert filled({}) == ["fleet"]
    sample = Path(__file__).parents[2] / "sample_traces" / "releases" / "transformer_encoder.zip"
    monkeypatch.setenv(places.HISTORIES_VARIABLE, str(sample))
    assert filled({}) == ["fleet", "releases"]
