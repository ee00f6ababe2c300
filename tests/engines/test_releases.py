"""Real releases of ONNX Runtime on real models: `make test-engines` (network, 1.5 GB of disk)."""

from __future__ import annotations

import time
from pathlib import Path

import onnx
import pytest

from fusescope.analysis.compare.groups.lineage import lineage
from fusescope.analysis.releases.changes import changes
from fusescope.analysis.releases.history import History
from fusescope.collectors import bisect
from fusescope.collectors.recording.request import Recording
from fusescope.collectors.releases import kept
from fusescope.collectors.releases.version import Span

OLDEST, NEWEST = "1.20.1", "1.32.0"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = sorted(LIGHT.glob("*.onnx"))
# The last of each minor release, but for those of which the first is the one that changed things.
TWELVE = (
    "1.20.1", "1.21.0", "1.22.1", "1.23.2", "1.24.4", "1.25.0", "1.26.0", "1.27.0", "1.28.0",
    "1.29.0", "1.30.0", "1.32.0",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("releases")))
        yield


def optimised(model: str, found: bisect.Found) -> History:
    recording = Recording(model=model, variants=("fused",))
    return bisect.optimise(recording, found, lambda said, done, of: None)


def test_the_release_that_lost_bias_gelu_of_a_transformer() -> None:
    """Twelve releases, fetched and then out of the cache."""
    found = bisect.find(Span(OLDEST, NEWEST))
    twelve = bisect.Found(TWELVE, TWELVE, ())
    assert set(TWELVE) <= set(found.usable)
    started_s = time.monotonic()
    first = optimised("transformer_encoder", twelve)
    fetched_s = time.monotonic() - started_s
    assert [one.version for one in kept.all_kept()] == list(TWELVE)
    started_s = time.monotonic()
    again = optimised("transformer_encoder", bisect.Found(TWELVE, (), ()))
    print(f"\n{fetched_s:.0f} s with fetching, {time.monotonic() - started_s:.0f} s without")
    for seen in (first, again):
        (change,) = changes(seen)
        assert (change.older, change.newer, change.lasts) == ("1.20.1", "1.21.0", True)
        assert dict(change.lost) == {"BiasGelu": 2}
        assert dict(change.won) == {"Gemm": 12, "Gelu": 2}


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_every_operator_is_in_a_group_on_both_sides(model: Path) -> None:
    seen = optimised(str(model), bisect.find_both(OLDEST, NEWEST))
    assert [one.reason for one in seen.releases] == [None, None]
    for release in seen.compared:
        made = seen.made_by(release)
        found = lineage(seen.graph, made.graph, made.matches)
        placed = [name for group in found.groups for name in group.original]
        assert sorted(placed) == sorted(node.name for node in seen.graph.nodes)
        ran = [name for group in found.groups for name in group.optimised]
        assert sorted([*ran, *found.inserted]) == sorted(node.name for node in made.graph.nodes)
        assert found.unexplained == () and found.mismatches == ()
    changes(seen)
