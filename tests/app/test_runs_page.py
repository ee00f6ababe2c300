"""A file that does not mark its runs, beside one that does: asked, entered, kept by file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.ledger import ledger_table
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import opened_sentence
from tests.app.pages import address, headline, markdown_texts, texts

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


def on_a_gpu(runs: int, kernel: str, *, marked: bool) -> bytes:
    """A trace of convolutions whose kernels, by another name on each side, took 100 µs each."""
    events: list[dict[str, object]] = []
    for run in range(runs):
        start, own = 1000 + 500 * run, {"External id": run + 1}
        if marked:
            events.append({"cat": "user_annotation", "name": f"ProfilerStep#{run}", "ts": start,
                           "dur": 500, "pid": 1, "tid": 1})  # fmt: skip
        events += [
            {"cat": "cpu_op", "name": "aten::conv2d", "ts": start + 10, "dur": 50, "pid": 1,
             "tid": 1, "args": own},
            {"cat": "kernel", "name": kernel, "ts": start + 100, "dur": 100, "pid": 0, "tid": 7,
             "args": {**own, "device": 0, "stream": 7, "correlation": run}},
        ]  # fmt: skip
    return json.dumps(
        {"schemaVersion": 1, "traceEvents": [{"ph": "X"} | e for e in events]}
    ).encode()


def test_a_ledger_whose_gains_are_not_known_is_not_drawn(tree: Path, start: Start) -> None:
    (tree / "open" / "bare.json").write_bytes(on_a_gpu(6, "implicit_gemm_a", marked=False))
    (tree / "open" / "steps.json").write_bytes(on_a_gpu(8, "implicit_gemm_b", marked=True))
    traces = [read_path(tree / "open" / name) for name in ("bare.json", "steps.json")]
    told = [opened_sentence(trace) for trace in traces]
    assert "profile: 1 distinct operator." in told[0]
    assert "8 steps, 1 distinct operator." in told[1]
    comparison = compare(*(side_of_trace(trace) for trace in traces if isinstance(trace, Trace)))
    assert comparison.ledger.rows["known_by"].tolist() == ["launched_by"]
    assert comparison.ledger.rows["gain_ns"].isna().all()
    assert ledger_table(comparison) is None
    page = start(folded=True, groups="true", baseline="file:bare.json", candidate="file:steps.json")
    assert not page.exception
    assert not any(("", "Pattern") in frame.value for frame in page.dataframe)
    page.button(key="baseline_runs_enter").click().run()
    assert any(("", "Pattern") in frame.value for frame in page.dataframe)


def test_runs_are_asked_for_entered_and_kept(tree: Path, start: Start) -> None:
    (tree / "open" / "bare.json").write_bytes(kineto(6, 1, marked=False))
    (tree / "open" / "steps.json").write_bytes(kineto(8, 2, marked=True))
    page = start(baseline="file:bare.json", candidate="file:steps.json")
    assert any("its calls suggest 6 runs" in text for text in texts(page))
    assert page.number_input(key="baseline_runs").value == 6

    page.button(key="baseline_runs_enter").click().run()
    assert not page.exception
    assert address(page)["baseline_runs"] == "6"
    assert "2.00× slower" in headline(page)
    assert "On average a run takes 1.00 ms" in " ".join(markdown_texts(page))
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
