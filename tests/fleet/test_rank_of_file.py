"""Which rank a trace is of, and what its collectives are."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.identity import compiled, job_of
from fusescope.analysis.fleet.ingest import ingest_rank
from fusescope.analysis.fleet.tables import COLLECTIVES, STEPS
from fusescope.analysis.job import Group, Job
from fusescope.analysis.ranks.kinds import kind_of
from fusescope.analysis.ranks.names import rank_in
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.pytorch.units.collectives import job_of_header
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.fleet.sentences import ranks_text

ROOT = Path(__file__).resolve().parents[2]
USUAL = compiled(None)


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank3.json", 3), ("profile_trace_rank_12.json.gz", 12), ("worker0.pt.trace.json", 0),
        ("run/gpu-7/trace.json", 7), ("r15.json", 15), ("node3_rank_2/t.json", 2),
        ("trace.json", None), ("forward5.json", None), ("rank.json", None), ("rank1234567", None),
    ],
)  # fmt: skip
def test_rank_in_a_name(name: str, rank: int | None) -> None:
    assert rank_in(name, USUAL) == rank


def test_a_pattern_of_the_user_names_the_rank() -> None:
    assert rank_in("a-4-x.json", compiled(r"a-(\d+)")) == 4
    assert rank_in("n8-g3.json", compiled(r"n(\d+)-g(?P<rank>\d+)")) == 3


EVENT = (
    b'{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2, '
    b'"args": {"External id": 1}}'
)


def trace_of(data: bytes, name: str = "trace.json", *beside: Source) -> tuple[Trace, Source]:
    source = Source(name, data, beside=beside)
    trace = read(source)
    assert isinstance(trace, Trace)
    return trace, source


def test_the_header_says_it_in_front_and_behind() -> None:
    info = b'"distributedInfo": {"backend": "nccl", "x": "}{", "rank": 5, "world_size": 8, '
    info += b'"pg_config": [{"pg_name": "0", "pg_desc": "mesh_pp", "ranks": [0, 5]}]}'
    sign = b'"schemaVersion": 1, "trace_id": "AB12", '
    events = b'"traceEvents": [' + EVENT + b"]"
    for data in (sign + info + b", " + events, sign + events + b", " + info):
        job = job_of(*trace_of(b"{" + data + b"}", "rank1.json"), USUAL)
        assert job == Job(5, 8, (Group("0", "mesh_pp", (0, 5)),), ("AB12",))
        assert job.stage == (2, 2)


def test_without_a_word_of_the_job_the_name_is_what_there_is() -> None:
    data = b'{"schemaVersion": 1, "with_stack": 0, "traceEvents": [' + EVENT + b"]}"
    trace, source = trace_of(data, "rank4.json")
    assert trace.meta.job is None
    assert job_of(trace, source, USUAL) == Job(4)
    with pytest.raises(FuseScopeError, match="Nothing tells which rank"):
        job_of(*trace_of(data, "trace.json"), USUAL)


@pytest.mark.parametrize(
    ("purpose", "stage"),
    [
        ("PIPELINE_MODEL_PARALLEL_GROUP", (2, 2)), ("mesh_pp", (2, 2)), ("pp", (2, 2)),
        ("default_pg", None), ("TENSOR_MODEL_PARALLEL_GROUP", None), ("dp_cp", None),
        ("tp_pp", None), ("apple", None), ("undefined", None),
    ],
)  # fmt: skip
def test_a_stage_is_the_place_in_a_group_of_the_pipeline(
    purpose: str, stage: tuple[int, int] | None
) -> None:
    assert Job(6, 8, (Group("1", purpose, (2, 6)),)).stage == stage
    assert Job(5, 8, (Group("1", purpose, (2, 6)),)).stage is None


@given(st.binary(max_size=200))
def test_any_header_gives_a_job_or_none(tail: bytes) -> None:
    found = job_of_header(msgspec.Raw(b"{" + tail), msgspec.Raw(tail))
    assert found is None or found.rank is None or found.rank >= 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "reduce_scatter"),
        ("ncclKernel_AllGather_RING_LL_Sum_int8_t", "all_gather"),
        ("hcom_allReduce_", "all_reduce"),
        ("ncclDevKernel_SendRecv", "send_receive"),
        ("gloo:all_reduce", "all_reduce"),
        ("all_to_allv", "all_to_all"),
        ("something", "other"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_every_format_with_a_rank_in_its_name_is_read(tmp_path: Path) -> None:
    """Files of any profiler have tables, if nothing more than their rows."""
    for place, name in enumerate(("kineto", "onnxruntime")):
        [path] = sorted((ROOT / "sample_traces" / "formats" / name).glob("*.json"))[:1]
        copy = tmp_path / f"rank{place}.json"
        copy.write_bytes(path.read_bytes())
        found = ingest_rank(copy)
        steps = found.tables[STEPS]
        known = steps[steps["split_ns"].notna()]
        parts = known["computing_ns"] + known["uncovered_ns"] + known["free_ns"]
        assert (parts == known["split_ns"]).all()
        assert found.tables[COLLECTIVES]["dur_ns"].ge(0).all()


def test_ranks_as_text() -> None:
    assert ranks_text([3, 1, 2, 9, 5, 6]) == "1-3, 5, 6 and 9"
    assert ranks_text([4]) == "4"
    assert ranks_text(range(0, 60, 2)).endswith("and …")
