"""A file that does not mark its runs, beside one that does: asked, entered, kept by file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.app.pages import address, headline, texts

Start = Callable[..., AppTest]


def kineto(runs: int, scale: int, *, marked: bool) -> bytes:
    """A CPU trace of PyTorch: conv and relu in each run, of which steps say where they begin."""
    events = []
    for run in range(runs):
        start = 1000 + 500 * scale * run
        if marked:
            events.append(("user_annotation", f"ProfilerStep#{run}", start, 500 * scale))
        events.append(("cpu_op", "aten::conv2d", start + 10, 200 * scale))
        events.append(("cpu_op", "aten::relu", start + 20 + 200 * scale, 20 * scale))
    return json.dumps(
        {
            "schemaVersion": 1,
            "traceEvents": [
                {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur}
                for cat, name, ts, dur in events
            ],
        }
    ).encode()


def test_runs_are_asked_for_entered_and_kept(tree: Path, start: Start) -> None:
    (tree / "open" / "bare.json").write_bytes(kineto(6, 1, marked=False))
    (tree / "open" / "steps.json").write_bytes(kineto(8, 2, marked=True))
    page = start(baseline="file:bare.json", candidate="file:steps.json")
    assert any("its calls suggest 6 runs" in text for text in texts(page))
    tables = len(page.dataframe)
    assert page.number_input(key="baseline_runs").value == 6

    page.button(key="baseline_runs_enter").click().run()
    assert not page.exception
    assert address(page)["baseline_runs"] == "6"
    assert "2.00× slower" in headline(page)
    assert len(page.dataframe) == tables + 1  # the ledger, which had nothing to draw
    assert not any("its calls suggest" in text for text in texts(page))

    page.button(key="swap").click().run()
    assert address(page)["candidate_runs"] == "6" and "baseline_runs" not in address(page)
    assert "2.00× faster" in headline(page)

    page.button(key="candidate_runs_forget").click().run()
    assert "candidate_runs" not in address(page)
    assert any("its calls suggest" in text for text in texts(page))


def test_a_link_brings_its_runs(tree: Path, start: Start) -> None:
    (tree / "open" / "bare.json").write_bytes(kineto(6, 1, marked=False))
    (tree / "open" / "steps.json").write_bytes(kineto(8, 2, marked=True))
    for linked, told in (("3", "3"), ("0", None), ("x", None), ("9" * 20, None)):
        page = start(baseline="file:bare.json", candidate="file:steps.json", baseline_runs=linked)
        assert not page.exception
        assert address(page).get("baseline_runs") == told
