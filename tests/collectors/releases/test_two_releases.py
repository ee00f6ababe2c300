"""Two real releases, one before and one after ONNX Runtime lost BiasGelu behind a MatMul, from the
package index that pip is set up with. `make test-engines` has more of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from analysis.errors import FuseScopeError
from analysis.releases.changes import changes
from collectors import bisect
from collectors.recording.request import Recording
from collectors.releases.version import Span
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
