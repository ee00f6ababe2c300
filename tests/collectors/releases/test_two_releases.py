"""Two real releases, one before and one after ONNX Runtime lost BiasGelu behind a MatMul, from the
package index that pip is set up with. `make test-engines` has more of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.releases.changes import changes
from fusescope.collectors import bisect
from fusescope.collectors.recording.request import Recording
from fusescope.collectors.releases import kept
from fusescope.collectors.releases.version import Span
from tests.collectors.short_recordings import run, short
from tests.pattern_models import Builder

OLD, NEW = "1.20.1", "1.21.0"


def feed_forward(path: Path) -> Path:
    b = Builder()
    x = b.input(1, 4, 8)
    h = b.node("Add", b.node("MatMul", x, b.weight(8, 16)), b.weight(16))
    erf = b.node("Erf", b.node("Div", h, b.number(float(np.sqrt(2)))))
    y = b.node("Mul", b.node("Mul", h, b.node("Add", erf, b.number(1.0))), b.number(0.5))
    onnx.save(b.model(y), str(path))
    return path


def test_the_release_that_lost_bias_gelu_is_found(tmp_path: Path) -> None:
    model = feed_forward(tmp_path / "model.onnx")
    try:
        found = bisect.find(Span(OLD, NEW))
        recording = Recording(model=str(model), variants=("fused",))
        seen = bisect.optimise(recording, found, lambda said, done, of: None)
    except FuseScopeError as error:
        if error.code in ("release_no_network", "release_pip_missing", "release_unknown"):
            pytest.skip(error.text)
        raise
    assert [release.version for release in seen.releases] == [OLD, NEW]
    if any(release.made is None for release in seen.releases):
        pytest.skip(f"no wheel, or none that runs here: {seen.releases}")
    (change,) = changes(seen)
    assert (change.older, change.newer, change.lasts) == (OLD, NEW, True)
    assert dict(change.lost) == {"BiasGelu": 1}
    assert dict(change.won) == {"Gemm": 1, "Gelu": 1}


def test_both_releases_are_timed_in_one_process(tmp_path: Path) -> None:
    """By the libraries that came with them: of what was fetched above."""
    if not all(map(kept.is_kept, (OLD, NEW))) or kept.library_of(OLD) is None:
        pytest.skip("no release, or none with a library of its own")
    model = feed_forward(tmp_path / "model.onnx")
    names = tuple(f"onnxruntime=={version}" for version in (OLD, NEW))
    file, _ = run(short(model, tmp_path, variants=names, baseline=names[0]))
    types = []
    for one in file.record.variants:
        assert one.settings.get("releases_share_process") is True, one.settings
        assert set(one.samples.copy) == {1, 2}
        events = file.events(one.profiles[0].file)
        types.append({event["args"].get("op_name") for event in events if event["cat"] == "Node"})
    assert "BiasGelu" in types[0] and "BiasGelu" not in types[1]
