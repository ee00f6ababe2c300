"""The recorded sample of jax on its pages: the eager run has groups, and nothing is offered that
only other engines have."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import ROOT
from tests.app.pages import is_clean, markdown_texts, texts, turn_to

SAMPLE = ROOT / "sample_traces" / "cases" / "jax_twice_read.zip"


@pytest.mark.exhaustive  # a page, whose parts are tested elsewhere
def test_the_eager_run_has_groups_on_the_fusion_page(
    start: Callable[..., AppTest], tree: Path
) -> None:
    shutil.copy(SAMPLE, tree / "samples")
    key = "sample:jax_twice_read/{}"
    page = turn_to(start(baseline=key.format("eager"), candidate=key.format("fused")), "fusion")
    assert is_clean(page) and [one.value for one in page.error] == []
    said = " ".join([*markdown_texts(page), *texts(page)]).replace("\\", "").replace("`", "")
    assert "All original operators are accounted for: 11 of 11. 0 boundary mismatches." in said
    assert "tensor values (5)" in said
    assert "--ablate" not in said
