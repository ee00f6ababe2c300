"""Files of other tools that lie beside a recording, whole and damaged."""

from __future__ import annotations

import gzip
import json

from fusescope.analysis.readers.input.source import Source


def damaged_neighbours() -> tuple[Source, ...]:
    """One that is no gzip inside, one that ends early, and a whole one."""
    kernels = [
        {"ph": "X", "cat": "kernel", "name": f"k{n}", "pid": 0, "tid": 7, "ts": n * 37, "dur": n,
         "args": {"correlation": n}}
        for n in range(500)
    ]  # fmt: skip
    whole = gzip.compress(json.dumps({"schemaVersion": 1, "traceEvents": kernels}).encode())
    broken = whole[:12] + bytes(byte ^ 0x5A for byte in whole[12:])
    return (
        Source("broken.json.gz", broken),
        Source("short.json.gz", whole[: len(whole) // 2]),
        Source("unrelated.json.gz", whole),
    )
