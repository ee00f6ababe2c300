"""Two real releases of ONNX Runtime: `make test-releases` (network, 160 MB of disk)."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.releases.changes import changes
from collectors import bisect
from collectors.record import Recording
from collectors.releases import kept
from collectors.releases.version import Span
from tests.collectors.short_recordings import run, short

OLD, NEW = "1.20.1", "1.21.0"
MODEL = "transformer_encoder"


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("releases")))
        yield


def test_the_release_that_lost_a_fusion_is_found_and_timed_in_one_process(tmp_path: Path) -> None:
    """Fetched, then out of the cache, then by the libraries that came with them."""
    asked = Recording(model=MODEL, variants=("fused",))
    for missing in ((OLD, NEW), ()):
        found = bisect.find(Span(OLD, NEW))
        assert (found.usable, found.missing) == ((OLD, NEW), missing)
        (change,) = changes(bisect.optimise(asked, found, lambda *_: None))
        assert (change.older, change.newer, change.lasts) == (OLD, NEW, True)
        assert dict(change.lost) == {"BiasGelu": 2}
        assert [one.version for one in kept.all_kept()] == [OLD, NEW]
    names = tuple(f"onnxruntime=={version}" for version in (OLD, NEW))
    file, _ = run(short(MODEL, tmp_path, variants=names, baseline=names[0]))
    types = []
    for one in file.record.variants:
        assert one.settings.get("releases_share_process") is True, one.settings
        assert set(one.samples.copy) == {1, 2} and one.profiles
        events = file.events(one.profiles[0].file)
        types.append({event["args"].get("op_name") for event in events if event["cat"] == "Node"})
    assert "BiasGelu" in types[0] and "BiasGelu" not in types[1]
