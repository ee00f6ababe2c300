"""Where a collective waits, in a real browser: faint, with its time, and in the legend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.timeline.payload import texts, trace_payload
from tests.browser.timelines import open_report
from tests.ranks.test_waits import US, rank_of


def data(transfers: list[int] | None) -> Any:
    """Collectives from 100 to 300 and from 400 to 500 us; data moves in 50 and in 100 of them."""
    trace = rank_of(0, [(100, 300), (400, 500)], transfers=transfers)
    payload = trace_payload(side_of_trace(trace))
    said = texts(payload)
    sides = [{**side, **says} for side, says in zip(payload["sides"], said["sides"], strict=True)]
    return {**payload, "classes": said["classes"], "sides": sides}


@pytest.mark.parametrize("items", [None, 10])
def test_the_waiting_part_is_faint_and_said(
    items: int | None, page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    timeline = open_report(data([50, 100]), page, tmp_path, allowed_origins, items)
    waits, moves, whole = (timeline.colour(ns * US) for ns in (170, 290, 450))
    assert moves == whole != waits
    timeline.hover(200 * US)
    expect(timeline.tip).to_contain_text("waits for other ranks")
    expect(timeline.tip).to_contain_text("150 µs (75.0 % of it)")
    timeline.hover(450 * US)
    expect(timeline.tip).to_contain_text("100 µs")
    expect(timeline.tip).not_to_contain_text("waits for")
    legend = timeline.root.locator(".fst-legend")
    expect(legend).to_contain_text("faint: a collective waits for other ranks")
    assert page.console_errors == []


def test_without_such_a_count_nothing_is_faint(
    page: Page, tmp_path: Path, allowed_origins: set[str]
) -> None:
    timeline = open_report(data(None), page, tmp_path, allowed_origins)
    assert timeline.colour(170 * US) == timeline.colour(290 * US)
    expect(timeline.root.locator(".fst-legend")).not_to_contain_text("waits")
