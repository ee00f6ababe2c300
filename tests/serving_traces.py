"""Files of a serving engine whose steps process several kinds of work."""

from __future__ import annotations

import json
from collections.abc import Sequence

DECODE, PREFILL = "step[DECODE bs=4]", "step[EXTEND bs=2 toks=64]"


def serving_json(steps: Sequence[tuple[str, int]]) -> bytes:
    """A Kineto file of these steps, each of 1000 us: its name, and the us of its one kernel, which
    begins 20 us after its step."""
    events: list[dict[str, object]] = []
    host, device = {"ph": "X", "pid": 1, "tid": 1}, {"ph": "X", "pid": 0, "tid": 7}
    for number, (name, us) in enumerate(steps):
        at, link = 1000 * number, {"correlation": number + 1, "External id": number}
        events += [
            {**host, "cat": "user_annotation", "name": name, "ts": at, "dur": 1000},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 5, "dur": 5,
             "args": link},
            {**device, "cat": "kernel", "name": "gemm", "ts": at + 20, "dur": us,
             "args": {**link, "device": 0, "stream": 7}},
        ]  # fmt: skip
    devices = [{"id": 0, "name": "GPU"}]
    given = {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}
    return json.dumps(given).encode()
