"""The quiet reference: what is stored, when, and what a broken store does."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.experiment import Machine
from fusescope.collectors.files import cache
from fusescope.collectors.recording import quiet


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_lower_quartile_is_numpys(values: list[float]) -> None:
    assert quiet.lower_quartile(values) == pytest.approx(np.percentile(values, 25), abs=1e-6)


def test_a_block_level_averages_copies_then_variants() -> None:
    """unfused: copies at e^2 and e^4 s, so 3; fused: e^1 s, so 1; mean 2."""
    level = quiet.block_level(
        {
            ("unfused", 1): [int(math.e**2 * 1e9)] * 4,
            ("unfused", 2): [int(math.e**4 * 1e9)] * 4,
            ("fused", 1): [int(math.e * 1e9)] * 4,
        }
    )
    assert level == pytest.approx(2.0, abs=1e-6)


def test_a_reference_only_ever_falls() -> None:
    assert quiet.stored("k") is None
    quiet.store("k", [-4.0, -4.0, -4.0])
    quiet.store("k", [-3.0])
    assert quiet.stored("k") == -4.0
    quiet.store("k", [-5.0])
    quiet.store("other", [-1.0])
    assert (quiet.stored("k"), quiet.stored("other")) == (-5.0, -1.0)


def test_a_broken_store_counts_as_empty() -> None:
    path = cache.folder() / "quiet-references.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"k": "soon"')
    assert quiet.stored("k") is None
    quiet.store("k", [-2.0])
    assert quiet.stored("k") == -2.0


def test_another_machine_or_setting_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {quiet.key({"threads": 1}), quiet.key({"threads": 2}), quiet.key({"spin": True})}
    monkeypatch.setattr("platform.node", lambda: "elsewhere")
    keys.add(quiet.key({"threads": 1}))
    assert len(keys) == 4


def test_an_unwritable_cache_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    quiet.store("k", [-2.0])
    assert quiet.stored("k") is None


def test_a_write_that_fails_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("disk full")

    path = tmp_path / "x"
    assert cache.write_atomic(path, b"old")
    monkeypatch.setattr("os.replace", refuse)
    assert not cache.write_atomic(path, b"new")
    assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == ["x"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("load", "calm"), [(None, True), (0.0, True), (1.99, True), (2.0, False), (9.0, False)]
)
def test_half_a_process_a_core_is_not_calm(load: float | None, calm: bool) -> None:
    assert quiet.was_calm(Machine("cpu", "x86_64", 2, 4, 1, (), "os", load_before=load)) is calm
