"""Lanes: their names, their order, and which of them are folded."""

from __future__ import annotations

import numpy as np
import pytest

from fusescope.analysis.messages.language import speaking
from fusescope.analysis.timeline.lane import lane_name, lanes, spoken_name
from fusescope.analysis.trace import calls_frame


@pytest.mark.parametrize(
    ("device", "stream", "format_", "name"),
    [
        ("0", "7", "kineto", "GPU 0, stream 7"),
        ("NVIDIA A10G (1)", "13", "nsys_db", "GPU 1, stream 13"),
        ("0", "2", "ascend_kernel_details", "NPU 0, stream 2"),
        ("", "2", "ascend_trace_view", "NPU, stream 2"),
        ("", "Group 0 Communication", "ascend_trace_view", "NPU, Group 0 Communication"),
        ("", "stream 519", "mindspore_legacy", "NPU, stream 519"),
        ("CPU", "thread 4711", "onnxruntime", "CPU, thread 4711"),
        ("GPU:0", "Stream #14(Compute)", "xplane", "GPU 0, stream 14 (Compute)"),
        ("worker", "io", "chrome_trace", "worker, io"),
        ("", "1", "tensorrt_profile", "GPU, stream 1"),
        ("", "", "chrome_trace", ""),
    ],
)
def test_a_lane_is_called_as_its_users_call_it(
    device: str, stream: str, format_: str, name: str
) -> None:
    assert lane_name(device, stream, format_) == name


def test_a_lane_of_communication_alone_says_so() -> None:
    assert lane_name("0", "", "ascend_op_summary", is_communication=True) == "NPU 0, communication"
    assert lane_name("0", "3", "ascend_op_summary", is_communication=True) == "NPU 0, stream 3"


def found(streams: list[tuple[str | None, int]]) -> tuple[list[tuple[str, int, bool]], list[int]]:
    """Lanes of calls with these streams and durations, on GPU 0."""
    calls = calls_frame(
        operator=[0] * len(streams),
        device=["0"] * len(streams),
        stream=[stream for stream, _ in streams],
        start_ns=list(range(len(streams))),
        dur_ns=[dur for _, dur in streams],
    )
    made, index = lanes(calls, np.zeros(len(streams), dtype=bool), "kineto")
    return [(lane.label, lane.calls, lane.is_small) for lane in made], [int(at) for at in index]


def test_streams_stand_in_the_order_of_their_numbers() -> None:
    made, index = found([("20", 5), ("7", 5), (None, 5), ("20", 5)])
    assert made == [
        ("GPU 0", 1, False),
        ("GPU 0, stream 7", 1, False),
        ("GPU 0, stream 20", 2, False),
    ]
    assert index == [2, 1, 0, 2]


def test_communication_has_a_lane_of_its_own_where_streams_are_not_told() -> None:
    def labels(streams: list[str | None]) -> tuple[list[str], list[int]]:
        calls = calls_frame(
            operator=[0] * 3,
            device=[None] * 3,
            stream=streams,
            start_ns=[0, 5, 20],
            dur_ns=[10, 10, 10],
        )
        is_communication = np.array([False, True, False])
        made, index = lanes(calls, is_communication, "ascend_kernel_details")
        return [lane.label for lane in made], [int(at) for at in index]

    assert labels([None] * 3) == (["NPU", "NPU, communication"], [0, 1, 0])
    # A stream that the file names runs one after the other, whatever it runs.
    assert labels(["7"] * 3) == (["NPU, stream 7"], [0, 0, 0])


def test_lanes_of_nearly_nothing_are_folded_where_there_are_several() -> None:
    # 4 of 1000 ns are less than half a per cent, 6 are not.
    made, _ = found([("1", 986), ("2", 4), ("3", 4), ("4", 6)])
    assert [small for _, _, small in made] == [False, True, True, False]
    made, _ = found([("1", 996), ("2", 4)])  # one line of text is no shorter than one lane
    assert [small for _, _, small in made] == [False, False]
    assert found([]) == ([], [])


@pytest.mark.parametrize(
    ("name", "chinese"),
    [
        ("GPU 0, stream 7", "GPU 0, 流 7"),
        ("GPU 0, stream 14 (Compute)", "GPU 0, 流 14 (Compute)"),
        ("CPU, thread 4711", "CPU, 线程 4711"),
        ("NPU 0, communication", "NPU 0, 通信"),
        ("worker, io", "worker, io"),
        ("", ""),
    ],
)
@pytest.mark.usefixtures("translations")
def test_lanes_are_named_in_the_language_that_is_spoken(name: str, chinese: str) -> None:
    assert spoken_name(name) == name
    with speaking("zh"):
        assert spoken_name(name) == chinese
