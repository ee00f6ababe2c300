"""What is known of a model without loading it."""

from __future__ import annotations

import msgspec


class InputFacts(msgspec.Struct, frozen=True):
    """One model input as it is fed; `source` says how the values were made. `declared` are its
    dimensions in the model where it has dynamic ones, as analysis.experiment.ModelInput has it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    source: str
    declared: tuple[int | str, ...] | None = None
