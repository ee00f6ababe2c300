"""The Fleet page: what is wrong with which rank, and a rank beside the median one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.fleet_job import Job, write
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.app.fleet import ingesting
from fusescope.app.sources import places
from fusescope.app.state.opened import Fate, Opened, in_each
from tests.app.pages import address, is_clean, markdown_texts
from tests.patience import GIVE_UP_S
from tests.ranks.test_waits import rank_of

SCRIPT = """
import streamlit as st
from fusescope.app.views import fleet

compare_page = st.Page(lambda: st.write("compare"), title="Compare", url_path="compare")
fleet_page = st.Page(lambda: fleet.show(compare_page), title="Fleet", default=True)
st.navigation([fleet_page, compare_page], position="top").run()
"""
OPEN = """
from fusescope.app import state
from tests.app.test_fleet_page import open_files

state.files.remember(open_files())
"""
# The longest delay that a rank can have: its matrix products take three times as long.
JOB = Job(nodes=2, devices=4, steps=4, layers=4, slow=5, factor=3.0, truncated=6)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    write(JOB, folder / "traces")
    ingesting.ingest([str(folder / "traces")], str(folder / "ranks"), DEFAULT_LIMITS)
    return folder / "ranks"


def opened(before: str = "", script: str = SCRIPT) -> AppTest:
    return AppTest.from_string(before + script, default_timeout=GIVE_UP_S).run()


def open_files() -> list[Opened]:
    """Two ranks of one job, which wait for one another, and a trace of no job."""
    first = rank_of(0, [(100, 210), (300, 350)])
    second = rank_of(1, [(170, 210), (280, 350)])
    alone = replace(first, meta=replace(first.meta, job=None))
    traces = {"a.json": first, "b.json": second, "alone.json": alone}
    return [Opened(f"upload:{name}", name, trace) for name, trace in traces.items()]


def test_ranks_that_are_open_are_judged_without_a_store(tree: Path) -> None:
    page = opened(OPEN)
    assert is_clean(page) and address(page)["fleet"] == "open"
    assert page.subheader[0].value == "Open files: ranks 0 and 1 of one job"
    assert "Rank 0 waits 70.0 µs for rank 1" in " ".join(markdown_texts(page))
    table = page.dataframe[0].value
    assert table["rank"].tolist() == [1, 0], "the one that is waited for longest comes first"
    assert table["what is wrong"].tolist() == ["others wait for it"] * 2
    assert "pipeline stage" not in table.columns, "there is one"
    assert table["longest wait"].tolist() == ["20.0 µs for rank 0", "70.0 µs for rank 1"]
    numbers = [head for head in table.columns if re.search(", (ns|µs|ms)$", head)]
    assert len(numbers) == 4 and set(table[numbers].dtypes) == {np.dtype(float)}, "they sort"
    [key] = [name for name in page.session_state._state.filtered_state if "fleet_ranks" in name]
    page.session_state[key] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    page.run()
    query = address(page)
    assert (query["baseline"], query["candidate"]) == ("upload:b.json", "upload:a.json")


COMPARED = """
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.app.parts.comparison import ranks

files = open_files()
st.navigation([fleet_page], position="hidden")
for first, second in ((0, 1), (0, 2)):
    sides = [side_of_trace(files[at].value) for at in (first, second)]
    ranks.way_to_fleet(compare(*sides), fleet_page)
"""


def test_two_ranks_that_are_compared_lead_to_all_that_are_open(tree: Path) -> None:
    """A rank and a trace of no job do not."""
    page = opened(OPEN, SCRIPT.partition("st.navigation")[0] + COMPARED)
    assert is_clean(page)
    [link] = page.get("page_link")
    assert link.proto.label == "Who waits for whom among the open ranks of this job: 0 and 1"
    assert link.proto.query_string == "fleet=open"


def test_without_a_store_the_page_says_how_to_fill_one(tree: Path) -> None:
    page = opened()
    assert is_clean(page)
    assert [head.value for head in page.subheader] == ["No ranks of a job are here"]
    assert "fusescope ingest traces/ --to ranks" in page.code[0].value


def test_the_answers_stand_first_and_a_click_compares_a_rank_with_the_median(
    tree: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(places.FLEETS_VARIABLE, str(store))
    page = opened()
    assert is_clean(page) and address(page)["fleet"] == "ranks"
    assert "rank6.json ends too early" in page.text[0].value
    answers = " ".join(markdown_texts(page))
    assert page.subheader[0].value == ":red[Rank 5 is slow]", "the rest is below it"
    assert "a step would take" in answers and ": of the" not in answers
    table = page.dataframe[0].value
    assert int(table["rank"][0]) == 5
    assert str(table["what is wrong"][0]).startswith("slow: the others wait ")
    assert list(table.columns)[:3] == ["rank", "what is wrong", "longest wait"]
    assert len(table) == 7
    [key] = [name for name in page.session_state._state.filtered_state if "fleet_ranks" in name]
    page.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    page.run()
    assert is_clean(page)
    query = address(page)
    assert query["baseline"] != query["candidate"]
    assert all(query[side].startswith("upload:") for side in ("baseline", "candidate"))


def test_a_damaged_store_is_a_sentence(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tree / "broken"
    folder.mkdir()
    (folder / places.FLEET_MARK).write_text("{")
    monkeypatch.setenv(places.FOLDERS_VARIABLE, str(tree))
    page = opened()
    assert is_clean(page)
    assert "This store cannot be shown." in [error.value for error in page.error]
    assert os.environ.get(places.FLEETS_VARIABLE) is None


def test_three_ranks_of_one_job_that_are_dropped_lead_here_and_two_to_compare(
    land: Callable[..., AppTest],
) -> None:
    def dropped(count: int) -> AppTest:
        page = land()
        traces = {f"r{n}.json": rank_of(n, [(100 + n, 210), (300, 350)]) for n in range(count)}
        files = [Opened(f"upload:{name}", name, trace) for name, trace in traces.items()]
        told = [Fate(file.name, True, in_each(lambda: "read"), file.id) for file in files]
        page.session_state["fusescope"].inbox.put(files, told, None)
        return page.run()

    page = dropped(3)
    assert is_clean(page) and address(page)["fleet"] == "open"
    assert page.subheader[0].value.startswith("Open files: ranks 0-2 of one job")
    page = dropped(2)
    query = address(page)
    assert is_clean(page)
    assert (query["baseline"], query["candidate"]) == ("upload:r0.json", "upload:r1.json")
    links = [link.proto.label for link in page.get("page_link")]
    assert any("open ranks of this job" in label for label in links), links
