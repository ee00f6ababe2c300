"""The model tree: trees that are added up by hand, and what always holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.explanation.model_tree import tree_of_trace
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.model_tree import ModelTree, Node, model_tree
from fusescope.analysis.compare.model_tree.paths import (
    Levels,
    located,
    operator_steps,
    without_number,
)
from fusescope.analysis.compare.model_tree.tree import MAX_CHILDREN, MAX_PARTS, tree_of
from fusescope.analysis.compare.side import Side
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording.trees.model_tree import costliest_said
from fusescope.analysis.work_units import common_units, same_work
from fusescope.analysis.work_units.units import OUTSIDE
from tests.host.hosts import host_of
from tests.module_traces import NARROW, WIDE, Launch, model, trace_of


def tree(before: Trace, after: Trace) -> ModelTree | None:
    return model_tree(compare(Side("a", before), Side("b", after)))


def grown(before: Trace, after: Trace) -> ModelTree:
    found = tree(before, after)
    assert found is not None
    return found


def told(found: ModelTree) -> list[tuple[int, str, tuple[int, int], int, int]]:
    """Depth, name, instances, and ns of both sides of each node."""
    return [
        (depth, " > ".join(name for _, name in node.steps), node.instances, *node.total_ns)
        for depth, _, node in found.walk()
    ]


def named(found: ModelTree, name: str) -> Node:
    [node] = [node for _, _, node in found.walk() if node.steps[-1][1] == name]
    return node


BMM_NARROW = "float32[8,64,64]; float32[8,64,64]"
BMM_WIDE = "float32[8,64,512]; float32[8,512,64]"


def test_a_product_of_one_shape_that_is_28_times_slower_is_a_row_of_its_own() -> None:
    """Of two layers the narrow products take 600 -> 80 µs each, the wide ones 25 -> 700: together
    +310 µs, which hides +1350."""
    before = trace_of(model(layers=2, narrow_us=600, wide_us=25))
    after = trace_of(model(layers=2, narrow_us=80, wide_us=700))
    found = grown(before, after)
    norm = "Norm > aten::native_layer_norm > float32[64,64]"
    embedding = "Embedding > aten::index_select > float32[64]"
    assert told(found) == [
        (0, "Net", (1, 1), 1_261_000, 1_571_000),
        (1, "Layer", (2, 2), 1_256_000, 1_566_000),
        (2, "Attention > aten::bmm", (0, 0), 1_250_000, 1_560_000),
        (3, BMM_WIDE, (0, 0), 50_000, 1_400_000),
        (3, BMM_NARROW, (0, 0), 1_200_000, 160_000),
        (2, norm, (0, 0), 6_000, 6_000),
        (1, embedding, (0, 0), 5_000, 5_000),
    ]
    wide = named(found, BMM_WIDE)
    assert found.change_ns(wide) == 1_350_000
    assert found.share(wide) is None  # 435 % of a change
    assert found.executions(wide) == (2, 2)


def test_shares_are_those_of_a_change_that_stands_out() -> None:
    """50 + 700 us become 80 + 800, and 80 + 670: +130, and 0, of which nothing has a share."""
    sides = [
        trace_of(model(layers=1, narrow_us=narrow, wide_us=wide))
        for narrow, wide in ((50, 700), (80, 800), (80, 670))
    ]
    slower = grown(sides[0], sides[1])
    assert slower.share(named(slower, BMM_NARROW)) == pytest.approx(30 / 130)
    even = grown(sides[0], sides[2])
    assert even.share(named(even, BMM_NARROW)) is None
    assert replace(slower, stands_out=False).share(slower.roots[0]) is None


def test_times_are_those_of_one_unit_where_the_sides_have_more_or_fewer() -> None:
    """Two steps of 100 µs a product beside one step of 90: 100 -> 90 a step."""
    launch = [Launch(("Net_0",), "aten::bmm", NARROW, 90), Launch(("Net_0",), "aten::mm", WIDE, 7)]
    one = trace_of(launch)
    two = trace_of([replace(launch[0], us=us) for us in (80, 120)] + [replace(launch[1], us=14)])
    runs = runs_frame(
        run=[0, 1],
        kind=["step"] * 2,
        start_ns=[0, 1_080_000],
        dur_ns=[1_080_000, 140_000],
        profiled=[True] * 2,
    )
    two = replace(
        two, host=None, runs=runs, calls=two.calls.assign(run=[0, 1, 1]).astype({"run": "Int64"})
    )
    found = grown(two, one)
    assert found.unit_counts == (2, 1)
    assert found.times_ns(named(found, BMM_NARROW)) == (100_000, 90_000)
    assert found.executions(named(found, BMM_NARROW)) == (1, 1)
    assert found.whole_change_ns == -10_000


def test_times_leave_out_the_slow_first_run_as_all_figures_do() -> None:
    """Steps of 900, 100 and 100 µs, one product each, beside one step of 90: 100 -> 90 a step."""
    launch = Launch(("Net_0",), "aten::bmm", NARROW, 90)
    many = trace_of([replace(launch, us=us) for us in (900, 100, 100)])
    runs = runs_frame(
        run=range(3),
        kind="step",
        start_ns=[0, 900_000, 1_000_000],
        dur_ns=[900_000, 100_000, 100_000],
        profiled=True,
    )
    calls = many.calls.assign(run=[0, 1, 2]).astype({"run": "Int64"})
    many = replace(many, host=None, runs=runs, calls=calls)
    found = grown(many, trace_of([launch]))
    assert found.unit_counts == (2, 1)
    assert found.times_ns(named(found, BMM_NARROW)) == (100_000, 90_000)
    assert found.whole_change_ns == -10_000


def test_a_part_of_one_side_alone_stays() -> None:
    before = trace_of(model(layers=1, narrow_us=10, wide_us=20))
    after = trace_of(model(layers=1, narrow_us=10, wide_us=20, norm="aten::rms_norm"))
    rows = told(grown(before, after))
    assert (3, "aten::native_layer_norm > float32[64,64]", (0, 0), 3_000, 0) in rows
    assert (3, "aten::rms_norm > float32[64,64]", (0, 0), 0, 3_000) in rows


def test_without_modules_operators_and_shapes_are_left() -> None:
    bare = [Launch((), "aten::bmm", NARROW, 10), Launch((), "aten::bmm", WIDE, 20)]
    with_modules = [replace(one, modules=("Net_0",)) for one in bare]
    found = grown(trace_of(bare), trace_of(with_modules))
    assert found.levels.modules is None
    assert [row[:2] for row in told(found)] == [(0, "aten::bmm"), (1, BMM_WIDE), (1, BMM_NARROW)]


def test_what_stands_in_no_module_is_together() -> None:
    inside = Launch(("Net_0",), "aten::bmm", NARROW, 10)
    backward = Launch((), "aten::mul", NARROW, 4)
    found = grown(trace_of([inside, backward]), trace_of([inside, replace(backward, us=9)]))
    outside, net = found.roots
    assert (outside.steps[0], outside.total_ns) == (("module", ""), (4_000, 9_000))
    assert net.total_ns == (10_000, 10_000)


def test_what_was_launched_before_the_file_begins_is_not_said_to_be_outside() -> None:
    """The file has the launch of the first kernel alone."""
    launch = Launch(("Net_0",), "aten::bmm", NARROW, 10)
    trace = trace_of([launch, replace(launch, us=30)])
    stacks = trace.stacks
    assert stacks is not None
    trace = replace(trace, stacks=replace(stacks, nodes=stacks.nodes[:1], rows=stacks.rows[:1]))
    found = grown(trace, replace(trace))
    net, unplaced = found.roots
    assert (unplaced.steps[0], unplaced.total_ns) == (("unplaced", ""), (30_000, 30_000))
    assert net.total_ns == (10_000, 10_000)


def by_type(
    rows: list[tuple[str, str | None, int]], names: list[str] | None = None, **more: object
) -> Trace:
    """Operators as (op type, inputs, duration), one call each."""
    count = len(rows)
    return Trace(
        Meta("hand", "test", sha256=str(rows)),
        runs_frame(run=[0], kind=["step"], dur_ns=[10_000], profiled=[True]),
        operators_frame(
            operator=list(range(count)),
            name=names or [f"{op_type}_{at}" for at, (op_type, _, _) in enumerate(rows)],
            op_type=[op_type for op_type, _, _ in rows],
            inputs=[inputs for _, inputs, _ in rows],
        ),
        calls_frame(
            operator=list(range(count)),
            run=[0] * count,
            dur_ns=[ns for *_, ns in rows],
            start_ns=list(range(count)),
            source_row=list(range(count)),
        ),
        **more,  # type: ignore[arg-type]
    )


def test_without_operators_op_types_have_shapes() -> None:
    """As kernels of Ascend do."""
    before = by_type([("MatMulV3", "float16[8,8]", 50), ("MatMulV3", "float16[9,9]", 5)])
    after = by_type([("MatMulV3", "float16[8,8]", 40), ("MatMulV3", "float16[9,9]", 25)])
    assert told(grown(before, after)) == [
        (0, "MatMulV3", (0, 0), 55, 65),
        (1, "float16[9,9]", (0, 0), 5, 25),
        (1, "float16[8,8]", (0, 0), 50, 40),
    ]


OUT, OTHER_OUT = (8, 64, 64), (8, 64)


def products(*shapes_us: tuple[tuple[tuple[int, ...], ...], int]) -> Trace:
    """Products over these shapes in one module, which take so many µs."""
    return trace_of([Launch(("Net_0",), "aten::bmm", shapes, us) for shapes, us in shapes_us])


def test_a_product_that_writes_into_a_given_tensor_is_the_same_row() -> None:
    before = products((NARROW, 90), (WIDE, 7))
    after = products(((*NARROW, OUT), 80), (WIDE, 6))
    assert told(grown(before, after)) == [
        (0, "Net > aten::bmm", (0, 0), 97_000, 86_000),
        (1, BMM_NARROW, (0, 0), 90_000, 80_000),
        (1, BMM_WIDE, (0, 0), 7_000, 6_000),
    ]


def test_one_more_input_makes_another_row_where_it_may_be_another_operator() -> None:
    before = products((NARROW, 90), (WIDE, 7))
    runs_both = products(((*NARROW, OUT), 80), (NARROW, 6), (WIDE, 6))
    assert len(grown(before, runs_both).roots[0].children) == 3
    other_name = trace_of(
        [
            Launch(("Net_0",), "aten::baddbmm", (*NARROW, OUT), 80),
            Launch(("Net_0",), "aten::bmm", WIDE, 6),
        ]
    )
    assert len(named(grown(before, other_name), f"{BMM_NARROW}; float32[8,64,64]").steps) == 2
    two_lead_there = products(((*NARROW, OUT), 80), ((*NARROW, OTHER_OUT), 6), (WIDE, 6))
    assert len(grown(before, two_lead_there).roots[0].children) == 4


def test_shapes_that_one_side_lacks_do_not_divide_an_operator() -> None:
    before = by_type([("allReduce", None, 50), ("Add", "float16[2]", 3), ("Add", None, 1)])
    after = by_type([("allReduce", "float16[8]", 40), ("Add", "float16[2]", 3)])
    assert told(grown(before, after)) == [
        (0, "allReduce", (0, 0), 50, 40),
        (0, "Add", (0, 0), 4, 3),
        (1, "", (0, 0), 1, 0),
        (1, "float16[2]", (0, 0), 3, 3),
    ]


def test_scopes_in_names_are_modules() -> None:
    """As in names of MindSpore; numbered cells count together."""
    names = ["Default/network/0-Block/Add-op1", "Default/network/1-Block/Add-op2", "Cast-op3"]
    rows = [("Add", "float16[2]", 3), ("Add", "float16[2]", 4), ("Cast", "float16[2]", 1)]
    found = grown(by_type(rows, names), by_type(rows, names))
    assert told(found) == [
        (0, "Default > network > Block > Add > float16[2]", (0, 0), 7, 7),
        (0, " > Cast > float16[2]", (0, 0), 1, 1),
    ]


def test_modules_stay_where_fusion_leaves_one_operator_in_each() -> None:
    """The first file has two operators in block; alone, the second would have none in a module."""
    before = by_type(
        [("Conv", "float16[2]", 3), ("Relu", "float16[2]", 4), ("Gemm", "float16[2]", 2)],
        ["block/Conv", "block/Relu", "head/Gemm"],
    )
    after = by_type(
        [("FusedConv", "float16[2]", 5), ("Gemm", "float16[2]", 2)], ["block/Conv", "head/Gemm"]
    )
    assert told(grown(before, after))[:4] == [
        (0, "block", (1, 1), 7, 5),
        (1, "FusedConv > float16[2]", (0, 0), 0, 5),
        (1, "Relu > float16[2]", (0, 0), 4, 0),
        (1, "Conv > float16[2]", (0, 0), 3, 0),
    ]
    assert told(grown(after, before))[0] == (0, "block", (1, 1), 5, 7)
    assert "block" not in {name for _, name, *_ in told(grown(after, after))}


def test_ranges_of_the_host_are_modules() -> None:
    """NVTX ranges around launches, but not the one of the step, which holds all, and operators."""
    spans = [
        (0, "annotation", "step", 0, 100),
        (0, "annotation", "block_0", 10, 20),
        (0, "annotation", "aten::mm", 11, 15),
        (0, "annotation", "block_1", 20, 30),
    ]
    host = host_of(spans, [(0, 1, 0, 12), (1, 2, 0, 22), (2, 3, 0, 50)])
    rows = [("gemm", "float16[8]", 5), ("gemm", "float16[8]", 6), ("norm", "float16[8]", 2)]
    trace = by_type(rows, host=host)
    found = grown(trace, replace(trace))
    assert found.levels.modules == "annotation"
    assert told(found) == [
        (0, "block > gemm > float16[8]", (0, 0), 11, 11),
        (0, " > norm > float16[8]", (0, 0), 2, 2),
    ]
    alone = tree_of_trace(trace)
    assert alone is not None and alone.costliest is not None
    told_of_it = " ".join(map(str, costliest_said(alone.costliest, "file", "")))
    assert "Of all ranges that the program marks block takes most" in told_of_it
    assert "15.4 % of the time of all operators is in no range." in told_of_it  # 2 of 13


def test_sides_that_do_not_compare_have_no_changes() -> None:
    """The longest time stands first."""
    before = by_type([("A", "float16[8]", 5), ("B", "float16[8]", 60)])
    after = by_type([("A", "float16[8]", 50), ("B", "float16[8]", 61)])
    levels, sides = located(before, after)
    found = tree_of(*sides, levels, has_changes=False)
    assert [node.steps[0][1] for node in found.roots] == ["B", "A"]
    assert found.share(found.roots[0]) is None


def test_op_types_alone_make_no_tree() -> None:
    trace = by_type([("A", None, 5)])
    assert tree(trace, replace(trace)) is None


def test_many_parts_with_small_changes_are_one_together() -> None:
    count = MAX_CHILDREN + 20
    before = by_type([(f"T{at}", "float16[2]", 100 + at) for at in range(count)])
    after = by_type([(f"T{at}", "float16[2]", 100 + 2 * at) for at in range(count)])
    found = grown(before, after)
    more = found.roots[-1]
    assert len(found.roots) == MAX_CHILDREN
    assert (more.kind, more.instances) == ("more", (21, 21))
    assert more.total_ns == (sum(range(100, 121)), sum(range(100, 142, 2)))
    assert found.roots[0].steps == (("op_type", f"T{count - 1}"), ("shapes", "float16[2]"))


def test_a_large_tree_has_its_largest_parts_and_adds_up() -> None:
    """60 operators of 30 shapes each; only the last shape of each operator changes."""
    rows = [(f"T{at}", f"float16[{size}]", 100) for at in range(60) for size in range(30)]
    after = [(name, inputs, ns + 50 * inputs.endswith("[29]")) for name, inputs, ns in rows]
    found = grown(by_type(rows), by_type(after))
    parts = list(found.walk())
    assert len(parts) <= MAX_PARTS + 3 * MAX_CHILDREN
    shown = [node for _, _, node in parts if node.steps[-1] == ("shapes", "float16[29]")]
    assert len(shown) == MAX_CHILDREN - 1
    for _, _, node in parts:
        held = [child.total_ns for child in node.children]
        assert not held or (sum(b for b, _ in held), sum(a for _, a in held)) == node.total_ns
    assert found.total_ns == (180_000, 183_000)


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("layer_5", "layer"),
        ("model.layers.5.mlp", "model.layers.#.mlp"),
        ("0-Bottleneck", "Bottleneck"),
        ("conv1", "conv1"),
        ("resnet50", "resnet50"),
        ("7", "#"),
        ("", ""),
    ],
)
def test_numbered_copies_share_a_name(name: str, shared: str) -> None:
    assert without_number(name) == shared


NAMES = st.sampled_from(["nn.Module: A_0", "nn.Module: A_1", "nn.Module: B_0", "f", "aten::mm"])
SHAPES = st.sampled_from([None, "float16[2]", "float16[3]"])
LAUNCHERS = st.sampled_from([None, "aten::mm", "aten::add", "cudaGraphLaunch"])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Traces with stacks, operators and runs of any kind; some calls in no run or no stack."""
    operators = draw(
        st.lists(st.tuples(st.sampled_from("XYZ"), SHAPES, LAUNCHERS), min_size=1, max_size=6)
    )
    names = draw(st.lists(NAMES, min_size=1, max_size=8))
    parents = [draw(st.integers(-1, at - 1)) for at in range(len(names))]
    runs = draw(st.integers(1, 3))
    columns = (
        st.integers(0, len(operators) - 1),
        st.integers(0, runs - 1) | st.none(),
        st.integers(0, 10**12),
        st.integers(-1, len(names) - 1),
    )
    calls = draw(st.lists(st.tuples(*columns), min_size=1, max_size=20))
    rows = np.arange(len(calls))
    return Trace(
        Meta("hand", "test"),
        runs_frame(
            run=list(range(runs)),
            kind=[draw(st.sampled_from(["step", "file"]))] * runs,
            dur_ns=[10**13] * runs,
            profiled=[True] * runs,
        ),
        operators_frame(
            operator=list(range(len(operators))),
            name=[op_type for op_type, _, _ in operators],
            op_type=[op_type for op_type, _, _ in operators],
            inputs=[inputs for _, inputs, _ in operators],
            launched_by=[launcher for _, _, launcher in operators],
        ),
        calls_frame(
            operator=[operator for operator, *_ in calls],
            run=[run for _, run, *_ in calls],
            dur_ns=[ns for _, _, ns, _ in calls],
            start_ns=rows,
            source_row=rows,
        ),
        stacks=Stacks(tuple(names), np.array(parents), rows, np.array([at for *_, at in calls])),
    )


@given(traces(), traces())
def test_leaves_and_children_add_up_exactly(before: Trace, after: Trace) -> None:
    found = tree(before, after)
    if found is None:
        return
    units = same_work(*common_units(before, after))
    whole = tuple(
        int(trace.calls["dur_ns"][of.unit_of != OUTSIDE].sum())
        for trace, of in zip((before, after), units, strict=True)
    )
    assert found.total_ns == whole
    leaves = [node.total_ns for node in found.leaves()]
    assert (sum(b for b, _ in leaves), sum(a for _, a in leaves)) == whole
    for _, _, node in found.walk():
        assert len(node.children) != 1
        for side in (0, 1):
            held = [child.total_ns[side] for child in node.children]
            assert not held or sum(held) == node.total_ns[side]
            ran = [child.executions[side] for child in node.children]
            assert not ran or sum(ran) == node.executions[side]
            assert node.instances[side] == 0 or node.executions[side] > 0


def test_an_operator_that_runs_in_place_keeps_its_name() -> None:
    names = ["aten::resize_", "aten::as_strided"]
    trace = Trace(
        Meta("test", "test"),
        runs_frame(run=[0], dur_ns=[2], profiled=[True]),
        operators_frame(operator=[0, 1], name=names, op_type=names),
        calls_frame(operator=[0, 1], run=[0, 0], dur_ns=[1, 1]),
    )
    steps = operator_steps(trace, Levels("", False, False, False))
    assert steps == [
        (("op_type", "aten::resize_"),),
        (("op_type", "aten::as_strided"),),
    ]
