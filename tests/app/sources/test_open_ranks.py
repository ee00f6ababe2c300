"""Ranks of one job among the open files, whatever was open before under other names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import streamlit as st

from fusescope.app.sources.fleets import load_open, open_ranks
from fusescope.app.state.opened import Opened
from tests.ranks.test_waits import rank_of


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


def files_called(*names: str) -> list[Opened]:
    """Two files of ranks that only their names give, with the ids of their contents."""
    traces = [rank_of(0, [(100, 210), (300, 350)]), rank_of(1, [(170, 210), (280, 350)])]
    return [
        Opened(f"upload:{at}", name, replace(trace, meta=replace(trace.meta, job=None)))
        for at, (name, trace) in enumerate(zip(names, traces, strict=True))
    ]


def test_a_name_that_gives_a_rank_counts_after_one_that_does_not() -> None:
    assert open_ranks(files_called("a.json", "b.json")) == {}
    assert list(open_ranks(files_called("rank_4.json", "rank_5.json"))) == [4, 5]


def test_ranks_are_shown_under_the_names_of_this_session() -> None:
    names = []
    for folder in ("theirs", "ours"):
        found = load_open(open_ranks(files_called(f"{folder}/rank0.json", f"{folder}/rank1.json")))
        names.append([facts.file for facts in found.fleet.ranks])
    assert names == [
        ["theirs/rank0.json", "theirs/rank1.json"],
        ["ours/rank0.json", "ours/rank1.json"],
    ]
