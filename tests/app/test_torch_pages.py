"""The recorded transformer of torch on every page, as a user goes from one to the next: no page
fails, and what they say of the pair is the same."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import fusescope.collectors.record
from fusescope.analysis import readers, units
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from tests.app.conftest import ROOT
from tests.app.pages import headline, is_clean, markdown_texts, texts, turn_to

SAMPLE = ROOT / "sample_traces" / "cases" / "torch_transformer.zip"
Start = Callable[..., AppTest]


@pytest.fixture(scope="module")
def compared() -> Comparison:
    found = readers.read_path(SAMPLE)
    assert isinstance(found, Experiment)
    return compare(*(side_of_variant(found, name) for name in ("unfused", "fused")))


@pytest.fixture
def opened(start: Start, tree: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The comparison of the sample that a link names."""
    shutil.copy(SAMPLE, tree / "samples")
    monkeypatch.setattr(fusescope.collectors.record, "is_ready", lambda name: True)
    key = "sample:torch_transformer/{}"
    return start(baseline=key.format("unfused"), candidate=key.format("fused"))


def said(page: AppTest) -> str:
    """Everything on the page, as plain text."""
    shown = " ".join([*markdown_texts(page), *texts(page)])
    return re.sub(r":\w+\[([^\]]*)\]", r"\1", shown).replace("\\", "").replace("`", "")


def test_every_page_says_the_same_of_the_pair(opened: AppTest, compared: Comparison) -> None:
    verdict, pages = compared.verdict, {}
    assert verdict.speedup is not None
    for name in ("compare", "fusion", "trace", "variants", "record"):
        page = opened if name == "compare" else turn_to(opened, name)
        assert is_clean(page), name
        assert [one.value for one in page.error] == [], name
        pages[name] = (headline(page), said(page))
    before_ns, after_ns = verdict.times_ns or (0.0, 0.0)
    gained = units.duration(before_ns - after_ns)
    assert units.factor(verdict.speedup) in pages["compare"][1]
    assert gained in pages["variants"][1]
    # The change of the run is the verdict's on every page, and told where that is.
    assert verdict.is_decided == (gained in pages["fusion"][1])
    assert verdict.is_decided != ("cannot be told from noise" in pages["fusion"][1])
    assert verdict.is_decided != pages["compare"][0].startswith("Cannot tell")
    assert pages["trace"][0] == f"A run of fused takes {units.duration(after_ns)}"
    assert "All original operators are accounted for: 38 of 38." in pages["fusion"][1]
    assert "fused is 1 compiled graph." in pages["fusion"][1]
    assert not re.search(r"[0-9]\. Optimisation is off", pages["compare"][1])  # not torch's


def test_the_steps_between_variants_stand_in_two_parts_that_are_open(
    start: Start, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each step brings stands where the time goes, and beside all variants."""
    shutil.copy(SAMPLE, tree / "samples")
    monkeypatch.setattr(fusescope.collectors.record, "is_ready", lambda name: True)
    key = "sample:torch_transformer/{}"
    sides = {"baseline": key.format("eager"), "candidate": key.format("fused")}
    page = start(**sides, groups="true", several="true")
    assert is_clean(page)
    assert [one.value for one in page.error] == []
    titles = [one.value for one in page.subheader]
    assert sum("What each step" in title for title in titles) == 2, titles
