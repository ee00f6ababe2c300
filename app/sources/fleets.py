"""Fleets: stores of ranks that are there, what was found of them, and ranks to compare."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import streamlit as st

from analysis.fleet.examined import Examined
from analysis.fleet.step_split import Split
from app.fleet import store
from app.state.opened import Opened


def load(path: Path) -> Examined:
    """What is found of the store, once for each content of it. Raises FuseScopeError."""
    place = store.opened(str(path))
    known = [(entry.path, entry.changed_ns, entry.sha256) for entry in store.entries(place)[0]]
    return _examined(str(path), hash(tuple(known)), place.is_being_written())


@st.cache_resource(max_entries=2, show_spinner=False)
def _examined(path: str, content: int, is_being_written: bool) -> Examined:
    return store.examined(store.opened(path))


def median_rank(found: Examined, rank: int) -> int | None:
    """The rank whose computing time is the median of the stage of `rank`, without those that are
    slow or differ; None without another one."""
    odd = {one.rank for one in found.slow} | {one.rank for one in found.stages.differing} | {rank}
    stage = found.stages.of.get(rank)
    alike = [s for s in found.by_rank if s.stage == stage and s.rank not in odd]
    return _middle(alike) if alike else _middle([s for s in found.by_rank if s.rank not in odd])


def _middle(splits: Iterable[Split]) -> int | None:
    ordered = sorted(splits, key=lambda split: (split.computing_ns, split.rank or 0))
    return ordered[int(np.ceil(len(ordered) / 2)) - 1].rank if ordered else None


def opened_rank(path: Path, found: Examined, rank: int) -> Opened:
    """The trace of a rank out of the store, to be opened. Raises FuseScopeError."""
    place = store.opened(str(path))
    facts = store.facts_of(found.fleet, rank)
    trace = store.trace_of(place, facts)
    return Opened(f"upload:{facts.sha256[:12]}", trace.meta.file_name, trace)
