"""Outputs of the baseline, kept for the other variants to be compared with."""

from __future__ import annotations

import numpy as np

from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.difference import difference_of


def against(
    reference: str | None, kept: str, outputs: list[Array | None]
) -> tuple[float | None, float | None] | None:
    """How far these are from those in the file `reference`; without one they are the baseline's,
    which go to the file `kept`."""
    if reference is None:
        known = {
            f"{index:05d}": output
            for index, output in enumerate(outputs)
            if output is not None and output.dtype.kind in "fiub"
        }
        np.savez(kept, allow_pickle=False, **known)
        return None
    with np.load(reference, allow_pickle=False) as archive:
        first = [
            archive[f"{index:05d}"] if f"{index:05d}" in archive.files else None
            for index in range(len(outputs))
        ]
    return difference_of(first, outputs)
