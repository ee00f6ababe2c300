"""The pages under Streamlit's AppTest, on tiny experiments instead of the real samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app import places, same_origin
from tests.factories import experiment_zip
from tests.patience import GIVE_UP_S

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = {"unfused": [10.0 + b / 10 for b in range(8)], "fused": [5.0 + b / 20 for b in range(8)]}


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
    (tmp_path / "samples" / "mobilenetv2.zip").write_bytes(
        experiment_zip(BLOCKS, model_name="mobilenetv2")
    )
    monkeypatch.setattr(places, "SAMPLES", tmp_path / "samples")
    monkeypatch.setenv(places.RECORDINGS_VARIABLE, str(tmp_path / "recordings"))
    monkeypatch.setenv(places.FOLDERS_VARIABLE, str(tmp_path / "open"))
    monkeypatch.delenv(places.FILES_VARIABLE, raising=False)
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
    """`start(baseline=…, candidate=…)` opens the dashboard at that address."""

    def run(**address: str) -> AppTest:
        test = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=GIVE_UP_S)
        for name, value in address.items():
            test.query_params[name] = value
        return test.run()

    return run
