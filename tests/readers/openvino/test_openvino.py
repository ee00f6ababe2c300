"""OpenVINO: execution graphs as XML and JSON, and reports of performance counters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fusescope.analysis.compare.groups.members import group_by_members
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.openvino.graph import read_graph
from fusescope.analysis.trace import Trace
from tests.neighbours import damaged_neighbours

HEAD = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);"


def port(number: int, precision: str, *dims: int) -> str:
    listed = "".join(f"<dim>{dim}</dim>" for dim in dims)
    return f'<port id="{number}" precision="{precision}">{listed}</port>'


def layer(
    number: int,
    name: str,
    kind: str,
    micros: object = "not_executed",
    originals: str | None = None,
    inputs: str = "",
    outputs: str = "",
    **more: object,
) -> str:
    data = {"execTimeMcs": micros, "execOrder": number, "primitiveType": f"{kind}_impl", **more}
    if originals is not None:
        data["originalLayersNames"] = originals
    text = " ".join(f'{key}="{value}"' for key, value in data.items())
    return (
        f'<layer id="{number}" name="{name}" type="{kind}"><data {text} />'
        f"<input>{inputs}</input><output>{outputs}</output></layer>\n"
    )


def net(*layers: str, edges: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?>\n<net name="n" version="11">\n<layers>\n{"".join(layers)}'
        f"</layers>\n<edges>{edges}</edges>\n</net>\n"
    ).encode()


def edge(start: str, end: str) -> str:
    (a, b), (c, d) = start.split("."), end.split(".")
    return f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}" />'


MODEL = net(
    layer(0, "x", "Input", originals="x", outputs=port(0, "FP32", 1, 4, 8, 8),
          outputLayouts="abcd", outputPrecisions="f32"),
    layer(1, "w", "Const", originals="w", outputs=port(0, "FP16", 6, 4, 3, 3)),
    layer(2, "reorder", "Reorder", 20, "", port(0, "FP32", 1, 4, 8, 8),
          port(1, "BF16", 1, 4, 8, 8), outputLayouts="acdb", outputPrecisions="bf16"),
    layer(5, "pool", "Pooling", 4, "pool", port(0, "FP32", 1, 6, 8, 8),
          port(1, "FP32", 1, 6, 4, 4)),
    layer(3, "conv", "Convolution", 310, "conv,bn,relu",
          port(0, "FP32", 1, 4, 8, 8) + port(1, "FP32", 6, 4, 3, 3),
          port(2, "FP32", 1, 6, 8, 8), outputLayouts="acdb", outputPrecisions="f32"),
    layer(6, "y", "Output", originals="y", inputs=port(0, "FP32", 1, 6, 4, 4)),
    edges=edge("0.0", "2.0") + edge("2.1", "3.0") + edge("1.0", "3.1") + edge("3.2", "5.0"),
)  # fmt: skip


def trace_of(data: bytes, name: str = "file", *beside: Source) -> Trace:
    trace = read(Source(name, data, beside=beside))
    assert isinstance(trace, Trace)
    return trace


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def rows(trace: Trace) -> list[dict[str, Any]]:
    table = trace.operators.loc[trace.calls["operator"]].reset_index(drop=True)
    table = table.assign(dur_ns=trace.calls["dur_ns"], run=trace.calls["run"])
    plain: list[dict[str, Any]] = (
        table.astype("object").where(table.notna(), None).to_dict("records")
    )
    return plain


# Execution graphs.


def test_an_execution_graph_is_one_mean_inference_in_the_order_of_execution() -> None:
    trace = trace_of(MODEL)
    assert trace.meta.format == "openvino_graph" and trace.meta.tool == "OpenVINO"
    assert [(r["name"], r["dur_ns"]) for r in rows(trace)] == [
        ("reorder", 20_000), ("conv", 310_000), ("pool", 4_000),
    ]  # fmt: skip
    assert trace.runs[["kind", "dur_ns"]].values.tolist() == [["iteration", 334_000]]
    assert codes(trace) == {"not_operators": 3, "averaged_all": 1}
    assert trace.diagnostics[0].example == "Input"


def test_members_tensors_and_implementation_of_each_node() -> None:
    reorder, conv, pool = rows(trace_of(MODEL))
    # Inserted by the engine: no members, but that is known.
    assert (reorder["members"], reorder["members_source"]) == ("", "names")
    assert (conv["members"], conv["members_source"]) == ("conv + bn + relu", "names")
    # An input is what its producer wrote, not what the port says.
    assert conv["inputs"] == "bfloat16[1,4,8,8]:acdb; float16[6,4,3,3]"
    assert conv["outputs"] == "float32[1,6,8,8]:acdb"
    assert conv["bytes_in"] == 4 * 64 * 2 and conv["bytes_param"] == 6 * 4 * 9 * 2
    assert conv["bytes_out"] == 6 * 64 * 4
    assert conv["flops"] == 2 * 6 * 64 * 4 * 9
    assert conv["provider"] == "Convolution_impl"
    assert [r["op_class"] for r in (reorder, conv, pool)] == ["layout", "convolution", "pooling"]


def test_a_grouped_convolution_counts_its_own_channels() -> None:
    data = net(
        layer(0, "dw", "Convolution", 5, "dw",
              port(0, "FP32", 1, 8, 4, 4) + port(1, "FP32", 8, 1, 1, 3, 3),
              port(2, "FP32", 1, 8, 4, 4)),
        layer(1, "fc", "FullyConnected", 5, "fc",
              port(0, "FP32", 2, 16) + port(1, "FP32", 10, 16), port(2, "FP32", 2, 10)),
    )  # fmt: skip
    assert [r["flops"] for r in rows(trace_of(data))] == [2 * 8 * 16 * 9, 2 * 2 * 10 * 16]


def test_a_graph_without_times_says_how_to_get_them() -> None:
    with pytest.raises(FuseScopeError, match="any times.*-pc"):
        trace_of(net(layer(0, "a", "Convolution")))
    with pytest.raises(FuseScopeError):  # the model, not its execution graph
        trace_of(b'<?xml version="1.0"?><net name="n"><layers></layers></net>')


@pytest.mark.parametrize("keep", [0.3, 0.5, 0.7, 0.95])
def test_a_graph_cut_short_keeps_its_whole_nodes(keep: float) -> None:
    data = MODEL[: int(len(MODEL) * keep)]
    whole = data.count(b"</layer>")
    timed = data[: data.rfind(b"</layer>")].count(b'execTimeMcs="') - data[
        : data.rfind(b"</layer>")
    ].count(b"not_executed")
    if not timed:
        with pytest.raises(FuseScopeError):
            trace_of(data)
        return
    trace = trace_of(data)
    assert len(trace.calls) == timed and whole
    assert "cut_short" in codes(trace)


BILLION_LAUGHS = (
    b'<?xml version="1.0"?>\n<!DOCTYPE net [\n<!ENTITY a "execTimeMcs">\n'
    + b"".join(b'<!ENTITY %c "%s">\n' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9))
    + b']>\n<net name="&j;"><layers><layer name="a" type="b"/></layers></net>'
)


@pytest.mark.parametrize(
    "data",
    [
        BILLION_LAUGHS,
        b'<!DOCTYPE net SYSTEM "file:///etc/passwd"><net name="execTimeMcs"><layers/></net>',
        b'<!DOCTYPE net [<!ENTITY e SYSTEM "file:///etc/hosts">]><net name="execTimeMcs">&e;</net>',
    ],
)  # fmt: skip
def test_no_document_type_is_read(data: bytes) -> None:
    with pytest.raises(FuseScopeError, match="document type"):
        read_graph(Source("x", data))
    with pytest.raises(FuseScopeError):
        trace_of(data)


def test_an_undeclared_entity_is_an_error_and_a_character_reference_a_character() -> None:
    with pytest.raises(FuseScopeError, match="damaged"):
        trace_of(net(layer(0, "&bomb;", "Convolution", 5)))
    trace = trace_of(net(layer(0, "a&#8238;b&lt;c", "Convolution", 5)))
    assert trace.operators["name"].tolist() == ["ab<c"]  # the bidi control is gone


def test_deep_and_wide_xml_is_bounded() -> None:
    deep = MODEL.replace(b"<layers>", b"<x>" * 20_000 + b"<layers>", 1)
    with pytest.raises(FuseScopeError):
        trace_of(deep)
    with pytest.raises(FuseScopeError, match="more nodes than the limit of 2"):
        read(Source("x", MODEL, Limits(events=2)))
    odd = MODEL.replace(b"<dim>8</dim>", b"<dim>8</dim>" * 40, 1).replace(b"<dim>4", b"<dim>four")
    assert len(trace_of(odd).calls) == 3


def test_json_says_the_same_without_tensors() -> None:
    nodes = [
        {"name": "x", "type": "Parameter", "execOrder": "0", "execTimeMcs": "not_executed"},
        {"name": "conv", "type": "ExecutionNode", "execOrder": 2, "execTimeMcs": 310,
         "layerType": "Convolution", "originalLayersNames": "conv,bn", "primitiveType": "jit"},
        {"name": "r", "execOrder": "1", "execTimeMcs": "20", "layerType": "Reorder",
         "originalLayersNames": ""},
        {"name": None, "execTimeMcs": "3"}, 7,
    ]  # fmt: skip
    for document in ({"perf_counts": [], "exec_graph": nodes}, {"nodes": nodes}, nodes):
        found = rows(trace_of(json.dumps(document).encode()))
        assert [(r["name"], r["dur_ns"], r["members"]) for r in found] == [
            ("r", 20_000, ""), ("conv", 310_000, "conv + bn"),
        ]  # fmt: skip
        assert found[1]["provider"] == "jit"


def test_counters_of_a_capture_without_a_graph() -> None:
    document = {
        "perf_counts": [
            {"node_name": "x", "node_type": "Parameter", "status": "Status.NOT_RUN", "real_us": 0},
            {"node_name": "c", "node_type": "Convolution", "exec_type": "jit",
             "status": "Status.EXECUTED", "real_us": 461.5},
        ]
    }  # fmt: skip
    found = rows(trace_of(json.dumps(document).encode()))
    assert [(r["name"], r["dur_ns"], r["op_type"], r["members"]) for r in found] == [
        ("c", 461_500, "Convolution", None)
    ]


# Reports of performance counters.


def report(*tables: list[str], head: str = HEAD) -> bytes:
    return "".join(f"{head}\n" + "".join(f"{row}\n" for row in t) + "\n" for t in tables).encode()


TABLE = [
    "x;NOT_RUN;Parameter;unknown_f32;0.000;0.000;",
    "reorder;EXECUTED;Reorder;jit;0.021;0.021;",
    "conv;EXECUTED;Convolution;brgconv;0.310501;0.31;",
    "relu;OPTIMIZED_OUT;Relu;undef;0.000;0.000;",
    "Total;;;;0.331501;0.331;",
]


def test_each_table_of_a_report_is_a_run() -> None:
    trace = trace_of(report(TABLE, [row.replace("0.021", "0.022") for row in TABLE]))
    assert trace.meta.format == "openvino_counters"
    assert [(r["run"], r["name"], r["dur_ns"]) for r in rows(trace)] == [
        (0, "reorder", 21_000), (0, "conv", 310_501),
        (1, "reorder", 22_000), (1, "conv", 310_501),
    ]  # fmt: skip
    assert trace.runs["dur_ns"].tolist() == [331_501, 332_501]
    assert set(trace.runs["kind"]) == {"iteration"}
    assert codes(trace) == {"not_operators": 4, "averaged_all": 1}
    assert trace.calls["source_row"].tolist() == [3, 4, 10, 11]
    assert trace.operators["members"].isna().all()


def test_tables_of_a_report_joined_with_itself_count_once() -> None:
    layers = [f"l{n};EXECUTED;Relu;jit;0.0{n}1;0.0{n}1;" for n in range(1, 6)]
    other = [layers[0].replace("0.011", "0.012"), *layers[1:]]
    trace = trace_of(report(layers, other, layers, other))
    assert len(trace.runs) == 2 and len(trace.calls) == 10
    [note] = [one for one in trace.diagnostics if one.code == "runs_twice"]
    assert (note.severity, note.count, str(note.example)) == ("warning", 2, "table 3")
    few = trace_of(report(TABLE, TABLE))  # of two layers, equal times may be chance
    assert len(few.runs) == 2 and "runs_twice" not in codes(few)


def test_columns_are_found_by_name_and_unit() -> None:
    head = "layerName;execStatus;numaId;layerType;execType;cpuTime (us);realTime (us)"
    trace = trace_of(report(["conv;EXECUTED;0;Convolution;jit;9;310.501"], head=head))
    assert trace.calls["dur_ns"].tolist() == [310_501]
    without_unit = "layer name;exec status;layer type;exec type;real time;cpu time;"
    trace = trace_of(report(["conv;EXECUTED;Convolution;jit;615;3;"], head=without_unit))
    assert trace.calls["dur_ns"].tolist() == [615_000]


def test_the_sorted_report_has_commas_quotes_and_sentences() -> None:
    data = (
        'layerName,execStatus,layerType,execType,realTime (ms),cpuTime (ms),"proportion (%)\n"\r\n'
        '"a,b",Status.EXECUTED,Convolution,jit,1.500,1.500,75.00%\r\n'
        "c,Status.EXECUTED,Reorder,jit,0.500,0.500,25.00%\r\n\n"
        "Total time: 2.00 milliseconds\r\nTotal CPU time: 2.00 milliseconds\r\n\n\n"
    )
    trace = trace_of(data.encode())
    assert [(r["name"], r["dur_ns"]) for r in rows(trace)] == [("a,b", 1_500_000), ("c", 500_000)]
    assert codes(trace) == {"averaged_all": 1}


def test_time_that_was_spent_counts_whatever_the_status() -> None:
    odd = ["a;NOT_RUN;Reshape;undef;0.002;0.002;", "Total;EXECUTED;Softmax;jit;0.5;0.5;",
           "short;EXECUTED", "bad;EXECUTED;Relu;jit;-1;0;"]  # fmt: skip
    trace = trace_of(report(odd))
    assert [(r["name"], r["dur_ns"]) for r in rows(trace)] == [("a", 2_000), ("Total", 500_000)]
    assert codes(trace) == {"short_rows": 1, "averaged_all": 1, "bad_time": 2}


def test_reports_as_json() -> None:
    def node(name: str, status: str, real: object) -> dict[str, object]:
        return {"name": name, "status": status, "node_type": "Convolution", "exec_type": "jit",
                "real_time": real, "cpu_time": 0}  # fmt: skip

    tables = [
        {"nodes": [node("c", "EXECUTED", 0.461), node("r", "NOT_RUN", 0)], "total_real_time": 1},
        {"nodes": [node("c", "EXECUTED", "0.462")]},
    ]
    detailed = {"report_type": "detailed", "detailed_performance": tables}
    trace = trace_of(json.dumps(detailed).encode())
    assert trace.runs["dur_ns"].tolist() == [461_000, 462_000]
    average = {"report_type": "average", "avg_performance": tables[0]}
    assert trace_of(json.dumps(average).encode()).calls["dur_ns"].tolist() == [461_000]


def test_a_report_takes_members_and_tensors_from_its_graph() -> None:
    graph = Source("exec.xml", MODEL)
    other = Source("other.xml", net(layer(0, "gemm", "MatMul", 5)))
    damaged = Source("broken.xml", MODEL.replace(b"</layer>", b"</later>"))
    trace = trace_of(report(TABLE), "report.csv", other, graph, damaged)
    reorder, conv = rows(trace)
    assert conv["members"] == "conv + bn + relu" and reorder["members"] == ""
    assert conv["dur_ns"] == 310_501 and conv["flops"] == 2 * 6 * 64 * 4 * 9
    assert trace.meta.files == ("exec.xml",)
    assert codes(trace)["companion_unreadable"] == 1
    twice = trace_of(report(TABLE), "report.csv", graph, Source("copy.xml", MODEL))
    assert twice.meta.files == ()  # nothing tells which


# Recorded with OpenVINO 2026.4.


@pytest.mark.parametrize(("model", "members"), [
    ("tiny", {"add": "mul + add"}),
    ("cbr", {"x_f32_abcd_bf16_acdb_Multiply_8903": "", "Multiply_8903": "Multiply_8903 + bn + relu",
             "Multiply_8903_acdb_abcd_Result_5430": ""}),
])  # fmt: skip
def test_real_graphs_in_both_forms(
    shared_traces: Path, model: str, members: dict[str, str]
) -> None:
    folder = shared_traces / "captured" / "openvino"
    layers = ElementTree.parse(folder / f"{model}_exec_graph.xml").getroot().iter("layer")
    truth = {
        one.attrib["name"]: (one.attrib["type"], int(data.attrib["execTimeMcs"]) * 1000)
        for one in layers
        if (data := one.find("data")) is not None and data.attrib["execTimeMcs"].isdigit()
    }
    for name in (f"{model}_exec_graph.xml", f"{model}_fused.json"):
        trace = read_path(folder / name)
        assert isinstance(trace, Trace)
        found = rows(trace)
        assert {r["name"]: (r["op_type"], r["dur_ns"]) for r in found} == truth
        assert {r["name"]: r["members"] for r in found} == members


def test_the_fused_graph_against_the_originals(shared_traces: Path) -> None:
    trace = read_path(shared_traces / "captured" / "openvino" / "cbr_exec_graph.xml")
    assert isinstance(trace, Trace)
    unfused = net(*(layer(i, n, n, 5, n) for i, n in enumerate(("conv", "bn", "relu"))))
    fusion = group_by_members(side_of_trace(trace_of(unfused)), side_of_trace(trace))
    assert fusion is not None
    (group,) = fusion.groups
    assert {op.name for op in group.baseline} >= {"bn", "relu"}
    assert [op.name for op in group.candidate] == ["Multiply_8903"]
    assert len(fusion.inserted[1]) == 2


def test_files_of_other_tools_beside_bring_no_warning() -> None:
    assert "companion_unreadable" not in codes(
        trace_of(report(TABLE), "r.csv", *damaged_neighbours())
    )
