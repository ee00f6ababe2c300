"""The Trace page: one trace or variant by itself."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.timeline.highlight import Highlight
from fusescope.analysis.trace import Trace
from fusescope.app import state
from fusescope.app.sources import alone, places
from tests import two_processes
from tests.app.pages import address, is_clean, markdown_texts, texts
from tests.app.test_copying import data as copied
from tests.factories import CONV, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.patience import GIVE_UP_S
from tests.serving_traces import DECODE, serving_json

SCRIPT = """
import streamlit as st
from fusescope.app.views import compare, record, trace

compare_page = st.Page(lambda: st.write("compare"), title="Compare", url_path="compare")
record_page = st.Page(lambda: st.write("record"), title="Record", url_path="record")
trace_page = st.Page(
    lambda: trace.show(compare_page, record_page), title="Trace", default=True
)
st.navigation([trace_page, compare_page, record_page], position="top").run()
"""
Open = Callable[..., AppTest]
SAMPLES = Path(__file__).parents[2] / "sample_traces" / "formats"
FORMATS = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
HOSTILE = "<img src=x onerror=alert(1)> ![a](http://127.0.0.1:9/pix) :red[boo]/Conv"
DANGEROUS = ("<img", "![a]", ":red[boo]")


@pytest.fixture
def open_trace(tree: Path) -> Open:
    """`open_trace(trace=…)` opens the page at that address."""

    def run(**where: str) -> AppTest:
        test = AppTest.from_string(SCRIPT, default_timeout=GIVE_UP_S)
        for name, value in where.items():
            test.query_params[name] = value
        return test.run()

    return run


def rows_drawn(page: AppTest) -> list[dict[str, Any]]:
    """What the rows of an explanation draw."""
    return [
        json.loads(component.proto.json)
        for component in page.get("bidi_component")
        if component.proto.component_name == "fusescope_changes"
    ]


def headings(page: AppTest) -> list[str]:
    return [head.value for head in page.subheader]


def test_a_sample_is_called_one_and_made_where_nothing_recorded_it(open_trace: Open) -> None:
    made = "formats/ascend_kernel_details"
    shutil.copytree(SAMPLES.parent / made, places.SAMPLES / made)
    for id_, said in (
        ("sample:mobilenetv2/fused", "Sample: a recording that comes with FuseScope"),
        (f"example:{made}", "Sample: written by hand"),
    ):
        page = open_trace(trace=id_)
        assert any(said in text for text in texts(page)), id_


def test_a_variant_by_itself(open_trace: Open) -> None:
    """Un-profiled 10 to 10.7 ms in blocks; as profiled 150 + 50 µs of operators and 10 of gaps."""
    page = open_trace(trace="sample:mobilenetv2/unfused")
    assert is_clean(page)
    assert page.header[0].value.startswith("A run of unfused takes :blue[10.")
    assert headings(page)[:4] == [
        "Where the time of a run goes", "What limits unfused now",
        "Where the time goes", "Timeline",
    ]  # fmt: skip
    facts = "4 executions of 4 distinct operators a run. Small-op ratio (time)\\: 25.0 %."
    assert any(facts in caption.value for caption in page.caption)
    assert any("1. Optimisation is off." in text for text in markdown_texts(page))
    tables = {frame.key: frame.value for frame in page.dataframe}
    assert list(tables["trace_operators"]["Name"]) == [
        "a/Conv", "head/Gemm", "a/BatchNormalization", "a/Relu",
    ]  # fmt: skip
    [types] = [frame.value for frame in page.dataframe if "OP type" in frame.value]
    assert list(types["OP type"]) == ["Conv", "Gemm", "BatchNormalization", "Relu"]
    assert list(types["Of time without communication, %"]) == [50.0, 25.0, 15.0, 10.0]


def test_the_report_is_one_of_what_the_page_shows(open_trace: Open) -> None:
    page = open_trace(trace="sample:mobilenetv2/unfused")
    [button] = [one for one in page.get("download_button") if one.label == "Report"]
    assert "Names of users, hosts and paths are left out" in button.proto.help
    secret = ("/home/alice/topsecret/model.py(3): forward", "Mul", 50, [(8,)], [(8,)])
    trace = read(Source("t.json", profile_json([CONV, secret], 3)))
    assert isinstance(trace, Trace)
    html = alone.report(side_of_trace(trace), is_made=False).decode()
    assert "A run of t.json takes" in html and "alice" not in html and "model.py(3)" in html


def test_the_address_follows_the_selector(open_trace: Open) -> None:
    page = open_trace()
    assert address(page)["trace"] == "sample:mobilenetv2/fused", "the candidate of the first pair"
    page.selectbox(key="choose_trace").set_value("sample:mobilenetv2/unfused").run()
    assert address(page)["trace"] == "sample:mobilenetv2/unfused"
    assert is_clean(page)


def test_a_link_to_nothing_says_so_and_shows_the_first(open_trace: Open) -> None:
    page = open_trace(trace="upload:000000000000")
    assert is_clean(page)
    assert any("The link names something that is not here." in text for text in texts(page))
    assert address(page)["trace"] == "sample:mobilenetv2/fused"


def test_search_narrows_the_operators(open_trace: Open) -> None:
    page = open_trace(trace="sample:mobilenetv2/unfused")
    page.text_input(key="trace_search").set_value(" RELU ").run()
    tables = {frame.key: frame.value for frame in page.dataframe}
    assert list(tables["trace_operators"]["Name"]) == ["a/Relu"]
    page.text_input(key="trace_search").set_value("nothing like it").run()
    assert any(caption.value == "No operator matches." for caption in page.caption)


def test_a_profile_of_a_folder(tree: Path, open_trace: Open) -> None:
    (tree / "open" / "p.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    page = open_trace(trace="file:p.json")
    assert is_clean(page)
    assert "as profiled" in page.header[0].value
    assert any("This needs the graphs" in text for text in markdown_texts(page))


def test_each_process_of_a_file_can_be_chosen(tree: Path, open_trace: Open) -> None:
    two_processes.write(tree / "open" / "ranks.sqlite")
    page = open_trace(trace="file:ranks.sqlite")
    assert is_clean(page) and "process:40" in page.header[0].value
    others = "Also in the file: process:41 (12 executions, 1.50 µs)."
    assert any(others in text for text in texts(page))
    listed = page.selectbox(key="choose_trace").options
    assert [name for name in listed if "ranks" in name] == [
        "ranks.sqlite · process:40", "ranks.sqlite · process:41",
    ]  # fmt: skip
    page.selectbox(key="choose_trace").set_value("file:ranks.sqlite/process:41").run()
    assert is_clean(page) and "process:41" in page.header[0].value
    assert address(page)["trace"] == "file:ranks.sqlite/process:41"
    assert is_clean(open_trace(trace="file:ranks.sqlite/process:99"))


def test_names_are_no_markup(tree: Path, open_trace: Open) -> None:
    named = [(HOSTILE if one is CONV else one[0], *one[1:]) for one in UNFUSED_OPERATORS]
    data = experiment_zip({"unfused": [10.0] * 6}, {"unfused": named}, model_name=HOSTILE)
    (tree / "open" / "h.zip").write_bytes(data)
    page = open_trace(trace="file:h.zip/unfused")
    assert is_clean(page)
    for text in markdown_texts(page):
        assert not any(piece in text for piece in DANGEROUS), text


def test_what_pytorch_says_of_code_and_memory(tree: Path, open_trace: Open) -> None:
    """A module whose name is markup runs one operator, at the peak of 3 of the host's 4 MB."""
    base = {"pid": 1, "tid": 1, "ph": "X"}
    module = f"nn.Module: {HOSTILE}"
    sizes = {"Device Type": 0, "Total Reserved": 4_000_000}
    memory = {**base, "ph": "i", "cat": "cpu_instant_event", "name": "[memory]"}
    events = [
        {**base, "cat": "python_function", "name": module, "ts": 0, "dur": 90},
        {**base, "cat": "cpu_op", "name": "aten::mm", "ts": 10, "dur": 50, "args": {"Ev Idx": 1}},
        {**memory, "ts": 20, "args": {**sizes, "Total Allocated": 3_000_000}},
        {**memory, "ts": 80, "args": {**sizes, "Total Allocated": 1_000_000}},
    ]
    given = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}
    (tree / "open" / "k.json").write_text(json.dumps(given))
    page = open_trace(trace="file:k.json")
    assert is_clean(page)
    assert "Memory over time" in headings(page)
    [told] = [caption.value for caption in page.caption if "allocated" in caption.value]
    assert "3.00 MB" in told
    by = next(one for one in page.get("button_group") if "Call stack" in str(one.proto))
    assert by is not None
    for text in markdown_texts(page):
        assert not any(piece in text for piece in DANGEROUS), text


def test_a_finding_leads_to_its_place_on_the_timeline(tree: Path, open_trace: Open) -> None:
    """The median run begins at 400.625 µs of the file. In its longest gap before a launch the host
    is in aten::copy_ from 450 on, and the copy that it launches begins at 480."""
    shutil.copytree(SAMPLES / "kineto", tree / "open" / "kineto")
    page = open_trace(trace="file:kineto")
    [way] = [one for one in page.button if one.label == "Show on the timeline"]
    way.click().run()
    assert is_clean(page)
    kept = page.session_state["fusescope"]
    expected = ("trace:file:kineto", Highlight(((49_375, 79_375),)))
    assert (kept.highlight, kept.highlights) == (expected, 1)


@pytest.mark.exhaustive  # every format; a profile and an experiment are above
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_page(tree: Path, open_trace: Open, name: str) -> None:
    """Whatever a file lacks: no error, and every section that is drawn has something in it."""
    shutil.copytree(SAMPLES / name, tree / "open" / name)
    page = open_trace(trace=f"file:{name}")
    assert is_clean(page)
    assert address(page)["trace"] == f"file:{name}"
    assert not page.error
    assert page.header[0].value
    assert "What limits" in " ".join(headings(page))
    for text in markdown_texts(page):
        assert "None" not in text
        assert "nan" not in text.split()


LED = """
import streamlit as st
from fusescope.app import state
from fusescope.app.parts.start import opening

shown = opening._open_given(state.pair.keep_compared)
st.text(f"{shown.page} {shown.query}")
"""


def test_a_single_trace_of_the_command_line_is_led_to(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two are compared, and an experiment has its own pair."""
    one = profile_json(UNFUSED_OPERATORS, runs=3)
    files = {"a.json": one, "b.json": profile_json(UNFUSED_OPERATORS[:2], runs=3)}
    files["e.zip"] = experiment_zip({"unfused": [10.0] * 6, "fused": [5.0] * 6})
    for name, data in files.items():
        (tree / name).write_bytes(data)
    for names, led in (
        (["a.json"], "trace {'trace': 'file:a.json'}"),
        (["a.json", "b.json"], "compare {'baseline': 'file:a.json', 'candidate': 'file:b.json'}"),
        (["e.zip"], "compare {'baseline': 'file:e.zip/unfused', 'candidate': 'file:e.zip/fused'}"),
    ):
        given = os.pathsep.join(str(tree / name) for name in names)
        monkeypatch.setenv(places.FILES_VARIABLE, given)
        page = AppTest.from_string(LED, default_timeout=GIVE_UP_S).run()
        assert not page.exception
        assert page.text[0].value == led


def test_a_file_that_ends_early_shows_its_timeline_and_no_figure(
    tree: Path, open_trace: Open
) -> None:
    data = profile_json(UNFUSED_OPERATORS, runs=3)
    (tree / "open" / "cut.json").write_bytes(data[: data.index(b"model_run") - 60])
    page = open_trace(trace="file:cut.json")
    assert is_clean(page)
    assert page.header[0].value == "` cut.json ` :red[ends early]"
    assert "Report" in [button.label for button in page.get("download_button")]
    [error] = page.error
    assert "No run in it is known to be complete" in error.value
    assert headings(page) == ["Timeline up to the end of the file"]
    assert not page.dataframe and not page.metric
    assert not any("as profiled" in text or "ratio" in text for text in texts(page))


def test_the_complete_runs_of_a_file_that_ends_early_are_shown_with_a_caution(
    tree: Path, open_trace: Open
) -> None:
    data = profile_json(UNFUSED_OPERATORS, runs=3)
    (tree / "open" / "cut.json").write_bytes(data[: data.rindex(b"model_run") - 60])
    page = open_trace(trace="file:cut.json")
    assert is_clean(page)
    assert page.header[0].value.startswith("A run of ` cut.json ` takes")
    [warning] = page.warning
    assert "Only the 2 runs that are complete in the file were read." in warning.value


def test_what_a_trace_shows_leads_its_page(tree: Path, open_trace: Open) -> None:
    """Two steps of 300 and 400 us, with 31.9 us of computing in the mean."""
    [sample] = (SAMPLES / "kineto").glob("*.json*")
    shutil.copy(sample, tree / "open" / "p.json")
    page = open_trace(trace="file:p.json")
    assert is_clean(page)
    told = list(filter(None, markdown_texts(page)))
    at = next(place for place, text in enumerate(told) if text.startswith("A step takes"))
    assert ":blue[350 µs]" in told[at]
    assert "The device computes for 31.9 µs of it" in told[at]
    assert "allreduce" in told[at + 1]
    [rows] = rows_drawn(page)
    assert rows["rows"][0]["parts"][0][1].startswith("The device is idle for")


@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        ("text", "A step of p.json takes 350 µs as profiled\nA step takes 350 µs"),
        ("markdown", "### A step of p.json takes 350 µs as profiled\n\nA step takes 350 µs"),
    ],
)
def test_the_answer_on_a_trace_can_be_taken_along(
    tree: Path, open_trace: Open, monkeypatch: pytest.MonkeyPatch, asked: str, begins: str
) -> None:
    [sample] = (SAMPLES / "kineto").glob("*.json*")
    shutil.copy(sample, tree / "open" / "p.json")
    assert copied(open_trace(trace="file:p.json"))["text"] is None
    monkeypatch.setattr(state.timeline, "asked", lambda _key: asked)
    text = str(copied(open_trace(trace="file:p.json"))["text"])
    assert text.startswith(begins)
    assert "\n- The device is idle for" in text and "p.json, recorded" in text


def test_a_variant_of_a_recording_keeps_its_own_words(open_trace: Open) -> None:
    page = open_trace(trace="sample:mobilenetv2/unfused")
    assert not any("takes" in text and "the mean of" in text for text in markdown_texts(page))


def test_the_roofline_of_one_side_says_which_roof_is_missing(open_trace: Open) -> None:
    """The sample has the arithmetic peak of its machine, and no bandwidth of its memory."""
    page = open_trace(trace="sample:mobilenetv2/unfused")
    missing = [c.value for c in page.caption if c.value.startswith("A roof is missing")]
    assert len(missing) == 1 and "memory bandwidth is not in the file" in missing[0]


def test_what_need_not_be_is_rows_that_lead_to_the_timeline(tree: Path, open_trace: Open) -> None:
    """Three decoding steps of 1000 us whose one kernel takes 100: of the 900 without it 15 are from
    its launch to its start."""
    (tree / "open" / "a.json").write_bytes(serving_json([(DECODE, 100)] * 3))
    page = open_trace(trace="file:a.json")
    assert is_clean(page)
    [data] = rows_drawn(page)
    assert data["heads"] == ["Time"]
    first = data["rows"][0]
    assert "885 µs" in "".join(text for _, text in first["parts"])
    assert first["width"] == pytest.approx(88.5), "its part of a step"
    assert first["ways"] == ["Show it in the timeline"]


def test_operators_of_two_streams_are_said_to_be_a_sum(tree: Path, open_trace: Open) -> None:
    """Steps of 1000 us, in which two streams run a kernel of 800 us each: 1600 us together."""
    alone = serving_json([(DECODE, 800)] * 3)
    (tree / "open" / "a.json").write_bytes(alone)
    document = json.loads(alone)
    kernels = [event for event in document["traceEvents"] if event["cat"] == "kernel"]
    document["traceEvents"] += [
        {**kernel, "name": "other", "tid": 8, "args": {**kernel["args"], "stream": 8}}
        for kernel in kernels
    ]
    (tree / "open" / "b.json").write_text(json.dumps(document))
    page = open_trace(trace="file:b.json")
    assert is_clean(page)
    sentence = "Operators take 1.60 ms together in 1.00 ms: a sum over streams or threads"
    assert any(sentence in caption.value for caption in page.caption)
    page = open_trace(trace="file:a.json")
    assert not any("together in 1.00 ms" in caption.value for caption in page.caption)
