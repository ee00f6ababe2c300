"""TensorRT: profiles of layers, layer information, run times, and what belongs to what."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.compare.timing.latency import profiler_inflation
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.metrics.small_ops import short_ops
from fusescope.analysis.readers import find, read, read_path
from fusescope.analysis.readers.input.folder import folder_sources
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.nvidia.tensorrt_graph import dtype_of, layer_of_name, layout_of
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence, verdict_sentence
from fusescope.analysis.wording.sentences import samples_text, source_text

ROWS: list[dict[str, object]] = [
    {"name": "Conv_0 + Relu_1", "timeMs": 4.0006, "averageMs": 1.00015, "percentage": 80.0},
    {"name": "Softmax_2", "timeMs": 1, "averageMs": 0.25, "percentage": 20.0},
]
LAYERS: list[dict[str, object]] = [
    {
        "Name": "Conv_0 + Relu_1",
        "LayerType": "CaskConvolution",
        "Inputs": [{"Name": "x", "Dimensions": [2, 4, 8, 8], "Format/Datatype": "Half"}],
        "Outputs": [
            {
                "Name": "c",
                "Dimensions": [2, 6, 8, 8],
                "Format/Datatype": "Channel major FP16 format where channel % 8 == 0",
            }
        ],
        "ParameterType": "Convolution",
        "Kernel": [3, 3],
        "Groups": 2,
        "Weights": {"Type": "Half", "Count": 108},
        "Bias": {"Type": "Float", "Count": 6},
        "TacticName": "tactic",
        "Metadata": "[ONNX Layer: /b/Conv]\x1f[ONNX Layer: /b/Relu]",
    },
    {"Name": "Softmax_2", "LayerType": "SoftMax", "Inputs": [], "Outputs": []},
]


def profile(rows: object = ROWS, count: object = 4) -> bytes:
    assert isinstance(rows, list)
    return json.dumps([{"count": count}, *rows]).encode()


def graph(layers: object = LAYERS) -> bytes:
    return json.dumps({"Layers": layers, "Bindings": ["x"]}).encode()


def times(*latencies_ms: float, every_ms: float = 10.0) -> bytes:
    return json.dumps(
        [
            {
                "startH2dMs": place * every_ms,
                "startComputeMs": place * every_ms + 0.5,
                "computeMs": latency / 2,
                "latencyMs": latency,
            }
            for place, latency in enumerate(latencies_ms)
        ]
    ).encode()


def facts(warm_up: str = "3s (+ 15ms warm up)", apart: str = "Enabled", device: str = "A") -> bytes:
    return json.dumps(
        {
            "performance_summary": {"Throughput": 1.0},
            "inference_options": {"Duration": warm_up, "Separate profiling": apart},
            "device_information": {"Selected Device": device},
        }
    ).encode()


def trace_of(main: bytes, name: str = "profile.json", **beside: bytes) -> Trace:
    """Files beside it are named by keyword, 'a_graph' for a.graph.json."""
    others = tuple(
        Source(f"{key.replace('_', '.')}.json", data, path=f"{key.replace('_', '.')}.json")
        for key, data in beside.items()
    )
    trace = read(Source(name, main, beside=others))
    assert isinstance(trace, Trace)
    return trace


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def by_name(trace: Trace) -> dict[str, dict[str, Any]]:
    table = trace.operators.astype("object").where(trace.operators.notna(), None)
    return {row["name"]: row for row in table.to_dict("records")}


# The profile alone.


def test_a_profile_is_one_mean_iteration() -> None:
    trace = trace_of(profile())
    assert trace.calls["dur_ns"].tolist() == [1_000_150, 250_000]
    assert trace.runs[["kind", "dur_ns", "profiled"]].values.tolist() == [
        ["iteration", 1_250_150, True]
    ]
    assert codes(trace) == {"averaged": 4}
    assert [diagnostic_sentence(note) for note in trace.diagnostics] == [
        "The file contains means over 4 iterations. They count as one run."
    ]
    operators = by_name(trace)
    assert operators["Conv_0 + Relu_1"]["members"] == "Conv_0 + Relu_1"
    assert operators["Conv_0 + Relu_1"]["op_class"] == "convolution"  # its heaviest member
    assert operators["Softmax_2"]["op_class"] == "softmax"
    assert {row["op_type"] for row in operators.values()} == {None}
    assert {row["level"] for row in operators.values()} == {"graph_layer"}


def test_the_mean_is_total_over_count_and_never_a_double() -> None:
    # 16.72 ms / 11 = 1.52 ms; half a ns is rounded to even.
    rows = [
        {"name": "a", "timeMs": 16.72, "averageMs": 1.52},
        {"name": "b", "timeMs": 0.000055, "averageMs": 5e-06},
        {"name": "c", "timeMs": 0, "averageMs": 0},
    ]
    assert trace_of(profile(rows, 11)).calls["dur_ns"].tolist() == [1_520_000, 5, 0]
    without_total = [{"name": "a", "averageMs": 0.25, "timeMs": None}]
    assert trace_of(profile(without_total, 11)).calls["dur_ns"].tolist() == [250_000]
    without_count = json.dumps(rows[:1]).encode()
    assert trace_of(without_count).calls["dur_ns"].tolist() == [1_520_000]


def test_a_mean_that_is_not_total_over_count_wins_and_is_reported() -> None:
    rows = [{"name": "a", "timeMs": 10, "averageMs": 9}, {"name": "b", "timeMs": 4, "averageMs": 1}]
    trace = trace_of(profile(rows))
    assert trace.calls["dur_ns"].tolist() == [9_000_000, 1_000_000]
    assert codes(trace)["contradiction"] == 1


def test_rows_without_name_or_time_are_counted() -> None:
    rows = [*ROWS, {"timeMs": 1, "averageMs": 1}, {"name": "x", "timeMs": -4, "averageMs": -1},
            {"name": "y", "timeMs": True, "averageMs": "n/a"}]  # fmt: skip
    trace = trace_of(profile(rows))
    assert len(trace.calls) == 2
    assert codes(trace) == {"averaged": 4, "bad_event": 1, "bad_time": 2, "rows_lost": 3}


def test_what_trtexec_writes_though_it_is_no_json() -> None:
    lines = [
        "[",
        '  { "count" : 2 }',
        ', { "name" : "a", "timeMs" : 2, "averageMs" : 1, "percentage" : -nan }',
        ', { "name" : "b "quoted" b", "timeMs" : 2, "averageMs" : 1, "percentage" : inf }',
        ', { "name" : "c\x1fd", "timeMs" : 4, "averageMs" : 2, "percentage" : -nan(ind) }',
        "]",
        "",
    ]
    trace = trace_of("\n".join(lines).encode())
    assert list(by_name(trace)) == ["a", "c\\x1fd"]
    assert trace.calls["dur_ns"].tolist() == [1_000_000, 2_000_000]
    assert codes(trace) == {"bad_event": 1, "averaged": 2}


@pytest.mark.parametrize("between", [", ", "\n, ", "\n,\n  "])
@pytest.mark.parametrize("first", [0, 4_000, 8_100, 65_450, 1_000_000])
def test_beside_damage_rows_of_any_length_are_whole(first: int, between: str) -> None:
    names = [f"{{ForeignNode[{'a' * (first + step)}]}}" for step in range(0, 120, 3)]
    rows = [json.dumps({"name": name, "timeMs": 2, "averageMs": 1}) for name in names]
    last = '{"name": "end", "timeMs": nan, "averageMs": 1}'
    rows = ['{"count": 2}', json.dumps(ROWS[0]), *rows, last]
    trace = trace_of(f"[{between.join(rows)}]".encode())
    assert len(trace.calls) == 1 + len(names) + 1
    assert not {"bad_event", "cut_short"} & codes(trace).keys()


@pytest.mark.parametrize("lost", [1, 2, 30, 200])
def test_a_profile_cut_short_keeps_its_whole_layers(lost: int) -> None:
    rows = [{"name": f"{{ForeignNode[a{i}...b{i}]}}", "timeMs": i, "averageMs": i / 4}
            for i in range(1, 9)]  # fmt: skip
    whole = ("[\n" + "\n, ".join(json.dumps(row) for row in [{"count": 4}, *rows]) + "\n]").encode()
    cut = whole[:-lost]
    trace = trace_of(cut)
    kept = (
        cut.count(b"}}")
        + sum(  # a whole object ends with } right behind its last number
            line.endswith(b"}") for line in cut.split(b"\n")[2:]
        )
    )
    assert len(trace.calls) == kept > 0
    assert trace.calls["dur_ns"].tolist() == [i * 250_000 for i in range(1, kept + 1)]
    assert {"cut_short", "missing_bracket"} & codes(trace).keys()


@pytest.mark.parametrize(
    ("name", "op_class"),
    [
        ("Reformatting CopyNode for Input Tensor 0 to a.weight + /a/Conv", "layout"),
        ("/neck/Concat_/neck/Resize_output_0_clone_0 copy", "copy"),
        ("(Unnamed Layer* 718) [NMS]_1_output[DevicetoShapeHostCopy]", "copy"),
        ("[trainStation1]", "unknown"),
        ("bn.running_var + (Unnamed Layer* 108) [Shuffle]", "layout"),
        ("(Unnamed Layer* 714) [Constant]", "data_movement"),
        ("PWN((Unnamed Layer* 112) [ElementWise], (Unnamed Layer* 113) [Unary])", "elementwise"),
        ("conv.weight + /q/QuantizeLinear + /a/Conv + PWN(/a/Relu)", "convolution"),
        # what stands between the ends is not told
        ("{ForeignNode[/head/Constant_2_output_0.../Unsqueeze_2]}", "unknown"),
        ("{ForeignNode[/a/Conv.../b/Add_2]}", "convolution"),
    ],
)
def test_a_name_alone_tells_the_class(name: str, op_class: str) -> None:
    assert layer_of_name(name).op_class == op_class


def test_limits_hold() -> None:
    with pytest.raises(FuseScopeError, match="than the limit of 2"):
        read(Source("p", profile(), Limits(events=2)))


# The graph.


def test_layer_information_gives_types_tensors_flops_and_originals() -> None:
    trace = trace_of(profile(), graph=graph())
    conv = by_name(trace)["Conv_0 + Relu_1"]
    assert conv["op_type"] == "CaskConvolution" and conv["provider"] == "tactic"
    assert conv["inputs"] == "float16[2,4,8,8]"
    assert conv["outputs"] == "float16[2,6,8,8]:hwc8"
    assert conv["flops"] == 2 * (2 * 6 * 8 * 8) * (4 // 2) * 9
    assert conv["bytes_param"] == 108 * 2 + 6 * 4
    assert conv["bytes_in"] == 2 * 4 * 64 * 2 and conv["bytes_out"] == 2 * 6 * 64 * 2
    assert (conv["members"], conv["members_source"]) == ("/b/Conv + /b/Relu", "names")
    assert by_name(trace)["Softmax_2"]["op_class"] == "softmax"
    assert trace.meta.files == ("graph.json",)
    assert codes(trace) == {"averaged": 4}


def test_with_little_verbosity_layers_are_names() -> None:
    trace = trace_of(profile(), graph=graph(["Conv_0 + Relu_1", "Softmax_2"]))
    assert trace.meta.files == ("graph.json",)
    assert by_name(trace)["Conv_0 + Relu_1"]["members"] == "Conv_0 + Relu_1"


def test_a_deconvolution_and_a_matrix_product_are_counted() -> None:
    def tensor(*dims: int) -> list[dict[str, object]]:
        return [{"Dimensions": dims, "Format/Datatype": "Row major linear FP32"}]

    layers = [
        {"Name": "Conv_0 + Relu_1", "LayerType": "CaskDeconvolutionV2", "Kernel": [2, 2],
         "ParameterType": "Convolution", "Groups": 1,
         "Inputs": tensor(1, 8, 4, 4), "Outputs": tensor(1, 3, 8, 8)},
        {"Name": "Softmax_2", "LayerType": "MatrixMultiply",
         "Inputs": [*tensor(5, 7), *tensor(7, 11)], "Outputs": tensor(5, 11)},
    ]  # fmt: skip
    trace = trace_of(profile(), graph=graph(layers))
    assert trace.operators["flops"].tolist() == [2 * 8 * 16 * 3 * 4, 2 * 5 * 7 * 11]
    assert trace.operators["op_class"].tolist() == ["convolution", "matrix_product"]


def test_dynamic_dimensions_and_odd_fields_are_unknown_not_wrong() -> None:
    layers = [
        {"Name": "Conv_0 + Relu_1", "LayerType": 7, "Kernel": "3x3", "Groups": None,
         "Inputs": [{"Dimensions": [-1, 3], "Format/Datatype": "N/A due to dynamic shapes"}],
         "Outputs": [{"Dimensions": ["1"]}], "Weights": {"Type": "Float", "Count": "9"},
         "Metadata": 5},
        {"Name": "Softmax_2", "Inputs": {}, "StreamId": 2},
        5, {"Name": None}, [],
    ]  # fmt: skip
    trace = trace_of(profile(), graph=graph(layers))
    first = by_name(trace)["Conv_0 + Relu_1"]
    assert first["inputs"] == "?[-1,3]" and first["outputs"] is None
    assert first["flops"] is None and first["bytes_param"] is None and first["op_type"] is None
    assert first["members"] == "Conv_0 + Relu_1"
    assert trace.calls["stream"].astype("object").tolist()[1] == "2"


def test_the_graph_is_known_by_its_layers_not_by_its_name() -> None:
    other = graph([{"Name": "Gemm_0", "LayerType": "X"}, {"Name": "Softmax_2", "LayerType": "X"}])
    trace = trace_of(profile(), "profile.json", profile_graph=other, zzz=graph())
    assert trace.meta.files == ("zzz.json",)
    assert by_name(trace)["Softmax_2"]["op_type"] == "SoftMax"
    # Two that fit alike, and no name decides: neither.
    assert trace_of(profile(), "a.json", b=graph(), c=graph()).meta.files == ()
    assert trace_of(profile(), "a.profile.json", a_graph=graph(), c=graph()).meta.files == (
        "a.graph.json",
    )


def test_a_graph_of_that_name_may_lack_layers() -> None:
    trace = trace_of(profile(), "net.profile.json", net_graph=graph(LAYERS[:1]))
    assert trace.meta.files == ("net.graph.json",)
    assert codes(trace) == {"companion_lacks": 1, "averaged": 4}
    assert by_name(trace)["Softmax_2"]["op_type"] is None
    more = graph([*LAYERS, {"Name": "more", "LayerType": "NoOp"}])
    assert codes(trace_of(profile(), graph=more)) == {"companion_unmatched": 1, "averaged": 4}


def test_a_damaged_graph_costs_only_what_it_says() -> None:
    trace = trace_of(profile(), graph=graph()[:-40])
    assert trace.meta.files == ()
    assert codes(trace) == {"companion_unreadable": 1, "averaged": 4}
    raw = graph().replace(b"\\u001f", b"\x1f")  # separators that were not escaped
    assert by_name(trace_of(profile(), graph=raw))["Conv_0 + Relu_1"]["members"] == (
        "/b/Conv + /b/Relu"
    )


@pytest.mark.parametrize("layers", [LAYERS, ["Conv_0 + Relu_1"], []])
def test_a_graph_alone_says_what_is_missing(layers: list[object]) -> None:
    with pytest.raises(FuseScopeError, match="no times.*--exportProfile"):
        read(Source("graph.json", graph(layers)))


@pytest.mark.parametrize(
    ("text", "dtype", "layout"),
    [
        ("Row major linear FP32", "float32", ""),
        ("Row major linear FP16 format", "float16", ""),
        ("Row major Int8 format", "int8", ""),
        ("Four wide channel vectorized row major Int8 format", "int8", "chw4"),
        ("Thirty-two wide channel vectorized row major FP16 format", "float16", "chw32"),
        ("Channel major FP16 format where channel % 8 == 0", "float16", "hwc8"),
        ("Channel major FP32 format", "float32", "hwc"),
        ("Half", "float16", ""),
        ("BFloat16", "bfloat16", ""),
        ("FP8", "float8", ""),
        ("Bool", "bool", ""),
        ("Int64", "int64", ""),
        ("N/A due to dynamic shapes", "", ""),
    ],
)
def test_data_type_and_layout_are_cut_out_of_the_sentence(
    text: str, dtype: str, layout: str
) -> None:
    assert (dtype_of(text), layout_of(text)) == (dtype, layout)


# Run times.


def test_run_times_are_unprofiled_runs_of_one_process() -> None:
    trace = trace_of(profile(), times=times(2.0, 1.5, 1.25), metadata=facts())
    assert trace.meta.device == "A" and trace.meta.files == ("metadata.json", "times.json")
    sampled = trace.sampled_runs
    assert sampled["dur_ns"].tolist() == [2_000_000, 1_500_000, 1_250_000]
    assert sampled["start_ns"].tolist() == [0, 10_000_000, 20_000_000]
    assert sampled["warmup"].tolist() == [True, True, False]  # compute at 0.5, 10.5, 20.5 ms
    assert trace.runs["block"].tolist() == [0, 0, 0, 0]
    assert trace.calls["run"].tolist() == [0, 0]
    assert len(trace.profiled_runs) == 1


def test_what_the_profiler_adds_is_of_the_means_that_are_shown() -> None:
    """Un-profiled runs of 1 and 3 ms after two that warm up: a mean of 2 ms, 2.5 ms as profiled;
    the lower quartile of both would be 1.5 ms."""
    layers = [{"count": 4}, {"name": "Conv_0", "timeMs": 10.0, "averageMs": 2.5}]
    trace = trace_of(json.dumps(layers).encode(), times=times(9.0, 9.0, 1.0, 3.0), metadata=facts())
    assert profiler_inflation(trace) == pytest.approx(1.25)


def test_the_summary_beside_a_profile_has_an_unprofiled_time() -> None:
    """trtexec's minimum, maximum, mean, median and 99th percentile; single runs say more."""
    summary = {"performance_summary": {"Latency": [0.85, 0.9, 0.87, 0.862183, 0.89]}}
    data = json.dumps(summary | {"device_information": {"Selected Device": "A"}}).encode()
    trace = trace_of(profile(), metadata=data)
    assert trace.sampled_runs["dur_ns"].tolist() == [862_183]
    assert codes(trace)["samples_summed"] == 1 and trace.runs["block"].tolist() == [0, 0]
    with_runs = trace_of(profile(), times=times(2.0, 1.5), metadata=data)
    assert with_runs.sampled_runs["dur_ns"].tolist() == [2_000_000, 1_500_000]
    assert "samples_summed" not in codes(with_runs)


@pytest.mark.parametrize(
    "latency", [None, "0.8", [], [1, 2, 1.5], [2, 1, 1.5, 1.5, 1], [1, 2, 1, "x", 2], [0, 0, 0, 0]]
)
def test_a_summary_that_cannot_be_has_no_time(latency: object) -> None:
    data = json.dumps({"performance_summary": {"Latency": latency}}).encode()
    assert trace_of(profile(), metadata=data).sampled_runs.empty


def test_older_and_missing_names_of_times() -> None:
    rows = [
        {"startInMs": 1, "computeMs": 2, "inMs": 0.25, "outMs": 0.5, "endToEndMs": 9},
        {"computeMs": "1.5", "endToEndMs": 9},
        {"latencyMs": -1, "computeMs": 1},
        {"computeMs": None, "latencyMs": None},
    ]
    trace = trace_of(json.dumps(rows).encode())
    assert trace.runs["dur_ns"].tolist() == [2_750_000, 1_500_000]
    assert codes(trace) == {"bad_time": 2, "no_operators": 1}
    with pytest.raises(FuseScopeError, match="not contain a valid time"):
        read(Source("t", json.dumps(rows[2:]).encode()))


def test_times_under_the_profiler_are_told_apart() -> None:
    trace = trace_of(profile(), times=times(2.0), metadata=facts(apart="Disabled"))
    assert "samples_profiled" in codes(trace)
    assert "samples_profiled" not in codes(trace_of(profile(), times=times(2.0)))


@pytest.mark.parametrize(
    ("counts", "said", "basis"),
    [
        ((1600, 4216), "Means of 1 600 and 4 216 iterations",
         "means of 1 600 and 4 216 iterations"),
        ((4216, 4216), "Means of 4 216 iterations", "means of 4 216 iterations each"),
        ((1, 4216), "The candidate's time is a mean of 4 216 iterations",
         "the baseline 1 run, the candidate a mean of 4 216 iterations"),
        ((1, 1), "One profile each", "one run each"),
    ],
)  # fmt: skip
def test_means_are_called_means_everywhere(counts: tuple[int, int], said: str, basis: str) -> None:
    sides = [
        side_of_trace(trace_of(profile([{"name": "Conv_0", "timeMs": n * ms, "averageMs": ms}], n)))
        for n, ms in zip(counts, (1, 0.8), strict=True)
    ]
    comparison = compare(*sides)
    value = comparison_values(comparison)["verdict"]
    assert value["averaged"] == [None if n == 1 else n for n in counts]
    told = [value["sentence"], value["basis"], report_html(comparison)]
    sentence, why, html = (text.replace("\u202f", " ") for text in told)
    assert f"{said}, so the noise is unknown." in sentence
    assert why == f"Sum of operator times, {basis}, not paired."
    noise = sentence.replace("'", "&#39;").split(". ")[-1].removesuffix(".")
    assert "single run" not in html and noise in html
    assert why in html.replace("&#39;", "'")


LATENCIES = (2.0, 1.5, 1.25, 1.75, 2.25)


@pytest.mark.parametrize("again", [5, 4])
def test_run_times_joined_with_themselves_count_once(again: int) -> None:
    rows = json.loads(times(*LATENCIES))
    trace = trace_of(json.dumps(rows + rows[:again]).encode())
    assert trace.runs["dur_ns"].tolist() == [round(ms * 1e6) for ms in LATENCIES]
    assert trace.runs["run"].tolist() == list(range(5))
    (note,) = [note for note in trace.diagnostics if note.code == "samples_twice"]
    assert (note.count, str(note.example)) == (again, "row 6")
    assert diagnostic_sentence(note).startswith(f"{again} duplicate run times")
    in_order = sorted(rows + rows, key=lambda row: row["startH2dMs"])
    assert len(trace_of(json.dumps(in_order).encode()).runs) == 5
    untimed = [{"latencyMs": row["latencyMs"]} | {"computeMs": 1} for row in rows]
    assert len(trace_of(json.dumps(untimed * 2).encode()).runs) == 5


def test_runs_that_only_look_alike_are_kept() -> None:
    # Six digits: short runs share start and length, but never all of them equally often.
    rows = [json.loads(times(0.02))[0] | {"startH2dMs": 20000.1}] * 3
    rows += [row | {"startH2dMs": 20000.2 + place} for place, row in enumerate(rows * 2)]
    assert len(trace_of(json.dumps(rows).encode()).runs) == 9
    back = json.loads(times(*LATENCIES)) + json.loads(times(*(ms + 1 for ms in LATENCIES)))
    assert len(trace_of(json.dumps(back).encode()).runs) == 10
    steady = [{"latencyMs": 2.0, "computeMs": 2.0}] * 8
    assert len(trace_of(json.dumps(steady).encode()).runs) == 8


def test_a_file_of_run_times_given_twice_is_read_once() -> None:
    both = {"a_times": times(*LATENCIES), "a_times_1": times(*LATENCIES)}
    trace = trace_of(profile(), **both)
    assert len(trace.sampled_runs) == 5 and codes(trace)["samples_twice"] == 5
    assert trace.meta.files == ("a.times.json", "a.times.1.json")
    named = trace_of(profile(), "a.profile.json", **both)
    assert len(named.sampled_runs) == 5 and len(named.meta.files) == 2
    others = trace_of(profile(), a_times=times(*LATENCIES), b_times=times(*LATENCIES, every_ms=9))
    assert others.sampled_runs.empty and "samples_twice" not in codes(others)
    part = trace_of(profile(), a_times=times(*LATENCIES), b_times=times(*LATENCIES[:4]))
    assert len(part.sampled_runs) == 5 and codes(part)["samples_twice"] == 4


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((4, 4), "Means of 4 iterations, so the noise is unknown."),
        ((4, 4216), "Means of 4 and 4\u202f216 iterations, so the noise is unknown."),
        ((4, 1), "The baseline's time is a mean of 4 iterations, so the noise is unknown."),
        ((1, 1), "One profile each, so the noise is unknown."),
    ],
)
def test_means_of_iterations_are_no_single_run(counts: tuple[int, int], told: str) -> None:
    files = [json.loads(profile()) for _ in counts]
    for rows, count in zip(files, counts, strict=True):
        rows[0]["count"] = count
    for row in files[1][1:]:
        row |= {name: row[name] * 0.8 for name in ("timeMs", "averageMs")}
    before, after = (side_of_trace(trace_of(json.dumps(rows).encode())) for rows in files)
    comparison = compare(before, after)
    assert comparison.verdict.outcome == "noise_unknown"
    assert verdict_sentence(comparison).endswith(told)
    assert "single run" not in verdict_sentence(comparison)


def test_the_sum_of_layers_is_not_called_wall_time() -> None:
    """1.25 ms against 1.00 ms are averageMs of all layers, added up: no gap between them counts."""
    layers = ([0.75, 0.5], [0.6, 0.4])
    files = [
        [{"name": f"L{at}", "timeMs": ms, "averageMs": ms} for at, ms in enumerate(times_ms)]
        for times_ms in layers
    ]
    comparison = compare(*(side_of_trace(trace_of(profile(rows, 1))) for rows in files))
    latency = comparison.figure("latency")
    assert (latency.baseline.value, latency.candidate.value) == (1_250_000, 1_000_000)
    assert source_text(latency, comparison.verdict) == "sum of operator times"
    assert samples_text(comparison.verdict).startswith("Sum of operator times, ")
    sum_ = comparison.ledger.reconciliation
    assert (sum_.delta_ns, sum_.dispatch_ns) == (-250_000, None)


def test_a_layer_that_takes_no_time_in_the_mean_is_no_execution() -> None:
    """Of three layers one is listed and never runs: two executions, one of them short (5 us)."""
    rows = [
        {"name": name, "timeMs": ms, "averageMs": ms}
        for name, ms in (("Conv_0", 0.5), ("Conv_1", 0.005), ("NoOp", 0.0))
    ]
    trace = trace_of(profile(rows, 1))
    short = short_ops(trace, 10_000.0)
    assert (short.short_count, short.count) == (1, 0.5)
    more = trace_of(profile([*rows, *({**rows[2], "name": f"NoOp {at}"} for at in range(8))], 1))
    comparison = compare(side_of_trace(trace), side_of_trace(more))
    [note] = [one for one in comparison.diagnostics if one.code == "profiled_headline"]
    assert "before" not in note.values, "two executions on both sides"


def test_run_times_alone_compare() -> None:
    first = trace_of(times(2.0, 2.0, 2.0))
    second = trace_of(times(1.0, 1.0, 1.0))
    assert first.calls.empty and first.operators.empty
    comparison = compare(side_of_trace(first), side_of_trace(second))
    assert comparison.verdict.outcome == "noise_unknown"
    assert comparison.verdict.reason == "one_process"
    assert comparison.verdict.speedup == pytest.approx(2.0)


def test_times_of_another_engine_stay_apart() -> None:
    a = {"a_profile": profile(), "a_times": times(1.0)}
    trace = trace_of(profile(), "b.profile.json", **a)
    assert trace.meta.files == ()
    found = find(
        [
            Source(f"{name}.json", data)
            for name, data in {
                "a.profile": profile(),
                "a.times": times(1.0),
                "b.profile": profile(),
                "b.times": times(2.0),
            }.items()
        ]
    )
    taken = {r.source.path: r.files for r in found.recordings}
    assert taken == {
        "a.profile.json": ("a.profile.json", "a.times.json"),
        "b.profile.json": ("b.profile.json", "b.times.json"),
    }


def test_the_old_list_of_devices_names_the_device() -> None:
    devices = json.dumps([{"Name": "TITAN", "ComputeCapability": [7, 5]}]).encode()
    assert trace_of(profile(), metadata=devices).meta.device == "TITAN"
    broken = devices.replace(b"[7, 5]", b"[7, 5")
    assert codes(trace_of(profile(), metadata=broken))["companion_unreadable"] == 1


def test_nobody_elses_json_is_taken() -> None:
    for data in (
        b'[{"name":"a","ph":"X","args":{"timeMs":1,"averageMs":1}}]',
        b'{"timeMs": 1, "averageMs": 2}',
        b'[{"name": "a", "timeMs": 1}]',
        b'{"Layers": [{"name": "conv"}]}',
    ):
        with pytest.raises(FuseScopeError):
            read(Source("x", data))


# Real recordings of ResNet-18, batch 32, on an A100.


@pytest.fixture
def recorded(shared_traces: Path) -> Callable[[str], tuple[Trace, dict[str, Any]]]:
    """A precision -> the trace, and the files as plain JSON with exact numbers."""

    def opened(precision: str) -> tuple[Trace, dict[str, Any]]:
        stem = shared_traces / "third_party" / "tensorrt" / f"pt-resnet-A100-{precision}"
        trace = read_path(Path(f"{stem}.profile.json"))
        assert isinstance(trace, Trace)
        return trace, {
            kind: json.loads(Path(f"{stem}.{kind}.json").read_bytes(), parse_float=Decimal)
            for kind in ("profile", "graph", "timing", "profile.metadata")
        }

    return opened


@pytest.mark.parametrize(("precision", "total_ms"), [("fp32", "2.124"), ("fp16", "1.017")])
def test_layers_of_real_engines(
    recorded: Callable[[str], tuple[Trace, dict[str, Any]]], precision: str, total_ms: str
) -> None:
    trace, files = recorded(precision)
    rows = files["profile"][1:]
    assert trace.calls["dur_ns"].tolist() == [int(row["averageMs"] * 10**6) for row in rows]
    assert f"{Decimal(int(trace.calls['dur_ns'].sum())) / 10**6:.3f}" == total_ms
    names = [layer["Name"] for layer in files["graph"]["Layers"]]
    assert trace.operators["name"].tolist() == names
    assert trace.operators["op_type"].tolist() == [x["LayerType"] for x in files["graph"]["Layers"]]
    assert sorted(trace.meta.files) == [
        f"pt-resnet-A100-{precision}.{kind}.json"
        for kind in ("graph", "profile.metadata", "timing")
    ]
    assert trace.meta.device == "NVIDIA A100 80GB PCIe"
    # ResNet-18 has 1,814,073,344 multiply-adds an image with padded taps.
    assert trace.operators["flops"].sum() == 2 * 32 * 1_814_073_344
    dtype = {"fp32": "float32", "fp16": "float16"}[precision]
    conv = trace.operators[trace.operators["name"] == "Conv_3 + Relu_4"].iloc[0]
    assert str(conv["outputs"]).startswith(f"{dtype}[32,64,56,56]:hwc")


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_run_times_of_real_engines_are_those_trtexec_summed_up(
    recorded: Callable[[str], tuple[Trace, dict[str, Any]]], precision: str
) -> None:
    trace, files = recorded(precision)
    sampled = trace.sampled_runs
    assert sampled["dur_ns"].tolist() == [int(t["latencyMs"] * 10**6) for t in files["timing"]]
    summary = files["profile.metadata"]["performance_summary"]
    low, high, mean, median, _ = summary["Latency"]
    steady = sampled.loc[~sampled["warmup"], "dur_ns"]
    assert len(steady) == round(summary["Throughput"] * summary["Total Host Walltime"])
    assert steady.min() == int(low * 10**6) and steady.max() == int(high * 10**6)
    assert steady.mean() == pytest.approx(float(mean) * 1e6, rel=1e-5)
    assert steady.median() == pytest.approx(float(median) * 1e6, rel=1e-6)


def test_two_precisions_of_a_real_engine_compare_by_layer(
    recorded: Callable[[str], tuple[Trace, dict[str, Any]]],
) -> None:
    sides = [side_of_trace(recorded(precision)[0]) for precision in ("fp32", "fp16")]
    comparison = compare(*sides)
    assert comparison.verdict.of == "unprofiled_wall"
    fusion = group_operators(*sides)
    assert (fusion.source, fusion.mapped_nodes, fusion.original_nodes) == ("members", 49, 49)
    group = next(g for g in fusion.groups if g.original[0].name == "Conv_5")
    assert [(op.name, op.op_type) for op in group.original] == [
        ("Conv_5", "Conv"), ("Add_6", "Add"), ("Relu_7", "Relu"),
    ]  # fmt: skip
    rows = comparison.operators.set_index("name")
    row = rows.loc["Conv_5 + Add_6 + Relu_7"]
    before, after = (
        next(r["averageMs"] for r in recorded(p)[1]["profile"] if r.get("name") == row.name)
        for p in ("fp32", "fp16")
    )
    assert row["delta_ns"] == int((after - before) * 10**6)


def test_a_folder_of_two_engines_is_two_recordings(shared_traces: Path) -> None:
    found = find(folder_sources(shared_traces / "third_party" / "tensorrt"))
    assert [recording.source.path for recording in found.recordings] == [
        f"pt-resnet-A100-{precision}.profile.json" for precision in ("fp16", "fp32")
    ]
    assert not (found.failed or found.unknown or found.covered)
    assert all(len(recording.files) == 4 for recording in found.recordings)
    assert isinstance(found.recordings[0].value, Trace)
    assert pd.notna(found.recordings[0].value.operators["op_type"]).all()
