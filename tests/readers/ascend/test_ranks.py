"""Which rank an Ascend recording is of, its groups, and when data moved in its collectives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.job import Group, Job
from fusescope.analysis.readers import read
from fusescope.analysis.readers.ascend.ranks import job_of_facts, read_metadata
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation.blocks import blocks_said

KERNELS = (
    "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
    "7,0,MatMul_1,MatMulV2,AI_CORE,1000,50\n"
    "7,0,hcom_allReduce__170_1_1,hcom_allReduce_,COMMUNICATION,1050,100\n"
    "7,0,hcom_send__128_4_1,hcom_send_,COMMUNICATION,1150,20\n"
)
INFO = b'{"config": {"experimental_config": {"_profiler_level": "Level1"}}, "rank_id": "6"}'
METADATA = json.dumps(
    {
        "parallel_group_info": {
            "10.1.2.3%eth0_60000_0_17": {
                "group_name": "default_group", "group_rank": 6, "global_ranks": list(range(8)),
            },
            "10.1.2.3%eth0_60001_0_18": {
                "group_name": "pp", "group_rank": 1, "global_ranks": [2, 6],
            },
        },
        "distributed_args": {"pipeline_model_parallel_size": 2, "rank": 6},
    }
).encode()  # fmt: skip


def transfers(all_reduce_ms: float = 0.1) -> bytes:
    """The times of both: data move for 60 of the 100 us of the first, and never in the second."""

    def task(elapsed: float, sdma: float, rdma: float) -> dict[str, object]:
        links = {"SDMA": sdma, "HCCS": sdma, "RDMA": rdma}
        return {
            "Communication Time Info": {"Elapse Time(ms)": elapsed, "Wait Time(ms)": 0.0},
            "Communication Bandwidth Info": {
                way: {"Transit Size(MB)": 1.0, "Transit Time(ms)": time}
                for way, time in links.items()
            },
        }

    tasks = {
        "p2p": {"hcom_send__128_4_1@4000000128": task(0.02, 0.0, 0.0)},
        "collective": {"hcom_allReduce__170_1_1@5000000170": task(all_reduce_ms, 0.04, 0.02)},
    }
    return json.dumps({"step7": tasks}).encode()


def trace_of(**beside: bytes) -> Trace:
    sources = tuple(Source(name, data) for name, data in beside.items())
    trace = read(Source("kernel_details.csv", KERNELS.encode(), beside=sources))
    assert isinstance(trace, Trace)
    return trace


def test_rank_world_stage_and_groups_are_what_the_files_say() -> None:
    trace = trace_of(**{"profiler_info_6.json": INFO, "profiler_metadata.json": METADATA})
    job = trace.meta.job
    assert job is not None
    assert (job.rank, job.world, job.stage) == (6, 8, (2, 2))
    assert [(group.purpose, group.ranks) for group in job.groups] == [
        ("default_group", tuple(range(8))), ("pp", (2, 6)),
    ]  # fmt: skip
    assert job.ids == tuple(group.name for group in job.groups)
    assert "10.1" not in repr(job)  # the address of a machine is in the name of a communicator
    assert {"profiler_metadata.json", "profiler_info_6.json"} <= set(trace.meta.files)


def test_a_rank_that_is_not_known_is_none() -> None:
    assert trace_of().meta.job is None
    unknown = INFO.replace(b'"6"', b"-1")
    assert trace_of(**{"profiler_info.json": unknown}).meta.job is None
    assert trace_of(**{"profiler_info_3.json": unknown}).meta.job == Job(3)


def test_time_without_a_transfer_is_known_of_each_collective() -> None:
    trace = trace_of(**{"communication.json": transfers()})
    assert trace.collectives is not None
    table = trace.collectives.table
    assert table["transfer_ns"].tolist() == [60_000, 0]
    assert table["kind"].tolist() == ["all_reduce", "send_receive"]
    assert table["members"].tolist() == ["5000000170", "4000000128"]
    assert trace.meta.job == Job(ids=("4000000128", "5000000170"))
    calls = trace.calls.set_index("source_row")
    assert calls.loc[table["source_row"], "dur_ns"].tolist() == [100_000, 20_000]


def test_a_collective_is_told_with_its_transfer_apart_from_its_wait() -> None:
    """SDMA and RDMA carry 1 MB each in 60 of 100 us: 2 MB / 60 us = 33.3 GB/s. HCCS is a part of
    SDMA. Of what never moved data no rate is known."""
    found = explain_trace(trace_of(**{"communication.json": transfers()}))
    assert found is not None
    by_name = {one.name: (one.transfer_ns, one.link_bytes_per_s) for one in found.collectives}
    assert by_name["send"] == (None, None)
    assert by_name["allReduce"] == (60_000, pytest.approx(33.333e9, rel=1e-4))
    told = " ".join(map(str, blocks_said(found)))
    assert (
        "allReduce (100 µs; data moves for 60.0 µs of it, at 33.3 GB/s) and send (20.0 µs). How "
        "long data moves, and at what rate over the links of this rank, is what the profiler "
        "counts."
    ) in told
    without = explain_trace(trace_of())
    assert without is not None and "data moves" not in " ".join(map(str, blocks_said(without)))


def test_times_of_another_recording_are_not_taken() -> None:
    other = transfers(9.0).replace(b'"Elapse Time(ms)": 0.02', b'"Elapse Time(ms)": 3.0')
    trace = trace_of(**{"communication.json": other})
    assert trace.collectives is None and trace.meta.job is None
    assert "communication.json" not in trace.meta.files


@given(st.dictionaries(st.sampled_from(["parallel_group_info", "distributed_args"]), st.binary()))
def test_any_facts_give_a_job_or_none(facts: dict[str, bytes]) -> None:
    found = job_of_facts(facts)
    assert found is None or (found.world or 1) > 0


@pytest.mark.parametrize("data", [b"", b"[]", b'{"parallel_group_info": 3}', b"{"])
def test_damaged_metadata_says_nothing(data: bytes) -> None:
    assert read_metadata(Source("profiler_metadata.json", data)) is None


def test_groups_without_a_purpose_have_no_stage() -> None:
    facts = {"parallel_group_info": b'{"a": {"group_name": "", "global_ranks": [0, 1, -4]}}'}
    job = job_of_facts(facts)
    assert job is not None and job.groups == (Group(job.ids[0], "", (0, 1)),)
    assert job.world is None and job.stage is None
