"""Runs of a variant alone in its process, before the peak of its memory is taken."""

from __future__ import annotations

import time
from collections.abc import Callable

MEMORY_RUNS = 3  # some engines allocate again in their second run


def last_of_runs_ns(run: Callable[[], object], *, already: int = 0) -> int:
    """What the last of MEMORY_RUNS runs took, in ns; `already` of them took place when the session
    was opened."""
    run_ns = 0
    for _ in range(MEMORY_RUNS - already):
        started = time.perf_counter_ns()
        run()
        run_ns = time.perf_counter_ns() - started
    return run_ns
