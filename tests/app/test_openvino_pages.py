"""The recorded sample of OpenVINO on its pages: no page shows a speedup beside `marked`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import ROOT
from tests.app.pages import is_clean, markdown_texts, texts, turn_to

SAMPLE = ROOT / "sample_traces" / "openvino" / "mobilenetv2.zip"
KEY = "sample:openvino/{}"


@pytest.fixture
def page(start: Callable[..., AppTest], tree: Path) -> AppTest:
    shutil.copy(SAMPLE, tree / "samples" / "openvino.zip")
    return start(baseline=KEY.format("marked"), candidate=KEY.format("fused"))


def said(page: AppTest) -> str:
    return " ".join([*markdown_texts(page), *texts(page)]).replace("\\", "").replace("`", "")


def test_the_compare_page_says_why_there_is_no_speedup(page: AppTest) -> None:
    assert is_clean(page) and [one.value for one in page.error] == []
    assert "are compared by operators, not by runs" in said(page)
    assert "One side also copies the result of every operator out of the model" in said(page)
    assert "--ablate" not in said(page)


@pytest.mark.exhaustive  # pages, whose parts are tested elsewhere
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fusion", "All original operators are accounted for: 152 of 152. 0 boundary mismatches."),
        ("variants", "Not ranked, because their times do not compare with those of fused: marked"),
    ],
)
def test_other_pages_agree(page: AppTest, name: str, expected: str) -> None:
    shown = turn_to(page, name)
    assert is_clean(shown) and [one.value for one in shown.error] == []
    assert expected in said(shown)
    assert "--ablate" not in said(shown)
