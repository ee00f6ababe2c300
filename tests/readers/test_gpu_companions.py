"""Files of GPU profilers without operators, given alone: one sentence each."""

from __future__ import annotations

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.companions import companion
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.input.source import Source
from tests import miniatures

HEADS = {
    "Start (ns),End (ns),Duration (ns),DurChild (ns),Name,PID,TID,Lvl,RangeId": "ranges",
    "Time (%),Total Time (ns),Instances,Avg (ns),Style,Range": "ranges",
    "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Name": "calls on the host",
    "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid": "calls on the host",
    "API Start (ns),API Dur (ns),Kernel Start (ns),Kernel Dur (ns),Kernel Name": "to end",
    '"Guid","Domain","Function","Process_Id","Start_Timestamp","End_Timestamp"': "on the host",
    '"Name","Calls","TotalDurationNs","AverageNs"\n"HIP_API",13,458514859,352': "whole domains",
    '"Name","Calls","TotalDurationNs","AverageNs"\n"hipFree",13,458514859,352': "on the host",
    '"Kind","Direction","Stream_Id","Start_Timestamp","End_Timestamp"': "copies of memory",
    '"Dispatch_Id","Kernel_Name","Counter_Name","Counter_Value"': "counters",
    '"Node_Id","Logical_Node_Id","Agent_Type","Cpu_Cores_Count"': "devices",
    "Timestamp (s), Event Type, Name, Process": "pipit",
    "Name,streamId,type,bytes,Trace Type,Event Type,Timestamp (ns)": "pipit",
}
DOCUMENTS = {
    '{"performance_summary": {"Throughput": 1.5}, "device_information": {}}': "trtexec",
    '{"model_options": {"Format": "ONNX"}, "device_information": {"SMs": 1}}': "trtexec",
    '[{"Name": "NVIDIA X", "ComputeCapability": [7, 5], "TotalMemory": 1}]': "devices",
    '{"schema": "1.0.1", "pid": 1, "nodes": [{"name": "aten::mm", "id": 2}]}': "execution trace",
    " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n Total Time (ns)  Name": "printed",
    "== Run Order ==\n\t[node type]\t[start]\t[first]\t[avg ms]\t[%]\t[Name]": "printed summary",
}


@pytest.mark.parametrize(("text", "holds"), [*HEADS.items(), *DOCUMENTS.items()])
def test_it_says_what_the_file_is_and_what_to_give(text: str, holds: str) -> None:
    data = (text + ("\n" if "\n" in text else "\n1,2,3\n")).encode()
    assert not any(reader.sniff(data) for reader in READERS)
    with pytest.raises(FuseScopeError, match=holds) as caught:
        read(Source("x", data))
    assert caught.value.hint and "\n" not in caught.value.text


def test_no_main_file_is_taken_for_one() -> None:
    for reader in miniatures.FORMATS:
        assert companion(miniatures.main_file(reader).head) is None, reader.name
    for data in (b"", b"{}", b"[]", b"\x00\x01", b"a,b\n1,2\n"):
        assert companion(data) is None
