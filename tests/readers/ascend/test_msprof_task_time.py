"""msprof task_time: kernels with begin and end, everything else counted."""

from __future__ import annotations

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.ascend.task_time import TASK_TIME
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence

HEAD = "kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"


def read(text: str) -> Trace:
    reader = TASK_TIME
    source = Source("task_time.csv", text.encode())
    assert reader.sniff(source.head)
    return reader.read(source)


def test_times_are_exact_and_other_tasks_counted() -> None:
    trace = read(
        HEAD
        + "N/A,PROFILING_ENABLE,1,0,0.020,1780676228921483.380\t,1780676228921483.400\t\n"
        + "main_kernel,MIX_AIC,2,0,87141.961,1780676244313287.421\t,1780676244400429.382\t\n"
        + "N/A,MEMCPY_ASYNC,2,1,1.000,1780676244400430.000\t,1780676244400431.000\t\n"
        + "hcom_allReduce__1,HCCL,N/A,N/A,5.000,1780676244400440.001\t,1780676244400445.001\t\n"
        + "N/A,KERNEL_AICPU,2,2,3.000,1780676244400450.000\t,1780676244400453.000\t\n"
    )
    assert trace.operators["name"].tolist() == ["main_kernel", "hcom_allReduce__1", "KERNEL_AICPU"]
    assert trace.calls["start_ns"].tolist() == [
        1780676244313287421, 1780676244400440001, 1780676244400450000,
    ]  # fmt: skip
    assert trace.calls["dur_ns"].tolist() == [87141961, 5000, 3000]
    assert trace.operators["is_communication"].tolist() == [False, True, False]
    notes = {note.code: note for note in trace.diagnostics}
    assert (notes["not_operators"].count, notes["not_operators"].example) == (2, "PROFILING_ENABLE")
    assert "contradiction" not in notes


def test_begin_and_end_that_disagree_with_the_time_are_noted() -> None:
    trace = read(
        HEAD + "good,AI_CORE,2,0,1.000,10.000,11.001\n" + "bad,AI_CORE,2,1,1.000,20.000,21.002\n"
    )
    [note] = [note for note in trace.diagnostics if note.code == "contradiction"]
    assert (note.count, str(note.example)) == (1, "bad: task_time is off by 2.00 ns")


def test_dates_in_the_column_of_times_are_no_times() -> None:
    rows = "".join(f"k,AI_CORE,2,{n},1760000000000000.0,{n or 'N/A'},\n" for n in range(9))
    with pytest.raises(FuseScopeError, match="valid time"):  # nobody runs for 55 years
        read(HEAD + rows)
    trace = read(HEAD + rows + "k,AI_CORE,2,1,5.0,2,\n")
    assert trace.calls["dur_ns"].tolist() == [5000]
    assert {note.code: note.count for note in trace.diagnostics}["bad_time"] == 9


def test_devices_of_one_table_are_traces_of_their_own() -> None:
    """2 and 4 µs on one, 3 on the other; one that tells no device stands with the first."""
    rows = "0,a,AI_CORE,2,0,2.0,10.0,\n1,a,AI_CORE,2,0,3.0,10.0,\n0,b,AI_CORE,2,1,4.0,20.0,\n"
    trace = read(f"Device_id,{HEAD}{rows}")
    assert list(trace.units) == ["device:0", "device:1"]
    assert [one.calls["dur_ns"].tolist() for one in trace.units.values()] == [[2000, 4000], [3000]]
    assert {note.code for note in trace.diagnostics} == {"one_of_devices", "no_runs"}
    trace = read(f"Device_id,{HEAD}{rows},c,AI_CORE,2,2,8.0,30.0,\n")
    assert [int(one.calls["dur_ns"].sum()) for one in trace.units.values()] == [14_000, 3000]
    (note,) = [note for note in trace.diagnostics if note.code == "units_untold"]
    assert (note.count, note.values) == (1, {"unit": "device:0"})
    assert diagnostic_sentence(note).endswith("It was counted with device:0.")
