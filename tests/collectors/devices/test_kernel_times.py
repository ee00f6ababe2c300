"""Kernels on a device: how CUPTI's records are read, and how they come into a profile."""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fusescope.analysis.readers.onnxruntime.profile import ProfileTables
from fusescope.analysis.trace import Meta, Trace
from fusescope.collectors.runtimes import cupti, kernels
from fusescope.collectors.runtimes.cupti import Activity, NotTimed, Recording

CUDA = "CUDAExecutionProvider"
ZERO_NS = 1_700_000_000_000_000_000


class Library:
    """CUPTI that has nothing more to tell, and whose clock is so far ahead of the system's."""

    ahead_ns = 0

    def cuptiGetTimestamp(self, told: Any) -> int:
        told._obj.value = time.time_ns() + self.ahead_ns
        return 0

    def cuptiActivityGetNumDroppedRecords(self, context: Any, stream: Any, lost: Any) -> int:
        lost._obj.value = 3
        return 0

    def cuptiActivityGetNextRecord(self, *_: Any) -> int:
        return 1  # the buffer is empty

    def cuptiActivityFlushAll(self, flag: int) -> int:
        return 0


class Recorded:
    """A recording that is over."""

    def __init__(self, *found: Activity) -> None:
        self.found = list(found)

    def activities(self) -> list[Activity]:
        return self.found


def read_from(*records: bytes) -> list[Activity]:
    """What a recording whose clock is 1000 ns ahead reads from these records."""
    recording = Recording(Library(), 1_000)  # type: ignore[arg-type]
    for record in records:
        room = ctypes.create_string_buffer(record, len(record))
        recording._read(ctypes.addressof(room))
    return recording.activities()


def kernel_record(name: bytes, start: int, end: int, correlation: int) -> tuple[bytes, Any]:
    """CUpti_ActivityKernel9 up to the name: kind, cache and registers, partitioned caches, start,
    end, completed, device, context, stream, grid, block, shared memory, local memory, ids."""
    text = ctypes.c_char_p(name)
    address = ctypes.cast(text, ctypes.c_void_p).value
    numbers = struct.pack("<iBBHii", 10, 0, 0, 32, 0, 0) + struct.pack("<QQQ", start, end, 0)
    numbers += struct.pack("<III", 0, 1, 7) + struct.pack("<6i", 1, 1, 1, 128, 1, 1)
    numbers += struct.pack("<iiII", 0, 0, 0, 0) + struct.pack("<Iq", correlation, 5)
    return numbers + struct.pack("<Q", address or 0) + bytes(64), text


def test_records_are_read_at_the_places_that_the_header_has_them_at() -> None:
    kernel, _kept = kernel_record(b"sgemm_128x64", 11_000, 14_500, correlation=3)
    assert len(kernel) == 112 + 64
    # CUpti_ActivityAPI: kind, cbid, start, end, process, thread, correlation, return value
    call = struct.pack("<iIQQIIII", 5, 211, 9_000, 10_500, 1, 2, 3, 0)
    # CUpti_ActivityMemcpy6: kind, what is copied, bytes, start, end, device, context, stream, id
    copy = struct.pack("<iBBBBQQQIIII", 1, 2, 3, 1, 0, 64, 20_000, 21_000, 0, 1, 9, 4) + bytes(64)
    fill = struct.pack("<iIQQQIIII", 2, 0, 64, 30_000, 30_250, 0, 1, 7, 5) + bytes(64)
    assert read_from(copy, kernel, fill, call) == [
        Activity("sgemm_128x64", 7, 10_000, 3_500, 8_000),
        Activity("Memcpy DtoH", 9, 19_000, 1_000, None, is_copy=True),
        Activity("Memset", 7, 29_000, 250, None, is_copy=True),
    ]


def test_what_comes_after_the_clock_was_set_goes_by_the_clock_as_it_is() -> None:
    library = Library()
    recording = Recording(library, 0)  # type: ignore[arg-type]
    library.ahead_ns = 3_600 * 10**9  # the system's clock was set back by an hour
    recording.activities()
    copy = struct.pack("<iBBBBQQQIIII", 1, 2, 3, 1, 0, 64, 4 * 10**12, 5 * 10**12, 0, 1, 9, 4)
    room = ctypes.create_string_buffer(copy + bytes(64))
    recording._read(ctypes.addressof(room))
    [found] = recording.activities()
    assert abs(found.start_ns - (4 * 10**12 - library.ahead_ns)) < 10**9


def test_a_profile_stays_as_it_is_where_records_were_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = Recording(Library(), 0)  # type: ignore[arg-type]
    buffer = (ctypes.c_uint8 * 8)()
    recording._complete(None, 7, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_uint8)), 8, 0)
    assert recording.dropped == 3
    with pytest.raises(NotTimed, match="3 records were dropped"):
        recording.activities()
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(EVENTS))
    monkeypatch.setattr(kernels, "_recording", [recording])
    kernels.add_to(file, ZERO_NS)
    assert file.read_text() == json.dumps(EVENTS)


def event(name: str, ts: int, dur: int, cat: str = "Node", **args: str) -> dict[str, Any]:
    return {
        "cat": cat, "pid": 1, "tid": 4, "ts": ts, "dur": dur, "ph": "X", "name": name, "args": args,
    }  # fmt: skip


def node(name: str, ts: int, dur: int, op_type: str, provider: str = CUDA) -> dict[str, Any]:
    return event(f"{name}_kernel_time", ts, dur, op_name=op_type, provider=provider)


def run(ts: int, dur: int) -> dict[str, Any]:
    return event("model_run", ts, dur, "Session")


def done(name: str, launched_us: float, start_us: float, dur_ns: int, **more: Any) -> Activity:
    start, launched = int(start_us * 1000), int(launched_us * 1000)
    return Activity(name, 7, ZERO_NS + start, dur_ns, ZERO_NS + launched, **more)


EVENTS = [
    event("model_loading_from_saved_model", 0, 5, "Session"),
    node("a", 110, 20, "Conv"),
    node("r", 131, 2, "Reshape"),
    node("b", 134, 10, "Relu"),
    node("c", 146, 30, "NonZero", "CPUExecutionProvider"),
    run(100, 90),
]


def profile_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *found: Activity
) -> tuple[list[dict[str, Any]], bytes]:
    file = tmp_path / "profile.json"
    file.write_text("[" + ",\n".join(map(json.dumps, EVENTS)) + "]")
    monkeypatch.setattr(kernels, "_recording", [Recorded(*found)])
    kernels.add_to(file, ZERO_NS)
    return json.loads(file.read_bytes()), file.read_bytes()


FOUND = (
    done("Memcpy HtoD", 3, 4, 9_000, is_copy=True),  # a weight, before the run
    done("conv", 112, 115, 4_250),
    done("bias", 129.9, 121, 2_000),
    done("relu", 144.7, 150, 1_500),  # in the last µs of its node, which the file cuts off
    done("Memcpy DtoH", 180, 181, 3_000, is_copy=True),
)
INPUT = done("Memcpy HtoD", 101, 102, 1_000, is_copy=True)  # before any node


def test_kernels_stand_behind_the_node_that_launched_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, _ = profile_of(tmp_path, monkeypatch, *FOUND)
    assert [one for one in events if one["cat"] != "Kernel"] == EVENTS
    told = [(one["name"], one["args"].get("parent_name")) for one in events]
    assert [name for name, _ in told] == [
        "model_loading_from_saved_model", "a_kernel_time", "conv", "bias", "r_kernel_time",
        "b_kernel_time", "relu", "c_kernel_time", "model_run", "Memcpy DtoH",
    ]  # fmt: skip
    parents = [parent for _, parent in told if parent]
    assert parents == ["a_kernel_time", "a_kernel_time", "b_kernel_time"]
    conv, copy = events[2], events[-1]
    assert (conv["ts"], conv["dur"], conv["tid"]) == (115.0, 4.25, 4)
    assert copy["args"] == {"stream": "7", "provider": CUDA, "op_name": "Memcpy DtoH"}


def test_a_launch_between_the_nodes_of_a_loop_is_of_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = [node(f"body{at}", at, 3, "Add") for at in range(112, 160, 10)]
    events = [*inner, node("loop", 110, 60, "Loop"), node("after", 171, 5, "Relu"), run(100, 90)]
    monkeypatch.setattr(sys.modules[__name__], "EVENTS", events)
    launched = [done(str(us), us, us + 1, 500) for us in (111, 113, 118, 154, 165, 173, 180)]
    found, _ = profile_of(tmp_path, monkeypatch, *launched)
    parents = {
        one["name"]: one["args"].get("parent_name", "").removesuffix("_kernel_time")
        for one in found
        if one["cat"] == "Kernel"
    }
    assert parents == {
        "111": "loop", "113": "body112", "118": "loop", "154": "body152", "165": "loop",
        "173": "after", "180": "",
    }  # fmt: skip


def test_a_copy_before_the_first_node_is_of_its_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, _ = profile_of(tmp_path, monkeypatch, INPUT, *FOUND)
    copies = [one["args"] for one in events if one["name"].startswith("Memcpy")]
    assert [copy["provider"] for copy in copies] == [CUDA, CUDA]


def trace_of(data: bytes, kernel_times: str) -> Trace:
    tables = ProfileTables(kernel_times=kernel_times)
    tables.add(data, "profile.json")
    return tables.trace(Meta("experiment", "onnxruntime", "1.31.1", "GPU", "x.zip", "00"))


def test_nodes_have_the_time_of_their_kernels_and_stay_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, data = profile_of(tmp_path, monkeypatch, *FOUND)
    trace = trace_of(data, "device")
    operators = trace.operators.set_index("name")
    assert set(operators["level"]) == {"graph_layer"}
    assert operators["op_type"].to_dict() == {
        "a": "Conv", "r": "Reshape", "b": "Relu", "c": "NonZero", "Memcpy DtoH": "Memcpy DtoH",
    }  # fmt: skip
    calls = trace.calls.assign(name=trace.operators["name"].to_numpy()[trace.calls["operator"]])
    calls = calls.set_index("name")
    # The two kernels of the first node run for 6.25 µs, with 1.75 µs between them.
    assert calls["dur_ns"].to_dict() == {
        "a": 6_250, "r": 0, "b": 1_500, "c": 30_000, "Memcpy DtoH": 3_000,
    }  # fmt: skip
    assert calls.loc["a", "start_ns"] == 115_000
    assert calls["device"].to_dict() == {
        "a": "CUDA", "r": "CPU", "b": "CUDA", "c": "CPU", "Memcpy DtoH": "CUDA",
    }  # fmt: skip
    assert calls["run"].tolist() == [0] * 5
    notes = {note.code: note.count for note in trace.diagnostics}
    assert notes == {"nodes_by_kernels": 2, "nodes_without_kernels": 1}


def test_waits_follow_the_order_on_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, data = profile_of(tmp_path, monkeypatch, INPUT, *FOUND)
    trace = trace_of(data, "device")
    calls = trace.calls.assign(name=trace.operators["name"].to_numpy()[trace.calls["operator"]])
    on_device = calls[calls["device"] == "CUDA"]
    assert on_device["name"].tolist() == ["Memcpy HtoD", "a", "b", "Memcpy DtoH"]
    # 102 + 1 us to 115, 121.25 (115 + 6.25 of both kernels) to 150, 151.5 to 181
    assert on_device["wait_ns"].tolist() == [pd.NA, 12_000, 28_750, 29_500]


def test_what_no_node_launched_is_of_no_node_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unnamed = [{**one, "name": "_kernel_time"} if one["cat"] == "Node" else one for one in EVENTS]
    monkeypatch.setattr(sys.modules[__name__], "EVENTS", unnamed)
    _, data = profile_of(tmp_path, monkeypatch, *FOUND)
    trace = trace_of(data, "device")
    copies = trace.operators[trace.operators["op_type"] == "Memcpy DtoH"].index
    calls = trace.calls.set_index("operator")
    assert [calls.loc[one, "dur_ns"] for one in copies] == [3_000]
    relu = trace.operators[trace.operators["op_type"] == "Relu"].index[0]
    assert calls.loc[relu, "dur_ns"] == 1_500


def test_without_a_recording_of_it_kernels_stand_in_the_place_of_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, data = profile_of(tmp_path, monkeypatch, *FOUND)
    levels = trace_of(data, "").operators.set_index("name")["level"].to_dict()
    assert levels["conv"] == "device_kernel" and "a" not in levels


def test_nodes_whose_kernels_the_host_waited_for() -> None:
    data = json.dumps(EVENTS).encode()
    waited, launched = trace_of(data, "host"), trace_of(data, "")
    assert [note.code for note in waited.diagnostics] == ["kernels_waited_for"]
    assert [note.code for note in launched.diagnostics] == ["launch_times"]


def test_where_no_kernel_was_recorded_nodes_keep_the_time_of_the_host() -> None:
    """CUPTI started where the variant was made, and handed nothing out in this block."""
    trace = trace_of(json.dumps(EVENTS).encode(), "device")
    assert [note.code for note in trace.diagnostics] == ["kernels_not_recorded"]
    assert sorted(trace.calls["dur_ns"]) == [2_000, 10_000, 20_000, 30_000]


def test_without_cupti_the_host_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupti, "_installed", list)
    monkeypatch.setattr(cupti, "_NAMES", ("libcupti-that-is-not-there.so",))
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "0")
    with pytest.raises(NotTimed, match="libcupti-that-is-not-there"):
        cupti.started()
    assert kernels.time_them() == "host"
    assert os.environ["CUDA_LAUNCH_BLOCKING"] == "1" and not kernels.are_timed()
