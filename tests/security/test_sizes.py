"""Large files that go on with what is not text, and many different names or streams: bounded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import traces
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input import event_windows
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace


def _start(events: int) -> bytes:
    """A valid trace without its end."""
    return "".join(traces.kineto(events)).rpartition("\n]")[0].encode()


@pytest.mark.parametrize("rest", [b"\0", b"\\"], ids=["zeros", "backslashes"])
def test_r31_what_is_no_text_after_a_valid_start_is_refused_where_it_begins(
    tmp_path: Path, rest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = _start(20_000) + b',\n{"name":"'
    path = tmp_path / "trace.json"
    with path.open("wb") as file:
        file.write(start)
        if rest == b"\0":
            file.truncate(len(start) + 256 * MIB)  # takes no room on the disk
        else:
            file.write(rest * (10 * MIB))
    monkeypatch.setattr(event_windows, "decode_file", lambda *_: pytest.fail("read as a whole"))
    with pytest.raises(FuseScopeError) as refused:
        read_path(path)
    assert refused.value.code == "json_damaged"
    assert f"(byte {len(start)})" in str(refused.value)


def test_r32_many_names_and_streams_are_kept_apart() -> None:
    text = "".join(traces.kineto(60_000, names=10**6, streams=2_000)).encode()
    trace = read(Source("trace.json", text))
    assert isinstance(trace, Trace)
    kernels = sum(b'"kernel"' in line for line in text.split(b"\n"))
    assert len(trace.operators) == len(trace.calls) == kernels > 3_000
    assert trace.calls["stream"].nunique() == 2_000


def test_r32_a_rocprofv3_file_of_many_kernel_symbols() -> None:
    symbols, dispatches = 9_900, 44_000
    kernels = [
        {"kernel_id": at, "formatted_kernel_name": f"kernel_{at}", "code_object_id": 1}
        for at in range(symbols)
    ]
    calls = [
        {
            "start_timestamp": 10**15 + 1000 * at,
            "end_timestamp": 10**15 + 1000 * at + 500,
            "dispatch_info": {"kernel_id": at % symbols, "dispatch_id": at},
        }
        for at in range(dispatches)
    ]
    tool = {"kernel_symbols": kernels, "buffer_records": {"kernel_dispatch": calls}}
    trace = read(Source("results.json", json.dumps({"rocprofiler-sdk-tool": [tool]}).encode()))
    assert isinstance(trace, Trace)
    assert (len(trace.calls), len(trace.operators)) == (dispatches, symbols)
    assert int(trace.calls["dur_ns"].sum()) == 500 * dispatches
