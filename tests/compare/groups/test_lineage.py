"""Fusion groups of small graphs, expected by hand."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, Node, Tensor

_LINE = re.compile(r"(\S+) = (\S+)\((.*?)\)(?: \[(.*)\])?(?: '(.*)')?$")
_NCHWC = "com.microsoft.nchwc"


def graph(text: str, *, inputs: str = "x", outputs: str = "y", **tensors: Tensor) -> Graph:
    """A graph of lines `out,out = Type(in,in) [attribute=value] 'name'`; w… are weights.

    The name is that of the first output unless given; nchwc:Conv stands for the blocked one.
    """
    nodes = []
    for line in filter(None, map(str.strip, text.splitlines())):
        found = _LINE.match(line)
        assert found, line
        made, kind, read, settings, name = found.groups()
        results = tuple(made.split(","))
        pairs = [pair.split("=") for pair in (settings or "").split(";") if pair]
        nodes.append(
            Node(
                name=name or results[0],
                op_type=kind.removeprefix("nchwc:"),
                inputs=tuple(part.strip() for part in read.split(",")) if read else (),
                outputs=results,
                domain=_NCHWC if kind.startswith("nchwc:") else "",
                attributes=dict(pairs),
            )
        )
    names = dict.fromkeys(n for node in nodes for n in (*node.inputs, *node.outputs) if n)
    known = [tensors.get(n) or Tensor(n, constant=n.startswith("w")) for n in names]
    return Graph(tuple(nodes), tuple(known), tuple(inputs.split(",")), tuple(outputs.split(",")))


def groups(found: Lineage) -> list[str]:
    """'original+original -> optimised | inputs -> outputs', one a group."""
    assert found.mismatches == ()
    assert found.unexplained == ()
    seen = [name for group in found.groups for name in group.original]
    assert len(seen) == len(set(seen)) == found.original_nodes
    new = [name for group in found.groups for name in group.optimised] + list(found.inserted)
    assert len(new) == len(set(new)) == found.optimised_nodes
    return [
        f"{'+'.join(g.original)} -> {'+'.join(g.optimised)} | "
        f"{','.join(g.inputs)} -> {','.join(g.outputs)}"
        for g in found.groups
    ]


def test_a_convolution_takes_over_what_follows() -> None:
    model = graph("c = Conv(x,w)\nb = BatchNormalization(c,w1,w2)\ny = Relu(b)")
    fused = graph("y = FusedConv(x,w3) 'c'")
    assert groups(lineage(model, fused)) == ["c+b+y -> c | x -> y"]
    assert [g.known_by for g in lineage(model, fused).groups] == ["name"]


def test_what_others_read_stays_a_boundary() -> None:
    model = graph("c = Conv(x,w)\nr = Relu(c)\ns = Sigmoid(c)\ny = Add(r,s)")
    fused = graph("c = Conv(x,w)\ny = Gated(c) 'g'")
    assert groups(lineage(model, fused)) == ["c -> c | x -> c", "r+s+y -> g | c -> y"]


RESIDUAL = """
    c1 = Conv(x,w1)
    r1 = Relu(c1)
    c2 = Conv(r1,w2)
    c3 = Conv(x,w3)
    a = Add(c2,c3)
    y = Relu(a)
"""


def test_blocked_convolutions_are_known_by_their_names() -> None:
    fused = graph("""
        t0 = nchwc:ReorderInput(x)
        t1 = nchwc:Conv(t0,w1) [activation=Relu] 'c1_nchwc'
        t2 = nchwc:Conv(t0,w3) 'c3_nchwc'
        t3 = nchwc:Conv(t1,w2,,t2) [activation=Relu] 'c2_nchwc'
        y = nchwc:ReorderOutput(t3)
    """)
    found = lineage(graph(RESIDUAL), fused)
    assert groups(found) == [
        "c1+r1 -> c1_nchwc | x -> r1",
        "c2+a+y -> c2_nchwc | r1,c3 -> y",
        "c3 -> c3_nchwc | x -> c3",
    ]
    assert [group.known_by for group in found.groups] == ["structure", "name", "structure"]
    assert found.inserted == ("t0", "y")


def test_values_decide_where_names_say_nothing() -> None:
    fused = graph("t1 = FusedConv(x,w1) 'one'\nt2 = Conv(x,w3) 'two'\ny = FusedConv(t1,w2,,t2) 'm'")
    by_value = [TensorMatch("r1", "t1", "value"), TensorMatch("c3", "t2", "value")]
    assert groups(lineage(graph(RESIDUAL), fused, by_value)) == [
        "c1+r1 -> one | x -> r1",
        "c2+a+y -> m | r1,c3 -> y",
        "c3 -> two | x -> c3",
    ]


def test_without_any_evidence_neighbours_are_joined_and_not_guessed() -> None:
    fused = graph("t1 = FusedConv(x,w1) 'one'\nt2 = Conv(x,w3) 'two'\ny = FusedConv(t1,w2,,t2) 'm'")
    assert groups(lineage(graph(RESIDUAL), fused)) == ["c1+r1+c2+c3+a+y -> one+two+m | x -> y"]


def test_a_name_that_values_refute_is_no_boundary() -> None:
    model = graph("a = Relu(x)\nb = Exp(a)\ny = Neg(b)")
    swapped = graph("b = Relu(x) 'p'\na = Exp(b) 'q'\ny = Neg(a)")
    lies = [TensorMatch(n, n, "refuted") for n in ("a", "b")]
    assert groups(lineage(model, swapped, lies)) == ["a+b+y -> p+q+y | x -> y"]


def test_a_name_with_another_dtype_is_no_boundary() -> None:
    model = graph("a = Relu(x)\ny = Exp(a)", a=Tensor("a", "float32", (2,)))
    other = graph("a = Quantize(x)\ny = Exp(a)", a=Tensor("a", "int8", (2,)))
    assert groups(lineage(model, other)) == ["a+y -> a+y | x -> y"]


def test_operators_that_hand_on_their_input_are_removed_alone() -> None:
    model = graph(
        "i = Identity(x)\nr = Relu(i)\nd = Dropout(r)\na = Exp(d)\nb = Neg(d)\ny = Add(a,b)"
    )
    fused = graph("r = Relu(x)\na = Exp(r)\nb = Neg(r)\ny = Add(a,b)")
    assert groups(lineage(model, fused)) == [
        "i ->  | x -> i",
        "r -> r | i -> r",
        "d ->  | r -> d",
        "a -> a | d -> a",
        "b -> b | d -> b",
        "y -> y | a,b -> y",
    ]


def test_the_engine_may_keep_the_name_after_an_identity() -> None:
    model = graph("r = Relu(x)\ny = Identity(r)")
    found = lineage(model, graph("y = Relu(x) 'r'"))
    assert groups(found) == ["r -> r | x -> r", "y ->  | r -> y"]
    assert [group.fate for group in found.groups] == ["runs", "removed"]


def test_multiplying_by_one_is_removed_and_by_two_is_not() -> None:
    text, fused = "m = Mul(w1,x)\ny = Exp(m)", graph("y = Exp(x)")
    known = Tensor("x", "float32", (2,)), Tensor("m", "float32", (2,))
    for value, expected in (
        (1.0, ["m ->  | x -> m", "y -> y | m -> y"]),
        (2.0, ["m+y -> y | x -> y"]),
    ):
        one = Tensor("w1", "float32", (), constant=True, values=(value,))
        model = graph(text, x=known[0], m=known[1], w1=one)
        assert groups(lineage(model, fused)) == expected


def test_what_a_node_repeats_further_down_is_inserted() -> None:
    model = graph("q = QuantizeLinear(x,w)\nd = DequantizeLinear(q,w)\ny = Exp(d)")
    repeated = graph("""
        q = QuantizeLinear(x,w)
        d = DequantizeLinear(q,w)
        q2 = QuantizeLinear(d,w)
        d2 = DequantizeLinear(q2,w)
        y = Exp(d2)
    """)
    values = [TensorMatch("q", "q2", "value"), TensorMatch("d", "d2", "value")]
    found = lineage(model, repeated, values)
    assert groups(found) == ["q -> q | x -> q", "d -> d | q -> d", "y -> y | d -> y"]
    assert found.inserted == ("q2", "d2")


def test_a_node_with_other_weights_is_not_known_by_its_name() -> None:
    model = graph("c = Conv(x,w)\na = Add(c,w1)\nr = Relu(a)\ny = Exp(r)")
    fused = graph("t = Conv(x,w,w9) 'c'\nr = Relu(t)\ny = Exp(r)")
    assert groups(lineage(model, fused))[0] == "c+a+r -> c+r | x -> r"
    same = graph("t = Concat(x,x) 'c'\nr = Relu(t)\ny = Exp(r)")
    model = graph("c = Concat(x,x)\na = Add(c,w1)\nr = Relu(a)\ny = Exp(r)")
    assert groups(lineage(model, same))[0] == "c -> c | x -> c"


def test_an_identity_that_still_runs_is_kept() -> None:
    model = graph("r = Relu(x)\ny = Identity(r)")
    assert groups(lineage(model, model)) == ["r -> r | x -> r", "y -> y | r -> y"]


def test_twins_of_which_one_is_left_share_a_group() -> None:
    model = graph("a = Exp(x)\nb = Exp(x)\nc = Neg(a)\nd = Abs(b)\ny = Add(c,d)")
    fused = graph("a = Exp(x)\nc = Neg(a)\nd = Abs(a)\ny = Add(c,d)")
    assert groups(lineage(model, fused)) == [
        "a+b -> a | x -> a,b",
        "c -> c | a -> c",
        "d -> d | b -> d",
        "y -> y | c,d -> y",
    ]


def test_a_twin_may_be_read_in_place_of_the_other() -> None:
    model = graph("a = Exp(x)\nb = Exp(x)\nc = Neg(a)\ny = Abs(b)", outputs="a,c,y")
    fused = graph("a = Exp(x)\nb = Exp(x)\nc = Neg(b)\ny = Abs(b)", outputs="a,c,y")
    assert groups(lineage(model, fused)) == [
        "a -> a | x -> a",
        "b -> b | x -> b",
        "c -> c | a -> c",
        "y -> y | b -> y",
    ]


def test_twins_inside_different_fusions_stay_apart() -> None:
    model = graph("a = Exp(x)\nb = Exp(x)\nc = Neg(a)\nd = Abs(b)\ny = Add(c,d)")
    fused = graph("c = NegExp(x) 'n'\nd = AbsExp(x) 'm'\ny = Add(c,d)")
    assert groups(lineage(model, fused)) == [
        "a+c -> n | x -> c",
        "b+d -> m | x -> d",
        "y -> y | c,d -> y",
    ]


def test_a_copied_node_stays_with_its_original() -> None:
    model = graph("d = DequantizeLinear(x,w)\na = Exp(d)\nb = Neg(d)\ny = Add(a,b)")
    copied = graph(
        "d = DequantizeLinear(x,w)\nd2 = DequantizeLinear(x,w)\n"
        "a = Exp(d)\nb = Neg(d2)\ny = Add(a,b)"
    )
    assert groups(lineage(model, copied))[0] == "d -> d+d2 | x -> d"
    # A reader that does the work of the shared node itself cannot be told from the others.
    fused = graph("d = DequantizeLinear(x,w)\na = Exp(d)\nb = QNeg(x,w) 'q'\ny = Add(a,b)")
    found = lineage(model, fused)
    assert groups(found) == ["d+b -> d+q | x -> d,b", "a -> a | d -> a", "y -> y | a,b -> y"]
    assert found.groups[0].known_by == "merged"


def test_twins_with_different_settings_are_none() -> None:
    model = graph("a = Elu(x) [alpha=1]\nb = Elu(x) [alpha=2]\ny = Add(a,b)")
    fused = graph("a = Elu(x) [alpha=1]\ny = Sum(a,x)")
    assert groups(lineage(model, fused)) == ["a -> a | x -> a", "b+y -> y | x,a -> y"]


def test_weights_of_equal_content_make_twins() -> None:
    weights = {n: Tensor(n, "float32", (4,), constant=True, digest=d)
               for n, d in (("w1", "e"), ("w2", "e"), ("w3", "f"))}  # fmt: skip
    model = graph("a = Add(x,w1)\nb = Add(x,w2)\nc = Add(x,w3)\ny = Concat(a,b,c)", **weights)
    fused = graph("a = Add(x,w1)\nc = Add(x,w3)\ny = Concat(a,a,c)", **weights)
    assert groups(lineage(model, fused)) == [
        "a+b -> a | x -> a,b",
        "c -> c | x -> c",
        "y -> y | a,b,c -> y",
    ]


def test_what_is_computed_on_load_is_folded_and_no_boundary() -> None:
    model = graph("k = Neg(w)\nm = Exp(k)\ny = Mul(x,m)")
    found = lineage(model, graph("y = Mul(x,wm)"))
    assert groups(found) == ["k ->  |  -> ", "m ->  |  -> ", "y -> y | x -> y"]
    assert [group.fate for group in found.groups] == ["folded", "folded", "runs"]


def test_the_shape_of_a_tensor_of_known_shape_is_folded() -> None:
    text = "s = Shape(x)\nr = Relu(x)\ny = Reshape(r,s)"
    known = Tensor("x", "float32", (2, 3))
    fused = graph("r = Relu(x)\ny = Reshape(r,w0)")
    assert groups(lineage(graph(text, x=known), fused))[0].startswith("s ->  |")
    # Of a dynamic shape it cannot be: the reader of it must have learnt to do without.
    unknown = Tensor("x", "float32", (-1, 3))
    assert groups(lineage(graph(text, x=unknown), fused)) == [
        "s+y -> y | r -> y",
        "r -> r | x -> r",
    ]


def test_a_shape_that_the_engine_hands_out_as_a_number_is_not_looked_at() -> None:
    """OpenVINO, every result an output: a copy of the shape as a constant, and no read of `x`."""
    model = graph("s = Shape(x)\nf = Neg(s)\nr = Relu(x)\ny = Add(r,f)", outputs="y,s")
    marked = graph("s = Convert(w0)\nf = Neg(s)\nr = Relu(x)\ny = Add(r,f)", outputs="y,s")
    assert groups(lineage(model, marked)) == [
        "s -> s |  -> s", "f -> f | s -> f", "r -> r | x -> r", "y -> y | r,f -> y",
    ]  # fmt: skip
    # The operator that still runs reads it, on both sides.
    assert groups(lineage(model, model))[0] == "s -> s | x -> s"


def test_a_branch_that_nobody_reads_is_removed() -> None:
    model = graph("y = Relu(x)\na = Exp(x)\nb = Neg(a)")
    found = lineage(model, graph("y = Relu(x)"))
    assert [(g.original, g.fate) for g in found.groups] == [
        (("y",), "runs"), (("a",), "removed"), (("b",), "removed"),
    ]  # fmt: skip


def test_an_inserted_reshape_around_a_product() -> None:
    model = graph("m = MatMul(x,w)\na = Add(m,w1)\ny = Relu(a)")
    fused = graph("""
        in = Reshape(x,w2) 'gemm_input_reshape'
        t = Gemm(in,w,w1) 'm/MatMulAddFusion'
        a = Reshape(t,w3) 'gemm_output_reshape'
        y = Relu(a)
    """)
    found = lineage(model, fused)
    assert groups(found) == ["m+a -> m/MatMulAddFusion | x -> a", "y -> y | a -> y"]
    assert found.inserted == ("gemm_input_reshape", "gemm_output_reshape")


def test_a_reshape_of_the_model_is_not_inserted() -> None:
    model = graph("m = MatMul(x,w)\nr = Reshape(m,w1)\ny = Relu(r)")
    assert groups(lineage(model, model))[1] == "r -> r | m -> r"


def test_what_a_body_reads_is_a_boundary() -> None:
    body = Node("y", "If", ("w",), ("y",), captured=("a",))
    base = graph("a = Exp(x)\nb = Neg(x)")
    tensors = (*base.tensors, Tensor("y"), Tensor("w", constant=True))
    model = Graph((*base.nodes, body), tensors, ("x",), ("y",))
    found = lineage(model, model)
    assert groups(found)[2] == "y -> y | a -> y"


def test_a_boundary_that_cannot_be_repaired_is_reported() -> None:
    model = graph("y = Relu(x)", inputs="x,z")
    wrong = graph("y = Add(x,z)", inputs="x,z")
    [mismatch] = lineage(model, wrong).mismatches
    assert mismatch.reads == ((), ("z",))


def test_a_cycle_is_named() -> None:
    with pytest.raises(FuseScopeError, match="cycle through 'a'"):
        lineage(graph("a = Add(x,b)\nb = Neg(a)\ny = Exp(b)"), graph("y = Exp(x)"))


def test_graphs_that_list_no_tensors_still_have_groups() -> None:
    model = graph("c = Conv(x,w)\nr = Relu(c)\ny = Exp(r)")
    renamed = graph("a = Conv(x,w) 'c'\nr = Relu(a)\ny = Exp(r)")
    bare = [Graph(g.nodes, (), g.inputs, g.outputs) for g in (model, renamed)]
    assert groups(lineage(*bare)) == ["c -> c | x -> c", "r -> r | c -> r", "y -> y | r -> y"]


def test_what_nobody_makes_is_a_weight() -> None:
    """Whether it is listed as one or not: on both sides it is not a boundary."""
    model = graph("a = Add(x,b)\ny = Exp(a)")
    assert groups(lineage(model, model)) == ["a -> a | x -> a", "y -> y | a -> y"]


def test_operators_that_cancel_out_are_only_looked_for_nearby() -> None:
    """A walk back from every Reshape of a long chain would take for ever."""
    lines = "\n".join(f"t{i + 1} = Reshape(t{i},w)" for i in range(60))
    shapes = {f"t{i}": Tensor(f"t{i}", "float32", (1, i + 1)) for i in range(61)}
    model = graph(lines, inputs="t0", outputs="t60", **shapes)
    assert len(groups(lineage(model, model))) == 60


_KINDS = ("Add", "Cast", "Concat", "Constant", "Conv", "DequantizeLinear", "Dropout",
          "Identity", "Mul", "QuantizeLinear", "ReorderOutput", "Reshape", "Shape", "Sum",
          "Transpose")  # fmt: skip
_SETTINGS = ({}, {"perm": [1, 0]}, {"perm": ["a", 1]}, {"perm": 3}, {"activation": "Relu"},
             {"activation": 5})  # fmt: skip
_TENSORS = ("x", "w", "", *(f"t{i}" for i in range(8)))


@st.composite
def any_graphs(draw: st.DrawFn) -> Graph:
    """Anything that reads as a graph: cycles, loose ends, tensors made twice or not listed."""
    names = st.sampled_from(_TENSORS)
    nodes = tuple(
        Node(
            draw(st.sampled_from([f"n{i}", f"n{i}", f"t{i}_nchwc"])),
            draw(st.sampled_from(_KINDS)),
            tuple(draw(st.lists(names, max_size=4))),
            tuple(draw(st.lists(names, max_size=2))),
            domain=draw(st.sampled_from(["", "", _NCHWC])),
            attributes=draw(st.sampled_from(_SETTINGS)),
        )
        for i in range(draw(st.integers(0, 8)))
    )
    shapes = st.sampled_from([None, (), (2, 2), (-1, 4)])
    values = st.sampled_from([None, (), (0.0,), (1.0,)])
    tensors = tuple(
        Tensor(name, "float32", draw(shapes), constant=name == "w", values=draw(values))
        for name in draw(st.lists(names, unique=True))
    )
    return Graph(nodes, tensors, ("x",), tuple(draw(st.lists(names, max_size=2))))


@given(any_graphs(), any_graphs())
def test_whatever_the_graphs_every_node_is_in_one_place(model: Graph, other: Graph) -> None:
    try:
        found = lineage(model, other)
    except FuseScopeError:
        return  # a cycle
    old = [name for group in found.groups for name in group.original]
    new = [name for group in found.groups for name in group.optimised]
    assert sorted(old) == sorted(node.name for node in model.nodes)
    assert sorted([*new, *found.inserted, *found.unexplained]) == sorted(
        node.name for node in other.nodes
    )


@st.composite
def fused_pairs(draw: st.DrawFn) -> tuple[Graph, Graph, dict[str, int]]:
    """A random graph, the same with random runs of nodes fused, and the run of every node."""
    count = draw(st.integers(2, 24))
    seed = draw(st.integers(0, 1 << 16))
    rng = random.Random(seed)
    nodes = [
        Node(f"n{i}", f"Op{i}", tuple(rng.choice(["x", *(f"t{j}" for j in range(i))])
             for _ in range(rng.randint(1, 2))), (f"t{i}",))
        for i in range(count)
    ]  # fmt: skip
    read = {name for node in nodes for name in node.inputs}
    outputs = tuple(o for node in nodes for o in node.outputs if o not in read)
    consumers: dict[str, list[int]] = {}
    for place, node in enumerate(nodes):
        for name in set(node.inputs):
            consumers.setdefault(name, []).append(place)
    part = list(range(count))
    for place, node in enumerate(nodes):  # a chain whose middle nobody else reads can be fused
        readers = consumers.get(node.outputs[0], [])
        if len(readers) == 1 and rng.random() < 0.5:
            part = [part[readers[0]] if p == part[place] else p for p in part]
    made = []
    for run in sorted(set(part)):
        members = [node for place, node in enumerate(nodes) if part[place] == run]
        inside = {o for node in members for o in node.outputs}
        reads = tuple(dict.fromkeys(i for n in members for i in n.inputs if i not in inside))
        kept = tuple(o for o in sorted(inside) if o in outputs or any(
            part[reader] != run for reader in consumers.get(o, [])))  # fmt: skip
        made.append(Node(f"f{run}", f"Fused{run}", reads, kept))
    tensors = (Tensor("x"), *(Tensor(f"t{i}") for i in range(count)))
    model = Graph(tuple(nodes), tensors, ("x",), outputs)
    fused = Graph(tuple(rng.sample(made, len(made))), tensors, ("x",), outputs)
    return model, fused, {node.name: part[place] for place, node in enumerate(nodes)}


@given(fused_pairs())
def test_random_fusions_are_found_again(pair: tuple[Graph, Graph, dict[str, int]]) -> None:
    model, fused, part = pair
    found = lineage(model, fused)
    assert found.mismatches == ()
    for group in found.groups:
        [run] = {part[name] for name in group.original}
        assert group.optimised == (f"f{run}",)
    assert len(found.groups) == len(fused.nodes)


@given(fused_pairs(), st.randoms())
def test_without_names_groups_only_get_larger(
    pair: tuple[Graph, Graph, dict[str, int]], rng: random.Random
) -> None:
    model, fused, part = pair
    lost = {t.name: f"anon{i}" for i, t in enumerate(fused.tensors)
            if t.name != "x" and t.name not in model.outputs and rng.random() < 0.5}  # fmt: skip
    renamed = Graph(
        tuple(
            Node(n.name, n.op_type, tuple(lost.get(i, i) for i in n.inputs),
                 tuple(lost.get(o, o) for o in n.outputs))
            for n in fused.nodes
        ),
        tuple(Tensor(lost.get(t.name, t.name)) for t in fused.tensors),
        fused.inputs,
        fused.outputs,
    )  # fmt: skip
    found = lineage(model, renamed)
    assert found.mismatches == ()
    home = {name: group for group in found.groups for name in group.original}
    for name, run in part.items():  # never split, always beside the operator that runs it
        assert f"f{run}" in home[name].optimised
