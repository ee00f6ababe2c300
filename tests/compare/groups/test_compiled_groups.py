"""Eager against compiled by the compiler's own map."""

from __future__ import annotations

from pathlib import Path

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Group
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.timeline.payload import several_payload, timeline_payload
from fusescope.analysis.trace import Trace
from tests import compiled_logs as logs

SAMPLE = Path(__file__).resolve().parents[3] / "sample_traces" / "torch_compile"
GIVEN = {
    "linear": "torch._C._nn.linear(l_x_, l_w_)",
    "view": "linear.view(8, 8)",
    "item": "view[0]",
    "relu": "torch.relu(item)",
    "y": "relu * item",
    "z": "torch.sigmoid(y)",
}
STEPS = {"extern_kernels.mm:1": ["linear"], "cpp_fused_a_0:2": ["relu", "y"],
         "cpp_fused_b_1:3": ["y", "z"]}  # fmt: skip
SAME = {name: [name] for name in GIVEN}
LOG = logs.log_text(GIVEN, GIVEN, STEPS, SAME)
COMPILED = logs.compiled_steps(["aten::mm", "graph_0_cpp_fused_a_0", "graph_0_cpp_fused_b_1"])
EAGER = [
    "aten::ones", ("aten::linear", "aten::t", "aten::mm"), "aten::view",
    ("aten::select", "aten::as_strided"), "aten::relu", "aten::mul", "aten::sigmoid_",
]  # fmt: skip


def trace_of(data: bytes, log: str = "") -> Trace:
    beside = (Source("torch.log", log.encode()),) if log else ()
    value = read(Source("trace.json", data, beside=beside))
    assert isinstance(value, Trace)
    return value


def compared(before: Trace, after: Trace) -> Comparison:
    return compare(side_of_trace(before), side_of_trace(after))


def shown(group: Group) -> tuple[str, str, list[str], list[str], list[str]]:
    sides = (group.original, group.baseline, group.candidate)
    return (group.kind, group.known_by, *([op.name for op in side] for side in sides))  # type: ignore[return-value]


def codes(comparison: Comparison) -> set[str]:
    return {note.code for note in comparison.diagnostics}


def test_eager_operators_are_told_apart_by_the_graph_that_was_compiled() -> None:
    comparison = compared(trace_of(logs.eager_steps(EAGER)), trace_of(COMPILED, LOG))
    assert [shown(group) for group in comparison.fusion.groups] == [
        ("kept", "compiler", ["linear"], ["aten::linear", "aten::t", "aten::mm"], ["aten::mm"]),
        ("removed", "compiler", ["view"], ["aten::view"], []),
        ("removed", "compiler", ["item"], ["aten::select", "aten::as_strided"], []),
        (
            "fused", "compiler", ["relu", "y", "z"], ["aten::relu", "aten::mul", "aten::sigmoid_"],
            ["graph_0_cpp_fused_a_0", "graph_0_cpp_fused_b_1"],
        ),
    ]  # fmt: skip
    fusion = comparison.fusion
    # aten::ones is outside the graph, and the other side has none.
    assert (fusion.original_nodes, fusion.mapped_nodes) == (7, 6)
    assert fusion.groups[3].recomputed == ("y",) and "originals_recomputed" in codes(comparison)
    before = comparison.ledger.rows.set_index("group")["before_ns"]
    assert before.to_dict() == {1: 18_000, 2: 18_000, 3: 18_000, 4: 3 * 18_000}


def test_every_timeline_counts_the_operators_of_the_file() -> None:
    """Two calls of aten::relu, told apart as two originals, are one distinct operator."""
    given = {"first": "torch.relu(l_x_)", "second": "torch.relu(first)"}
    steps = {"cpp_fused_a_0:1": ["first", "second"]}
    log = logs.log_text(given, given, steps, {name: [name] for name in given})
    eager = trace_of(logs.eager_steps(["aten::relu", "aten::relu"]))
    pair = compared(eager, trace_of(logs.compiled_steps(["graph_0_cpp_fused_a_0"]), log))
    assert (len(eager.operators), len(pair.baseline.trace.operators)) == (1, 2)
    every = compare_several([pair.baseline, pair.candidate])
    for payload in (timeline_payload(pair), several_payload(every)):
        caption = str(payload["sides"][0]["caption"])
        assert caption.startswith("1 distinct operator in 2 executions, ")


def test_operators_of_one_name_and_shape_are_of_their_own_groups() -> None:
    given = {"a": "torch.relu(l_x_)", "mm": "torch.mm(a, l_w_)", "b": "torch.relu(mm)"}
    steps = {"cpp_fused_relu_0:1": ["a"], "extern_kernels.mm:2": ["mm"],
             "cpp_fused_relu_0:3": ["b"]}  # fmt: skip
    log = logs.log_text(given, given, steps, {name: [name] for name in given})
    ran = ["graph_0_cpp_fused_relu_0", "aten::mm", "graph_0_cpp_fused_relu_0"]
    eager = trace_of(logs.eager_steps(["aten::relu", "aten::mm", "aten::relu"]))
    comparison = compared(eager, trace_of(logs.compiled_steps(ran), log))
    assert [[op.name for op in group.original] for group in comparison.fusion.groups] == [
        ["a"], ["mm"], ["b"]
    ]  # fmt: skip
    assert comparison.ledger.rows["before_ns"].tolist() == [18_000] * 3
    assert comparison.ledger.rows["after_ns"].tolist() == [5_000] * 3


def test_an_operator_that_left_no_trace_makes_its_group_merged() -> None:
    sources = {name: of for name, of in SAME.items() if name != "relu"}
    log = logs.log_text(GIVEN, GIVEN, STEPS, sources)
    comparison = compared(trace_of(logs.eager_steps(EAGER)), trace_of(COMPILED, log))
    assert [group.known_by for group in comparison.fusion.groups][-1] == "merged"


def test_another_program_is_not_laid_beside_the_graph() -> None:
    other = trace_of(logs.eager_steps(["aten::mm", "aten::tanh", "aten::exp", "aten::relu"]))
    comparison = compared(other, trace_of(COMPILED, LOG))
    assert "originals_unmatched" in codes(comparison)
    assert all(group.known_by != "compiler" for group in comparison.fusion.groups)


def test_calls_that_eager_mode_need_not_start_do_not_make_another_program() -> None:
    """`contiguous()` of a tensor that is contiguous runs nothing, and is not an event."""
    idle = {f"same_{at}": "z.contiguous()" for at in range(3)}
    given = {**GIVEN, **idle}
    steps = {**STEPS, "cpp_fused_b_1:3": ["y", "z", *idle]}
    log = logs.log_text(given, given, steps, {name: [name] for name in given})
    comparison = compared(trace_of(logs.eager_steps(EAGER)), trace_of(COMPILED, log))
    assert "originals_unmatched" not in codes(comparison)
    assert [group.kind for group in comparison.fusion.groups] == [
        "kept", "removed", "removed", "fused",
    ]  # fmt: skip


def test_two_compilations_of_one_graph_are_joined_by_its_operators() -> None:
    apart = {"extern_kernels.mm:1": ["linear"], "cpp_fused_r_0:2": ["relu"],
             "cpp_fused_y_1:3": ["y"], "cpp_fused_z_2:4": ["z"]}  # fmt: skip
    names = ["aten::mm", *(f"graph_0_{step.partition(':')[0]}" for step in list(apart)[1:])]
    before = trace_of(logs.compiled_steps(names), logs.log_text(GIVEN, GIVEN, apart, SAME))
    groups = compared(before, trace_of(COMPILED, LOG)).fusion.groups
    assert [(g.kind, g.known_by, len(g.baseline), len(g.candidate)) for g in groups] == [
        ("kept", "compiler", 1, 1), ("fused", "compiler", 3, 2)
    ]  # fmt: skip


def test_a_function_for_the_cpu_proves_no_group_by_its_name() -> None:
    eager = trace_of(logs.eager_steps(["aten::add", "aten::mul"]))
    plain = compared(eager, trace_of(logs.compiled_steps(["graph_0_cpp_fused_add_mul_0"])))
    assert plain.fusion.groups == () and "compiler_map_missing" in codes(plain)


def test_every_operator_of_the_eager_sample_is_in_a_group() -> None:
    before, after = (read_path(SAMPLE / f"{name}.json.gz") for name in ("eager", "compiled"))
    assert isinstance(before, Trace) and isinstance(after, Trace)
    comparison = compared(before, after)
    fusion = comparison.fusion
    assert fusion.mapped_nodes == fusion.original_nodes == 44
    rows = {op.row for group in fusion.groups for op in group.baseline}
    given = comparison.baseline.trace
    assert rows == set(given.calls["operator"])
    assert given.calls["dur_ns"].sum() == before.calls["dur_ns"].sum()
    assert comparison.ledger.ungrouped.empty
    assert {group.known_by for group in fusion.groups} == {"compiler", "merged"}
