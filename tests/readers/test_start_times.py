"""When a recording began, as far as its format tells."""

from __future__ import annotations

import json

import pytest

from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.factories import GEMM, profile_json
from tests.miniatures import FOLDER

# 2026-11-24 08:39:32.422 as if it were UTC: the zone of the writer is not in the name.
STAMPED_NS = 1_795_509_572_422_000_000


@pytest.mark.parametrize(
    ("name", "started_ns"),
    [
        ("fused_2026-11-24_08-39-32_422.json", STAMPED_NS),
        ("fused_2026-11-24_08-39-32.json", STAMPED_NS - 422_000_000),
        ("fused_2026-13-24_08-39-32.json", None),
        ("profile.json", None),
    ],
)
def test_onnx_runtime_tells_it_in_the_name_of_its_file(name: str, started_ns: int | None) -> None:
    trace = read(Source(name, profile_json((GEMM,))))
    assert isinstance(trace, Trace) and trace.meta.started_ns == started_ns


def test_times_since_1970_and_of_the_machine_are_starts_and_others_are_not() -> None:
    told = {
        name: started
        for name in ("ascend_kernel_details", "ascend_db", "rocprof", "chrome_trace")
        if isinstance(trace := read_path(FOLDER / name), Trace)
        for started in (trace.meta.started_ns,)
    }
    assert told == {
        "ascend_kernel_details": 1_751_000_000_000_100_250,
        "ascend_db": 1_736_410_576_000_000_000,
        "rocprof": 8_819_330_200_010_000,
        "chrome_trace": None,
    }


def test_kineto_counts_from_a_base_in_its_header() -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "dur": 5}
    file = {
        "schemaVersion": 1,
        "baseTimeNanoseconds": 1_700_000_000_000_000_000,
        "traceEvents": [{**event, "ts": 2.5, "args": {"External id": 1}}],
    }
    trace = read(Source("t.json", json.dumps(file).encode()))
    assert isinstance(trace, Trace) and trace.meta.started_ns == 1_700_000_000_000_002_500
