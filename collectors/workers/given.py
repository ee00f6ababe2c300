"""The recorded inputs of a model. Needs numpy alone, so workers of every engine can."""

from __future__ import annotations

import numpy as np

from fusescope.collectors.models.array import Array
from fusescope.collectors.workers.jobs import SessionSettings


def load_inputs(settings: SessionSettings) -> dict[str, Array]:
    """The input values by name.

    Sessions of ONNX Runtime copy them into memory of the engine: values made from numpy arrays are
    views on them, aligned by chance and gone when the array goes.
    """
    with np.load(settings.inputs, allow_pickle=False) as archive:
        return {name: archive[f"arr_{index}"] for index, name in enumerate(settings.input_names)}
