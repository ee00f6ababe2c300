"""Traces that count from 1970, as PyTorch 2.2 wrote them, keep every ns however large they are."""

from __future__ import annotations

from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

_BASE_US = 1_727_650_800_000_000  # more than a double tells ns of
_COUNT = 20_000
_KERNEL = (
    '{"ph":"X","cat":"kernel","name":"gemm_%d","pid":0,"tid":7,"ts":%d.%03d,"dur":2.%03d,'
    '"args":{"External id":%d,"device":0,"stream":7,"correlation":%d,"grid":[77,1,1]}}'
)


def test_a_large_trace_that_counts_from_1970_keeps_every_ns() -> None:
    rows = [
        _KERNEL % (at % 3, _BASE_US + 4 * at, at % 1000, at % 1000, at, at) for at in range(_COUNT)
    ]
    text = '{"schemaVersion": 1, "traceEvents": [' + ",\n".join(rows) + "]}"
    assert len(text) > 3 * 2**20  # larger than what is read as one
    trace = read(Source("epoch.json", text.encode()))
    assert isinstance(trace, Trace)
    starts = [(_BASE_US + 4 * at) * 1000 + at % 1000 for at in range(_COUNT)]
    assert trace.calls["start_ns"].tolist() == starts
    assert trace.calls["dur_ns"].tolist() == [2000 + at % 1000 for at in range(_COUNT)]
