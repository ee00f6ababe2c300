"""Which rank a trace is of, and what its collectives are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import FuseScopeError
from analysis.fleet.communication import kind_of
from analysis.fleet.identity import compiled, identity_of, rank_in
from analysis.fleet.ingest import ingest_rank
from analysis.fleet.tables import COLLECTIVES, STEPS
from analysis.readers.input.source import Source
from analysis.wording.fleet.sentences import ranks_text

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


def test_the_header_says_it_in_front_and_behind() -> None:
    info = b'"distributedInfo": {"backend": "nccl", "x": "}{", "rank": 5, "world_size": 8, '
    info += b'"pg_config": [{"pg_name": "0", "ranks": [0, 5]}]}'
    for data in (b"{" + info + b', "traceEvents": []}', b'{"traceEvents": [], ' + info + b"}"):
        found = identity_of(Source("rank1.json", data), USUAL)
        assert (found.rank, found.world, dict(found.groups)) == (5, 8, {"0": (0, 5)})


def test_ascends_settings_beside_say_it_and_else_nothing() -> None:
    beside = Source("profiler_info_3.json", b'{"rank_id": "6"}')
    main = Source("kernel_details.csv", b"Name", beside=(beside,))
    assert identity_of(main, USUAL).rank == 6
    with pytest.raises(FuseScopeError, match="Nothing tells which rank"):
        identity_of(Source("kernel_details.csv", b"Name"), USUAL)


@given(st.binary(max_size=200))
def test_any_header_gives_a_rank_or_none(tail: bytes) -> None:
    found = identity_of(Source("rank4.json", b'{"distributedInfo": {' + tail), USUAL)
    assert found.rank is not None and found.rank >= 0


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
