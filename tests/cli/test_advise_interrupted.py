"""`fusescope advise MODEL --try` whose first recording was interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Outcome
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.recording.trying import Trial, try_out
from tests.factories import experiment_zip


def test_nothing_is_tried_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "a b.zip"
    times = {"unfused": [10.0] * 6, "fused": [5.0] * 6}
    kept.write_bytes(experiment_zip(times, changes={"outcome": Outcome(6, 0, "interrupted", None)}))
    recorded: list[object] = []

    def run(recording: object, **_: object) -> Path:
        recorded.append(recording)
        return kept

    monkeypatch.setattr(recording_run, "run", run)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FuseScopeError) as refused:
        try_out(Trial(Path("mynet"), None, None, 2, None, tmp_path, as_json=False))
    assert refused.value.code == "try_interrupted"
    assert "fusescope advise 'a b.zip' --try" in refused.value.hint
    assert len(recorded) == 1
