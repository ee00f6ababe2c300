"""Experiment files: what is read back, and one sentence for every kind of damage."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, Profile, VariantRecord
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording import diagnostic_sentence
from tests.engine_experiments import two_engines
from tests.factories import CONV, RELU, experiment_zip, profile_events, samples

SAMPLES = Path(__file__).parents[2] / "sample_traces"
TIMES = {"unfused": [10.0] * 6, "fused": [5.0] * 6}


def read_bytes(data: bytes) -> Experiment:
    experiment = read(Source("tiny.zip", data))
    assert isinstance(experiment, Experiment)
    return experiment


def rewrite(data: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """The zip with each member passed through `change`; None leaves it out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return out.getvalue()


def test_variants_samples_and_blocks() -> None:
    experiment = read_bytes(experiment_zip(TIMES))
    trace = experiment.traces["unfused"]
    assert len(trace.sampled_runs) == 6 * 3 * 2  # blocks, rounds, copies
    assert set(trace.sampled_runs["copy"]) == {1, 2}
    assert len(trace.profiled_runs) == 6 * 4
    assert trace.profiled_runs["warmup"].sum() == 6  # the first of each block's four
    assert len(trace.operators) == 4  # the same operators in every block
    assert len(trace.calls) == 6 * 4 * 4
    assert experiment.graphs["fused"].nodes[0].op_type == "FusedConv"
    assert experiment.model_graph is not None


@pytest.mark.parametrize(
    "sample",
    ["cases/jax_twice_read", "cases/torch_transformer", "mindspore/mynet_composite"]
    + ["engines/transformer_encoder", "openvino/mobilenetv2", "mobilenetv2"],
)
def test_an_operator_has_the_op_type_of_its_graph(sample: str) -> None:
    """Tables of op types and the ledger, which goes by the graph, call it the same."""
    experiment = read_path(SAMPLES / f"{sample}.zip")
    assert isinstance(experiment, Experiment)
    for name, trace in experiment.traces.items():
        known = experiment.graphs[name].node
        types = dict(zip(trace.texts("name"), trace.texts("op_type"), strict=True))
        other = {at: of for at, of in types.items() if at in known and known[at].op_type != of}
        assert types.keys() & known.keys() and other == {}
    if sample.startswith("openvino"):
        fused = experiment.graphs["fused"]
        assert {"GroupConvolution", "ReduceMean"} <= {node.op_type for node in fused.nodes}


def test_only_the_variants_that_are_asked_for_are_read() -> None:
    data = experiment_zip(TIMES | {"extended": [6.0] * 6})
    lost = rewrite(data, lambda n, c: None if n.startswith("profiles/extended/") else c)
    with pytest.raises(FuseScopeError, match="The file 'profiles/extended/0.json' is missing"):
        read_bytes(lost)
    some = read(Source("tiny.zip", lost), lambda record: record.names[:2])
    assert isinstance(some, Experiment)
    assert (*some.traces,) == (*some.graphs,) == ("unfused", "fused")
    assert some.record.names == ("unfused", "fused", "extended"), "what was recorded is known"
    for name, trace in some.traces.items():
        pd.testing.assert_frame_equal(trace.calls, read_bytes(data).traces[name].calls)


def test_flops_leave_out_padded_taps_where_a_graph_says_so() -> None:
    trace = read_bytes(experiment_zip(TIMES)).traces["unfused"]
    # 8 positions, 3 taps, padding 1: 3·8 - 2 valid taps along each axis.
    assert trace.operators["flops"][0] == 2 * 4 * 3 * 22 * 22
    assert trace.operators["flops_source"][0] == "graph, padded taps not counted"


def test_spans_mark_the_runs_where_the_profile_cannot() -> None:
    """Eager: many model_run events are one run of the model."""
    events = [e for op in (CONV, RELU) for e in profile_events((op,), 2)]
    for position, event in enumerate(events):  # the second session runs after the first
        event["ts"] += 10_000 * (position >= len(events) // 2)
    profile = Profile(0, "profiles/eager/0.json", 0, [1_000_000], [12_000_000])
    eager = VariantRecord("eager", {}, samples([1.0]), [profile], None)
    base = experiment_zip({"unfused": [1.0]}, changes={"variants": [eager]})
    data = rewrite(base, lambda name, content: content)
    with zipfile.ZipFile(buffer := io.BytesIO(data), "a") as archive:
        archive.writestr("profiles/eager/0.json", json.dumps(events))
    trace = read_bytes(buffer.getvalue()).traces["eager"]
    assert trace.profiled_runs["dur_ns"].tolist() == [12_000_000]
    assert trace.calls["run"].tolist() == [0] * 4


def with_matches(content: bytes) -> bytes:
    """The tiny experiment with a file of tensor matches for its variant fused."""

    def name_it(name: str, text: bytes) -> bytes:
        if name != "experiment.json":
            return text
        head, none, tail = text.rpartition(b'"matches": null')
        assert none
        return head + b'"matches": "matches/fused.json"' + tail

    data = rewrite(experiment_zip(TIMES), name_it)
    with zipfile.ZipFile(buffer := io.BytesIO(data), "a") as archive:
        archive.writestr("matches/fused.json", content)
    return buffer.getvalue()


def test_tensor_matches_belong_to_their_variant() -> None:
    row = {"original": "t\x1b[1m", "optimised": "reorder_token_7", "by": "value"}
    experiment = read_bytes(with_matches(json.dumps([{**row, "layout": "blocked"}]).encode()))
    assert list(experiment.matches) == ["fused"]
    [match] = experiment.matches["fused"]
    # Looked up in graphs, whose names nobody cleans, and never shown.
    assert (match.original, match.optimised) == ("t\x1b[1m", "reorder_token_7")
    assert (match.layout, match.absolute, match.relative) == ("blocked", None, None)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'[{"original": "t1"}]', b'[{"original": 1, "optimised": "b"}]', b"[[["]
)
def test_damaged_tensor_matches_are_noted_and_left_out(content: bytes) -> None:
    experiment = read_bytes(with_matches(content))
    assert experiment.matches == {}
    [note] = experiment.traces["fused"].diagnostics
    assert note.code == "part_unreadable" and note.values["file"] == "matches/fused.json"
    assert "The file 'matches/fused.json' in the experiment is damaged: " in diagnostic_sentence(
        note
    )


def test_more_matches_than_the_limit_are_left_out() -> None:
    row = {"original": "a", "optimised": "b", "by": "name"}
    data = with_matches(json.dumps([row] * 2000).encode())
    experiment = read(Source("tiny.zip", data, Limits(events=1000)))
    assert isinstance(experiment, Experiment) and experiment.matches == {}
    [note] = experiment.traces["fused"].diagnostics
    assert "2\u202f000 tensor matches" in diagnostic_sentence(note)


@pytest.mark.parametrize(
    ("damaged", "content", "code"),
    [
        ("graphs/fused.json", None, "part_missing"),
        ("graphs/fused.json", b"[1]", "part_unreadable"),
        ("graphs/model.json", None, "part_missing"),
        ("graphs/model.json", b"{", "part_unreadable"),
    ],
)
def test_times_are_compared_without_a_graph(damaged: str, content: bytes | None, code: str) -> None:
    data = rewrite(experiment_zip(TIMES), lambda n, c: content if n == damaged else c)
    comparison = compare(*choose_sides(read_bytes(data)))
    assert comparison.verdict.outcome == "faster"
    assert comparison.fusion.source == "inferred"
    [note] = [note for note in comparison.diagnostics if note.code == code]
    assert damaged in diagnostic_sentence(note)
    assert "graph_missing" in [note.code for note in comparison.diagnostics]


def damage_record(text: bytes, old: bytes, new: bytes) -> bytes:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda n, c: None if n == "experiment.json" else c, "does not contain experiment.json"),
        (lambda n, c: None if n == "profiles/fused/2.json" else c, "is missing in this experiment"),
        (lambda n, c: b"{" if n == "experiment.json" else c, "is damaged"),
        (lambda n, c: b"{}" if n == "experiment.json" else c, "schema_version"),
        (lambda n, c: b"nonsense" if n == "profiles/fused/0.json" else c, "damaged"),
        (
            lambda n, c: c.replace(b'"schema_version": 1', b'"schema_version": 99', 1),
            "schema version 99",
        ),
        (lambda n, c: c.replace(b'"threads": 2', b'"threads": "two"'), "$.settings.threads"),
        (lambda n, c: c.replace(b'"threads": 2', b'"threads": 0'), "$.settings.threads"),
    ],
)
def test_damaged_experiments_get_one_sentence(change: Callable, says: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(FuseScopeError) as caught:
        read_bytes(rewrite(experiment_zip(TIMES), change))
    assert says in caught.value.text
    assert "tiny.zip" in caught.value.text


def test_samples_of_unequal_length_are_refused() -> None:
    data = rewrite(
        experiment_zip({"unfused": [10.0] * 2}),
        lambda n, c: c.replace(b"10000000,", b"", 1) if n == "experiment.json" else c,
    )
    with pytest.raises(FuseScopeError, match="samples: columns differ in length"):
        read_bytes(data)


@pytest.mark.parametrize("cut", [5, 100, 2000, -1, -30])
def test_a_zip_cut_short_is_one_error(cut: int) -> None:
    with pytest.raises(FuseScopeError, match="This zip ends early"):
        read_bytes(experiment_zip(TIMES)[:cut])


def test_flipped_bytes_never_raise_anything_else() -> None:
    data = experiment_zip({"unfused": [10.0] * 2})
    for position in range(0, len(data), max(1, len(data) // 300)):
        mutated = bytearray(data)
        mutated[position] ^= 0x5A
        try:
            read(Source("tiny.zip", bytes(mutated)))
        except FuseScopeError:
            pass


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("experiment.json", bytes(50 * 2**20))
    with pytest.raises(FuseScopeError, match="would unpack to 50 MiB"):
        read(Source("bomb.zip", out.getvalue()))
    with pytest.raises(FuseScopeError, match="would unpack"):
        read(Source("big.zip", experiment_zip(TIMES), Limits(unpacked_bytes=1000)))


def test_an_unknown_variant_lists_what_there_is() -> None:
    with pytest.raises(FuseScopeError, match="Its variants are: unfused, fused"):
        read_bytes(experiment_zip(TIMES)).record.variant("fussed")


def test_texts_of_a_record_are_made_fit_to_be_shown() -> None:
    hostile = {"unfused": [10.0], "f\x1b[31m\u202e" + "x" * 2000: [5.0]}
    experiment = read_bytes(experiment_zip(hostile, model_name="m\x1b[0m"))
    name = experiment.record.variants[1].name
    assert name.startswith("f\\x1b[31mx") and len(name) < 520
    assert experiment.record.model.name == "m\\x1b[0m"
    assert list(experiment.traces) == ["unfused", name]


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_members_of_other_packings_may_be_damaged_as_well(packing: int) -> None:
    plain = zipfile.ZipFile(io.BytesIO(experiment_zip(TIMES)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))
        places = {info.filename: info for info in packed.infolist()}
    data = bytearray(buffer.getvalue())
    start = places["profiles/fused/0.json"].header_offset + 60
    data[start : start + 40] = bytes(range(200, 240))
    with pytest.raises(FuseScopeError, match="damaged"):
        read(Source("e.zip", bytes(data)))


# --- numbers that no table holds ------------------------------------------------------------

BEYOND = ["1" + "0" * 30, "18446744073709551616", "1e400", "-1" + "0" * 30]


@pytest.mark.parametrize("number", BEYOND)
@pytest.mark.parametrize(
    ("member", "field"),
    [
        ("experiment.json", "wall_ns"),
        ("experiment.json", "block"),
        ("experiment.json", "memory_bytes"),
        ("experiment.json", "nodes"),
        ("experiment.json", "dispatch_ns"),
        ("graphs/fused.json", "shape"),
        ("profiles/", "Node"),  # its duration
    ],
)
def test_a_number_beyond_64_bits_is_one_sentence(member: str, field: str, number: str) -> None:
    """Or the row, or the graph, is left out and said."""
    found: list[str] = []

    def change(name: str, content: bytes) -> bytes:
        place = r'"Node"[^}]*?"dur": ' if field == "Node" else rf'"{field}"\s*:\s*\[*\s*'
        pattern = re.compile(rf"({place})-?\d[\d.]*")
        if not name.startswith(member) or found:
            return content
        text, count = pattern.subn(rf"\g<1>{number}", content.decode(), count=1)
        found.extend([name] * count)
        return text.encode()

    data = rewrite(experiment_zip(TIMES), change)
    assert found
    try:
        experiment = read_bytes(data)
    except FuseScopeError as error:
        assert field in error.text and "tiny.zip" in error.text
        return
    assert member != "experiment.json"
    codes = {note.code for trace in experiment.traces.values() for note in trace.diagnostics}
    codes |= {note.code for note in experiment.diagnostics}
    assert codes & {"part_unreadable", "bad_time", "bad_event"}
    compare(*choose_sides(experiment))


def test_each_variant_is_read_as_its_engine_wrote_it() -> None:
    """ONNX Runtime's profile and OpenVINO's counters lie side by side."""
    value = read_bytes(two_engines())
    record = value.record
    assert [one.name for one in record.engines] == ["onnxruntime", "openvino"]
    assert record.engine_of("onnxruntime:fused").name == record.engine.name == "onnxruntime"
    assert record.engine_of("openvino:fused").name == "openvino"
    assert {name: one.meta.tool for name, one in value.traces.items()} == {
        "onnxruntime:fused": "onnxruntime",
        "openvino:fused": "openvino",
    }
    assert value.traces["openvino:fused"].meta.version == record.engine_of("openvino:fused").version
    assert set(value.graphs) == set(value.matches) == set(record.names)


def test_a_recording_of_one_engine_names_it_once() -> None:
    record = read_bytes(experiment_zip(TIMES)).record
    assert record.engines == (record.engine,)
    assert record.variants[0].engine is None
    assert record.engine_of("no such variant") == record.engine
