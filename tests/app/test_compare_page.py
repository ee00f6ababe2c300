"""The Compare page: what it shows for good files, bad files, hostile files and links."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from streamlit.proto.Metric_pb2 import Metric as MetricProto
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from fusescope.analysis.compare import Assumptions, compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.messages import Message
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.releases.history import history_file
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.multiple.html import multiple_html
from fusescope.analysis.wording.trust import GENERAL_DOUBT
from fusescope.app import state
from fusescope.app.parts import pair, panels
from fusescope.app.sources import comparisons, loading, places
from fusescope.app.state.session import MAX_OPENED
from tests.app.conftest import BLOCKS
from tests.app.pages import (
    address,
    figures,
    folded,
    headline,
    is_clean,
    markdown_texts,
    options,
    table,
    texts,
    turn_to,
)
from tests.factories import (
    CONV,
    FUSED_OPERATORS,
    UNFUSED_OPERATORS,
    experiment_zip,
    profile_json,
)
from tests.factories import (
    FUSED as FUSED_CONV,
)
from tests.releases import test_changes as releases
from tests.repetitions import few

Start = Callable[..., AppTest]
HOSTILE = (
    "<img src=x onerror=alert(1)> ![a](http://127.0.0.1:9/pix) :red[boo] $x^2$ "
    "[l](javascript:alert(1)) http://evil.example"
)
# Pieces of it that must never stand where Markdown is read.
DANGEROUS = ("<img", "![a]", ":red[boo]", "$x^2$", "javascript:", "evil.example")
UNFUSED = profile_json(UNFUSED_OPERATORS, runs=6)
FUSED = profile_json(FUSED_OPERATORS, runs=6)


def upload(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    page.file_uploader[0].set_value(
        [(name, data, "application/octet-stream") for name, data in files]
    )
    return page.run()


# The first screen.


def test_the_first_screen_compares_the_sample(start: Start) -> None:
    page = start()
    assert is_clean(page)
    assert headline(page) == "fused is 2.00× faster than unfused"
    shown = figures(page)
    assert shown["latency"][1] == "−50.0 %"
    assert shown["throughput"][1] == "+100.0 %"
    # In the tiny model no byte misses the cache of the fused variant: no cache utilisation.
    assert list(shown)[:7] == [
        "latency",
        "throughput",
        "small-op ratio (time)",
        "compute utilisation",
        "cache-miss bytes",
        "peak memory",
        "output difference",
    ]
    assert address(start(folded=True)) == {
        "baseline": "sample:mobilenetv2/unfused",
        "candidate": "sample:mobilenetv2/fused",
    }
    assert "mobilenetv2 · unfused (sample)" in options(page, "baseline")
    assert "Sample: a recording that comes with FuseScope, not one of yours." in texts(page)
    doubts = (
        "2 doubts. The operators' own times explain only part of the change. "
        "Profiled runs typically take"
    )
    assert doubts in " ".join(texts(page))
    # The head carries the interval, and light time stands beside the small-op ratio.
    head = page.header[0].value
    assert re.search(r" :small\[:gray\[\(95\xa0% interval \d\.\d\d× to \d\.\d\d×\)\]\]$", head), (
        head
    )
    captions = [caption.value for caption in page.caption]
    lead = "Most of the gain comes from less computing. Shares of the change, as profiled"
    assert lead in " ".join(markdown_texts(page))
    fused = re.compile(r"fused.*: computing .* % and idle ")
    assert any(map(fused.search, captions)), captions
    light = r"^light time .* → .*, \d+ → \d+ executions$"
    assert any(re.search(light, text) for text in captions), captions
    # On a narrow page columns follow each other in the order in which they are drawn: files are
    # opened above the verdict, behind a button; the sample is named below it.
    assert folded(page)
    drawn = [node.type for node in page.main if hasattr(node, "proto")]
    assert drawn.index("file_uploader") < drawn.index("text") < drawn.index("header")


def test_six_columns_first_and_those_of_profilers_by_choice(start: Start) -> None:
    page = start()
    for number in (0, 1):
        assert len(table(page, number).columns) == 6
    page.session_state["type_columns"] = ["Count", "Min, µs", "Of time without communication, %"]
    page.session_state["operator_columns"] = ["Median, µs", "Inputs"]
    page.run()
    operators, types = table(page, 0), table(page, 1)
    names = [" ".join(filter(None, pair)) for pair in types.columns]
    for wanted in (
        "OP type",
        "Core type",
        "Count baseline",
        "Min, µs candidate",
        "Of time without communication, % baseline",
    ):
        assert wanted in names
    assert ("", "Inputs") in operators and ("", "Outputs") not in operators
    # BatchNormalization and Relu go (30 and 20 µs), Conv grows from 100 to 110 µs.
    assert list(operators[("", "Name")]) == [
        "a/BatchNormalization",
        "a/Relu",
        "a/Conv",
        "head/Gemm",
    ]
    assert list(operators[("Duration per run, µs", "change")]) == [-30.0, -20.0, 10.0, 0.0]
    assert types[("Duration per run, µs", "baseline")].sum() == 200.0


def test_without_samples_the_page_says_what_to_do(tree: Path, start: Start) -> None:
    (tree / "samples" / "mobilenetv2.zip").unlink()
    page = start()
    assert is_clean(page)
    assert page.subheader[0].value == "Nothing to compare yet"


def test_without_samples_the_newest_recording_is_shown(tree: Path, start: Start) -> None:
    (tree / "samples" / "mobilenetv2.zip").unlink()
    for name, age in (("old.zip", 100), ("new.zip", 10)):
        path = tree / "recordings" / name
        path.write_bytes(experiment_zip(BLOCKS, model_name=name[:3]))
        os.utime(path, (10_000 - age, 10_000 - age))
    (tree / "recordings" / ".half.zip").write_bytes(b"PK")
    page = start()
    assert address(page)["candidate"] == "recorded:new.zip/fused"
    assert not any("half" in label for label in options(page, "baseline"))


def test_an_undecided_comparison_is_a_state_of_its_own(tree: Path, start: Start) -> None:
    flat = {"unfused": [10.0, 10.1, 9.9, 10.2, 9.8] * 2, "fused": [10.1, 9.9, 10.2, 9.8, 10.0] * 2}
    (tree / "samples" / "mobilenetv2.zip").write_bytes(experiment_zip(flat))
    page = start()
    assert is_clean(page)
    assert headline(page) == "Cannot tell whether fused is faster or slower than unfused"
    assert ":blue[" not in page.header[0].value
    assert not page.error


def test_unknown_noise_is_told_with_the_number_and_without_colour(tree: Path, start: Start) -> None:
    few = {"unfused": [10.0] * 3, "fused": [5.0] * 3}
    (tree / "samples" / "mobilenetv2.zip").write_bytes(experiment_zip(few))
    page = start()
    assert is_clean(page)
    assert headline(page).startswith(
        "fused took 0.50× the time of unfused (5.00 against 10.0 ms, −50.0 %)"
    )
    assert any("so the noise is unknown" in text.value for text in page.markdown)
    assert ":blue[" not in page.header[0].value and ":red[" not in page.header[0].value


def test_an_opened_file_is_closed_and_can_be_chosen_no_more(start: Start) -> None:
    page = upload(start(), ("before.json", UNFUSED), ("after.json", FUSED))
    label = next(one for one in options(page, "baseline") if "before.json" in one)
    key = f"close_{address(page)['baseline']}"
    page.button(key=key).click().run()
    assert is_clean(page)
    assert label not in options(page, "baseline")
    assert any("after.json" in one for one in options(page, "baseline"))
    assert "baseline" not in address(page) or address(page)["baseline"] != key.removeprefix(
        "close_"
    )


def mean_of(iterations: int, mean_ms: str) -> bytes:
    """What trtexec --exportProfile writes: one layer, its total and its mean."""
    total = float(mean_ms) * iterations
    layer = {"name": "Conv_0 + Relu_1", "timeMs": total, "averageMs": float(mean_ms)}
    return json.dumps([{"count": iterations}, layer]).encode()


def test_means_of_many_iterations_are_no_single_run(start: Start) -> None:
    files = ("a.json", mean_of(1600, "2.0")), ("b.json", mean_of(4216, "1.0"))
    page = upload(start(), *files)
    assert is_clean(page)
    told = [text.value for text in (*page.caption, *page.markdown)]
    shown = " ".join([headline(page), *texts(page), *told]).replace("\u202f", " ")
    assert "Means of 1 600 and 4 216 iterations, so the noise is unknown." in shown
    assert "Sum of operator times, means of 1 600 and 4 216 iterations, not paired." in shown
    assert "single run" not in shown and "one run each" not in shown


def test_two_profiles_and_what_is_known_of_them(start: Start) -> None:
    page = upload(start(), ("before.json", UNFUSED), ("after.json", FUSED))
    # The doubts are one line, and all of them are behind it.
    [line] = [text.value for text in page.text if re.match(r"\d+ doubts?\. ", text.value)]
    assert line == f"1 doubt. {GENERAL_DOUBT}"
    # Styles show it while the button of the report is disabled.
    assert "Writing the report …" in [caption.value for caption in page.caption]
    for told in (
        "two separate recordings, so",
        "recording of one process",
        "The profiles do not name",
    ):
        assert any(told in text for text in texts(page)), told
    # The list marks as many doubts as are counted.
    assert list(markdown_texts(page)).count(panels._WARNING) == 1
    notes = list(markdown_texts(page)).count(panels._INFO)
    assert f"**All doubts (1) and notes ({notes})**" in markdown_texts(page)
    # The head names the files and what recorded them.
    for role, name in (("Baseline", "before.json"), ("Candidate", "after.json")):
        head = f"{role}: {name}, recorded with ONNX Runtime"
        assert any(text.startswith(head) for text in texts(page)), head
    # What is not known is a line and no card.
    assert "–" not in [card.value for card in page.metric]
    [missing] = [caption.value for caption in page.caption if "peak memory" in caption.value]
    assert r"cache utilisation. Reason\: it needs the graph of what ran" in missing
    [latency] = [card for card in page.metric if card.label == "latency"]
    assert latency.proto.direction == MetricProto.MetricDirection.Value("DOWN")


def test_a_change_of_nothing_has_no_arrow(start: Start) -> None:
    page = upload(start(), ("before.json", UNFUSED), ("after.json", UNFUSED + b"\n"))
    arrows = {card.delta: card.proto.direction for card in page.metric if card.delta}
    before = [card.proto.delta_description for card in page.metric if card.delta]
    # The browser also shows it as it is, as a title.
    assert any("~" in text for text in before) and not any("\\" in text for text in before)
    assert arrows["0.0 %"] == arrows["0.0 pt"] == MetricProto.MetricDirection.Value("NONE")


def test_two_profiles_become_baseline_and_candidate_by_name(start: Start) -> None:
    page = upload(start(), ("model_fused.json", FUSED), ("model_unfused.json", UNFUSED))
    assert is_clean(page)
    assert "model_fused.json" in headline(page)
    assert headline(page).index("model_fused.json") < headline(page).index("model_unfused.json")
    assert address(page)["baseline"].startswith("upload:")
    told = [text for text in texts(page) if "profile: 6 runs" in text]
    assert len(told) == 2
    assert not any("sample" in text.lower() for text in texts(page))
    assert folded(page)
    page.selectbox(key="choose_baseline").set_value("sample:mobilenetv2/unfused").run()
    assert "The baseline is a sample that comes with FuseScope." in texts(page)
    assert "4 distinct operators" in "".join(told)


def test_an_experiment_compares_its_baseline_with_its_most_optimised_variant(start: Start) -> None:
    ms = {"unfused": [8.0] * 8, "basic": [4.0] * 8, "fused": [5.0] * 8}
    page = upload(start(), ("mine.zip", experiment_zip(ms, model_name="mine")))
    assert headline(page) == "fused is 1.60× faster than unfused"
    assert "mine · basic (mine.zip)" in options(page, "candidate")


def test_one_profile_leads_to_its_page_once_and_waits_for_a_second(start: Start) -> None:
    """Not where another file was refused: the refusal stands on Compare."""
    page = upload(start(), ("before.json", UNFUSED), ("x.json", b"{"))
    assert page.subheader[0].value == "Choose a baseline to compare with"
    page = upload(start(), ("before.json", UNFUSED))
    assert page.header[0].value.startswith("A run of ` before.json ` takes")
    assert address(page)["trace"].startswith("upload:")
    page = turn_to(page, "compare")
    assert page.subheader[0].value == "Choose a baseline to compare with"
    assert page.file_uploader[0].value == []
    page = upload(page, ("after.json", FUSED))
    assert "after.json" in headline(page)
    assert "before.json" in headline(page)


def test_a_report_starts_with_what_its_reader_had_set(start: Start) -> None:
    """A file beside itself is compared again, with one report dropped as with its recordings."""
    bare = [one for one in json.loads(UNFUSED) if one["name"] != "model_run"]
    values = [
        read(Source(n, d)) for n, d in (("a.json", json.dumps(bare).encode()), ("b.json", FUSED))
    ]
    assumed = Assumptions(2e4, 1e11, 2**20, 3e10, (6, None))
    first = report_html(compare(*choose_sides(values[0], values[1]), assumed)).encode()
    page = upload(start(), ("first.html", first))
    assert is_clean(page)
    settings = {one.key: one.value for one in page.number_input}
    wanted = {"tau_us": 20, "cache_kib": 1024, "peak_gflops": 100, "bandwidth_gbs": 30}
    assert {key: settings[key] for key in wanted} == wanted
    assert address(page)["baseline_runs"] == "6"
    alone = report_html(compare(*choose_sides(values[1], values[1]))).encode()
    page = upload(start(), ("alone.html", alone))
    assert is_clean(page)
    assert address(page)["baseline"] == address(page)["candidate"]
    assert page.metric, "compared"


def test_a_report_of_several_leads_to_their_table_with_what_was_set(start: Start) -> None:
    times = {"unfused": [10.0] * 6, "eager": [20.0] * 6, "fused": [5.0] * 6}
    value = read(Source("e.zip", experiment_zip(times, model_name="m")))
    sides = several_sides([value], ("eager", "fused", "unfused"), "eager")
    report = multiple_html(compare_several(sides, Assumptions(2e4))).encode()
    page = upload(start(folded=True), ("several.html", report))
    assert is_clean(page) and address(page)["several"] == "true", "open"
    assert any("fused is the fastest of the 3" in head.value for head in page.subheader)
    [frame] = [one.value for one in page.dataframe]
    assert sorted(frame["Variant"]) == ["eager", "fused", "unfused"]
    assert frame["Against the baseline"][list(frame["Variant"]).index("eager")] == "baseline"
    assert page.number_input(key="tau_us").value == 20
    files = [(f"{runs}.json", profile_json(FUSED_OPERATORS, runs=runs)) for runs in (8, 6, 7, 9)]
    profiles = [read(Source(*file)) for file in files]
    report = multiple_html(compare_several(several_sides(profiles))).encode()
    page = upload(start(folded=True), ("files.html", report))
    assert is_clean(page)
    [frame] = [one.value for one in page.dataframe]
    assert sorted(frame["Variant"]) == ["6.json", "7.json", "8.json", "9.json"]
    assert frame["Variant"][0] == "8.json", "the baseline"


def test_a_gzipped_profile_and_a_name_with_a_path(start: Start) -> None:
    page = upload(
        start(), ("../../etc/unfused.json.gz", gzip.compress(UNFUSED)), ("C:\\x\\fused.json", FUSED)
    )
    assert is_clean(page)
    assert {"fused.json", "unfused.json.gz"} <= set(options(page, "baseline"))


def cut_zip() -> bytes:
    return experiment_zip(BLOCKS)[:-200]


def empty_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("notes.txt", "nothing")
    return buffer.getvalue()


def zip_without_profile() -> bytes:
    whole = io.BytesIO(experiment_zip(BLOCKS))
    buffer = io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            if name != "profiles/fused/3.json":
                target.writestr(name, source.read(name))
    return buffer.getvalue()


BAD_FILES = {
    "empty": ("empty.json", b"", "empty"),
    "blank": ("blank.json", b"   \n", "has no content"),
    "image": ("trace.json", b"\x89PNG\r\n\x1a\n" + bytes(40), "PNG"),
    "other JSON": ("list.json", b'{"a": 1}', "not in a format"),
    "number": ("number.json", b"42", "not a trace"),
    "deep": ("deep.json", b"[" * 200_000, ""),
    "pickle": ("trace.json", b"\x80\x04\x95" + bytes(20), "pickle"),
    "cut zip": ("cut.zip", cut_zip(), ""),
    "foreign zip": ("other.zip", empty_zip(), "No file here is a trace"),
    "variant missing": ("half.zip", zip_without_profile(), "is missing in this experiment"),
    "twice gzipped": ("t.gz", gzip.compress(gzip.compress(UNFUSED)), "twice"),
    "cut gzip": ("t.gz", gzip.compress(UNFUSED)[:40], ""),
}


def test_a_file_of_releases_leads_to_the_page_releases(start: Start) -> None:
    data = history_file(releases.history(releases.FUSED, releases.PLAIN))
    page = upload(start(folded=True), ("net.zip", data))
    assert is_clean(page) and page.header[0].value == "Releases"
    assert address(page)["releases"] == "net.zip"
    [table] = [one.value for one in page.dataframe]
    assert len(table) == 2, "a row a release"


def test_a_bad_file_is_one_sentence_and_the_page_lives_on(start: Start) -> None:
    page = start()
    for kind, (name, data, expected) in BAD_FILES.items():
        page = upload(page, (name, data))
        assert is_clean(page), kind
        assert headline(page) == "fused is 2.00× faster than unfused", kind
        told = [text for text in texts(page) if name in text]
        assert len(told) == 1, kind
        assert expected in told[0] and told[0].endswith("."), kind
        assert "Traceback" not in told[0], kind
        still = "Nothing was opened. The page still shows mobilenetv2 · fused (sample) compared"
        assert sum(text.startswith(still) for text in texts(page)) == 1, kind
    page.button(key="swap").click().run()  # chosen now
    assert not any(text.startswith("Nothing was opened") for text in texts(page))


def test_while_files_are_read_the_page_says_that_the_rest_is_older(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    spinner = pair.st.spinner
    monkeypatch.setattr(pair.st, "spinner", lambda text: (said.append(text), spinner(text))[1])
    upload(start(), (f"{HOSTILE.replace('/', '∕')}.json", UNFUSED))
    [reading] = [text for text in said if text.startswith("Reading ") and "<img" in text]
    assert "<img" in reading
    assert not any(piece in re.sub(r"(`+).*?\1", "", reading) for piece in DANGEROUS)


def test_while_sides_are_compared_the_page_says_that_the_rest_is_older(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    before: list[list[str]] = []
    spinner, compare = pair.st.spinner, comparisons.compare
    monkeypatch.setattr(pair.st, "spinner", lambda text: (said.append(text), spinner(text))[1])
    monkeypatch.setattr(
        pair.comparisons,
        "compare",
        lambda *sides, **how: (before.append(list(said)), compare(*sides, **how))[1],
    )
    assert is_clean(start())
    told = "Reading and comparing … Until then the rest of the page shows what it showed before."
    assert before == [[told]]


def test_good_files_are_read_beside_bad_ones(start: Start) -> None:
    page = upload(start(), ("a.json", b""), ("before.json", UNFUSED), ("after.json", FUSED))
    assert "before.json" in headline(page)
    assert any("a.json" in text and "empty" in text for text in texts(page))


def test_a_truncated_profile_is_read_and_its_loss_is_told(start: Start) -> None:
    page = upload(start(), ("before.json", UNFUSED[:-150]), ("after.json", FUSED))
    assert is_clean(page)
    assert any("cut off before its end" in text for text in texts(page))


@pytest.mark.usefixtures("answers_others")
def test_files_opened_by_one_session_stay_there(start: Start) -> None:
    page = upload(start(), ("before.json", UNFUSED), ("after.json", FUSED))
    assert "before.json" not in options(start(), "baseline")
    assert "before.json" not in options(start(**address(page)), "baseline")


def test_files_of_a_server_of_ones_own_outlive_a_reload(start: Start) -> None:
    first = upload(start(), ("before.json", UNFUSED), ("after.json", FUSED))
    upload(first, ("third.json", profile_json(FUSED_OPERATORS, runs=9)))
    again = start(**address(first))
    assert headline(again) == headline(first)
    assert {"before.json", "after.json", "third.json"} <= set(options(again, "baseline"))
    assert headline(start()) == "fused is 2.00× faster than unfused"  # nobody asked for them


def test_one_profile_meets_the_one_before_it_and_not_what_other_tabs_opened(start: Start) -> None:
    upload(start(), ("other.json", profile_json(FUSED_OPERATORS, runs=9)))
    page = turn_to(upload(start(), ("before.json", UNFUSED)), "compare")
    assert page.subheader[0].value == "Choose a baseline to compare with"
    page = upload(start(**address(page)), ("after.json", FUSED))  # reloaded in between
    assert "before.json" in headline(page) and "after.json" in headline(page)
    page = upload(page, ("third.json", profile_json(FUSED_OPERATORS, runs=3)))
    assert "third.json" in headline(page) and "other.json" not in headline(page)


# Hostile text.


def hostile_experiment() -> bytes:
    conv = (HOSTILE + " 1", HOSTILE, *CONV[2:])
    operators = {HOSTILE: [conv], "fused": [conv]}
    return experiment_zip({HOSTILE: [10.0] * 8, "fused": [5.0] * 8}, operators, model_name=HOSTILE)


def test_hostile_names_never_reach_markdown(start: Start) -> None:
    conv = (HOSTILE + " 1", HOSTILE, *CONV[2:])
    page = upload(start(), (f"{HOSTILE}.zip".replace("/", "∕"), hostile_experiment()))
    pages = [page, upload(start(), (f"a {HOSTILE}", profile_json([conv])), ("b", UNFUSED))]
    for page in pages:
        assert is_clean(page)
        assert not page.error
        for text in markdown_texts(page):
            for piece in DANGEROUS:
                assert piece not in text
    assert HOSTILE + " 1" in set(table(pages[0], 0)[("", "Name")])
    assert "<img src=x" in pages[0].header[0].value  # in a code span


def test_a_hostile_bad_file_is_quoted_as_text(start: Start) -> None:
    page = upload(start(), (HOSTILE.replace("/", "∕"), b"\x89PNG"))
    assert any("<img" in text for text in texts(page))
    assert not any("<img" in text for text in markdown_texts(page))


# Links.


def test_a_link_opens_what_it_names(start: Start) -> None:
    page = start(baseline="sample:mobilenetv2/fused", candidate="sample:mobilenetv2/unfused")
    assert headline(page) == "unfused is 2.00× slower than fused"


BAD_LINKS = [
    "<script>alert(1)</script>",
    "sample:../../etc/passwd/fused",
    "sample:mobilenetv2/other",
    "recorded:../samples/mobilenetv2.zip/fused",
    "file:../samples/mobilenetv2.zip/fused",
    "file:/etc/passwd",
    "file:\0",
    "file:",
    ":",
    "sample:",
    "upload:",
    "x" * 10_000,
    "\u202e\U0001f600",
    "sample:mobilenetv2",
]


@pytest.mark.parametrize(
    ("baseline", "candidate"),
    [
        *zip(BAD_LINKS[::4], BAD_LINKS[1::4], strict=False),
        *(pytest.param(value, value, marks=pytest.mark.exhaustive) for value in BAD_LINKS),
    ],
)
def test_unknown_and_hostile_links_are_ignored(start: Start, baseline: str, candidate: str) -> None:
    page = start(baseline=baseline, candidate=candidate)
    assert is_clean(page)
    assert headline(page) == "fused is 2.00× faster than unfused"


def test_half_a_link_asks_for_the_other_half(start: Start) -> None:
    page = start(candidate="sample:mobilenetv2/fused")
    assert page.subheader[0].value == "Choose a baseline to compare with"
    page.selectbox(key="choose_baseline").set_value("sample:mobilenetv2/unfused").run()
    assert headline(page) == "fused is 2.00× faster than unfused"


@pytest.mark.usefixtures("answers_others")
def test_a_link_to_an_upload_that_is_gone_asks_for_the_file(start: Start) -> None:
    first = upload(start(), ("before.json", UNFUSED), ("after.json", FUSED))
    page = start(**address(first))
    assert is_clean(page)
    assert page.subheader[0].value == "This link leads to a file of another browser tab"
    assert not page.metric
    page = upload(page, ("before.json", UNFUSED))
    assert not page.metric  # one of the two is still missing
    page = upload(page, ("renamed.json", FUSED))
    assert "renamed.json" in headline(page)
    assert "before.json" in headline(page)


def test_a_link_to_an_upload_before_the_server_started_asks_for_the_file(start: Start) -> None:
    page = start(baseline="upload:0123456789ab", candidate="sample:mobilenetv2/fused")
    assert page.subheader[0].value == "This link leads to an upload that is no longer here"
    assert not page.metric
    assert any("until the dashboard ends" in text.value for text in page.markdown)


def test_a_link_to_a_file_below_a_configured_folder_opens_it(tree: Path, start: Start) -> None:
    (tree / "open" / "sub").mkdir()
    (tree / "open" / "sub" / "mine.zip").write_bytes(experiment_zip(BLOCKS, model_name="mine"))
    page = start(baseline="file:sub/mine.zip/unfused", candidate="file:sub/mine.zip/fused")
    assert headline(page) == "fused is 2.00× faster than unfused"
    assert "mine · fused (mine.zip)" in options(page, "candidate")


def test_a_link_to_a_damaged_file_says_so_and_the_page_lives_on(tree: Path, start: Start) -> None:
    (tree / "open" / "bad.json").write_bytes(b"")
    page = start(baseline="file:bad.json", candidate="sample:mobilenetv2/fused")
    assert is_clean(page)
    assert not page.error
    assert any("This file is empty (bad.json)" in text for text in texts(page))
    assert page.subheader[0].value == "Choose a baseline to compare with"


def test_a_link_to_a_recording_that_is_gone_says_so(start: Start) -> None:
    page = start(baseline="recorded:old.zip/unfused", candidate="recorded:old.zip/fused")
    assert headline(page) == "fused is 2.00× faster than unfused"
    assert any("names something that is not here" in text for text in texts(page))


def test_a_damaged_recording_is_a_sentence(tree: Path, start: Start) -> None:
    path = tree / "recordings" / "half.zip"
    path.write_bytes(zip_without_profile())
    page = start(baseline="recorded:half.zip/unfused", candidate="recorded:half.zip/fused")
    assert is_clean(page)
    assert page.error[0].value == "This cannot be shown."
    assert any("is missing in this experiment" in text for text in texts(page))
    page.selectbox(key="choose_baseline").set_value("sample:mobilenetv2/unfused").run()
    page.selectbox(key="choose_candidate").set_value("sample:mobilenetv2/fused").run()
    assert headline(page) == "fused is 2.00× faster than unfused"


def test_a_path_opens_a_file_and_nothing_outside_the_folders(tree: Path, start: Start) -> None:
    (tree / "open" / "mine.zip").write_bytes(experiment_zip(BLOCKS, model_name="mine"))
    (tree / "secret.zip").write_bytes(experiment_zip(BLOCKS, model_name="secret"))
    (tree / "open" / "link.zip").symlink_to(tree / "secret.zip")
    page = start()
    for text in ("../secret.zip", str(tree / "secret.zip"), "link.zip", "no.zip", "/etc/passwd"):
        page.text_input(key="path").set_value(text)
        page.button(key="open_path").click().run()
        assert is_clean(page)
        assert any("no such file below" in told for told in texts(page)), text
        assert not any("secret ·" in label for label in options(page, "baseline"))
    page.text_input(key="path").set_value(str(tree / "open" / "mine.zip"))
    page.button(key="open_path").click().run()
    assert address(page)["baseline"] == "file:mine.zip/unfused"


def test_without_configured_folders_there_is_no_path_input(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(places.FOLDERS_VARIABLE)
    page = start()
    assert headline(page)
    assert not [field for field in page.text_input if field.key == "path"]


def test_files_of_the_command_line_come_first(
    tree: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tree / "after.json", tree / "before.json", tree / "bad.json"]
    for path, data in zip(paths, (FUSED, UNFUSED, b""), strict=True):
        path.write_bytes(data)
    monkeypatch.setenv(places.FILES_VARIABLE, os.pathsep.join(map(str, paths)))
    page = start()
    assert address(page)["baseline"] == "file:after.json", "as given, whatever names say"
    assert any("bad.json" in text and "empty" in text for text in texts(page))


def test_of_names_that_say_nothing_the_first_given_is_the_baseline(
    tree: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tree / "y.json", tree / "x.json"]
    for path, data in zip(paths, (UNFUSED, FUSED), strict=True):
        path.write_bytes(data)
    monkeypatch.setenv(places.FILES_VARIABLE, os.pathsep.join(map(str, paths)))
    assert address(start())["baseline"] == "file:y.json"


def test_a_click_while_files_of_the_command_line_are_read_does_not_lose_them(
    tree: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit ends the run in which they were read; the next one has to open them."""
    paths = [tree / "before.json", tree / "after.json"]
    for path, data in zip(paths, (UNFUSED, FUSED), strict=True):
        path.write_bytes(data)
    monkeypatch.setenv(places.FILES_VARIABLE, os.pathsep.join(map(str, paths)))
    opens = loading.open_given

    def ended() -> NoReturn:
        opens()
        raise StopException

    monkeypatch.setattr(loading, "open_given", ended)
    page = start()
    assert not page.header
    monkeypatch.setattr(loading, "open_given", opens)
    assert address(page.run())["baseline"] == "file:before.json"
    monkeypatch.setattr(loading, "open_given", ended)  # not asked again
    assert headline(page.run())


# Controls.


def test_swap_exchanges_the_sides(start: Start) -> None:
    page = start()
    page.button(key="swap").click().run()
    assert headline(page) == "unfused is 2.00× slower than fused"
    assert address(page)["baseline"] == "sample:mobilenetv2/fused"


def test_the_selectors_change_what_is_compared(start: Start) -> None:
    page = start()
    page.selectbox(key="choose_candidate").set_value("sample:mobilenetv2/unfused").run()
    assert address(page)["candidate"] == "sample:mobilenetv2/unfused"
    assert is_clean(page)


def test_search_and_class_filter_narrow_the_operators(start: Start) -> None:
    page = start()
    page.text_input(key="search").set_value("  GEMM ").run()
    assert list(table(page, 0)[("", "Name")]) == ["head/Gemm"]
    page.text_input(key="search").set_value("float32[1,3,8,8]").run()
    assert list(table(page, 0)[("", "Name")]) == ["a/Conv"]
    page.text_input(key="search").set_value(".*").run()
    assert any(text.value == "No operator matches." for text in page.caption)
    page.text_input(key="search").set_value("").run()
    page.multiselect(key="classes").set_value(["normalisation", "activation"]).run()
    assert list(table(page, 0)[("", "Name")]) == ["a/BatchNormalization", "a/Relu"]


def test_assumptions_change_modelled_figures_and_the_address_holds_them(start: Start) -> None:
    page = start()
    # Measured dispatch cost 0.5 µs: τ is 5 µs, and no operator is shorter than that.
    assert figures(page)["short-op ratio (count)"][0] == "0.0 %"
    page.number_input(key="tau_us").set_value(25.0).run()
    # Relu with its 20 µs is one of four operators in the baseline; the candidate has none.
    assert figures(page)["short-op ratio (count)"] == ("0.0 %", "−25.0 pt")
    again = start(tau_us="25")
    assert figures(again)["short-op ratio (count)"] == ("0.0 %", "−25.0 pt")


@pytest.mark.parametrize(
    "value", few(["nan", "inf", "-1", "<b>", "1e999", "9" * 400], {"nan", "<b>"})
)
def test_hostile_assumptions_are_ignored(start: Start, value: str) -> None:
    page = start(tau_us=value, cache_kib=value, peak_gflops=value, bandwidth_gbs=value)
    assert is_clean(page)
    assert not page.error
    assert headline(page) == "fused is 2.00× faster than unfused"


def test_an_unforeseen_error_is_one_constant_sentence(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("secret /etc/passwd")

    monkeypatch.setattr(comparisons, "compare", broken)
    page = start()
    assert is_clean(page)
    assert page.error[0].value.startswith("Something went wrong inside FuseScope.")
    assert "secret" not in json.dumps([e.value for e in page.error] + texts(page))
    assert "secret /etc/passwd" in caplog.text


def test_op_types_or_classes(start: Start) -> None:
    page = start()
    assert ("", "OP type") in table(page, 1).columns
    page.segmented_control(key="kind").set_value("classes").run()
    assert is_clean(page)
    assert "convolution" in set(table(page, 1)[("", "Class")])


def test_files_that_were_closed_to_make_room_are_named(start: Start) -> None:
    page = start()
    most = MAX_OPENED
    many = [(f"n{i:02}.json", profile_json([FUSED_CONV], runs=i + 1)) for i in range(most + 2)]
    upload(page, *many[:most])
    assert not any("To make room" in text for text in texts(page))
    upload(page, *many[most:])
    (room,) = (text for text in texts(page) if text.startswith("To make room"))
    assert "n01.json, n02.json" in room and "n03.json" not in room  # n00 was on screen


def test_a_note_on_other_files_is_no_refusal(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    note = state.opened.Fate("closed", None, Message("To make room, old.json was closed.").of())
    monkeypatch.setattr(state.files, "fates", lambda: [note])
    page = start()
    assert any(text.startswith("To make room") for text in texts(page))
    assert not any("Nothing was opened" in text for text in texts(page))


def test_a_pair_two_steps_apart_shows_what_each_step_brings(tree: Path, start: Start) -> None:
    times = {"eager": [20.0] * 8, "unfused": [10.0] * 8, "fused": [5.0] * 8}
    (tree / "recordings" / "steps.zip").write_bytes(experiment_zip(times))
    sides = {"baseline": "recorded:steps.zip/eager", "candidate": "recorded:steps.zip/fused"}
    title = "What each step from eager to fused brings"
    page = start(**sides)
    assert title in [one.value for one in page.subheader]
    assert "What each step" not in str([one.value for one in start().subheader])


def test_a_file_that_ends_early_says_so_in_the_headlines_place(start: Start) -> None:
    """In front of its last run nothing is known to be complete: no figure of either side."""
    bare = UNFUSED[: UNFUSED.index(b"model_run") - 60]
    page = upload(start(), ("cut.json", bare), ("after.json", FUSED))
    assert is_clean(page)
    assert headline(page).split() == ["cut.json", "ends", "early"]
    [error] = page.error
    assert "No run in it is known to be complete" in error.value
    assert not page.metric and not page.dataframe
    page = turn_to(page, "fusion")
    assert is_clean(page) and headline(page).split() == ["cut.json", "ends", "early"]
    assert not page.metric and not page.dataframe


def test_a_report_of_nsight_systems_is_exported_where_its_user_asks_for_it(
    start: Start, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a stand-in for `nsys` that copies a database; not where others use the server, too."""
    samples = Path(__file__).parents[2] / "sample_traces"
    database = samples / "formats" / "nsys_db" / "report1.sqlite"
    (tree / "bin").mkdir()
    program = tree / "bin" / "nsys"
    copying = f"import shutil, sys\nshutil.copy({str(database)!r}, sys.argv[5])\n"
    program.write_text(f"#!{sys.executable}\n{copying}")
    program.chmod(0o755)
    (tree / "open" / "r.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 2024")
    monkeypatch.setenv("PATH", f"{tree / 'bin'}{os.pathsep}{os.environ['PATH']}")
    page = start()
    page.text_input(key="path").set_value("r.nsys-rep")
    page.button(key="open_path").click().run()
    assert any("nsys export --type sqlite" in text for text in texts(page))
    page = page.button(key="export_0").click().run()
    assert is_clean(page)
    assert "r.nsys-rep" in page.header[0].value and "takes" in page.header[0].value
