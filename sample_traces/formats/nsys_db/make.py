"""Writes the miniature beside this file: a report of Nsight Systems, its values invented."""

from __future__ import annotations

import sqlite3
from pathlib import Path

TARGET = Path(__file__).with_name("report1.sqlite")
PROCESS = 300_000_000_000_000 & ~0xFFFFFF  # a serialised GlobalId
THREAD = PROCESS | 0x1234
KERNELS = (
    "void cudnn::conv_kernel<float, 128, 6>(int, float const*, float*)",
    "void at::native::elementwise_kernel<4, at::native::AddFunctor<float>, int>(int, float*)",
    "triton_poi_fused_add_relu_0",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
)
CALLS = ("cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaMemsetAsync_v3020")


def main() -> None:
    """Write the database anew."""
    TARGET.unlink(missing_ok=True)
    db = sqlite3.connect(TARGET)
    db.executescript(SCHEMA)
    texts = [*KERNELS, *CALLS, "iteration 1", *(name.split("(")[0] for name in KERNELS)]
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", list(enumerate(texts)))
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A10G', 0)")
    db.executemany(
        "INSERT INTO EXPORT_META_DATA VALUES (?, ?)",
        [("EXPORT_PRODUCT_VERSION", "2024.5.1.113"), ("EXPORT_HOST", "miniature-host"),
         ("note", "a miniature, its values invented")],
    )  # fmt: skip
    correlation = 100
    for run in (0, 1):
        begin = 1_000_000 + run * 400_000
        title = ("iteration 0", None) if run == 0 else (None, texts.index("iteration 1"))
        db.execute(
            "INSERT INTO NVTX_EVENTS VALUES (?,?,59,?,?,?)",
            (begin, begin + 60_000, *title, THREAD),
        )
        db.execute(
            "INSERT INTO NVTX_EVENTS VALUES (?,?,59,'layer1',NULL,?)",
            (begin + 10_000, begin + 30_000, THREAD),
        )
        copied = begin + 5_500
        runtime(db, begin + 500, correlation, 5)
        db.execute(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,0,7,?,?,1,602112)",
            (copied, copied + 50_000, correlation, PROCESS),
        )
        runtime(db, begin + 2_000, correlation + 1, 6)
        db.execute(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?,?,0,7,?,?,4096)",
            (copied + 51_000, copied + 52_500, correlation + 1, PROCESS),
        )
        at = copied + 60_000
        for place, dur in enumerate((80_000, 12_000, 9_000, 40_000)):
            correlation_id = correlation + 2 + place
            runtime(db, begin + 11_000 + place * 8_000, correlation_id, 4)
            db.execute(
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,1,?,?,?,?,?,?,?,?)",
                (at, at + dur + run, 13 if place == 3 else 7, correlation_id, PROCESS, place,
                 8 + place, 40, 0, 16_384),
            )  # fmt: skip
            at += dur + 1_000
        correlation += 10
    db.commit()
    db.execute("VACUUM")
    db.close()


def runtime(db: sqlite3.Connection, start: int, correlation: int, name: int) -> None:
    """A call of the host."""
    db.execute(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?)",
        (start, start + 1_500, THREAD, correlation, name),
    )


SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, cuDevice INTEGER);
CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
 contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
 demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, staticSharedMemory INTEGER,
 dynamicSharedMemory INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
 streamId INTEGER, correlationId INTEGER, globalPid INTEGER, copyKind INTEGER, bytes INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER,
 streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
 correlationId INTEGER, nameId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
 textId INTEGER, globalTid INTEGER);
"""

if __name__ == "__main__":
    main()
