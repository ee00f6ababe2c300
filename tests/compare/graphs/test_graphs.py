"""Names travel from the capture of a graph, or a run without it, to what replays the graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis import wording
from fusescope.analysis.advice.explanation.model_tree import tree_of_trace
from fusescope.analysis.columnar.tables import columnar
from fusescope.analysis.columnar.tables import trace_of as trace_of_columns
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.graphs.captured import captured_graph
from fusescope.analysis.compare.graphs.names_by_order import (
    count_by_order,
    with_names_by_order,
    with_own_names_by_order,
)
from fusescope.analysis.compare.model_tree import model_tree
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.doctor import examine
from fusescope.analysis.redaction import redacted
from fusescope.analysis.report.doctor import file_facts
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence
from fusescope.analysis.wording.trees.model_tree import basis_of_one, basis_with_shares
from tests.compare.graphs.captures import LAYER, Step, capture, launched, replay, trace_of

GRAPH = LAYER * 6  # 24 kernels, 810 us


def named(trace: Trace) -> list[tuple[str, str, str]]:
    """The innermost module, operator and shapes of each call."""
    assert trace.stacks is not None
    operators = trace.calls["operator"].to_numpy()
    nodes = trace.stacks.of(trace.calls["source_row"].to_numpy("int64"))
    columns = [trace.texts(name) for name in ("launched_by", "inputs")]
    return [
        (module_of(trace, node), columns[0][at], columns[1][at])
        for node, at in zip(nodes.tolist(), operators.tolist(), strict=True)
    ]


def module_of(trace: Trace, node: int) -> str:
    stacks = trace.stacks
    while stacks is not None and node >= 0:
        if stacks.names[node].startswith("nn.Module"):
            return stacks.names[node]
        node = int(stacks.parents[node])
    return ""


def expected(steps: tuple[Step, ...]) -> list[tuple[str, str, str]]:
    return [
        (
            f"nn.Module: {module}",
            operator,
            "; ".join(f"float16[{','.join(map(str, shape))}]" for shape in shapes),
        )
        for module, operator, shapes, _, _ in steps
    ]


def test_a_capture_is_read_with_kernels_operators_shapes_and_times() -> None:
    found = trace_of(capture(GRAPH), "capture.json").captured
    assert found is not None
    assert found.texts("name") == [kernel for _, _, _, kernel, _ in GRAPH]
    assert found.texts("launched_by") == [operator for _, operator, _, _, _ in GRAPH]
    assert found.texts("inputs")[1] == "float16[32,64]; float16[64,192]"
    assert set(found.table["graph"]) == {0}
    assert set(found.table["dur_ns"]) == {4000}
    assert trace_of(replay(GRAPH), "replay.json").captured is None


@pytest.mark.parametrize("is_named", [True, False])
def test_the_capture_of_a_graph_names_what_a_replay_runs(is_named: bool) -> None:
    """CUDA does not say which kernel a launch launches; there the order and the classes do."""
    before = trace_of(capture(GRAPH, is_named=is_named), "capture.json")
    after = trace_of(replay(GRAPH, times=2), "replay.json")
    assert {operator for _, operator, _ in named_or_none(after)} == {""}
    _, replayed = with_names_by_order(before, after)
    assert count_by_order(replayed) == 48
    assert named(replayed) == expected(GRAPH) * 2
    assert replayed.calls["dur_ns"].tolist() == after.calls["dur_ns"].tolist()


def named_or_none(trace: Trace) -> list[tuple[str, str, str]]:
    texts = trace.texts("launched_by")
    return [("", texts[at], "") for at in trace.calls["operator"].tolist()]


def test_capture_and_replay_in_one_file_name_themselves() -> None:
    whole = trace_of([*capture(GRAPH), *replay(GRAPH, begin=50_000)], "both.json")
    assert named(with_own_names_by_order(whole))[1:] == expected(GRAPH)


def test_a_run_without_the_graph_names_modules_and_operators_but_no_shapes() -> None:
    """A prefill runs other products, in the places of those of the decoding step."""
    prefill = [(*step[:3], step[3].replace("gemm", "gemm_large"), 400) for step in GRAPH]
    before = trace_of(launched(prefill, 1000, runs=True, is_named=True), "prefill.json")
    _, replayed = with_names_by_order(before, trace_of(replay(GRAPH), "decode.json"))
    assert count_by_order(replayed) == 24
    assert [each[:2] for each in named(replayed)] == [each[:2] for each in expected(GRAPH)]
    assert {shapes for _, _, shapes in named(replayed)} == {""}


def test_another_model_names_nothing() -> None:
    other = [(*step[:3], f"other_{step[3][-4:]}", 40) for step in GRAPH]
    before = trace_of(launched(other, 1000, runs=True, is_named=True), "other.json")
    after = trace_of(replay(GRAPH), "replay.json")
    captured = trace_of(capture(other), "capture.json")
    for other_model in (before, captured):
        named = with_names_by_order(other_model, after)
        assert [count_by_order(trace) for trace in named] == [0, 0]


def test_a_capture_beside_its_replay_is_said_as_such() -> None:
    before = trace_of(capture(GRAPH), "capture.json")
    after = trace_of(replay(GRAPH, times=3), "replay.json")
    graph = captured_graph(before, after)
    assert graph is not None
    # From the first launch to the end of the last one, 23 x 100 us later.
    assert (graph.side, graph.kernels, graph.host_ns) == (0, 24, 2_304_000)
    assert (graph.launches, graph.replayed_ns) == (3, 810_000)
    found = compare(side_of_trace(before), side_of_trace(after))
    assert (found.verdict.reason, found.has_changes) == ("capture_and_replay", False)
    assert "are the capture of a graph and its replay" in wording.verdict_sentence(found)
    assert found.explanation is not None
    sentence = leading_sentence(found.explanation)
    assert "launches 24 kernels in 2.30 ms, and none of them runs" in sentence
    assert "replays it 3 times" in sentence and "in 810 µs" in sentence
    codes = {note.code for note in found.diagnostics}
    assert "capture_and_replay" in codes
    assert count_by_order(found.candidate.trace) == 72
    back = compare(side_of_trace(after), side_of_trace(before)).explanation
    assert back is not None and back.graph is not None
    assert (back.graph.side, back.graph.kernels) == (1, 24)


def test_captured_kernels_name_nobody_and_are_kept() -> None:
    steps = tuple((*step[:3], "/home/eve/kernels/gemm.so", step[4]) for step in GRAPH)
    trace = trace_of(capture(steps), "capture.json")
    hidden = redacted(trace)
    assert hidden.captured is not None
    assert set(hidden.captured.texts("name")) == {"<path>/gemm.so"}
    plain = trace_of(capture(GRAPH), "capture.json")
    assert redacted(plain).captured is plain.captured
    again = trace_of_columns(columnar(plain)).captured
    assert again is not None and plain.captured is not None
    assert again.table.equals(plain.captured.table)


def test_a_change_in_a_replay_is_told_with_the_module_of_the_other_file() -> None:
    """The run without the graph says in which module the products of the replays are."""
    eager = trace_of(launched(GRAPH, 1000, runs=True, is_named=True), "eager.json")
    slow = [(*step[:4], 90 if step[3] == "Cijk_gemm_up" else step[4]) for step in GRAPH]
    found = compare(side_of_trace(eager), side_of_trace(trace_of(replay(slow), "slow.json")))
    assert found.explanation is not None
    change = next(c for c in found.explanation.changes if c.code == "time")
    assert (found.explanation.unit.kind, change.change_ns) == ("repeat", 30_000), "a layer"
    assert change.where[0] == "MLP"


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from(LAYER), min_size=8, max_size=40), st.integers(1, 3))
def test_each_kernel_of_a_replay_is_that_of_its_place_whatever_is_captured(
    steps: list[Step], times: int
) -> None:
    before = trace_of(capture(steps), "capture.json")
    after = trace_of(replay(steps, times=times), "replay.json")
    _, replayed = with_names_by_order(before, after)
    assert count_by_order(replayed) == len(steps) * times
    assert named(replayed) == expected(tuple(steps)) * times
    of = replayed.calls["operator"].to_numpy()
    assert sorted(set(of.tolist())) == np.arange(len(replayed.operators)).tolist()


def note_of(trace: Trace) -> str:
    (note,) = [note for note in trace.diagnostics if note.code == "graphs_launched"]
    return wording.diagnostic_sentence(note)


@pytest.mark.parametrize("extra", [0, 3])
def test_the_note_on_graphs_does_not_deny_names_that_travelled(extra: int) -> None:
    """All 24 kernels of the replay have names, or all but those three that the capture lacks."""
    other = [("Sampler_0", "aten::argmax", [[32]], f"other_kernel_{at}", 4) for at in range(extra)]
    after = trace_of(replay([*GRAPH, *other]), "replay.json")
    denied = "Which operator each of them belongs to is not in the file"
    assert denied in note_of(after)
    before = trace_of(launched(GRAPH, 1000, runs=True, is_named=True), "eager.json")
    comparison = compare(side_of_trace(before), side_of_trace(after))
    told = note_of(comparison.candidate.trace)
    assert count_by_order(comparison.candidate.trace) == 24 and denied not in told
    assert told.startswith(f"{24 + extra} executions on the device were launched by graphs")
    says = "24 of them have the operators" if extra else "They have the operators and modules"
    assert says in told and ("the others belong to is in neither" in told) is bool(extra)
    tree = model_tree(comparison)
    assert tree is not None and tree.by_order == (0, 24)
    assert "Of 24 kernels of the candidate, in replayed graphs," in basis_with_shares(tree)
    assert "of the baseline, in" not in basis_with_shares(tree), "its own file names them"


def test_both_notes_of_a_report_on_the_graphs_of_a_file_count_the_same_names() -> None:
    """A prefill runs attention in another kernel, so there a name has a module and no operator."""
    prefill = [(*step[:3], step[3].replace("paged", "flash"), step[4]) for step in GRAPH]
    before = trace_of(launched(prefill, 1000, runs=True, is_named=True), "prefill.json")
    after = trace_of(replay([*GRAPH, ("S", "aten::argmax", [[32]], "other", 4)]), "decode.json")
    comparison = compare(side_of_trace(before), side_of_trace(after))
    told = note_of(comparison.candidate.trace)
    assert "24 of them have the operators and modules of the same kernels" in told
    assert told in [note for _, note in file_facts(comparison)[1].notes]


def test_the_note_of_a_file_that_has_capture_and_replay_says_so() -> None:
    whole = trace_of([*capture(GRAPH), *replay(GRAPH, begin=50_000)], "both.json")
    (noted,) = [note for note in examine(whole).noted if note.code == "graphs_launched"]
    assert "They have the operators and modules" in wording.diagnostic_sentence(noted)
    traced = tree_of_trace(whole)
    assert traced is not None
    assert "Of 24 kernels, in replayed graphs, operators and modules" in basis_of_one(traced.tree)
