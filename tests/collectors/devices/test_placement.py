"""The device of a recording: what may be asked, which devices a worker sees, what is said of it."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.recording import placing
from fusescope.collectors.workers import nvidia_smi, visible
from fusescope.collectors.workers.jobs import Lane
from fusescope.collectors.workers.placement import Placement
from fusescope.collectors.workers.rounds import interleaved


@pytest.mark.parametrize(
    ("placement", "runtime", "expected"),
    [
        ({"device": "cdua"}, "torch", "Did you mean 'cuda'?"),
        ({"device": "cuda:"}, "torch", "There is no device cuda: for a recording"),
        ({"device": "cpu:0"}, "torch", "There is no device cpu:0 for a recording"),
        ({"device": "xpu"}, "jax", "Choose one of cpu, cuda, rocm"),
        ({"device": "cuda", "tf32": True}, "jax", "The engine jax has nothing for the option --tf"),
        ({"device": "cuda", "flush_l2": True}, "jax", "jax has nothing for the option --flush-l2"),
        ({"device": "cuda"}, "onnxruntime", "The engine onnxruntime has nothing for"),
        ({"tf32": False}, "torch", "--tf32 is only for the devices cuda, rocm"),
        ({"tf32": True, "device": "mps"}, "torch", "--tf32 is only for the devices"),
        ({"flush_l2": True}, "torch", "--flush-l2 is only for the devices cuda"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    placement: dict[str, Any], runtime: str, expected: str
) -> None:
    with pytest.raises(FuseScopeError) as told:
        placing.check(Placement(**placement), runtime, is_beside=False)
    assert expected in told.value.text and "\n" not in told.value.text


def test_cuda_graphs_are_for_devices_that_have_them() -> None:
    placing.check_variants(Placement(device="cuda:1"), ["fused", "reduce-overhead"])
    with pytest.raises(FuseScopeError, match="Only the devices cuda, rocm have the variant"):
        placing.check_variants(Placement(), ["reduce-overhead"])


@pytest.mark.parametrize(
    ("device", "own", "expected"),
    [
        ("cuda", {}, {"CUDA_VISIBLE_DEVICES": "0"}),
        ("cuda:1", {}, {"CUDA_VISIBLE_DEVICES": "1"}),
        ("cuda:1", {"CUDA_VISIBLE_DEVICES": "4, 6"}, {"CUDA_VISIBLE_DEVICES": "6"}),
        ("cuda:2", {"CUDA_VISIBLE_DEVICES": "4,6"}, {"CUDA_VISIBLE_DEVICES": ""}),
        ("rocm:3", {"ROCM_PATH": "/r"}, {"ROCM_PATH": "/r", "HIP_VISIBLE_DEVICES": "3"}),
        ("xpu", {}, {"ZE_AFFINITY_MASK": "0"}),
        ("npu:1", {}, {"ASCEND_RT_VISIBLE_DEVICES": "1"}),
        ("mps", {}, {}),
    ],
)
def test_a_worker_sees_the_device_that_is_named_alone(
    monkeypatch: pytest.MonkeyPatch, device: str, own: Mapping[str, str], expected: dict[str, str]
) -> None:
    monkeypatch.setattr(visible.os, "environ", {"HOME": "/", **own})
    assert visible.environment(Placement(device=device)) == expected
    assert visible.environment(Placement(device=device), whole=True) == own
    assert visible.environment(Placement()) is None


def smi(folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, status: int = 0) -> None:
    """A stand-in for nvidia-smi that answers with this line."""
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\necho '{line}'\nexit {status}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_clocks_temperature_and_use_are_what_the_driver_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smi(tmp_path, monkeypatch, "1980, 2619, 34, 71.83, 12, 512, 570.86.15")
    told = nvidia_smi.ask("0")
    assert told is not None and told.driver == "570.86.15"
    state = told.state
    assert (state.clock_mhz, state.memory_clock_mhz, state.temperature_c) == (1980, 2619, 34)
    assert (state.power_w, state.busy, state.used_bytes) == (71.83, 0.12, 512 * 2**20)


@pytest.mark.parametrize(
    ("line", "status", "clock"),
    [
        ("[N/A], [Not Supported], 34, [N/A], 0, 4, 570.86", 0, None),
        ("No devices were found", 6, "nothing"),
        ("1, 2", 0, "nothing"),
    ],
)
def test_what_is_not_readable_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, status: int, clock: str | None
) -> None:
    smi(tmp_path, monkeypatch, line, status)
    told = nvidia_smi.ask("0")
    assert (told is None) == (clock == "nothing")
    assert told is None or (told.state.clock_mhz, told.state.temperature_c) == (None, 34)


class Warming:
    """A session whose runs take what the list says, in ms, by a clock that only it moves."""

    device_ns: int | None = 7

    def __init__(self, clock: list[int], times: list[int]) -> None:
        self.clock, self.times, self.ran = clock, times, 0

    def run(self) -> None:
        self.clock[0] += self.times[min(self.ran, len(self.times) - 1)] * 1_000_000
        self.ran += 1


@pytest.mark.parametrize(
    ("times", "ran"),
    [
        # Alike from the 6th on: with 2 rounds of warm-up before, the last ten are alike after 15.
        ([90, 70, 50, 40, 30, 20], 15),
        ([20], 12),
        ([20, 40] * 200, 102),  # never: the most rounds
    ],
)
def test_sessions_are_warmed_up_until_their_times_are_steady(
    monkeypatch: pytest.MonkeyPatch, times: list[int], ran: int
) -> None:
    from fusescope.collectors.workers import rounds

    clock = [0]
    monkeypatch.setattr(rounds.time, "perf_counter_ns", lambda: clock[0])
    session = Warming(clock, times)
    lane = Lane("fused", 1)
    [runs] = interleaved([lane], [[lane]] * 3, 2, lambda lane: session, settles=True)
    assert session.ran == ran + 3
    assert runs.device_ns == [7, 7, 7]
    assert len(runs.wall_ns) == 3


def test_where_a_session_has_no_clock_of_a_device_there_are_no_times_of_it() -> None:
    session = Warming([0], [1])
    session.device_ns = None
    lane = Lane("fused", 1)
    [runs] = interleaved([lane], [[lane]] * 2, 1, lambda lane: session)
    assert runs.device_ns is None and session.ran == 3
