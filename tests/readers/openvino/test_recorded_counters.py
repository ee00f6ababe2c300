"""Profiles of our own recordings with OpenVINO: the mean run of a block."""

from __future__ import annotations

import json

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers.openvino.recorded import RecordedCounters
from fusescope.analysis.trace import Meta

GRAPH = Graph(
    nodes=(
        Node("copy", "Reorder", ("x",), ("%copy",)),
        Node("conv", "Convolution", ("%copy", "%w"), ("%conv",)),
    ),
    tensors=(
        Tensor("x", "float32", (1, 3, 8, 8)),
        Tensor("%copy", "float32", (1, 3, 8, 8)),
        Tensor("%w", "float32", (4, 3, 1, 1), constant=True),
        Tensor("%conv", "float32", (1, 4, 8, 8)),
    ),
    inputs=("x",),
    outputs=("%conv",),
)


def profile(requests: int = 1) -> bytes:
    """Two runs of warm-up, then two: their means of the layer `conv` are 10, 8, 6 and 5 µs, so
    that all four took 20 µs, the first two 16, and each of the others 2 µs."""
    counted = [10, 8, 6, 5]
    return json.dumps(
        {
            "requests": requests,
            "layers": [
                {"name": "Multiply_9", "type": "Convolution", "exec_type": "jit", "node": "conv"},
                {"name": "x_abcd", "type": "Reorder", "exec_type": "", "node": "copy"},
            ],
            "runs": [
                {"start_ns": place, "dur_ns": 9000 - 1000 * place,
                 "real_us": {"Multiply_9": mean, "x_abcd": 3}}
                for place, mean in enumerate(counted)
            ],
        }
    ).encode()  # fmt: skip


def meta() -> Meta:
    return Meta(format="experiment", tool="openvino", version="1", device="", file_name="x.zip",
                sha256="")  # fmt: skip


def test_the_warm_up_is_taken_out_of_the_engines_means() -> None:
    counters = RecordedCounters(GRAPH)
    for block in (0, 1):
        counters.add(profile(), "p.json", block=block, warmup_runs=2)
    trace = counters.trace(meta())
    assert list(trace.runs["dur_ns"]) == [6500, 6500]  # of 7000 and 6000
    assert list(trace.runs["block"]) == [0, 1] and trace.runs["profiled"].all()
    names = trace.texts("name")
    times = dict(zip([names[at] for at in trace.calls["operator"]], trace.calls["dur_ns"],
                     strict=True))  # fmt: skip
    assert times == {"conv": 2000, "copy": 3000}
    assert trace.calls["start_ns"].isna().all()
    row = trace.operators.set_index("name").loc["conv"]
    assert (row["op_type"], row["op_class"], row["provider"]) == (
        "Convolution", "convolution", "jit",
    )  # fmt: skip
    assert row["flops"] == 2 * 4 * 64 * 3  # 2 · |out| · channels in
    assert (row["bytes_in"], row["bytes_param"], row["bytes_out"]) == (768, 48, 1024)


def test_of_requests_at_the_same_time_each_has_its_part() -> None:
    counters = RecordedCounters(None)
    counters.add(profile(requests=2), "p.json", block=0, warmup_runs=2)
    trace = counters.trace(meta())
    assert list(trace.runs["dur_ns"]) == [3250]
    assert sorted(trace.calls["dur_ns"]) == [1500, 2500]  # half of the mean of all runs


@pytest.mark.parametrize("data", [b"", b"{}", b'{"layers": [], "runs": [{"dur_ns": -1}]}', b"[1"])
def test_a_damaged_profile_is_one_sentence(data: bytes) -> None:
    with pytest.raises(FuseScopeError) as told:
        RecordedCounters(None, DEFAULT_LIMITS).add(data, "p.json", block=0, warmup_runs=0)
    assert told.value.code == "openvino_report_damaged" and "\n" not in told.value.text
