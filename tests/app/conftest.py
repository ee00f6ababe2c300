"""The pages under Streamlit's AppTest, on tiny experiments instead of the real samples."""

from __future__ import annotations

import functools
import io
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.util import calc_hash

import fusescope.analysis.compare
from fusescope.analysis.compare import DEFAULT_ASSUMPTIONS, Assumptions, Comparison, Side
from fusescope.analysis.trace import Trace
from fusescope.app.server import same_origin
from fusescope.app.sources import places
from tests.factories import experiment_zip
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]
# Parts of the page Compare behind titles; those of groups and several have tests of their own.
PARTS = ("operators", "times", "limits", "figures", "roofline", "runs", "files")
BLOCKS = {"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0 + b / 20 for b in range(8)]}

# Every AppTest looks through all installed packages for components; they do not change meanwhile.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)


_look_each_ms = local_script_runner.require_widgets_deltas


def wait_for_end(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Until the page has been drawn: to look each millisecond whether any of all its events was
    the last one takes a twelfth of what the page does."""
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    _look_each_ms(runner, 0 if thread.is_alive() else 1)


local_script_runner.require_widgets_deltas = wait_for_end


@functools.cache
def sample() -> bytes:
    """The experiment that the dashboard opens with: `BLOCKS` of both variants."""
    return experiment_zip(BLOCKS, model_name="mobilenetv2")


class _Content(pickle.Pickler):
    """Bytes that are equal only where values are: read-only mappings as the dicts that they hold,
    traces without what is derived from them."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, MappingProxyType):
            return dict, (dict(value),)
        if isinstance(value, Trace):
            return Trace, tuple(getattr(value, field.name) for field in fields(value))
        return NotImplemented


_compare = fusescope.analysis.compare.compare
_comparisons: dict[bytes, Comparison] = {}


def compare_once(
    baseline: Side,
    candidate: Side,
    assumptions: Assumptions = DEFAULT_ASSUMPTIONS,
    candidates: int = 1,
) -> Comparison:
    """`compare` is pure and takes longest on a page: equal experiments are compared once.

    Profiles are compared each time: what is kept of them is a matter of test_kept_memory.py.
    """
    if baseline.experiment is None or candidate.experiment is None or candidates > 1:
        return _compare(baseline, candidate, assumptions, candidates)
    buffer = io.BytesIO()
    _Content(buffer).dump((baseline, candidate, assumptions))
    key = buffer.getvalue()
    if key not in _comparisons:
        _comparisons[key] = _compare(baseline, candidate, assumptions)
    return _comparisons[key]


@dataclass
class Upload:
    """What Streamlit hands over."""

    name: str
    data: bytes
    file_id: str = "1"
    closed: bool = False

    def getvalue(self) -> bytes:
        return self.data

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with `samples/`, `recordings/` and `open/` (configured); one sample is there."""
    for name in ("samples", "recordings", "open"):
        (tmp_path / name).mkdir()
    (tmp_path / "samples" / "mobilenetv2.zip").write_bytes(sample())
    monkeypatch.setattr(places, "SAMPLES", tmp_path / "samples")
    monkeypatch.setenv(places.EXPERIMENTS_VARIABLE, str(tmp_path / "recordings"))
    monkeypatch.setenv(places.FOLDERS_VARIABLE, str(tmp_path / "open"))
    monkeypatch.delenv(places.FILES_VARIABLE, raising=False)
    monkeypatch.setattr(fusescope.analysis.compare, "compare", compare_once)
    # AppTest has no address, and the dashboard is one user's own unless a test says otherwise.
    monkeypatch.setattr(same_origin, "LOOPBACK", (*same_origin.LOOPBACK, None))
    yield tmp_path
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def answers_others(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dashboard answers other machines."""
    monkeypatch.setattr(same_origin, "LOOPBACK", ())


@pytest.fixture
def start(tree: Path) -> Callable[..., AppTest]:
    """`start(baseline=…, candidate=…)` opens the page Compare at that address, with its parts open;
    `start(folded=True, groups="true")` with one of them."""

    def run(*, folded: bool = False, **address: str) -> AppTest:
        return _opened(
            "compare", address if folded else {**dict.fromkeys(PARTS, "true"), **address}
        )

    return run


@pytest.fixture
def land(tree: Path) -> Callable[..., AppTest]:
    """`land()` opens the landing page, `land(baseline=…)` an address without a page in it."""
    return lambda **address: _opened("", address)


@pytest.fixture
def visit(tree: Path) -> Callable[..., AppTest]:
    """`visit("trace", trace=…)` opens that page of the dashboard at that address."""
    return lambda url_path, **address: _opened(url_path, address)


def _opened(url_path: str, address: Mapping[str, str]) -> AppTest:
    test = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=GIVE_UP_S)
    test._page_hash = calc_hash(url_path)
    for name, value in address.items():
        test.query_params[name] = value
    return test.run()
