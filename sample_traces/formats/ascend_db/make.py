"""Writes the miniature beside this file: an Ascend database of two steps, its values invented."""

from __future__ import annotations

import sqlite3
from pathlib import Path

TARGET = Path(__file__).with_name("ascend_pytorch_profiler_0.db")
BEGIN = 1_736_410_576_000_000_000  # epoch ns
TEXTS: list[str] = []


def text(value: str) -> int:
    """The number of a string in STRING_IDS."""
    if value not in TEXTS:
        TEXTS.append(value)
    return TEXTS.index(value)


def main() -> None:
    """Write the database anew."""
    TARGET.unlink(missing_ok=True)
    db = sqlite3.connect(TARGET)
    db.execute("PRAGMA page_size = 512")
    db.executescript(SCHEMA)
    db.execute("INSERT INTO NPU_INFO VALUES (0, 'Ascend910B4')")
    db.execute("INSERT INTO HOST_INFO VALUES ('73', 'miniature-host')")
    db.executemany(
        "INSERT INTO META_DATA VALUES (?, ?)",
        [("SCHEMA_VERSION", "1.0.0"), ("cann_version", "8.1.RC1"), ("note", "a miniature")],
    )
    db.executemany(
        "INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (?, ?)", [(3, "FP16"), (4, "FP32"), (11, "BFP16")]
    )
    # name, type, core of the operator, core of the task, shapes, types, formats, counters in ns
    kernels = [
        ("Conv2D_7", "Conv2D", "AI_CORE", "KERNEL_AICORE", '"8,64,56,56;64,64,3,3"',
         "FLOAT16;FLOAT16", "NCHW;FRACTAL_Z", '"8,64,56,56"', "FLOAT16", "NCHW",
         {"aic_total_time": 40_250.5, "aic_total_cycles": 1_207_515, "aic_mac_time": 30_125.25,
          "aic_mac_ratio": 0.748, "aiv_total_time": 0, "aiv_mac_time": 0}),
        ("aclnnRelu_ReluAiCore_Relu", "Relu", "AI_VECTOR_CORE", "KERNEL_AIVEC", '"8,64,56,56"',
         "FLOAT16", "NCHW", '"8,64,56,56"', "FLOAT16", "NCHW",
         {"aiv_total_time": 9_000, "aiv_vec_time": 4_500, "aiv_vec_ratio": 0.5,
          "aiv_total_cycles": 270_000, "aiv_mac_time": 0}),
        ("trans_TransData_3", "TransData", "AI_VECTOR_CORE", "KERNEL_AIVEC", '"64;"',
         "DT_BF16;INT64", "ND;ND", '";"', "UNDEFINED", "NULL", {}),
    ]  # fmt: skip
    task = 0
    for step in (7, 8):
        start = BEGIN + (step - 7) * 1_000_000
        db.execute("INSERT INTO STEP_TIME VALUES (?, ?, ?)", (step, start, start + 1_000_000))
        at = start + 100_000
        for name, kind, core, ran, *tensors, counters in kernels:
            shapes, dtypes, formats, out_shapes, out_dtypes, out_formats = tensors
            dur = int(max(counters.get("aic_total_time", 0), 9_500)) + step
            insert_task(db, at, at + dur, task, ran)
            db.execute(
                "INSERT INTO COMPUTE_TASK_INFO VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (text(name), task, 20, 0, text(core), text(kind), text(formats), text(dtypes),
                 text(shapes), text(out_formats), text(out_dtypes), text(out_shapes), text("N/A")),
            )  # fmt: skip
            db.executemany(
                "INSERT INTO TASK_PMU_INFO VALUES (?, ?, ?)",
                [(task, text(counter), value) for counter, value in counters.items()],
            )
            launch(db, task, at - 90_000, f"aten::{kind.lower()}")
            task += 1
            at += dur + 1_500
        insert_task(db, at, at + 200, task, "EVENT_WAIT")
        insert_task(db, at + 300, at + 20_300, task + 1, "SDMA")
        db.execute(
            "INSERT INTO COMMUNICATION_TASK_INFO VALUES (?, ?, ?, ?)",
            (text("Memcpy"), task + 1, text("SDMA"), step),
        )
        db.execute(
            "INSERT INTO COMMUNICATION_OP VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (text(f"hcom_allReduce__210_{step}_1"), at + 250, at + 25_250, task + 1, text("group"),
             step, 0, 0, 3, text("HD-MESH"), 262144, text("hcom_allReduce_")),
        )  # fmt: skip
        task += 2
    insert_task(db, BEGIN - 500, BEGIN - 480, task, "PROFILING_ENABLE")
    db.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", list(enumerate(TEXTS)))
    db.commit()
    db.execute("VACUUM")
    db.close()


def insert_task(db: sqlite3.Connection, start: int, end: int, task: int, core: str) -> None:
    """One row of TASK."""
    none = 4_294_967_295
    db.execute(
        "INSERT INTO TASK VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        (start, end, 0, task, task, 7_300, text(core), none, 2, 11_000 + task, none),
    )


def launch(db: sqlite3.Connection, connection: int, start: int, operator: str) -> None:
    """The framework's operator that launched a task; the profiler writes its times as text."""
    db.execute("INSERT INTO CONNECTION_IDS VALUES (?, ?)", (connection, connection))
    db.execute(
        "INSERT INTO PYTORCH_API VALUES (?, ?, ?, ?, ?, ?)",
        (str(start), str(start + 5_000), 1, connection, text(operator), 50_001),
    )


SCHEMA = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);
CREATE TABLE META_DATA (name TEXT, value TEXT);
CREATE TABLE ENUM_HCCL_DATA_TYPE (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,
 globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER,
 taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER,
 mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER,
 inputDataTypes INTEGER, inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER,
 outputShapes INTEGER, attrInfo INTEGER);
CREATE TABLE _COMPUTE_TASK_INFO_old_20251014 (name INTEGER, globalTaskId INTEGER,
 block_dim INTEGER);
CREATE TABLE TASK_PMU_INFO (globalTaskId INTEGER, name INTEGER, value NUMERIC);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER,
 connectionId INTEGER, groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER,
 dataType INTEGER, algType INTEGER, count NUMERIC, opType INTEGER);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER,
 opId INTEGER);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER,
 name INTEGER, type INTEGER);
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
"""

if __name__ == "__main__":
    main()
