"""Writes the miniature beside this file: a rocpd database, its values invented."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

TARGET = Path(__file__).with_name("4711_results.db")
SUFFIX = "_0000c0de_0000_7000_8000_000000000001"
GUID = SUFFIX[1:].replace("_", "-")
TABLES = {
    "rocpd_metadata": "tag, value",
    "rocpd_string": "guid, string",
    "rocpd_info_node": "guid, hash, machine_id, hostname",
    "rocpd_info_process": "guid, nid, pid, command",
    "rocpd_info_thread": "guid, nid, pid, tid",
    "rocpd_info_agent": "guid, nid, pid, type, absolute_index, name, product_name",
    "rocpd_info_pmc": "guid, nid, pid, agent_id, name, symbol",
    "rocpd_info_kernel_symbol": "guid, nid, pid, kernel_name, display_name, extdata",
    "rocpd_event": "guid, category_id, stack_id, parent_stack_id, correlation_id, extdata",
    "rocpd_pmc_event": "guid, event_id, pmc_id, value",
    "rocpd_region": 'guid, nid, pid, tid, start, "end", name_id, event_id',
    "rocpd_kernel_dispatch": 'guid, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, '
    'stream_id, start, "end", workgroup_size_x, grid_size_x, event_id',
    "rocpd_memory_copy": 'guid, nid, pid, tid, start, "end", name_id, dst_agent_id, '
    "src_agent_id, size, queue_id, stream_id, event_id",
}  # fmt: skip
KERNELS = (
    ("_Z4gemmPfS_S_.kd", "gemm(float*, float*, float*)"),
    ("triton_poi_fused_add_relu_0.kd", "triton_poi_fused_add_relu_0"),
    (
        "_Z23ncclDevKernel_Generic_424ncclDevKernelArgsStorageILm4096EE.kd",
        "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
    ),
)
TEXTS = (
    "KERNEL_DISPATCH", "MEMORY_COPY", "HIP_RUNTIME_API_EXT", "MARKER_CORE_RANGE_API",
    "hipMemcpyAsync", "hipLaunchKernel", "hipStreamSynchronize", "roctxThreadRangeA",
    "MEMORY_COPY_HOST_TO_DEVICE",
)  # fmt: skip
STARTED = 5_000_000_000


class Writer:
    """Rows of the tables, numbered from 1."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.stack = 0
        for name, columns in TABLES.items():
            table = f"CREATE TABLE `{name}{SUFFIX}` (id INTEGER PRIMARY KEY, {columns})"
            db.execute(table)
            db.execute(f"CREATE VIEW `{name}` AS SELECT * FROM `{name}{SUFFIX}`")

    def add(self, table: str, *values: object) -> int:
        """The number of the new row."""
        own = values if table == "rocpd_metadata" else (GUID, *values)
        places = ", ".join("?" * len(own))
        made = self.db.execute(
            f"INSERT INTO `{table}{SUFFIX}` ({TABLES[table]}) VALUES ({places})", own
        )
        return int(made.lastrowid or 0)

    def event(self, category: str, stack: int, extdata: dict[str, object] | None = None) -> int:
        """The number of a new event."""
        number = TEXTS.index(category) + 1
        return self.add("rocpd_event", number, stack, 0, 0, json.dumps(extdata or {}))

    def call(self, name: str, start: int, dur: int) -> int:
        """The stack of a new call of HIP."""
        self.stack += 1
        event = self.event("HIP_RUNTIME_API_EXT", self.stack)
        self.add("rocpd_region", 1, 1, 1, start, start + dur, TEXTS.index(name) + 1, event)
        return self.stack


def main() -> None:
    """Write the database anew."""
    TARGET.unlink(missing_ok=True)
    db = sqlite3.connect(TARGET)
    db.execute("PRAGMA page_size = 4096")  # as SQLite itself, so that damage leaves some pages
    made = Writer(db)
    made.add("rocpd_metadata", "schema_version", "3")
    made.add("rocpd_metadata", "note", "a miniature, its values invented")
    for text in TEXTS:
        made.add("rocpd_string", text)
    made.add("rocpd_info_node", 77, "0123456789abcdef", "miniature-host")
    made.add("rocpd_info_process", 1, 4711, "./model")
    made.add("rocpd_info_thread", 1, 1, 4712)
    made.add("rocpd_info_agent", 1, 1, "CPU", 0, "cpu", "AMD EPYC")
    made.add("rocpd_info_agent", 1, 1, "GPU", 1, "gfx942", "AMD Instinct MI300X")
    made.add("rocpd_info_pmc", 1, 1, 2, "SQ_WAVES", "SQ_WAVES")
    for name, shown in KERNELS:
        extdata = json.dumps({"formatted_kernel_name": shown})
        made.add("rocpd_info_kernel_symbol", 1, 1, name, shown, extdata)
    for run in (0, 1):
        add_run(made, run, STARTED + run * 400_000)
    db.commit()
    db.execute("VACUUM")
    db.close()


def add_run(made: Writer, run: int, begin: int) -> None:
    """A copy, three kernels and a wait between the ends of a marked range."""
    marked = made.event("MARKER_CORE_RANGE_API", 900 + run, {"message": f"iteration {run}"})
    name = TEXTS.index("roctxThreadRangeA") + 1
    made.add("rocpd_region", 1, 1, 1, begin, begin + 300_000, name, marked)
    stack = made.call("hipMemcpyAsync", begin + 1_000, 4_000)
    copied = made.event("MEMORY_COPY", stack)
    way = TEXTS.index("MEMORY_COPY_HOST_TO_DEVICE") + 1
    at = begin + 6_000
    made.add("rocpd_memory_copy", 1, 1, 1, at, at + 50_000, way, 2, 1, 602_112, 1, 1, copied)
    at += 60_000
    for kernel, dur in ((1, 80_000), (2, 12_000), (3, 40_000)):
        stack = made.call("hipLaunchKernel", begin + 8_000 * kernel, 3_000)
        event = made.event("KERNEL_DISPATCH", stack)
        end = at + dur + run
        made.add(
            "rocpd_kernel_dispatch",
            1, 1, 1, 2, kernel, 3 * run + kernel, 1, 1, at, end, 256, 4096, event,
        )  # fmt: skip
        for waves in (40, 24):  # of two units of the device
            made.add("rocpd_pmc_event", event, 1, waves)
        at = end + 1_000
    made.call("hipStreamSynchronize", begin + 40_000, 170_000)


if __name__ == "__main__":
    main()
