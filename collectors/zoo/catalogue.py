"""The built-in models for people: what there is, and one as a file. Imports no engine: a worker
builds."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors import zoo
from fusescope.collectors.files import cache, scratch
from fusescope.collectors.files.publication import Draft
from fusescope.collectors.workers import machine, worker
from fusescope.collectors.workers.jobs import ExportJob
from fusescope.collectors.zoo import ZooModel

__all__ = ["Entry", "chosen", "entries", "export"]

SECONDS = 300.0
MAX_BATCH = 1 << 20

chosen = zoo.chosen


@dataclass(frozen=True)
class Entry:
    """A model, and the size of its file in the user's cache; None before it was built."""

    model: ZooModel
    file_bytes: int | None


def entries() -> tuple[Entry, ...]:
    """Every model that is built in."""
    return tuple(Entry(model, _size(cache.folder() / model.cached)) for model in zoo.MODELS)


def export(model: ZooModel, out: Path, *, batch: int | None = None) -> Path:
    """Writes the model to `out` (a file, or a folder for `<name>.onnx`) and returns the path.

    The batch stays open unless one is given. Raises FuseScopeError where it cannot be written,
    and where the file exists: nothing is overwritten.
    """
    if batch is not None and not 1 <= batch <= MAX_BATCH:
        raise FuseScopeError(
            "number_out_of_range", option="--batch", given=batch, smallest=1, largest=MAX_BATCH
        )
    path = (out / f"{model.name}.onnx" if out.is_dir() else out).absolute()
    if not path.suffix:
        path = path.with_name(f"{path.name}.onnx")
    if os.path.lexists(path):
        raise _taken(path)
    try:
        draft = Draft(path)
    except OSError as error:
        raise _refused(path, error) from None
    with draft, scratch.folder() as folder:
        job = ExportJob(model.name, str(folder), str(cache.folder()), batch)
        limits = worker.Limits(machine.memory_limit_bytes(), SECONDS)
        exported = worker.run(
            "export", job, str, limits=limits, where=model.name, cancelled=lambda: False
        )
        try:
            shutil.copyfile(exported, draft.path)
            return draft.publish()
        except FileExistsError:
            raise _taken(path) from None
        except OSError as error:
            raise _refused(path, error) from None


def _taken(path: Path) -> FuseScopeError:
    return FuseScopeError("file_exists", where=str(path))


def _refused(path: Path, error: OSError) -> FuseScopeError:
    problem = (error.strerror or str(error)).lower()
    return FuseScopeError("zoo_model_unwritable", where=str(path), reason=problem)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
