"""A report of Nsight Systems of two processes, each on a device and with iterations of its own."""

from __future__ import annotations

import sqlite3
from pathlib import Path

FIRST, SECOND = 40 << 24, 41 << 24
ITERATIONS = 6
# ns of the two kernels of an iteration: 100 and 50 of the first process, 200 and 50 of the second
LENGTHS = {FIRST: (100, 50), SECOND: (200, 50)}


def write(path: Path, *, processes: tuple[int, ...] = (FIRST, SECOND)) -> Path:
    """The report at `path`; an iteration each 1,000 ns, whose kernels follow each other."""
    kernels, calls, ranges = [], [], []
    for device, process in enumerate(processes):
        for run in range(ITERATIONS):
            at = run * 1000
            ranges.append((at, at + 900, 59, f"iteration {run}", process | 1))
            for place, length in enumerate(LENGTHS[process]):
                number = 2 * run + place + 1
                start = at + 100 + place * 300
                calls.append((start - 50, start - 40, process | 1, number, 3))
                kernels.append((start, start + length, device, 7, number, process, place + 1))
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE StringIds (id, value)")
        names = [(1, "gemm"), (2, "relu"), (3, "cudaLaunchKernel_v7000")]
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", names)
        for table, columns, rows in (
            (
                "CUPTI_ACTIVITY_KIND_KERNEL",
                'start, "end", deviceId, streamId, correlationId, globalPid, demangledName',
                kernels,
            ),
            (
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                'start, "end", globalTid, correlationId, nameId',
                calls,
            ),
            ("NVTX_EVENTS", 'start, "end", eventType, text, globalTid', ranges),
        ):
            db.execute(f"CREATE TABLE {table} ({columns})")
            places = ",".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
    db.close()
    return path
