"""Calls of the host that wait for the device: by name, and as PyTorch's profiler has them."""

from __future__ import annotations

import json

import pytest

from fusescope.analysis.host_waits import MAX_WAITS, HostWaits
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.host.wait_calls import host_waits, is_wait
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace


@pytest.mark.parametrize(
    "name",
    [
        "cudaStreamSynchronize", "cudaStreamSynchronize_v3020", "hipDeviceSynchronize",
        "cuCtxSynchronize", "cudaEventSynchronize", "cudaMemcpy_v3020", "hipMemcpyWithStream",
        "cuMemcpyDtoH_v2", "AscendCL@aclrtSynchronizeStreamWithTimeout", "aclrtMemcpy",
    ],
)  # fmt: skip
def test_calls_that_wait(name: str) -> None:
    assert is_wait(name)


@pytest.mark.parametrize(
    "name",
    [
        None, "", "cudaMemcpyAsync", "cudaMemcpyAsync_v3020", "hipMemcpy2DAsync", "cudaMalloc",
        "cudaStreamWaitEvent", "cuMemcpyDtoHAsync_v2", "cudaMemcpyPeerAsync", "aclrtMemcpyAsync",
        "my cudaStreamSynchronize", "cudaLaunchKernel",
    ],
)  # fmt: skip
def test_calls_that_do_not(name: str | None) -> None:
    assert not is_wait(name)


def test_of_too_many_the_longest_stay_in_order() -> None:
    """Those of no time go first; one that ends before it begins is none."""
    calls = [(f"c{at % 2}", at, at) for at in range(MAX_WAITS)]
    found = host_waits([*calls, ("long", 5, 90), ("back", 9, 3)], Limits())
    assert len(found.starts_ns) == MAX_WAITS
    [place] = (found.ends_ns > found.starts_ns).nonzero()[0]
    assert (found.names[found.name_of[place]], found.starts_ns[place]) == ("long", 5)
    with pytest.raises(ValueError, match="go back"):
        HostWaits(("a",), found.name_of[:2] * 0, found.starts_ns[1::-1], found.ends_ns[1::-1])


def test_the_operator_around_a_wait_names_it() -> None:
    base = {"ph": "X", "pid": 1, "tid": 1}
    runtime = {**base, "cat": "cuda_runtime"}
    kernel = {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "gemm"}
    events = [
        {**kernel, "ts": 5, "dur": 20, "args": {"correlation": 1, "stream": 7, "device": 0}},
        {**runtime, "name": "cudaLaunchKernel", "ts": 1, "dur": 2, "args": {"correlation": 1}},
        {**base, "cat": "cpu_op", "name": "aten::item", "ts": 4, "dur": 30, "args": {}},
        {**base, "cat": "cpu_op", "name": "aten::_local_scalar_dense", "ts": 5, "dur": 28},
        {**runtime, "name": "cudaStreamSynchronize", "ts": 8, "dur": 20, "args": {}},
        {**runtime, "name": "cudaDeviceSynchronize", "ts": 40, "dur": 5, "args": {}},
    ]
    given = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}
    trace = read(Source("k.json", json.dumps(given).encode()))
    assert isinstance(trace, Trace)
    waits = trace.host_waits
    assert waits is not None
    assert waits.names == ("aten::_local_scalar_dense", "cudaDeviceSynchronize")
    assert (list(waits.starts_ns), list(waits.ends_ns)) == ([8000, 40000], [28000, 45000])
