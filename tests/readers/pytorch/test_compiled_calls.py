"""What torch.compile wrote down, beside a trace: which operators are in which kernel."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.readers import find, read, read_path
from fusescope.analysis.readers.companions import companion
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.pytorch.compiler.fx_graph import read_graph
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests import compiled_logs as logs
from tests.conftest import SHARED_TRACES

SAMPLE = Path(__file__).resolve().parents[3] / "sample_traces" / "torch_compile"
# Two layers with one kernel each of equal source, so of one name, and a library call between.
GIVEN = {
    "norm": "torch.nn.functional.layer_norm(l_x_, (8,))",
    "linear": "torch._C._nn.linear(norm, l_w_)",
    "norm_1": "torch.nn.functional.layer_norm(linear, (8,))",
    "relu": "torch.relu(norm_1)",
    "y": "relu + norm_1",
}
OPTIMISED = {
    "mul": "torch.ops.aten.mul.Tensor(arg0_1, 2)",
    "addmm": "torch.ops.aten.addmm.default(arg1_1, mul, arg2_1)",
    "mul_1": "torch.ops.aten.mul.Tensor(addmm, 2)",
    "relu": "torch.ops.aten.relu.default(mul_1)",
    "add": "torch.ops.aten.add.Tensor(relu, mul_1)",
}
STEPS = {
    "cpp_fused_norm_0:1": ["mul"],
    "extern_kernels.addmm:2": ["addmm"],
    "cpp_fused_norm_0:3": ["mul_1"],
    "cpp_fused_add_relu_1:4": ["relu", "add", "mul_1"],
}
SOURCES = {
    "mul": ["norm"], "addmm": ["linear"], "mul_1": ["norm_1"], "relu": ["relu"], "add": ["y"],
}  # fmt: skip
LOG = logs.log_text(GIVEN, OPTIMISED, STEPS, SOURCES)
RAN = ["graph_0_cpp_fused_norm_0", "aten::addmm", "graph_0_cpp_fused_norm_0",
       "graph_0_cpp_fused_add_relu_1"]  # fmt: skip


def beside(main: bytes, *others: bytes | str) -> Trace:
    given = [other.encode() if isinstance(other, str) else other for other in others]
    files = tuple(Source(f"file_{at}.log", data) for at, data in enumerate(given))
    value = read(Source("trace.json", main, beside=files))
    assert isinstance(value, Trace)
    return value


def members(trace: Trace) -> list[tuple[str, str]]:
    return list(zip(trace.texts("name"), trace.texts("members"), strict=True))


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


def test_kernels_of_one_name_are_told_apart_by_the_order_of_the_program() -> None:
    trace = beside(logs.compiled_steps(RAN), LOG)
    assert members(trace) == [
        ("graph_0_cpp_fused_norm_0", "norm"),
        ("aten::addmm", "linear"),
        ("graph_0_cpp_fused_norm_0", "norm_1"),
        ("graph_0_cpp_fused_add_relu_1", "norm_1 + relu + y"),
    ]
    assert set(trace.texts("members_source")) == {"names"}
    assert trace.meta.files == ("file_0.log",)
    assert trace.calls["dur_ns"].sum() == 2 * 4 * 5_000
    assert codes(trace)["compiler_map"] == 2
    assert [(one.name, one.op_type, one.recomputed) for one in trace.originals] == [
        ("norm", "layer_norm", False), ("linear", "linear", False), ("norm_1", "layer_norm", True),
        ("relu", "relu", False), ("y", "add", False),
    ]  # fmt: skip
    assert {one.place for one in trace.originals} == {"model.py:9: y = f(x)"}


def test_a_second_call_of_a_graph_in_a_step_has_originals_of_its_own() -> None:
    trace = beside(logs.compiled_steps(RAN, calls=2), LOG)
    assert dict.fromkeys(text for _, text in members(trace)) == dict.fromkeys(
        ("norm", "linear", "norm_1", "norm_1 + relu + y",
         "norm@2", "linear@2", "norm_1@2", "norm_1@2 + relu@2 + y@2")
    )  # fmt: skip
    assert len(trace.originals) == 10


def test_operators_that_a_library_call_runs_inside_stand_for_the_same_original() -> None:
    events = json.loads(logs.compiled_steps(RAN))["traceEvents"]
    [start] = [e["ts"] for e in events if e["name"] == "aten::addmm"][:1]
    events.append(logs.event("cpu_op", "aten::copy_", start + 1, 2))
    found = dict(members(beside(logs.trace_text(events), LOG)))
    assert (found["aten::copy_"], found["aten::addmm"]) == ("linear", "linear")


@pytest.mark.parametrize(
    "other",
    [
        logs.log_text(GIVEN, OPTIMISED, STEPS, SOURCES, key="fother"),
        LOG.replace("cpp_fused_add_relu_1", "cpp_fused_mul_9"),
        logs.log_text(GIVEN, OPTIMISED, STEPS, SOURCES, order=[*STEPS][::-1]),
    ],
)
def test_a_log_of_another_run_is_refused_with_one_sentence(other: str) -> None:
    trace = beside(logs.compiled_steps(RAN), other)
    assert trace.meta.files == () and trace.originals == ()
    [note] = [note for note in trace.diagnostics if note.code == "compiler_map_foreign"]
    assert "of another run" in diagnostic_sentence(note)
    assert dict(members(trace))["graph_0_cpp_fused_add_relu_1"] == "add + relu"


def test_of_several_logs_the_one_that_fits_is_taken() -> None:
    foreign = LOG.replace("cpp_fused_add_relu_1", "cpp_fused_mul_9")
    assert beside(logs.compiled_steps(RAN), foreign, LOG).meta.files == ("file_1.log",)


def test_of_graphs_that_both_fit_and_tell_different_things_none_is_taken() -> None:
    moved = {**STEPS, "cpp_fused_norm_0:1": ["mul_1"], "cpp_fused_norm_0:3": ["mul"]}
    other = logs.log_text(GIVEN, OPTIMISED, moved, SOURCES, key="")
    plain = logs.log_text(GIVEN, OPTIMISED, STEPS, SOURCES, key="")
    ran = logs.compiled_steps(RAN, key="None")
    assert beside(ran, plain + plain).originals and not beside(ran, plain + other).originals


def test_an_upload_of_both_traces_and_the_log_gives_the_log_to_the_compiled_one() -> None:
    eager = logs.eager_steps(["aten::layer_norm", "aten::linear"])
    files = {"a_eager.json": eager, "b.json": logs.compiled_steps(RAN), "z.log": LOG.encode()}
    found = find([Source(name, data) for name, data in files.items()])
    taken = {one.source.name: one.value.meta.files for one in found.recordings
             if isinstance(one.value, Trace)}  # fmt: skip
    assert taken == {"a_eager.json": (), "b.json": ("z.log",)} and not found.unknown


def test_without_a_map_the_page_says_which_setting_would_have_told() -> None:
    trace = beside(logs.compiled_steps(RAN))
    [note] = [note for note in trace.diagnostics if note.code == "compiler_map_missing"]
    assert note.count == 2 and "INDUCTOR_PROVENANCE=1" in diagnostic_sentence(note)
    at = LOG.index("inductor_provenance")
    no_map = LOG.replace("inductor_provenance_tracking_node_mappings", "something_else")
    assert at > 0 and codes(beside(logs.compiled_steps(RAN), no_map))["compiler_map_lacks"] == 1


def test_what_the_compiler_does_not_trace_stands_with_what_reads_it() -> None:
    sources = {name: of for name, of in SOURCES.items() if name != "mul_1"}
    trace = beside(logs.compiled_steps(RAN), logs.log_text(GIVEN, OPTIMISED, STEPS, sources))
    assert [one.name for one in trace.originals if not one.traced] == ["norm_1"]
    # Read by relu and y in the last kernel.
    assert members(trace)[-1][1] == "norm_1 + relu + y"


def test_a_debug_folder_names_nodes_of_the_optimised_graph() -> None:
    mapping = {"cppCodeToPost": STEPS, "postToPre": SOURCES}
    folder = "torch_compile_debug/run_1/torchinductor/model__0_inference_0.0"
    files = {
        "inductor_provenance_tracking_node_mappings.json": json.dumps(mapping),
        "output_code.py": logs.code_text(list(STEPS)),
        "fx_graph_transformed.py": logs.graph_text(OPTIMISED),
        "ir_post_fusion.txt": "op0: …",
    }
    sources = [Source(n, t.encode(), path=f"{folder}/{n}") for n, t in files.items()]
    main = Source("trace.json", logs.compiled_steps(RAN))
    found = find([main, *sources])
    [recording] = found.recordings
    assert isinstance(recording.value, Trace)
    assert [text for _, text in members(recording.value)] == [
        "mul", "addmm", "mul_1", "mul_1 + relu + add"
    ]  # fmt: skip
    assert len(recording.value.meta.files) == 3 and len(found.unknown) == 1


def test_kernels_of_a_device_are_joined_by_their_launches() -> None:
    steps = {step.replace("cpp_", "triton_poi_"): nodes for step, nodes in STEPS.items()}
    names = [name.replace("graph_0_cpp_", "triton_poi_") for name in RAN]
    events = [logs.event("user_annotation", f"## Call CompiledFxGraph {logs.KEY} ##", 0, 100)]
    for place, name in enumerate(names):
        at = 10 + 20 * place
        if name == "aten::addmm":
            events.append(logs.event("cpu_op", name, at - 1, 8))
            name = "ampere_sgemm_32x32_nn"
        events.append(logs.event("cuda_runtime", "cudaLaunchKernel", at, 2, correlation=place + 1))
        kernel = logs.event("kernel", name, 500 + at, 5, correlation=place + 1, device=0, stream=7)
        events.append({**kernel, "pid": 0, "tid": 7})
    trace = beside(logs.trace_text(events), logs.log_text(GIVEN, OPTIMISED, steps, SOURCES))
    assert members(trace) == [
        ("triton_poi_fused_norm_0", "norm"),
        ("ampere_sgemm_32x32_nn", "linear"),
        ("triton_poi_fused_norm_0", "norm_1"),
        ("triton_poi_fused_add_relu_1", "norm_1 + relu + y"),
    ]


def replayed(*names: str) -> bytes:
    """A call in which a recorded graph of the device is played again: nothing else is launched."""
    events = [
        logs.event("user_annotation", f"## Call CompiledFxGraph {logs.KEY} ##", 0, 100),
        logs.event("cuda_runtime", "cudaGraphLaunch", 10, 2, correlation=1),
    ]
    for place, name in enumerate(names):
        kernel = logs.event("kernel", name, 50 + 9 * place, 5, correlation=1, device=0, stream=7)
        events.append({**kernel, "pid": 0, "tid": 7})
    return logs.trace_text([*events[:2], *events[:1:-1]])  # files need not be in order of time


def test_kernels_that_are_played_again_are_known_by_their_place() -> None:
    steps = {step.replace("cpp_", "triton_poi_"): nodes for step, nodes in STEPS.items()}
    log = logs.log_text(GIVEN, OPTIMISED, steps, SOURCES)
    norm, last = "triton_poi_fused_norm_0", "triton_poi_fused_add_relu_1"
    found = members(beside(replayed(norm, "sgemm", "splitK_reduce", norm, last), log))
    assert found[::-1] == [
        (norm, "norm"), ("sgemm", "linear"), ("splitK_reduce", "linear"), (norm, "norm_1"),
        (last, "norm_1 + relu + y"),
    ]  # fmt: skip
    assert beside(replayed(norm, "sgemm", last), log).originals == ()  # a kernel is missing


def test_kernels_of_several_library_calls_are_told_apart_where_that_leaves_no_choice() -> None:
    given = {"a": "torch.mm(l_x_, l_w_)", "b": "torch.mm(a, l_w_)", "c": "torch.relu(b)"}
    steps = {"extern_kernels.mm:1": ["a"], "extern_kernels.mm:2": ["b"],
             "triton_poi_fused_relu_0:3": ["c"]}  # fmt: skip
    log = logs.log_text(given, given, steps, {name: [name] for name in given})
    relu = "triton_poi_fused_relu_0"

    def told(*names: str) -> list[str]:
        found = members(beside(replayed(*names, relu), log))
        assert [name for name, _ in found[::-1]] == [*names, relu]
        return [text for _, text in found[::-1]]

    assert told("sgemm_1", "sgemm_2") == ["a", "b", "c"]
    # A product that is computed in parts has a second kernel, which adds them up.
    reduce = "void cublasLt::splitKreduce_kernel<32, 16>"
    assert told("sgemm_1", reduce, "sgemm_2") == ["a", "a", "b", "c"]
    parts = "sm80_xmma_gemm_f32f32_execute_split_k_kernel__5x_cublas"
    assert told("sgemm_1", "sgemm_2", parts) == ["a", "b", "b", "c"]
    # Nothing says of which call the second of three is: they are of both.
    assert told("sgemm_1", "cast", "sgemm_2") == ["a + b", "a + b", "a + b", "c"]
    assert told("sgemm_1") == ["a + b", "c"]


def test_a_template_does_not_compute_what_the_map_lists_of_its_inputs() -> None:
    """Of a tuned product the map lists the kernel that made its input, too; of a product with the
    producer inside there is no other kernel."""
    given = {"a": "torch.relu(l_x_)", "b": "torch.mm(a, l_w_)", "c": "torch.sigmoid(b)",
             "d": "torch.mm(c, l_w_)"}  # fmt: skip
    steps = {"triton_poi_fused_relu_0:1": ["a"], "triton_tem_fused_mm_relu_1:2": ["b", "a"],
             "triton_tem_fused_mm_sigmoid_2:3": ["d", "c"]}  # fmt: skip
    log = logs.log_text(given, given, steps, {name: [name] for name in given})
    trace = beside(replayed(*(step.rpartition(":")[0] for step in steps)), log)
    assert [text for _, text in members(trace)[::-1]] == ["a", "b", "c + d"]
    assert not any(one.recomputed for one in trace.originals)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("shared_traces")
def test_a_real_file_whose_kernels_are_played_again_fits_a_program_of_their_order() -> None:
    """Four calls of one graph on an MI300: the log is made of the order in the first one."""
    path = SHARED_TRACES / "third_party/kineto/flux1-base-fmha.json.gz"
    plain = read_path(path)
    assert isinstance(plain, Trace)
    calls = plain.calls.sort_values("start_ns", kind="stable")
    names = np.array(plain.texts("name"))[calls["operator"].to_numpy()]
    launched = np.array(plain.texts("launched_by"))[calls["operator"].to_numpy()]
    inside = names[[name.startswith("Torch-Compiled Region") for name in launched]]
    first = inside[: len(inside) // 4]
    steps = {}
    for number, name in enumerate(first):
        known = name if name.startswith("triton_") else f"extern_kernels.call_{number}"
        steps[f"{known}:{number}"] = [f"relu_{number}"]
    nodes = {f"relu_{number}": "torch.relu(l_x_)" for number in range(len(first))}
    log = logs.log_text(nodes, nodes, steps, {node: [node] for node in nodes}, key="")
    trace = beside(gzip.decompress(path.read_bytes()), log)
    assert codes(trace)["compiler_map"] == 4
    told = sum(bool(text) for text in trace.texts("members"))
    assert told > 0.9 * len(first)


DEEP = "[" * 100_000
HOSTILE = [
    LOG[: len(LOG) // 2],
    LOG.replace('["mul"]', "7"),
    LOG.replace('"cppCodeToPost": {', '"cppCodeToPost": [{').replace("}}\n", "}]}\n"),
    LOG.replace('{"preToPost"', '{"x": ' + DEEP + ', "preToPost"'),
    LOG.replace("norm", "<script>alert(1)</script>"),
    LOG.replace("torch.relu(norm_1)", "__import__('os').abort()"),
    logs.HEAD + '{"artifact": 7, "inductor_output_code": []}\n\t' + "\x00" * 9,
    logs.HEAD + "{" + DEEP,
    logs.entry({"inductor_output_code": {}}, "# [Provenance debug handles] " + ":" * 1900),
]


@pytest.mark.parametrize("log", HOSTILE)
def test_hostile_logs_cost_what_they_say_and_nothing_else(log: str) -> None:
    plain = beside(logs.compiled_steps(RAN))
    trace = beside(logs.compiled_steps(RAN), log.encode() + b"\n\xff\xfe\tV")
    assert trace.calls["dur_ns"].sum() == plain.calls["dur_ns"].sum()
    for note in trace.diagnostics:
        assert diagnostic_sentence(note)


def test_graphs_are_read_and_not_run() -> None:
    text = logs.graph_text(
        {
            "a": "l_x_ @ l_w_", "b": "a.relu_()", "c": "b[(slice(None), 0)]", "d": "-c",
            "e": "torch.ops.aten.add.Tensor(d, a, alpha = 2)", "f": "e.float()", "g": "f == e",
            "h": "torch.cat([g, f], dim = d)", "same": "a",
        }
    )  # fmt: skip
    nodes = {node.name: (node.op_type, node.inputs) for node in read_graph(text)}
    assert nodes == {
        "a": ("matmul", ()), "b": ("relu", ("a",)), "c": ("getitem", ("b",)), "d": ("neg", ("c",)),
        "e": ("add", ("d", "a")), "f": ("to", ("e",)), "g": ("eq", ("f", "e")),
        "h": ("cat", ("g", "f", "d")),
    }  # fmt: skip
    assert read_graph("    x = " + "(" * 100_000) == ()
    # `out += x` in a residual block, as it is printed: the node is the name behind it.
    lines = (
        '        out: "f32[8]cuda:0" = torch.relu(l_x_)',
        '        out += l_x_;  out_1: "f32[8]cuda:0" = out;  out = None',
        "        out_1 *= 2;  out_2 = out_1;  out_1 = None",
        "        out_2 += out;  unrelated = out;  out = None",
    )
    assert [(node.name, node.op_type, node.inputs) for node in read_graph("\n".join(lines))] == [
        ("out", "relu", ()), ("out_1", "add", ("out",)), ("out_2", "mul", ("out_1",)),
    ]  # fmt: skip
    hostile = ("    a += " + "b" * n + ";  " + "c" * n + " = a" for n in (10, 3000))
    assert [len(read_graph(line)) for line in hostile] == [1, 0]


def test_a_lone_log_is_no_recording_but_has_a_sentence() -> None:
    for head in (LOG, '{"preToPost": {"a": ["b"]}}'):
        kind = companion(head.encode())
        assert kind is not None and "torch.compile" in kind.content.text()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), min_size=1, max_size=12))
def test_every_call_of_a_kernel_gets_what_its_number_lists(drawn: list[tuple[int, int]]) -> None:
    """Kernels of few names, each of some nodes: the n-th of a name is the n-th number of it."""
    given_nodes, steps, sources, want = {}, {}, {}, []
    for number, (kind, count) in enumerate(drawn):
        nodes = [f"relu_{number}_{at}" for at in range(count)]
        given_nodes |= {node: "torch.relu(l_x_)" for node in nodes}
        sources |= {node: [node] for node in nodes}
        steps[f"cpp_fused_{kind}:{number}"] = nodes
        want.append((f"cpp_fused_{kind}", " + ".join(nodes)))
    log = logs.log_text(given_nodes, given_nodes, steps, sources)
    trace = beside(logs.compiled_steps([name for name, _ in want], steps=1), log)
    ran = trace.operators.iloc[trace.calls["operator"]]
    assert list(zip(ran["name"].astype(str), ran["members"].astype(str), strict=True)) == want


def test_the_sample_names_the_operators_in_every_kernel() -> None:
    trace = read_path(SAMPLE / "compiled.json.gz")
    assert isinstance(trace, Trace)
    assert codes(trace)["compiler_map"] == 3
    found = members(trace)
    twice = [text for name, text in found if name.endswith("_unbind_view_1")]
    assert twice == ["matmul + a", "matmul_2 + a_1"]
    assert all(text for name, text in found)
    assert [one.name for one in trace.originals if one.recomputed] == ["x", "x_1", "x_2"]
