"""Compare values that an engine gave at the boundaries of its layers with those of the model.

The model runs in ONNX Runtime, every optimisation off, on the inputs of the recording.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast

import msgspec
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import TensorMatch
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.models.array import Array
from fusescope.collectors.openvino.values import Value, Values, folder_of, read_index
from fusescope.collectors.tasks.matches import KNOWN_TOLERANCE, out_of_time
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.tensors.intermediates import Intermediates, OutOfTime
from fusescope.collectors.tensors.sketches import distance
from fusescope.collectors.tensors.tolerances import TOLERANCE
from fusescope.collectors.workers.jobs import Matched
from fusescope.collectors.workers.jobs import MatchJob as Job

Layout = Literal["", "blocked", "permuted"]


def run(job: Job) -> Matched:
    """Writes the matches as the job says. Time that runs out ends the comparison, not more."""
    values = folder_of(job.dump)
    index = read_index(values)
    folder = Path(job.matches).with_suffix(".parts")
    folder.mkdir(parents=True)
    found: list[TensorMatch] = []
    refuted, problem = 0, None
    try:
        model = Intermediates(
            Path(job.settings.model),
            job.settings,
            folder / "model",
            budget_bytes=job.budget_bytes,
            deadline=time.monotonic() + job.seconds,
        )
        for row, originals in _computed(model, index):
            theirs = np.load(values / row.file, allow_pickle=False)
            agreed = list(_agreeing(row, originals, theirs, index.low_precision))
            refuted += not agreed
            found += agreed or [TensorMatch(name, name, "refuted") for name in originals]
    except OutOfTime:
        problem = out_of_time(job.seconds)
    except FuseScopeError as error:
        problem = error.text
    except Exception as error:  # noqa: BLE001 - the engine raises many kinds; what is known is kept
        problem = clean(str(error)) or type(error).__name__
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(values, ignore_errors=True)
    Path(job.matches).write_bytes(msgspec.json.encode(found))
    return Matched(refuted=refuted, unknown=index.unknown, problem=problem)


def _computed(model: Intermediates, index: Values) -> Iterator[tuple[Value, dict[str, Array]]]:
    """Each value with the model's own, as many at a time as fit into the budget."""
    known = {*model.names(), *model.inputs}
    rows = {name: row for row in index.rows for name in row.originals if name in known}
    for chunk in model.chunks(list(rows)):
        ours = model.values(chunk)
        for row in dict.fromkeys(rows[name] for name in chunk):
            mine = {name: ours[name] for name in row.originals if name in ours}
            if mine:
                yield row, mine


def _agreeing(
    row: Value, originals: dict[str, Array], theirs: Array, low_precision: bool
) -> Iterator[TensorMatch]:
    tolerance = KNOWN_TOLERANCE if low_precision else TOLERANCE
    for name, ours in originals.items():
        if not _agree(ours, theirs, tolerance):
            continue
        absolute, relative = difference_of([ours.reshape(-1)], [theirs.reshape(-1)])
        for own, layout in row.tensors:
            by: Literal["name", "value"] = "name" if own == name else "value"
            yield TensorMatch(name, own, by, cast(Layout, layout), absolute, relative)


def _agree(ours: Array, theirs: Array, tolerance: float) -> bool:
    if ours.size != theirs.size:
        return False
    if ours.dtype.kind == "f":
        return theirs.dtype.kind == "f" and distance(ours, theirs) <= tolerance
    return bool(np.array_equal(ours.reshape(-1), theirs.reshape(-1)))
