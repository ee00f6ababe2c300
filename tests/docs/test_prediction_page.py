"""docs/prediction.md is what `make calibrate-prediction` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "prediction.md"


@pytest.mark.exhaustive  # a dozen seconds; tests/advice/test_scorecard.py has two of its rows
def test_the_page_is_up_to_date() -> None:
    from benchmarks.prediction import page

    assert PAGE.read_text(encoding="utf-8") == page()
