"""Files side by side: what says the same is left aside, what does not is a recording of its own."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.readers import find, read
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.recordings import Found
from fusescope.analysis.report.exports.ascend_tables import ascend_tables
from fusescope.analysis.trace import Meta, Trace
from tests import miniatures

EPOCH_NS = 1_736_408_883_704_643_212
NAMES = ("Conv2D", "Relu", "MatMul", "Softmax")


def kernels(*, start_ns: int = EPOCH_NS, slower: int = 0, prefix: str = "aclnn") -> Trace:
    """40 kernels, each 30 µs after the one before it; of another rank they last longer."""
    count = 40
    names = [NAMES[place % 4] for place in range(count)]
    columns: dict[str, list[object]] = {
        "name": [f"{prefix}{name}_{place}" for place, name in enumerate(names)],
        "op_type": [f"{prefix}{name}" for name in names],
        "provider": ["AI_CORE"] * count,
        "stream": ["2"] * count,
        "start_ns": [start_ns + place * (30_000 + slower) for place in range(count)],
        "dur_ns": [9_137 + place * 211 + slower for place in range(count)],
    }
    return build_trace(Meta(format="test", tool="test"), columns)


def table(trace: Trace) -> Source:
    return Source("kernel_details.csv", ascend_tables(trace).files["kernel_details.csv"])


def statistic(trace: Trace) -> Source:
    return Source("op_statistic.csv", ascend_tables(trace).files["op_statistic.csv"])


def timeline(trace: Trace, digits: int = 3) -> Source:
    """The calls as a trace_view.json, its times with so many digits behind the µs."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in ((1, "Ascend Hardware"), (2, "Python"))
    ]
    names = trace.operators["name"].astype("object").tolist()
    for operator, start, dur in zip(
        trace.calls["operator"], trace.calls["start_ns"], trace.calls["dur_ns"], strict=True
    ):
        us = f"{int(start) // 1000}.{int(start) % 1000:03d}"
        events.append(
            {
                "ph": "X", "name": names[operator], "pid": 1, "tid": 2,
                "ts": us[: len(us) - 3 + digits], "dur": int(dur) / 1000,
                "args": {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": 7},
            }
        )  # fmt: skip
    return Source("trace_view.json", json.dumps(events).encode())


def formats(found: Found) -> list[str]:
    return [
        recording.value.meta.format
        for recording in found.recordings
        if isinstance(recording.value, Trace)
    ]


def flat(*sources: Source) -> Found:
    found = find(sources)
    assert not found.failed and not found.unknown
    return found


@pytest.mark.parametrize("digits", [3, 1])
def test_the_timeline_of_the_same_kernels_is_left_aside(digits: int) -> None:
    """With exact times and with rounded ones."""
    found = flat(timeline(kernels(), digits), table(kernels()))
    assert formats(found) == ["ascend_kernel_details"]
    assert found.covered == ("trace_view.json",)


@pytest.mark.parametrize(
    "stranger",
    [
        kernels(start_ns=EPOCH_NS + 3_600 * 10**9),  # recorded an hour later
        kernels(start_ns=EPOCH_NS + 2_317, slower=977),  # another rank, at the same time
        kernels(prefix="other", start_ns=EPOCH_NS + 3_600 * 10**9),  # another model
    ],
    ids=["later", "rank", "model"],
)
def test_the_timeline_of_other_kernels_is_a_recording(stranger: Trace) -> None:
    found = flat(timeline(stranger), table(kernels()))
    assert formats(found) == ["ascend_kernel_details", "ascend_trace_view"]
    assert not found.covered
    read_alone = read(timeline(stranger))
    assert isinstance(read_alone, Trace)
    other = found.recordings[1].value
    assert isinstance(other, Trace) and len(other.calls) == len(read_alone.calls) == 40


def test_each_of_two_ranks_leaves_its_own_timeline_aside() -> None:
    ranks = [kernels(), kernels(start_ns=EPOCH_NS + 2_317, slower=977)]
    sources = [
        Source(source.name, source.data, path=f"{place}_{source.name}")
        for place, rank in enumerate(ranks)
        for source in (timeline(rank), table(rank))
    ]
    found = flat(*sources)
    assert formats(found) == ["ascend_kernel_details"] * 2
    assert sorted(found.covered) == ["0_trace_view.json", "1_trace_view.json"]


def test_totals_of_other_kernels_are_a_recording() -> None:
    same = flat(timeline(kernels()), statistic(kernels()))
    assert formats(same) == ["ascend_trace_view"]
    for stranger in (kernels(prefix="other", slower=40), kernels(slower=977)):
        found = flat(table(kernels()), statistic(stranger), table(stranger))
        assert formats(found) == ["ascend_kernel_details"] * 2, "it lies beside its own kernels"
    stranger = kernels(prefix="other", slower=40)
    found = flat(timeline(kernels()), statistic(stranger))
    assert formats(found) == ["ascend_trace_view", "ascend_op_statistic"]


def test_clocks_that_count_from_other_moments_are_brought_together() -> None:
    sources = miniatures.files(
        next(one for one in miniatures.FORMATS if one.name == "mindspore_legacy_display")
    )
    [display] = [read(source) for source in sources]
    assert isinstance(display, Trace)
    operators = display.operators["name"].astype("object").tolist()
    rows = [
        f"{operators[call.operator]},5,{438068 + call.start_ns / 1e6:.6f},{call.dur_ns / 1e6:.6f}"
        for call in display.calls.itertuples()
    ]
    head = "op_name, stream_id, start_time(ms), duration(ms)"
    own = Source("output_timeline_data_0.txt", "\n".join([head, *rows, ""]).encode())
    found = flat(own, *sources)
    assert formats(found) == ["mindspore_legacy"] and len(found.covered) == 1
    later = [
        row.replace(row.split(",")[2], f"{438068 + place * 1.5:.6f}")
        for place, row in enumerate(rows)
    ]
    other = Source("output_timeline_data_0.txt", "\n".join([head, *later, ""]).encode())
    assert formats(flat(other, *sources)) == ["mindspore_legacy", "mindspore_legacy_display"]


def test_a_damaged_file_is_told_and_not_left_aside() -> None:
    hour = 3_600 * 10**9
    good = timeline(kernels(start_ns=EPOCH_NS + hour))
    broken = Source(good.name, good.data.replace(b'"Task Type"', b'"Type"'))  # no operators
    found = find([table(kernels()), broken])
    assert not found.covered
    assert [path for path, _ in found.failed] == ["trace_view.json"]


def test_the_folder_of_the_profiler_is_believed() -> None:
    stranger = kernels(start_ns=EPOCH_NS + 3_600 * 10**9)
    sources = [
        Source(source.name, source.data, path=f"run_ascend_pt/ASCEND_PROFILER_OUTPUT/{source.name}")
        for source in (table(kernels()), timeline(stranger))
    ]
    assert formats(flat(*sources)) == ["ascend_kernel_details"]
    moved = Source("trace_view.json", timeline(stranger).data, path="b_ascend_pt/trace_view.json")
    assert formats(flat(sources[0], moved)) == ["ascend_kernel_details", "ascend_trace_view"]


def test_a_real_recording_whatever_its_folder_is_called(shared_traces: Path) -> None:
    folder = shared_traces / "third_party" / "ascend_torch_npu" / "2025-01-level1-rank0"
    sources = [Source(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
    found = find(sources)
    assert formats(found) == ["ascend_kernel_details"] and found.covered == ()
    assert "trace_view.json" in found.recordings[0].files, "for what the host did"
    of_host = re.compile(
        rb"aclrt|data_type|CANN|Python|cpu_op|python_function|(?:en|de)queue(?=\")"
    )
    without = [Source(one.name, of_host.sub(b"other", one.data)) for one in sources]
    assert find(without).covered == ("trace_view.json",)
    trace = found.recordings[0].value
    assert isinstance(trace, Trace)
    shifted = replace(
        trace, calls=trace.calls.assign(start_ns=trace.calls["start_ns"] + 86_400 * 10**9)
    )
    other = [source for source in sources if source.name != "kernel_details.csv"]
    assert formats(find([table(shifted), *other]))[:2] == [
        "ascend_kernel_details", "ascend_trace_view",
    ]  # fmt: skip
