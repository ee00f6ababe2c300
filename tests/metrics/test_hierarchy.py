"""The time of a run as a tree: what is added up by hand, and what always holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.metrics.hierarchy import MAX_CHILDREN, hierarchies, hierarchy
from fusescope.analysis.metrics.hierarchy import Node as Branch
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame


def trace_of(
    operators: list[tuple[str, str, str, int]], launched_by: list[str] | None = None
) -> Trace:
    """Operators as (name, class, op type, duration), one call each."""
    count = len(operators)
    return Trace(
        Meta(format="kineto", tool="PyTorch profiler"),
        runs_frame(run=[0], kind=["step"], dur_ns=[10_000], profiled=[True]),
        operators_frame(
            operator=list(range(count)),
            name=[name for name, _, _, _ in operators],
            op_class=[of for _, of, _, _ in operators],
            op_type=[kind for _, _, kind, _ in operators],
            launched_by=launched_by or [None] * count,
        ),
        calls_frame(
            operator=list(range(count)), run=[0] * count, dur_ns=[dur for *_, dur in operators]
        ),
    )


SMALL = [
    ("net/a/Conv", "convolution", "Conv", 60),
    ("net/b/Conv", "convolution", "Conv", 30),
    ("net/a/Relu", "activation", "Relu", 10),
]


def test_class_type_and_operator() -> None:
    assert hierarchy(trace_of(SMALL), None, "op_class") == (
        Branch(None, "run", "", 100, 3),
        Branch(0, "op_class", "convolution", 90, 2),
        Branch(1, "op_type", "Conv", 90, 2),
        Branch(2, "operator", "net/a/Conv", 60, 1),
        Branch(2, "operator", "net/b/Conv", 30, 1),
        Branch(0, "op_class", "activation", 10, 1),
        Branch(5, "op_type", "Relu", 10, 1),
        Branch(6, "operator", "net/a/Relu", 10, 1),
    )


def test_call_stacks_leave_out_what_only_calls() -> None:
    """main and run call but one frame; the module is told although it does, too."""
    names = ("main", "run", "nn.Module: Net", "forward", "a", "b")
    stacks = Stacks(names, np.array([-1, 0, 1, 2, 3, 3]), np.array([5, 6, 7]), np.array([4, 5, -1]))
    trace = replace(trace_of(SMALL), stacks=stacks)
    trace = replace(trace, calls=trace.calls.assign(source_row=pd.array([5, 6, 7], dtype="Int64")))
    assert hierarchies(trace, None) == ("op_class", "scope", "stack")
    assert hierarchy(trace, None, "stack") == (
        Branch(None, "run", "", 100, 3),
        Branch(0, "frame", "nn.Module: Net", 90, 2),
        Branch(1, "frame", "forward", 90, 2),
        Branch(2, "frame", "a", 60, 1),
        Branch(3, "operator", "net/a/Conv", 60, 1),
        Branch(2, "frame", "b", 30, 1),
        Branch(5, "operator", "net/b/Conv", 30, 1),
        Branch(0, "operator", "net/a/Relu", 10, 1),
    )


def test_modules_are_read_from_names_or_the_graph() -> None:
    trace = trace_of(SMALL)
    found = hierarchy(trace, None, "scope")
    assert [(node.level, node.label, node.ns) for node in found[:4]] == [
        ("run", "", 100), ("scope", "net", 100), ("scope", "a", 70), ("operator", "net/a/Conv", 60)
    ]  # fmt: skip
    node = Node("net/a/Conv", "Conv", ("x",), ("y",), scope="stem")
    graph = Graph((node,), (), ("x",), ("y",))
    found = hierarchy(trace, graph, "scope")
    assert [(node.level, node.label, node.ns) for node in found] == [
        ("run", "", 100), ("scope", "stem", 60), ("operator", "net/a/Conv", 60),
        ("operator", "net/b/Conv", 30), ("operator", "net/a/Relu", 10),
    ]  # fmt: skip


def test_only_what_a_file_tells_is_offered() -> None:
    flat = [(name.replace("/", "."), *rest) for name, *rest in SMALL]
    assert hierarchies(trace_of(flat), None) == ("op_class",)
    assert hierarchies(trace_of(SMALL), None) == ("op_class", "scope")
    launched = trace_of(flat, launched_by=["aten::conv2d", "aten::conv2d", "aten::relu"])
    assert hierarchies(launched, None) == ("op_class", "launcher")
    by_launcher = hierarchy(launched, None, "launcher")
    assert [(node.label, node.ns) for node in by_launcher if node.level == "launcher"] == [
        ("aten::conv2d", 90), ("aten::relu", 10)
    ]  # fmt: skip


def test_the_first_part_of_an_operators_name_is_no_module() -> None:
    """GenMask/DSAGENMASK runs twice and is all that has a slash; with a second operator below
    GenMask the name does tell where both are."""
    mask = ("GenMask/DSAGENMASK", "random", "DSAGenMask", 60)
    alone = trace_of([mask, mask, ("Add_1", "elementwise", "Add", 40)])
    assert hierarchies(alone, None) == ("op_class",)
    shared = trace_of([mask, ("GenMask/Add", "elementwise", "Add", 40)])
    assert "scope" in hierarchies(shared, None)


def test_many_children_end_in_one() -> None:
    many = [(f"op{at}", "elementwise", "Add", 100 - at) for at in range(MAX_CHILDREN + 5)]
    leaves = [n for n in hierarchy(trace_of(many), None, "op_class") if n.parent == 2]
    assert len(leaves) == MAX_CHILDREN
    assert (leaves[-1].level, leaves[-1].count) == ("more", 6)
    exact = hierarchy(trace_of(many[:MAX_CHILDREN]), None, "op_class")
    assert all(node.level != "more" for node in exact)


def test_what_is_too_small_to_be_seen_ends_in_one() -> None:
    tiny = [(f"t{at}", "elementwise", "Add", 1) for at in range(10)]
    tiny.append(("big", "elementwise", "Add", 99_990))
    assert [(n.level, n.count) for n in hierarchy(trace_of(tiny), None, "op_class")[3:]] == [
        ("operator", 1), ("more", 10)
    ]  # fmt: skip


def test_no_time_is_no_tree() -> None:
    assert hierarchy(trace_of([("a", "elementwise", "Add", 0)]), None, "op_class") == ()


NAMES = st.lists(st.sampled_from(("a", "b", "c/d", "x")), min_size=1, max_size=5).map("/".join)
OPERATORS = st.lists(
    st.tuples(
        NAMES, st.sampled_from(("convolution", "unknown")), st.sampled_from(("Conv", "")),
        st.integers(0, 1000),
    ),
    min_size=1,
    max_size=60,
)  # fmt: skip


@given(OPERATORS, st.sampled_from(("op_class", "scope", "launcher")))
def test_children_add_up_to_their_parent(
    operators: list[tuple[str, str, str, int]], by: str
) -> None:
    trace = trace_of(operators, launched_by=["launcher"] * len(operators))
    if by not in hierarchies(trace, None):
        return
    nodes = hierarchy(trace, None, by)
    for place, node in enumerate(nodes):
        children = [one for one in nodes if one.parent == place]
        assert node.parent is None or node.parent < place
        if children:
            assert sum(one.ns for one in children) == node.ns
            assert sum(one.count for one in children) == node.count
            assert len(children) <= MAX_CHILDREN
