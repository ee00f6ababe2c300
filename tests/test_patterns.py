"""Patterns agree with ONNX Runtime: what they call complete is what the engine fuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from fusescope.analysis.graph import Graph, Node, Tensor, parse_graph
from fusescope.analysis.patterns import CONV_BN, PATTERNS, Conditions, Pattern, View, chains, find
from tests.pattern_cases import CASES, Case
from tests.pattern_models import graph_of, has_blocked_layout, work


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_pattern_is_complete_where_the_engine_fuses(case: Case) -> None:
    if case.only_where_blocked_layout and not has_blocked_layout():
        pytest.skip("this processor's engine has no blocked layout")
    model = case.model()
    graph = graph_of(model)
    before = work(model, "none")
    for level in ("basic", "extended", "all"):
        told = Conditions(
            level, case.opset, frozenset(case.disabled), blocked_layout=has_blocked_layout()
        )
        matches = find(graph, case.pattern, told)
        assert matches, "the pattern's operators are there, fusible or not"
        saved = max(len(match.nodes) for match in matches) - 1
        fused = before - work(model, level, case.disabled) >= saved
        complete = any(match.complete for match in matches)
        blocks = [match.blocks for match in matches]
        assert complete == fused, f"{level}: engine fused is {fused}, conditions say {blocks}"
        if level == "all":
            best = min(matches, key=lambda match: len(match.blocks))
            assert (best.blocks[0].code if best.blocks else None) == case.blocked, blocks


def chain_of(*op_types: str, outputs: tuple[str, ...] = ()) -> Graph:
    """x through these operators one after the other: tensors t0, t1, …, the last one returned."""
    nodes = tuple(
        Node(f"n{i}", op_type, (f"t{i - 1}" if i else "x",), (f"t{i}",))
        for i, op_type in enumerate(op_types)
    )
    names = ("x", *(node.outputs[0] for node in nodes))
    tensors = tuple(Tensor(name, "float32", (1, 4, 8, 8)) for name in names)
    return Graph(nodes, tensors, ("x",), (*outputs, names[-1]))


def test_matching_looks_through_what_does_nothing() -> None:
    graph = graph_of(next(c for c in CASES if "between=Identity" in c.label).model())
    [match] = find(graph, CONV_BN)
    assert [node.op_type for node in match.nodes] == ["Conv", "BatchNormalization"]
    # An output of the model that is a copy of an inner tensor is an inner tensor that is returned.
    view = View(chain_of("Neg", "Identity", "Abs", outputs=("t1",)))
    assert view.source("t1") == "t0" and "t0" in view.outputs
    assert [node.name for node in view.consumers("t0")] == ["n2"]


def test_a_dropout_that_may_train_is_not_looked_through() -> None:
    nodes = (
        Node("drop", "Dropout", ("x", "ratio", "training"), ("d",)),
        Node("neg", "Neg", ("d",), ("y",)),
    )
    assert View(Graph(nodes, (Tensor("x"),), ("x",), ("y",))).source("d") == "d"


def test_weights_computed_from_weights_are_constants() -> None:
    nodes = (
        Node("scale", "Mul", ("w", "k"), ("scaled",)),
        Node("store", "QuantizeLinear", ("w", "k"), ("stored",)),
        Node("mix", "Mul", ("w", "x"), ("mixed",)),
    )
    tensors = (
        Tensor("x"),
        Tensor("w", constant=True),
        Tensor("k", constant=True),
        Tensor("free", constant=True, overridable=True),
    )
    view = View(Graph(nodes, tensors, ("x",), ("mixed",)))
    assert view.is_constant("scaled") and view.is_constant("w")
    assert not any(view.is_constant(name) for name in ("x", "stored", "mixed", "free"))


def test_chains_are_maximal_and_end_where_a_result_is_shared() -> None:
    assert [[n.name for n in m.nodes] for m in chains(chain_of("Abs", "Neg", "Conv", "Exp"))] == [
        ["n0", "n1"]
    ]
    assert [m.name for m in chains(chain_of("Abs", "Neg", "Exp", outputs=("t1",)))] == ["Abs + Neg"]
    long = chains(chain_of(*["Abs"] * 9))
    assert [m.name for m in long] == [" + ".join(["Abs"] * 6) + " + … (9)"]
    assert chains(chain_of("Abs", "Neg", "Exp"), among=("n0", "n2")) == []


def test_graphs_written_before_constants_had_values_still_read() -> None:
    graph = parse_graph(
        b'{"nodes":[],"tensors":[{"name":"w","dtype":"float32","shape":[2],"constant":true}],'
        b'"inputs":[],"outputs":[]}',
        "old.json",
    )
    assert graph.tensors[0].values is None and not graph.tensors[0].overridable


def test_an_unknown_constant_accuses_nobody() -> None:
    """Experiments without the values of constants: nothing is said about them."""
    case = next(c for c in CASES if c.blocked == "constant_value")
    graph = graph_of(case.model())
    tensors = tuple(
        Tensor(t.name, t.dtype, t.shape, t.constant, overridable=t.overridable)
        for t in graph.tensors
    )
    bare = Graph(graph.nodes, tensors, graph.inputs, graph.outputs)
    assert [match.complete for match in find(graph, case.pattern)] == [False]
    assert [match.complete for match in find(bare, case.pattern)] == [True]


@st.composite
def planted(draw: st.DrawFn) -> tuple[Graph, Pattern]:
    """A pattern's operators, and any others that read what they write; gaps in what is known."""
    pattern = draw(st.sampled_from(PATTERNS))
    form = draw(st.sampled_from(pattern.templates))
    shapes = st.sampled_from([None, (), (4,), (1, 4), (2, -1, 4), (1, 4, 8, 8)])
    dtypes = st.sampled_from([None, "float32", "float16"])
    steps = {step.name for step in form.steps}
    free = sorted({name for step in form.steps for name in step.arguments} - steps)
    tensors = [
        Tensor(name, draw(dtypes), draw(shapes), constant=draw(st.booleans())) for name in free
    ]
    nodes = []
    for step in form.steps:
        inputs = tuple(f"of {name}" if name in steps else name for name in step.arguments)
        nodes.append(Node(step.name, draw(st.sampled_from(step.op_types)), inputs,
                          (f"of {step.name}",)))  # fmt: skip
        tensors.append(Tensor(f"of {step.name}", draw(dtypes), draw(shapes)))
    for i in range(draw(st.integers(0, 6))):
        names = st.sampled_from(["", *(tensor.name for tensor in tensors)])
        op_type = draw(st.sampled_from(["Identity", "Relu", "Add", "Mul", "Conv", "ReduceMean"]))
        nodes.append(Node(f"{i}", op_type, tuple(draw(st.lists(names, max_size=4))), (f"t{i}",)))
        tensors.append(Tensor(f"t{i}", draw(dtypes), draw(shapes)))
    returned = draw(st.lists(st.sampled_from([t.name for t in tensors]), min_size=1, max_size=3))
    return Graph(tuple(nodes), tuple(tensors), tuple(free), tuple(returned)), pattern


_ODD = ({}, {"axes": ["a"]}, {"axes": [1 << 40]}, {"axis": "z"}, {"perm": 3}, {"group": 0},
        {"alpha": "q"}, {"approximate": 3}, {"activation": 3})  # fmt: skip


@given(planted(), st.data())
def test_operators_that_make_no_sense_break_nothing(
    drawn: tuple[Graph, Pattern], data: st.DataObject
) -> None:
    graph, _ = drawn
    nodes = [
        structs.replace(
            node,
            outputs=data.draw(st.sampled_from([node.outputs, node.outputs, (), ("",)])),
            attributes=data.draw(st.sampled_from(_ODD)),
        )
        for node in graph.nodes
    ]
    values = st.sampled_from([None, (), (1e300,), (float("inf"), 0.5)])
    tensors = [structs.replace(t, values=data.draw(values)) for t in graph.tensors]
    kept = tuple(t for t in tensors if data.draw(st.booleans()))
    view = View(Graph(tuple(data.draw(st.permutations(nodes))), kept, graph.inputs, graph.outputs))
    for pattern in PATTERNS:
        for match in find(view, pattern):
            assert all(node.outputs[0] for node in match.nodes)
    chains(view)


@given(planted())
def test_a_planted_pattern_is_found_and_nothing_is_that_is_not_wired(
    drawn: tuple[Graph, Pattern],
) -> None:
    graph, planted_one = drawn
    view = View(graph)
    place = {node.name: i for i, node in enumerate(graph.nodes)}
    everywhere = replace(planted_one, applies=lambda site: True)
    assert find(view, everywhere)
    for pattern in PATTERNS:
        for match in find(view, pattern):
            names = [node.name for node in match.nodes]
            assert len(set(names)) == len(names) > 1
            assert {node.name for node in (*match.absorbed, *match.folded)} <= set(names)
            *inner, last = match.nodes
            assert all(place[node.name] < place[last.name] for node in inner)
            read = {view.source(name) for node in match.nodes for name in node.inputs}
            assert all(node.outputs[0] in read for node in inner)
    used = [node.name for match in chains(view) for node in match.nodes]
    assert len(used) == len(set(used))
