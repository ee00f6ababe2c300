"""What the arguments of kernels say of collectives."""

from __future__ import annotations

import json

import pandas as pd

from fusescope.analysis.ranks.aligned import aligned
from fusescope.analysis.ranks.collectives import collectives
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace


def kernel(name: str, start: int, **args: object) -> dict[str, object]:
    return {
        "ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": 5,
        "args": {"device": 0, "stream": 7, "correlation": start, **args},
    }  # fmt: skip


def trace_of(*events: dict[str, object]) -> Trace:
    groups = [{"pg_name": "9", "pg_desc": "mesh_dp", "ranks": [0, 1, 2, 3]}]
    info = {"rank": 1, "world_size": 4, "pg_config": groups}
    file = {"schemaVersion": 1, "distributedInfo": info, "traceEvents": list(events)}
    trace = read(Source("trace.json", json.dumps(file).encode()))
    assert isinstance(trace, Trace)
    return trace


def test_group_ranks_size_and_number_come_from_the_arguments() -> None:
    trace = trace_of(
        kernel("gemm", 10),
        kernel(
            "ncclDevKernel_Generic(4)", 20,
            **{
                "Collective name": "_allgather_base", "In msg nelems": 100, "Out msg nelems": 400,
                "Group size": 4, "dtype": "BFloat16", "Process Group Name": "9",
                "Process Group Ranks": "[0, 1, ...]", "Seq": 12,
            },
        ),
        kernel(
            "ncclDevKernel_SendRecv", 30,
            **{
                "Collective name": "send", "In msg nelems": 50, "dtype": "Float", "Group size": 4,
                "Process Group Name": "9", "Src Rank": 1, "Dst Rank": 3, "Seq": 13,
            },
        ),
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 40),
    )  # fmt: skip
    table = collectives(trace)
    assert table["kind"].tolist() == ["all_gather", "send_receive", "all_reduce"]
    assert table["group"].tolist() == ["9", "9 [1,3]", ""]
    assert table["members"].tolist() == ["0,1,2,3", "1,3", ""]
    # the whole of what the group moves: 400 x 2 bytes, 50 x 4 bytes, not known
    assert table["bytes"].tolist()[:2] == [800, 200] and table["bytes"].isna().tolist()[2]
    assert table["index"].tolist() == [12, 13, 0]
    assert table["is_pair"].tolist() == [False, True, False]
    assert table["start_ns"].diff().tolist()[1:] == [10_000, 10_000]


def test_without_arguments_nothing_is_kept_of_collectives() -> None:
    assert trace_of(kernel("ncclDevKernel_AllReduce", 10)).collectives is None
    odd = kernel("ncclDevKernel_AllReduce", 10, **{"Collective name": "", "Group size": []})
    assert collectives(trace_of(odd))["kind"].tolist() == ["all_reduce"]


def test_without_numbers_collectives_of_a_group_count_in_order() -> None:
    def collective(name: str, start: int) -> dict[str, object]:
        said = {"Collective name": name, "Group size": 4, "Process Group Name": "9"}
        return kernel("ncclDevKernel_Generic(4)", start, **said)

    trace = trace_of(
        collective("broadcast", 10), collective("allreduce", 20), collective("allreduce", 30)
    )
    table = collectives(trace)
    assert table["index"].tolist() == [0, 1, 2] and not table["is_numbered"].any()
    both = pd.concat([table.assign(rank=rank, step=-1) for rank in (0, 1)], ignore_index=True)
    assert len(aligned(both).table) == 3 and aligned(both).left_out == 0
