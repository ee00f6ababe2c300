"""ONNX Runtime profiles: what is read, what is repaired, what is refused."""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.factories import (
    BN,
    CONV,
    GEMM,
    RELU,
    UNFUSED_OPERATORS,
    node_event,
    profile_events,
    profile_json,
    session_event,
)

SAMPLES = Path(__file__).resolve().parents[3] / "sample_traces"


def read_bytes(data: bytes, name: str = "profile.json") -> Trace:
    trace = read(Source(name, data))
    assert isinstance(trace, Trace)
    return trace


def as_bytes(events: object) -> bytes:
    return json.dumps(events).encode()


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_runs_operators_and_calls_are_those_of_the_file() -> None:
    trace = read_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    assert len(trace.runs) == 3
    assert list(trace.runs["dur_ns"]) == [210_000] * 3  # 100 + 30 + 20 + 50 + 5 gaps of 2 µs
    assert list(trace.operators["op_type"]) == ["Conv", "BatchNormalization", "Relu", "Gemm"]
    assert list(trace.operators["op_class"]) == [
        "convolution", "normalisation", "activation", "matrix_product",
    ]  # fmt: skip
    assert list(trace.calls["run"]) == [0] * 4 + [1] * 4 + [2] * 4
    assert trace.calls["dur_ns"].sum() == 3 * 200_000
    waits = trace.calls["wait_ns"].tolist()
    assert [pd.isna(wait) for wait in waits] == [True, False, False, False] * 3
    assert {wait for wait in waits if not pd.isna(wait)} == {2000}  # the gap before each
    assert trace.operators["inputs"][0] == "float32[1,3,8,8]; float32[4,3,3,3]"
    assert trace.operators["bytes_out"][0] == 1024
    assert trace.diagnostics == ()


def test_flops_from_shapes() -> None:
    trace = read_bytes(profile_json((CONV, BN, GEMM)))
    # Conv: 2 · (1·4·8·8) · (3·3·3); Gemm without its prepacked weight: 2 · (2·10) · 16.
    assert trace.operators["flops"].tolist()[0] == 2 * 256 * 27
    assert trace.operators["flops"].isna().tolist() == [False, True, False]
    assert trace.operators["flops"].tolist()[2] == 2 * 10 * 256


def test_gzip_utf16_and_bom_read_the_same() -> None:
    plain = profile_json(UNFUSED_OPERATORS, runs=2)
    expected = read_bytes(plain).calls
    for data in (
        gzip.compress(plain),
        b"\xef\xbb\xbf" + plain,
        plain.decode().encode("utf-16"),
        gzip.compress(plain[:100]) + gzip.compress(plain[100:]),
    ):
        assert read_bytes(data).calls.equals(expected)


def test_a_missing_bracket_is_repaired_and_reported() -> None:
    trace = read_bytes(profile_json(UNFUSED_OPERATORS, runs=2).rstrip()[:-1])
    assert len(trace.calls) == 8
    assert codes(trace) == {"missing_bracket": 1}


def test_every_cut_keeps_whole_runs_or_is_one_error() -> None:
    """Cut at every 1/40 of the length: of four calls a run, those of whole runs alone are kept;
    before the first run has ended no run is known."""
    data = profile_json(UNFUSED_OPERATORS, runs=4)
    most = 0
    for part in range(1, 40):
        try:
            trace = read_bytes(data[: len(data) * part // 40])
        except FuseScopeError as error:
            assert "profile.json" in error.text
            continue
        written = data[: len(data) * part // 40].count(b"_kernel_time")
        assert len(codes(trace).keys() & {"cut_short", "missing_bracket"}) == 1
        if trace.ends_early:
            assert not trace.has_runs and len(trace.calls) <= written
            continue
        runs = len(trace.runs)
        assert trace.calls["run"].value_counts().tolist() == [4] * runs
        assert written - 8 < len(trace.calls) <= written
        most = max(most, runs)
    assert most == 3


def test_without_model_run_the_file_is_one_run() -> None:
    events = [e for e in profile_events((CONV, RELU)) if e["name"] != "model_run"]
    trace = read_bytes(as_bytes(events))
    assert list(trace.runs["kind"]) == ["file"]
    assert list(trace.runs["dur_ns"]) == [122_000]
    assert codes(trace) == {"no_runs": 1}


def test_events_after_the_last_whole_run_are_counted() -> None:
    events = [*profile_events((CONV,)), node_event(RELU, 90_000)]
    trace = read_bytes(as_bytes(events))
    assert codes(trace) == {"outside_runs": 1}
    assert trace.calls["run"].isna().tolist() == [False, True]


def test_nested_operators_count_their_own_time_only() -> None:
    loop = ("loop", "Loop", 100, [], [])
    inner = ("body/Add", "Add", 30, [], [])
    events = [
        node_event(inner, 1010), node_event(inner, 1050), node_event(loop, 1000),
        session_event("model_run", 990, 120),
    ]  # fmt: skip
    trace = read_bytes(as_bytes(events))
    assert trace.calls["dur_ns"].sum() == 100_000
    by_name = trace.calls.groupby(trace.operators["name"].to_numpy()[trace.calls["operator"]])
    assert by_name["dur_ns"].sum().to_dict() == {"loop": 40_000, "body/Add": 60_000}
    assert codes(trace) == {"nested_operators": 2}


def test_an_operator_that_only_overlaps_the_next_keeps_its_time() -> None:
    """As after raising one duration by hand; no body runs inside a Conv."""
    slow = ("slow", "Conv", 100, [], [])
    events = [
        node_event(slow, 1000), node_event(RELU, 1010), node_event(BN, 1090),
        session_event("model_run", 990, 220),
    ]  # fmt: skip
    trace = read_bytes(as_bytes(events))
    assert trace.calls["dur_ns"].tolist() == [100_000, 20_000, 30_000]
    assert trace.calls["span_ns"].isna().all() and codes(trace) == {}


@pytest.mark.parametrize("op_type", ["If", "Loop", "Scan"])
def test_bodies_nest_at_any_depth_and_their_operators_do_not(op_type: str) -> None:
    outer, inner = ("outer", op_type, 100, [], []), ("outer/inner", "If", 60, [], [])
    conv = ("outer/inner/Conv", "Conv", 40, [], [])
    add = ("outer/inner/Add", "Add", 10, [], [])
    events = [
        node_event(outer, 1000), node_event(inner, 1020), node_event(conv, 1025),
        node_event(add, 1030), session_event("model_run", 990, 120),
    ]  # fmt: skip
    trace = read_bytes(as_bytes(events))
    # 100 - 60; 60 - 40 - 10: the Add starts while the Conv runs, and is in the If.
    assert trace.calls["dur_ns"].tolist() == [40_000, 10_000, 40_000, 10_000]
    assert trace.calls["span_ns"].tolist()[:2] == [100_000, 60_000]
    assert codes(trace) == {"nested_operators": 3}


def test_concurrent_runs_are_told_apart_by_thread() -> None:
    events = [
        node_event(CONV, 1010, tid=1), node_event(CONV, 1020, tid=2),
        session_event("model_run", 1000, 200, tid=1), session_event("model_run", 1005, 200, tid=2),
    ]  # fmt: skip
    assert list(read_bytes(as_bytes(events)).calls["run"]) == [0, 1]


@pytest.mark.parametrize(
    ("field", "value"),
    [("dur", -1), ("dur", None), ("ts", "soon"), ("dur", True), ("ts", 10**19), ("dur", 1e300)],
)
def test_events_without_a_valid_time_are_dropped_and_counted(field: str, value: object) -> None:
    events = profile_events((CONV, RELU))
    events[2][field] = value
    trace = read_bytes(as_bytes(events))
    assert list(trace.operators["name"]) == ["a/Relu"]
    assert sum(codes(trace).get(code, 0) for code in ("bad_time", "bad_event")) == 1


def test_times_may_be_numeric_strings() -> None:
    events = profile_events((CONV, RELU))
    events[2]["dur"] = "100"
    assert read_bytes(as_bytes(events)).calls["dur_ns"].tolist() == [100_000, 20_000]


def test_hostile_text_is_made_harmless() -> None:
    names = ["x" * 100_000, "\u202egnp", "a\x1b[31m\x00", "\ud800"]
    operators = [(name, "Relu", 5, [], []) for name in names]
    shown = read_bytes(as_bytes(profile_events(operators))).operators["name"].tolist()
    assert len(shown[0]) == 512 and shown[0].endswith("…")
    assert shown[1:] == ["gnp", "a\\x1b[31m\\x00", "\ufffd"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"  \n ", "has no content"),
        (b"null", "not a trace"),
        (b"42", "not a trace"),
        (b"{}", "format that FuseScope knows"),
        (b"[]", "format that FuseScope knows"),
        (b"\x89PNG\r\n\x1a\n123", "PNG image"),
        (b"\x80\x04\x95", "pickle"),
        (b"[" * 200_000, "format that FuseScope knows"),
        (b'[{"cat":"Node","ts":' + b"[" * 100_000, "nested too deep"),
        (as_bytes([session_event("model_run", 1, 2)]), "does not contain any operators"),
        (profile_json((CONV,)).replace(b'"dur": 100', b'"dur": NaN'), "valid time"),
        (gzip.compress(gzip.compress(profile_json((CONV,)))), "compressed twice"),
    ],
)
def test_what_is_no_profile_gets_one_sentence(data: bytes, says: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        read_bytes(data, "my file.json")
    assert says in caught.value.text
    assert "my file.json" in caught.value.text
    assert "\n" not in caught.value.text


def test_a_number_beyond_every_range_drops_its_event() -> None:
    data = profile_json((CONV, RELU)).replace(b'"dur": 100', b'"dur": 1e999')
    trace = read_bytes(data)
    assert trace.operators["name"].tolist() == ["a/Relu"]
    assert codes(trace) == {"bad_event": 1}


def test_broken_utf8_is_replaced_and_counted() -> None:
    trace = read_bytes(profile_json((CONV, RELU)).replace(b"a/Conv", b"a/\xffonv"))
    assert trace.operators["name"].tolist() == ["a/\ufffdonv", "a/Relu"]
    assert codes(trace) == {"bad_unicode": 1}


def test_a_gzip_file_cut_short_keeps_whole_events() -> None:
    data = gzip.compress(profile_json(UNFUSED_OPERATORS, runs=50), compresslevel=1)
    trace = read_bytes(data[: len(data) // 2])
    assert 40 < len(trace.calls) < 160
    assert "cut_short" in codes(trace)


def test_a_gzip_bomb_stops_at_the_limit() -> None:
    from fusescope.analysis.limits import Limits

    bomb = gzip.compress(bytes(64 * 2**20))
    with pytest.raises(FuseScopeError, match="unpacks to more than the limit of 8 MiB"):
        read(Source("bomb.gz", bomb, Limits(unpacked_bytes=8 * 2**20)))


def test_too_many_events_are_refused_with_their_number() -> None:
    from fusescope.analysis.limits import Limits

    data = profile_json((CONV, RELU), runs=5)
    with pytest.raises(FuseScopeError, match="has 22 events"):
        read(Source("big.json", data, Limits(events=20)))


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.exhaustive)])
def test_mutated_profiles_never_raise_anything_else(count: int) -> None:
    """Seeded fuzzing: a mutation is read or is one FuseScopeError."""
    data = profile_json(UNFUSED_OPERATORS, runs=2)
    rng = random.Random(7)
    read_count = 0
    for _ in range(count):
        mutated = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            position = rng.randrange(len(mutated))
            action = rng.random()
            if action < 0.4:
                mutated[position] = rng.randrange(256)
            elif action < 0.7:
                del mutated[position : position + rng.randint(1, 40)]
            else:
                mutated[position:position] = rng.choice([b'"', b"{", b"]", b"9" * 30, b"-", b"\\u"])
        try:
            read(Source("mutated.json", bytes(mutated)))
            read_count += 1
        except FuseScopeError:
            pass
    assert read_count > count / 20


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 10_000), min_size=1, max_size=8), min_size=1, max_size=6),
    st.integers(0, 50),
)
def test_total_time_is_kept_whatever_the_runs(runs: list[list[int]], gap: int) -> None:
    """Property: every call lands in its own run, and no time is lost or invented."""
    events, ts, expected = [], 1, []
    for run, durations in enumerate(runs):
        first = ts
        for position, dur in enumerate(durations):
            ts += gap
            events.append(node_event((f"op{position}", "Add", dur, [], []), ts))
            ts += dur
            expected.append(run)
        events.append(session_event("model_run", first, ts - first))
        ts += 1
    trace = read_bytes(as_bytes(events))
    assert trace.calls["dur_ns"].sum() == 1000 * sum(sum(run) for run in runs)
    assert sorted(trace.calls["run"].tolist()) == sorted(expected)


@pytest.fixture(scope="module")
def recorded() -> bytes:
    """A profile as the engine wrote it, from a recording of ours."""
    with zipfile.ZipFile(SAMPLES / "mobilenetv2.zip") as archive:
        return archive.read("profiles/unfused/0.json")


def test_a_recorded_profile_against_plain_json(recorded: bytes) -> None:
    trace, raw = read_bytes(recorded), json.loads(recorded)
    kernels = [e for e in raw if e["cat"] == "Node" and e["name"].endswith("_kernel_time")]
    assert len(trace.calls) == len(kernels) > 20
    assert trace.calls["dur_ns"].sum() == 1000 * sum(e["dur"] for e in kernels)
    assert len(trace.runs) == sum(e["name"] == "model_run" for e in raw) > 5
    assert codes(trace) == {}


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.99])
def test_a_recorded_profile_cut_short(recorded: bytes, cut: float) -> None:
    data = recorded[: int(len(recorded) * cut)]
    trace = read_bytes(data)
    assert "cut_short" in codes(trace) and not trace.ends_early
    assert codes(trace)["whole_runs_kept"] == len(trace.runs)
    whole = read_bytes(recorded)
    per_run = len(whole.calls) // len(whole.runs)
    assert trace.calls["run"].value_counts().tolist() == [per_run] * len(trace.runs)
    assert 0 <= data.count(b"_kernel_time") - len(trace.calls) < 2 * per_run


def test_empty_objects_count_as_events_before_they_are_decoded() -> None:
    data = profile_json((CONV,)).rstrip()[:-1] + b",{}" * 100_000 + b"]"
    with pytest.raises(FuseScopeError, match="events, which is more than the limit of 90.000"):
        read(Source("many.json", data, Limits(events=90_000)))


def test_profiles_whose_events_have_no_time_say_so() -> None:
    events = profile_events((CONV,))
    events[2]["ts"] = -(10**18)
    with pytest.raises(FuseScopeError, match="has a valid time"):
        read_bytes(as_bytes(events))


def test_subgraphs_of_a_provider_have_one_name_in_every_session() -> None:
    """OpenVINO's are numbered through the process: the second session of a model begins at 3."""

    def session(first: int) -> Trace:
        events = profile_events([CONV, GEMM, RELU], runs=2)
        for event in events:
            for place, name in enumerate((CONV[0], GEMM[0])):
                if event["name"] == f"{name}_kernel_time":
                    kind = f"OpenVINO-EP-subgraph_{first + place}"
                    event["name"] = f"OpenVINOExecutionProvider_{kind}_{place}_kernel_time"
                    event["args"] |= {"op_name": kind, "provider": "OpenVINOExecutionProvider"}
        return read_bytes(as_bytes(events))

    for trace in (session(1), session(3)):
        assert list(trace.operators["name"]) == [
            "OpenVINO-EP-subgraph_0", "OpenVINO-EP-subgraph_1", RELU[0],
        ]  # fmt: skip
        assert list(trace.operators["op_type"]) == ["OpenVINO-EP-subgraph"] * 2 + ["Relu"]
        assert list(trace.operators["provider"]) == ["OpenVINOExecutionProvider"] * 2 + [
            "CPUExecutionProvider"
        ]


def test_kernels_before_the_node_that_they_name_are_a_doubt() -> None:
    def kernel(ts: int) -> dict[str, object]:
        return {"cat": "Kernel", "name": "gemm", "ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": 5,
                "args": {"parent_name": "conv1"}}  # fmt: skip

    node = {**kernel(100), "cat": "Node", "name": "conv1_kernel_time", "dur": 20,
            "args": {"op_name": "Conv", "provider": "CUDAExecutionProvider"}}  # fmt: skip
    early = read_bytes(as_bytes([node, kernel(47)]))
    [note] = [one for one in early.diagnostics if one.code == "kernels_before_launch"]
    assert (note.severity, note.count, note.values["by_ns"]) == ("warning", 1, 53_000)
    for ts in (99, 100, 130):  # whole microseconds
        assert "kernels_before_launch" not in codes(read_bytes(as_bytes([node, kernel(ts)])))


@pytest.mark.parametrize("count", [999_999, 1_000_000])
def test_a_million_events_are_where_the_profiler_stops(count: int) -> None:
    """One less is a whole file; of the other the last of three runs may lack a part."""
    told = profile_json(UNFUSED_OPERATORS, runs=3)
    own = len(json.loads(told))
    filler = b',{"ph":"M"}' * (count - own)
    trace = read_bytes(told.rstrip().removesuffix(b"]") + filler + b"]")
    assert codes(trace).get("event_cap") == (count if count == 1_000_000 else None)
    assert len(trace.runs) == (2 if count == 1_000_000 else 3)
