"""Short recordings, and experiment files opened for reading."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fusescope.analysis.experiment import ExperimentRecord, parse_record
from fusescope.analysis.graph import Graph, parse_graph
from fusescope.collectors.progress import Progress
from fusescope.collectors.record import Recording, record


@dataclass
class File:
    """An experiment file, opened."""

    path: Path
    record: ExperimentRecord

    @classmethod
    def open(cls, path: Path) -> File:
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            return cls(path, parse_record(archive.read("experiment.json")))

    def read(self, name: str) -> bytes:
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(name)

    def events(self, name: str) -> list[dict[str, Any]]:
        return json.loads(self.read(name))

    def graph(self, name: str) -> Graph:
        return parse_graph(self.read(name), name)


def short(model: str | Path, out: Path, **changes: Any) -> Recording:
    """One block of three rounds."""
    settings: dict[str, Any] = {"blocks": 1, "rounds": 3, "profiled_rounds": 2, "threads": 1}
    settings["own_pass"] = False
    return Recording(model=str(model), out=out, **{**settings, **changes})


def run(recording: Recording, **arguments: Any) -> tuple[File, list[Progress]]:
    """Records, and opens the file."""
    steps: list[Progress] = []
    path = record(recording, on_progress=steps.append, **arguments)
    return File.open(path), steps
