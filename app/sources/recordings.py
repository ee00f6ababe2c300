"""Recordings by their facts alone: those among the opened files, and those of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.app.sources import loading, places
from fusescope.app.state.opened import Opened
from fusescope.app.store import records

_RECORDED = "recorded:"


def recordings(opened: Mapping[str, Opened]) -> Iterator[tuple[str, ExperimentRecord]]:
    """Each with its id without a variant: opened files in their order, then the recordings of this
    machine, newest first."""
    for file in opened.values():
        if isinstance(file.value, Experiment):
            yield file.id, file.value.record
    for name, path in places.experiments().items():
        record = records.record_at(path)
        if record is not None:
            yield f"{_RECORDED}{name}", record


def samples() -> Iterator[tuple[str, ExperimentRecord]]:
    """Those that come with FuseScope."""
    found = {f"sample:{name}": path for name, path in places.samples().items()}
    found |= {f"engines:{name}": path for name, path in places.engine_samples().items()}
    for id_, path in found.items():
        record = records.record_at(path)
        if record is not None:
            yield id_, record


def experiment(id_: str, opened: Mapping[str, Opened]) -> Experiment:
    """The whole recording. Raises FuseScopeError."""
    if id_.startswith(_RECORDED):
        return loading.experiment_at(places.experiments()[id_.removeprefix(_RECORDED)])
    value = opened[id_].value
    if not isinstance(value, Experiment):
        raise FuseScopeError("profile_instead_of_experiment", where=opened[id_].name)
    return value
