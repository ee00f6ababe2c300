"""Fleets: stores of ranks that are there, what was found of them, and ranks to compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import streamlit as st

from fusescope.analysis.fleet.examined import Examined, examine
from fusescope.analysis.fleet.of_traces import fleet_of_traces
from fusescope.analysis.fleet.step_split import Split
from fusescope.analysis.ranks.pair import ranks_of_one_job
from fusescope.analysis.trace import Trace
from fusescope.app.fleet import store
from fusescope.app.state.opened import Opened

OPEN = "open"  # in addresses, what stands for the ranks among the open files


def load(path: Path) -> Examined:
    """What is found of the store, once for each content of it. Raises FuseScopeError."""
    place = store.opened(str(path))
    known = [(entry.path, entry.changed_ns, entry.sha256) for entry in store.entries(place)[0]]
    return _examined(str(path), hash(tuple(known)), place.is_being_written())


@st.cache_resource(max_entries=2, show_spinner=False)
def _examined(path: str, content: int, is_being_written: bool) -> Examined:
    return store.examined(store.opened(path))


def open_ranks(files: Iterable[Opened]) -> dict[int, Opened]:
    """Return the open files that are ranks of one job, by rank; none of a single rank."""
    traces = [file for file in files if isinstance(file.value, Trace)]
    places = _ranks_of_one_job(tuple((file.id, file.name) for file in traces), traces)
    return {rank: traces[place] for rank, place in places.items()}


@st.cache_data(max_entries=8, show_spinner=False)
def _ranks_of_one_job(
    ids_and_names: tuple[tuple[str, str], ...], _files: list[Opened]
) -> dict[int, int]:
    """Return the places of ranks among these files, once for each set of them: a file of the same
    content has the same id, but its name may give another rank."""
    traces = [(file.name, file.value) for file in _files if isinstance(file.value, Trace)]
    return ranks_of_one_job(traces)


def load_open(ranks: Mapping[int, Opened]) -> Examined:
    """Return what is found of ranks that are open, once for each set of them."""
    return _examined_open(tuple((rank, file.id, file.name) for rank, file in ranks.items()), ranks)


@st.cache_resource(max_entries=2, show_spinner=False)
def _examined_open(
    files: tuple[tuple[int, str, str], ...], _ranks: Mapping[int, Opened]
) -> Examined:
    traces = {
        rank: (file.name, file.value)
        for rank, file in _ranks.items()
        if isinstance(file.value, Trace)
    }
    return examine(fleet_of_traces(OPEN, traces))


def median_rank(found: Examined, rank: int) -> int | None:
    """The rank whose computing time is the median of the stage of `rank`, without those that are
    slow, that differ, or that others wait for, as far as any is left; None without another one."""
    odd = {one.rank for one in found.slow} | {one.rank for one in found.stages.differing} | {rank}
    stage = found.stages.of.get(rank)
    others = [split for split in found.by_rank if split.rank not in odd]
    alike = [split for split in others if split.stage == stage]
    usual = [split for split in alike if split.rank not in found.awaited]
    return _middle(usual or alike or others)


def _middle(splits: Iterable[Split]) -> int | None:
    ordered = sorted(splits, key=lambda split: (split.computing_ns, split.rank or 0))
    return ordered[int(np.ceil(len(ordered) / 2)) - 1].rank if ordered else None


def opened_rank(path: Path, found: Examined, rank: int) -> Opened:
    """The trace of a rank out of the store, to be opened. Raises FuseScopeError."""
    place = store.opened(str(path))
    facts = store.facts_of(found.fleet, rank)
    trace = store.trace_of(place, facts)
    return Opened(f"upload:{facts.sha256[:12]}", trace.meta.file_name, trace)
