"""What a collective carries over the bus, and how much that is of the links of a named device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.operators.link_peaks import link_peaks
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation.blocks import blocks_said

MB = 1_000_000


def traced(us: int, *, ranks: int | None = 8, device: str = "AMD Instinct MI300X") -> Trace:
    """One all-reduce of 20 000 000 numbers of 4 bytes, 80 MB, that takes so many µs."""
    told: dict[str, Any] = {
        "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 20 * MB,
        "Out msg nelems": 20 * MB, "Process Group Name": "0", "stream": 7, "device": 0,
        "correlation": 1, **({"Group size": ranks} if ranks else {}),
    }  # fmt: skip
    kernel = {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
              "pid": 0, "tid": 7, "ts": 100, "dur": us, "args": told}  # fmt: skip
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}]}
    found = read(Source("t.json", json.dumps({**head, "traceEvents": [kernel]}).encode()))
    assert isinstance(found, Trace)
    return found


def said(trace: Trace) -> str:
    found = explain_trace(trace)
    assert found is not None
    return " ".join(str(each) for each in blocks_said(found) if "Over the bus, " in str(each))


def test_a_collective_far_below_the_links() -> None:
    """80 MB · 2 · 7/8 in 10 ms are 14 GB/s, 3.1 % of 448."""
    text = said(traced(10_000))
    assert "among 8 ranks carries 14.0 GB/s, by what each rank has to send" in text
    assert "3.1 % of what Infinity Fabric of the AMD Instinct MI300X carries" in text
    assert "448 GB/s (assumed, if all ranks are on one host)" in text
    assert "not these links that limit it" in text


def test_a_collective_at_the_rate_of_the_links_and_beyond() -> None:
    """In 500 µs they are 280 GB/s, 62.5 %; in 300 µs more than the links have."""
    text = said(traced(500))
    assert "280 GB/s" in text and "62.5 % of what" in text and "limit" not in text
    assert said(traced(300)) == "", "it goes over something else"


@pytest.mark.parametrize(
    "given", [{"ranks": None}, {"ranks": 1}, {"device": "NVIDIA H100 PCIe"}, {"device": "GPU"}]
)
def test_nothing_is_said_where_ranks_or_links_are_not_known(given: dict[str, Any]) -> None:
    assert said(traced(10_000, **given)) == ""


def test_links_of_named_devices() -> None:
    """NVLink of an H100 SXM: 900 GB/s in both directions."""
    links = link_peaks("NVIDIA H100 80GB HBM3")
    assert links is not None and (links.name, links.bytes_per_s) == ("NVLink", 450e9)
    assert link_peaks("NVIDIA A100-SXM4-40GB") is None and link_peaks(None) is None


@pytest.mark.parametrize(("device", "links", "both_gb_per_s"), [
    ("Tesla V100-SXM2-16GB", 6, 50), ("NVIDIA A100-SXM4-80GB", 12, 50),
    ("NVIDIA H100 80GB HBM3", 18, 50), ("NVIDIA H200", 18, 50), ("NVIDIA B200", 18, 100),
    ("AMD Instinct MI300X", 7, 128), ("AMD Instinct MI325X", 7, 128),
    ("AMD Instinct MI355X", 7, 153.6),
    ("Tesla T4", 1, 32), ("NVIDIA L4", 1, 64), ("NVIDIA A10", 1, 64), ("NVIDIA L40S", 1, 64),
])  # fmt: skip
def test_rates_are_those_of_all_links_in_one_direction(
    device: str, links: int, both_gb_per_s: float
) -> None:
    found = link_peaks(device)
    assert found is not None and found.bytes_per_s == pytest.approx(links * both_gb_per_s / 2 * 1e9)


@pytest.mark.parametrize("page", ["devices.md", "zh/devices.md"])
def test_the_docs_have_the_rates_of_links(page: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / page).read_text(encoding="utf-8")
    for name in ("H200", "MI300X", "MI355X", "T4", "V100-SXM2-16GB"):
        links = link_peaks(name)
        assert links is not None
        row = (links.device, links.name, f"{links.bytes_per_s / 1e9:g}", links.source)
        assert f"| {' | '.join(row)} |" in text
