"""Memory that this process may take: libraries that run out of it crash or hang, so ask first."""

from __future__ import annotations

import gc
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from fusescope.analysis.errors import FuseScopeError

_MIN_BYTES = 450_000_000  # of address space: what the libraries of `compare` map
DASHBOARD_BYTES = 800_000_000  # what the server maps with its first page open


class LittleMemoryError(FuseScopeError):
    """Memory is too little to begin; what tells it may not load a library either."""


def check(min_bytes: int = _MIN_BYTES) -> None:
    """Raises LittleMemoryError where the limit on address space is below what a verb needs."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    if limit < min_bytes:
        raise LittleMemoryError("memory_limit_too_low", limit=limit, needed=min_bytes)
    # Each thread of a pool that nothing here uses would map as much again.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@contextmanager
def lasting() -> Iterator[None]:
    """Around imports of a process that runs one verb and no engine: what modules are made of lasts
    until its end, so no search for garbage looks through it, now or later."""
    if "numpy" not in sys.modules:
        # A thread for each core would spin for a while, and nothing here multiplies matrices.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    was_enabled, before = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > before:
            gc.freeze()
        if was_enabled:
            gc.enable()


def too_little() -> str:
    """What to say once memory has run out."""
    return str(FuseScopeError("memory_exhausted"))
