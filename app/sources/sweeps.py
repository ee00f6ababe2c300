"""Sweeps: experiments of one model with several batch sizes or numbers of threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import streamlit as st

from fusescope.analysis.compare.multiple.scaling import Scaling, model_key, scaling, setting
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.app.sources.recordings import experiment, recordings
from fusescope.app.state.opened import Opened


@dataclass(frozen=True)
class Sweep:
    """`files` are ids without variant; `model` is its name, which may come from a file."""

    key: str
    model: str
    files: tuple[str, ...]


def sweeps(opened: Mapping[str, Opened]) -> dict[str, Sweep]:
    """Those among the opened files and the recordings of this machine, by key."""
    found: dict[str, list[tuple[str, ExperimentRecord]]] = {}
    for id_, record in recordings(opened):
        found.setdefault(key_of(record), []).append((id_, record))
    return {
        key: Sweep(key, of[0][1].model.name, tuple(id_ for id_, _ in of))
        for key, of in found.items()
        if len({setting(record) for _, record in of}) > 1
    }


def of_files(files: Iterable[Opened]) -> str | None:
    """Return the key of the sweep that all of these files make; None where they make none."""
    files = list(files)
    records = [file.value.record for file in files if isinstance(file.value, Experiment)]
    keys = {key_of(record) for record in records}
    is_sweep = len(records) == len(files) and len(keys) == 1
    return keys.pop() if is_sweep and len({setting(record) for record in records}) > 1 else None


def key_of(record: ExperimentRecord) -> str:
    """The key of the sweep that a recording is of."""
    return ":".join(model_key(record))


def load(sweep: Sweep, opened: Mapping[str, Opened]) -> Scaling:
    """The scaling of a sweep, computed once a session. Raises FuseScopeError."""
    made = dict(recordings(opened))
    key = repr([(id_, made[id_].created) for id_ in sweep.files])
    return _scaling(sweep.files, opened, key)


@st.cache_resource(max_entries=4, show_spinner=False, scope="session")
def _scaling(_files: tuple[str, ...], _opened: Mapping[str, Opened], key: str) -> Scaling:
    return scaling([experiment(id_, _opened) for id_ in _files])
