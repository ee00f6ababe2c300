"""The table of docs/benchmarks.md is what the benchmark compares itself with."""

from __future__ import annotations

import pytest

from benchmarks import ingest


def test_the_page_has_a_ratio_for_every_file_that_is_measured() -> None:
    found = ingest.ratios(ingest.PAGE.read_text(encoding="utf-8"))
    made = {f"{name}, {ingest._EVENTS // 1_000_000}M" for name in ingest._FORMATS}
    assert set(found) == {*made, "largest real trace"}
    assert all(ratio > 0 for ratio in found.values())


def test_a_ratio_that_became_worse_by_a_quarter_is_told() -> None:
    committed = {"kineto, 1M": 3.0}
    assert ingest.worse("kineto, 1M", 2.5, committed) is None
    told = ingest.worse("kineto, 1M", 2.0, committed)
    assert told == "kineto, 1M: 2x less CPU than the plain parser, 3x in benchmarks.md"
    assert ingest.worse("another", 0.1, committed) is None


def test_the_exponent_of_growth() -> None:
    assert ingest.exponent((1, 10, 100), (2.0, 20.0, 200.0)) == pytest.approx(1.0)
    assert ingest.exponent((1, 10, 100), (2.0, 200.0, 20_000.0)) == pytest.approx(2.0)
