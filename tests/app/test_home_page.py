"""The landing page: where traces are dropped, what was used last, samples, and older addresses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.fleet_job import Job, write
from fusescope.analysis.report.sample_card import FILE, Bar, Card, Cards, Piece
from fusescope.app.parts.start.recent import Recent, recent
from fusescope.app.sources import places
from fusescope.app.state.opened import Opened
from fusescope.app.store import settings
from tests.app.pages import address, headline, is_clean, markdown_texts, texts, turn_to
from tests.compare.multiple.test_scaling import recorded_zip
from tests.engine_experiments import two_engines
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.step_traces import Kernel, steps_of

Start = Callable[..., AppTest]
QUESTION = "Which change made this model faster or slower, where, and can you believe it?"
BEFORE = profile_json(UNFUSED_OPERATORS, runs=6)
AFTER = profile_json(FUSED_OPERATORS, runs=6)


def upload(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    page.file_uploader[0].set_value(
        [(name, data, "application/octet-stream") for name, data in files]
    )
    return page.run()


def links(page: AppTest) -> list[str]:
    """The labels of the links on the page, without those of the navigation."""
    return [link.proto.label for link in page.get("page_link")]


def test_it_asks_one_question_and_has_one_place_for_traces(land: Start) -> None:
    page = land()
    assert is_clean(page)
    assert [one.value for one in page.header] == [QUESTION]
    assert len(page.get("file_uploader")) == 1
    assert "Nsight Systems · Ascend and MindSpore" in " ".join(one.value for one in page.caption)
    assert "Record a model here" in links(page)
    assert not page.subheader  # nothing was opened, and no card of a sample is there


def test_the_address_of_its_title_leads_to_it(visit: Callable[..., AppTest]) -> None:
    page = visit("start", lang="en")
    assert is_clean(page) and [one.value for one in page.header] == [QUESTION]
    assert address(page)["lang"] == "en"


@pytest.mark.parametrize("name", ["scaling", "fleet", "library"])
def test_pages_with_nothing_to_show_take_files_that_lead_to_their_page(
    visit: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tmp_path / "library"))
    page = visit(name)
    assert is_clean(page) and len(page.get("file_uploader")) == 1
    page = upload(page, ("before.json", BEFORE), ("after.json", AFTER))
    assert is_clean(page)
    assert "after.json" in headline(page) and "before.json" in headline(page)
    page = upload(visit(name), ("photo.json", b"\x89PNG\r\n\x1a\n" + bytes(100)))
    assert is_clean(page) and any("This is a PNG image" in text for text in texts(page))


def test_scaling_engines_and_fleet_take_what_they_show(
    visit: Callable[..., AppTest], tmp_path: Path
) -> None:
    page = upload(visit("engines"), ("before.json", BEFORE), ("after.json", AFTER))
    assert is_clean(page) and "after.json" in headline(page)
    page = upload(visit("engines"), ("both.zip", two_engines()))
    assert is_clean(page) and "Precision" in page.dataframe[0].value.columns
    files = [(f"{n}.zip", recorded_zip(n, 1, 10.0 * n, model="grows")) for n in (1, 2)]
    page = upload(visit("scaling"), *files)
    assert is_clean(page) and page.header[0].value == "Scaling of grows"
    write(Job(nodes=1, devices=4, steps=2, layers=2), tmp_path / "job")
    ranks = [(path.name, path.read_bytes()) for path in sorted((tmp_path / "job").iterdir())]
    page = upload(visit("fleet"), *ranks)
    assert is_clean(page)
    assert page.subheader[0].value.startswith("Open files: ranks 0-3 of one job")


def test_two_dropped_traces_are_compared(land: Start) -> None:
    page = upload(land(), ("before.json", BEFORE), ("after.json", AFTER))
    assert is_clean(page)
    assert "after.json" in headline(page) and "before.json" in headline(page)
    assert address(page)["candidate"].startswith("upload:")


def test_one_dropped_trace_is_shown_by_itself(land: Start) -> None:
    """Also where another one was opened before: it is Compare that waits for a second one."""
    first = upload(land(), ("before.json", BEFORE))
    assert address(first)["trace"].startswith("upload:")
    page = upload(turn_to(first, ""), ("after.json", AFTER))
    assert page.header[0].value.startswith("A run of ` after.json ` takes")


def test_recordings_of_several_batch_sizes_are_a_sweep(land: Start) -> None:
    files = [(f"{n}.zip", recorded_zip(n, 1, 10.0 * n, model="grows")) for n in (1, 2, 4)]
    page = upload(land(), *files)
    assert is_clean(page)
    assert page.header[0].value == "Scaling of grows"


def test_the_page_of_one_trace_takes_the_next_one(land: Start) -> None:
    """One takes the place of what is shown, two lead to their comparison."""
    page = turn_to(upload(land(), ("before.json", BEFORE)), "trace")
    page = upload(page, ("after.json", AFTER))
    assert page.header[0].value.startswith("A run of ` after.json ` takes")
    page = upload(page, ("before.json", BEFORE), ("after.json", AFTER))
    assert "after.json" in headline(page) and "before.json" in headline(page)


def test_a_bad_file_is_a_sentence_and_the_page_stays(land: Start) -> None:
    page = upload(land(), ("photo.json", b"\x89PNG\r\n\x1a\n" + bytes(100)))
    assert is_clean(page)
    assert page.header[0].value == QUESTION
    assert "This is a PNG image" in " ".join(texts(page))


def test_an_address_of_a_pair_leads_to_it(land: Start) -> None:
    """As links of reports and of older versions have it."""
    pair = {"baseline": "sample:mobilenetv2/unfused", "candidate": "sample:mobilenetv2/fused"}
    page = land(**pair)
    assert headline(page) == "fused is 2.00× faster than unfused"
    assert address(page) == pair


def test_what_was_used_last_stands_first(land: Start, tree: Path) -> None:
    """The pair of this session, then open files, then recordings: each one click away."""
    recording = experiment_zip({"unfused": [9.0] * 8, "fused": [5.0] * 8}, model_name="mine")
    (tree / "recordings" / "mine.zip").write_bytes(recording)
    page = turn_to(upload(land(), ("before.json", BEFORE), ("after.json", AFTER)), "")
    assert [one.value for one in page.subheader] == ["Go on with"]
    shown = links(page)
    recent = shown[shown.index("All of them") + 1 :]
    assert recent[0] == "` before.json and after.json `"
    assert set(recent[1:3]) == {"` after.json `", "` before.json `"}
    assert recent[3].startswith("` mine: unfused and fused `")


def test_the_ranks_of_a_job_are_one_thing_to_go_on_with(land: Start, tmp_path: Path) -> None:
    paths = write(Job(nodes=1, devices=3, steps=2, layers=1), tmp_path / "job")
    page = upload(land(), *((path.name, path.read_bytes()) for path in paths))
    page = turn_to(page, "")
    shown = links(page)
    recent = shown[shown.index("All of them") + 1 :]
    assert recent[0] == "ranks 0-2 of one job"
    assert not any(one == f"` rank{rank}.json `" for one in recent for rank in range(3))
    [job] = [one.proto for one in page.get("page_link") if "of one job" in one.proto.label]
    assert (job.page, job.query_string) == ("fleet", "fleet=open")


def test_what_is_open_and_kept_is_told_once_by_its_content_not_by_its_name(tree: Path) -> None:
    """Profilers call the files of all recordings alike: `trace_view.json`."""
    same, other = "a" * 64, "b" * 64
    value = steps_of([[Kernel("gemm", 10)]])
    trace = replace(value, meta=replace(value.meta, sha256=same))
    opened = {"upload:aaaaaaaaaaaa": Opened("upload:aaaaaaaaaaaa", "trace_view.json", trace)}
    kept = [
        Recent("trace_view.json", "2026-11-02", ("library:b",), other),
        Recent("renamed.json", "2026-11-01", ("library:a",), same),
    ]
    found = recent(opened, (None, None), kept)
    assert [(one.name, one.ids) for one in found] == [
        ("trace_view.json", ("upload:aaaaaaaaaaaa",)),
        ("trace_view.json", ("library:b",)),
    ]


def test_others_do_not_see_what_was_used(land: Start, tree: Path, answers_others: None) -> None:
    recording = experiment_zip({"unfused": [9.0] * 8, "fused": [5.0] * 8}, model_name="mine")
    (tree / "recordings" / "mine.zip").write_bytes(recording)
    page = land()
    assert not page.subheader
    assert "mine" not in " ".join(links(page))


def card(words: str) -> Card:
    said = {"en": [Piece(words, "text")], "zh": [Piece("样例", "text")]}
    return Card(said, said, [Bar("", "baseline", 200.0), Bar("", "candidate", 50.0)])


def test_samples_that_are_there_have_a_card(land: Start, tree: Path, translations: Path) -> None:
    """That of a trace that is not there is left out; words of the file stay words."""
    cards = Cards({"fusion": card("[a](http://evil.example) fast"), "ascend": card("gone")})
    (tree / "samples" / FILE).write_bytes(msgspec.json.encode(cards))
    page = land()
    assert is_clean(page)
    assert [one.value for one in page.subheader] == ["Or begin with a sample"]
    assert [label for label in links(page) if label.startswith("**")] == [
        "**Fusion, measured here**"
    ]
    shown = " ".join(markdown_texts(page))
    assert "gone" not in shown
    assert r"\[a\](http" in shown
    assert len(page.get("image")) == 1
    assert "样例" in " ".join(markdown_texts(land(lang="zh")))


@pytest.mark.parametrize("data", [b"", b"{", b'{"cards": {"fusion": 1}}'])
def test_a_damaged_file_of_cards_leaves_the_page(land: Start, tree: Path, data: bytes) -> None:
    (tree / "samples" / FILE).write_bytes(data)
    page = land()
    assert is_clean(page)
    assert page.header[0].value == QUESTION


def test_an_example_opens_by_its_address_alone(start: Start, tree: Path) -> None:
    """And an address names no other file of that folder."""
    source = Path(__file__).parents[2] / "sample_traces" / "torch_compile"
    shutil.copytree(source, places.SAMPLES / "torch_compile")
    names = ("torch_compile/eager.json.gz", "torch_compile/compiled.json.gz")
    page = start(baseline=f"example:{names[0]}", candidate=f"example:{names[1]}")
    assert "eager.json.gz" in headline(page)
    assert "Sample: a recording that comes with FuseScope" in " ".join(texts(page))
    page = start(baseline="example:torch_compile/model.py", candidate=f"example:{names[1]}")
    assert "The link names something that is not here" in " ".join(texts(page))
