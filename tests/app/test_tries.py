"""What findings ask for: from the button to the recording, and what came beside what was
predicted."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import fusescope.collectors.record
from fusescope.analysis.experiment import Experiment, ModelInput, PredictedPart, Try
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.app.recording import recorder, tries
from fusescope.collectors.kernels.native import compiler
from fusescope.collectors.record import Recording
from tests.app.conftest import BLOCKS
from tests.app.pages import is_clean, markdown_texts, texts
from tests.app.test_fusion_page import MISSED
from tests.factories import experiment_zip
from tests.patience import GIVE_UP_S

SCRIPT = """
import streamlit as st
from fusescope.app.views import compare, record

record_page = st.Page(
    lambda: record.show(compare_page, compare_page, compare_page), title="Record", url_path="record"
)
compare_page = st.Page(
    lambda: compare.show(*[record_page] * 3, {"fleet": record_page}),
    title="Compare", url_path="compare", default=True,
)
st.navigation([compare_page, record_page], position="top").run()
"""
KERNEL = "inside:elementwise"
RULES = "rules:missed-1.toml"
HOSTILE = "rules:![b](http://127.0.0.1:9/y)<img src=x>.toml"
TRIED_MS = {"fused": [10.0] * 8, KERNEL: [12.5] * 8, RULES: [8.0] * 8}
PREDICTED = PredictedPart(0.15, 0.05, 0.3)


def limits_open() -> AppTest:
    """The page before it runs, with what limits the candidate open."""
    page = AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S)
    page.query_params["limits"] = "true"
    return page


def opened() -> AppTest:
    return limits_open().run()


def test_from_the_button_to_what_it_brought(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """15 % of 10 ms are predicted, 2 ms are saved by the one, -2.5 by the other."""
    started: list[Recording] = []
    may_end = threading.Event()

    def record(job: Recording, **_: Any) -> Path:
        started.append(job)
        assert job.out is not None
        assert may_end.wait(GIVE_UP_S)
        path = job.out / "tried-1.zip"
        tries = (
            *job.tries,
            Try(RULES, "missed_fusion", PREDICTED, "a = 1\n"),
            Try(HOSTILE, "<b>", refused="<img src=x> does not build"),
        )
        path.write_bytes(experiment_zip(TRIED_MS, model_name="mul_add", changes={"tries": tries}))
        return path

    monkeypatch.setattr(recorder, "RECORDER", recorder.Recorder())
    monkeypatch.setattr(fusescope.collectors.record, "record", record)
    monkeypatch.setattr(compiler, "path", lambda: "/usr/bin/cc")
    rows = {"unfused": MISSED, "fused": MISSED}
    sample = experiment_zip(BLOCKS, rows, model_name="mul_add")
    (tree / "samples" / "mobilenetv2.zip").write_bytes(sample)

    page = opened()
    assert is_clean(page)
    assert "fusescope advise mul_add --try 2" in texts(page)
    # It tries at once, and what was recorded before is not shown above it.
    before = tree / "recordings" / "before.zip"
    recorder.RECORDER._status = recorder.Status("mul_add", path=before)
    page.button(key="try_remedies").click().run()
    assert is_clean(page)
    assert [job.model for job in started] == ["mul_add"]
    assert not page.success and page.button(key="record_cancel").label == "Stop"
    may_end.set()
    deadline = time.monotonic() + GIVE_UP_S
    while not started or recorder.RECORDER.status is None or recorder.RECORDER.status.running:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    [job] = started
    assert (job.baseline, job.variants, job.own_pass, job.threads) == (
        "fused",
        ("fused", KERNEL, "threads:1"),
        False,
        2,  # as the experiment was recorded
    )
    asked, other = job.tries
    assert (asked.variant, asked.finding) == (KERNEL, "missed_fusion")
    assert asked.predicted is not None and other.predicted is None

    page.run()
    assert_tells(page)
    assert page.multiselect(key="record_variants").value == ["fused", KERNEL, "threads:1"]
    page.button(key="record_open").click().run()
    assert page.query_params["candidate"] == f"recorded:tried-1.zip/{RULES}", "kept"
    again = limits_open()
    again.query_params["baseline"] = "recorded:tried-1.zip/fused"
    again.query_params["candidate"] = f"recorded:tried-1.zip/{KERNEL}"
    assert_tells(again.run())


def assert_tells(page: AppTest) -> None:
    assert is_clean(page)
    assert any("Tried beside fused" in head.value for head in page.subheader)
    assert any(text.startswith(f"Keep {RULES}: 1.25× faster than fused") for text in texts(page))
    shown = list(texts(page))
    bold = [one.value for one in page.markdown if one.value.startswith("**")]
    at = bold.index("**1.50 ms (500 µs to 3.00 ms)**")
    assert bold[at + 1] == "**2.00 ms (1.99 ms to 2.01 ms)**", "side by side"
    assert f"{RULES}, for: Missed fusion" in shown
    assert any(text.endswith("Kept: it is faster.") for text in shown)
    assert any(text.endswith("Taken back: it is slower.") for text in shown)
    assert "Not recorded: <img src=x> does not build." in shown
    assert not any("<img" in text or "![b]" in text for text in markdown_texts(page))
    labels = [button.label for button in page.get("download_button")]
    assert "Rule file of the best" in labels


def test_the_command_names_a_variant_that_is_not_the_present_best() -> None:
    value = read(Source("made.zip", experiment_zip({"dynamic": [10.0] * 8, "fused": [9.0] * 8})))
    assert isinstance(value, Experiment)
    assert (
        tries.command("a b.zip", value.record, "fused", 2) == "fusescope advise 'a b.zip' --try 2"
    )
    named = tries.command("m", value.record, "dynamic", 1)
    assert named == "fusescope advise m --variant dynamic --try 1"


def test_nothing_to_try_is_said(tree: Path) -> None:
    page = opened()
    assert is_clean(page)
    assert not [button for button in page.button if button.key == "try_remedies"]
    assert any("nothing to try" in text or "cannot try" in text for text in texts(page))


def test_a_model_of_ones_own_is_found_below_the_folders(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The button leads to the form with the file, its shapes and its hash, and to a recording with
    its ranges, spinning and seed; without the file the command says what is needed."""
    value = read(Source("made.zip", experiment_zip(BLOCKS)))
    assert isinstance(value, Experiment)
    inputs = (
        msgspec.structs.replace(value.record.model.inputs[0], source="seed 5, uniform -1 to 2.5"),
        ModelInput("given", "int64", (4,), "file"),
    )
    facts = msgspec.structs.replace(value.record.model, name="mine", source="file", inputs=inputs)
    settings = msgspec.structs.replace(value.record.settings, spin=True, seed=5)
    rows = {"unfused": MISSED, "fused": MISSED}
    sample = experiment_zip(BLOCKS, rows, changes={"model": facts, "settings": settings})
    (tree / "samples" / "mobilenetv2.zip").write_bytes(sample)
    page = opened()
    assert is_clean(page)
    assert "fusescope advise mobilenetv2.zip --try 2 --model MODEL.onnx" in texts(page)
    assert not [button for button in page.button if button.key == "try_remedies"]
    st.cache_data.clear()
    (tree / "open" / "mine.onnx").write_bytes(b"x")
    page = opened()
    started: list[Recording] = []
    monkeypatch.setattr(recorder.RECORDER, "start", lambda job, _: started.append(job))
    page.button(key="try_remedies").click().run()
    assert is_clean(page)
    assert page.selectbox(key="record_model").value == "file:mine.onnx"
    assert page.text_input(key="record_shapes").value == "t0=1,3,8,8; given=4"
    assert page.session_state["record_offer"].sha256 == facts.sha256
    [job] = started
    # A later visit of the page starts nothing.
    page.run()
    assert len(started) == 1
    assert (dict(job.input_ranges), job.spin, job.seed) == ({"t0": (-1.0, 2.5)}, True, 5)
