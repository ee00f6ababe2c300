"""Examples: the traces and recordings that come with FuseScope, as the landing page offers them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fusescope.app.sources import places

PREFIX = "example"
# Traces among the samples that a link may name, by their path there.
TRACES = (
    "torch_compile/eager.json.gz",
    "torch_compile/compiled.json.gz",
    "formats/ascend_kernel_details",
)


@dataclass(frozen=True)
class Example:
    """One sample of the landing page: the ids that a page opens it by, two for a pair. `is_made` of
    a trace that was written by hand."""

    name: str
    ids: tuple[str, ...]
    is_made: bool = False


EXAMPLES = (
    Example("torch_compile", tuple(f"{PREFIX}:{path}" for path in TRACES[:2])),
    Example("ascend", (f"{PREFIX}:{TRACES[2]}",), is_made=True),
    Example("fusion", ("sample:mobilenetv2/unfused", "sample:mobilenetv2/fused")),
)


def is_made(id_: str) -> bool:
    """Return True for a sample that was written by hand."""
    return any(each.is_made and id_ in each.ids for each in EXAMPLES)


def path_of(id_: str) -> Path | None:
    """Return where the trace lies that an id names; None where it names none that is there."""
    kind, _, name = id_.partition(":")
    path = places.SAMPLES / name
    return path if kind == PREFIX and name in TRACES and path.exists() else None
