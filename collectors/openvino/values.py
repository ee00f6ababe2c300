"""Values of tensors on their way from an engine's worker to the one that compares them."""

from __future__ import annotations

from pathlib import Path

import msgspec

INDEX = "values.json"
BYTES = 2_000_000_000  # of all tensors together; the rest stays without a match


class Value(msgspec.Struct, frozen=True):
    """Tensors of a variant's graph that hold one value, with how each lies in memory, the tensors
    of the model that it should be, and the file that holds it."""

    tensors: tuple[tuple[str, str], ...]
    originals: tuple[str, ...]
    file: str


class Values(msgspec.Struct, frozen=True):
    """`unknown` counts tensors of the graph that no boundary was found for; `low_precision`: the
    engine computed with fewer bits than the model asks for."""

    rows: tuple[Value, ...]
    unknown: int = 0
    low_precision: bool = False


def folder_of(dump: str) -> Path:
    """Where the values of a variant lie whose engine would write its graph to `dump`."""
    return Path(dump).with_suffix(".values")


def write_index(folder: Path, values: Values) -> None:
    """Beside the files that it names."""
    (folder / INDEX).write_bytes(msgspec.json.encode(values))


def read_index(folder: Path) -> Values:
    """What `write_index` wrote."""
    return msgspec.json.decode((folder / INDEX).read_bytes(), type=Values)
