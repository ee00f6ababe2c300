"""The drawing of a fusion group: what is in it, where it stands, and that no text escapes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.analysis.report.pictures.group_svg import MAX_OPERATORS, MAX_TENSORS, group_svg
from fusescope.analysis.report.pictures.layered import lay_out

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert(1)</script><img src=x onerror="a()"> ]]> &amp; \x00\u202e\ud800'


def tensor(name: str, *shape: int, constant: bool = False) -> Tensor:
    return Tensor(name, "float32", shape, constant=constant)


# x -> Conv -> BatchNormalization -> Add(skip) -> Relu -> y, and y goes on to Gemm.
RESIDUAL = Graph(
    nodes=(
        Node("c", "Conv", ("x", "w"), ("t1",)),
        Node("b", "BatchNormalization", ("t1", "gamma"), ("t2",)),
        Node("a", "Add", ("t2", "skip"), ("t3",)),
        Node("r", "Relu", ("t3",), ("y",)),
        Node("g", "Gemm", ("y",), ("z",)),
    ),
    tensors=(
        tensor("x", 1, 3, 8, 8),
        tensor("skip", 1, 4, 8, 8),
        tensor("w", 4, 3, 3, 3, constant=True),
        tensor("gamma", 4, constant=True),
        tensor("t1", 1, 4, 8, 8),
        tensor("t2", 1, 4, 8, 8),
        tensor("t3", 1, 4, 8, 8),
        tensor("y", 1, 4, 8, 8),
        tensor("z", -1, 10),
    ),
    inputs=("x", "skip"),
    outputs=("z",),
)


def drawn(svg: str) -> tuple[list[str], list[str], list[str]]:
    """Texts of boxes, of pills, and beside edges; the document must be well-formed XML."""
    root = ElementTree.fromstring(svg)
    boxes, pills = [], []
    for group in root.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        if rect is not None:
            lines = [text.text or "" for text in group.findall(f"{SVG}text")]
            (pills if rect.get("class") == "p" else boxes).append("|".join(lines))
    labels = [t.text or "" for t in root.iter(f"{SVG}text") if t.get("class") == "l"]
    return boxes, pills, labels


def test_operators_their_weights_and_the_tensors_between() -> None:
    boxes, pills, labels = drawn(group_svg(RESIDUAL, ["c", "b", "a", "r"]))
    assert boxes == [
        "Conv|c|weights f32 4×3×3×3",
        "BatchNormalization|b|weights f32 4",
        "Add|a",
        "Relu|r",
    ]
    assert pills == ["x|float32 1×3×8×8", "skip|float32 1×4×8×8", "y|float32 1×4×8×8"]
    assert labels == ["f32 1×4×8×8"] * 3


def test_a_scalar_is_a_constant_and_no_weight() -> None:
    graph = Graph(
        (Node("m", "Mul", ("x", "two"), ("y",)),),
        (tensor("x", 2), tensor("two", constant=True), tensor("y", 2)),
        ("x",),
        ("y",),
    )
    assert drawn(group_svg(graph, ["m"]))[0] == ["Mul|m|constant f32 scalar"]


def test_a_fused_operator_says_its_domain_and_activation() -> None:
    node = Node("c", "Conv", ("x",), ("y",), "com.microsoft.nchwc", {"activation": "Relu"})
    graph = Graph((node,), (tensor("x", 2), tensor("y", 2)), ("x",), ("y",))
    boxes, pills, _ = drawn(group_svg(graph, ["c"]))
    assert boxes == ["Conv|c|com.microsoft.nchwc|then Relu"]
    assert pills == ["x|float32 2", "y|float32 2"]


def test_a_group_that_nothing_replaces_shows_its_boundary() -> None:
    boxes, pills, _ = drawn(group_svg(RESIDUAL, [], inputs=["x"], outputs=["t1"]))
    assert boxes == ["no operator"]
    assert pills == ["x|float32 1×3×8×8", "t1|float32 1×4×8×8"]


def test_names_that_the_graph_lacks_are_left_out() -> None:
    boxes, _, _ = drawn(group_svg(RESIDUAL, ["r", "elsewhere"]))
    assert boxes == ["Relu|r"]


def test_what_is_too_much_is_counted() -> None:
    count = MAX_OPERATORS + 15
    nodes = tuple(Node(f"n{i}", "Sum", (f"in{i}", f"t{i}"), (f"t{i + 1}",)) for i in range(count))
    graph = Graph(nodes, (), tuple(f"in{i}" for i in range(count)), (f"t{count}",))
    boxes, pills, notes = drawn(group_svg(graph, [node.name for node in nodes]))
    assert len(boxes) == MAX_OPERATORS
    assert len(pills) == MAX_TENSORS + 1
    # 40 + 1 tensors come in, of which 12 are drawn; t40 goes out.
    assert notes[-2:] == ["and 15 more operators", "and 29 more tensors at the boundary"]


def test_every_text_is_escaped_and_cut() -> None:
    node = Node(HOSTILE * 9, HOSTILE * 9, (HOSTILE,), ("y",), HOSTILE, {"activation": HOSTILE})
    graph = Graph((node,), (Tensor(HOSTILE, HOSTILE, (1,)),), (HOSTILE,), ("y",))
    svg = group_svg(graph, [node.name])
    boxes, pills, _ = drawn(svg)
    assert "<script" not in svg and "<img" not in svg and 'onerror="' not in svg
    assert boxes and pills
    assert all(len(line) <= 34 for text in boxes + pills for line in text.split("|"))
    assert not re.search("[\x00-\x08\u202a-\u202e\ud800-\udfff]", svg)
    elements = list(ElementTree.fromstring(svg).iter())
    tags = {element.tag.removeprefix(SVG) for element in elements}
    assert tags == {"svg", "style", "g", "title", "rect", "path", "text"}
    names = {name for element in elements for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in names)


def test_equal_groups_give_equal_documents() -> None:
    assert group_svg(RESIDUAL, ["c", "b"]) == group_svg(RESIDUAL, ["b", "c"])


def test_a_chain_stands_upright_and_layers_do_not_overlap() -> None:
    layout = lay_out([(100, 40), (60, 30), (80, 40)], [(0, 1), (1, 2)], gap=20)
    assert layout.vertices == ((50, 0), (50, 60), (50, 110))
    assert (layout.width, layout.height) == (100, 150)


def test_an_edge_past_a_layer_keeps_clear_of_its_boxes() -> None:
    # 0 -> 1 -> 2 and 0 -> 2: the second edge passes beside box 1.
    layout = lay_out([(100, 40)] * 3, [(0, 1), (1, 2), (0, 2)])
    passing = layout.edges[2]
    assert passing is not None and len(passing) == 2
    assert all(abs(x - layout.vertices[1][0]) >= 50 for x, _ in passing)
    assert layout.edges[0] == ()


@pytest.mark.parametrize("late", [(), (1,)])
def test_a_late_vertex_stands_just_above_its_follower(late: tuple[int, ...]) -> None:
    # 0 -> 2 -> 3 and 1 -> 3
    layout = lay_out([(50, 10)] * 4, [(0, 2), (2, 3), (1, 3)], late, gap=10)
    assert layout.vertices[1][1] == (20 if late else 0)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    count = draw(st.integers(0, 12))
    sizes = [
        (float(draw(st.integers(20, 200))), float(draw(st.integers(10, 80)))) for _ in range(count)
    ]
    pairs = st.tuples(st.integers(0, max(0, count - 1)), st.integers(0, max(0, count - 1)))
    return sizes, draw(st.lists(pairs, max_size=20)) if count else []


@given(graphs())
def test_no_boxes_overlap_and_every_forward_edge_leads_down(
    graph: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    sizes, edges = graph
    layout = lay_out(sizes, edges)
    boxes = [
        (x - width / 2, y, x + width / 2, y + height)
        for (x, y), (width, height) in zip(layout.vertices, sizes, strict=True)
    ]
    for i, a in enumerate(boxes):
        assert a[0] >= -1e-6 and a[2] <= layout.width + 1e-6 and a[3] <= layout.height + 1e-6
        for b in boxes[:i]:
            apart = a[2] <= b[0] + 1e-6 or b[2] <= a[0] + 1e-6
            assert apart or a[3] <= b[1] or b[3] <= a[1]
    for (start, end), path in zip(edges, layout.edges, strict=True):
        assert (path is None) == (start >= end)
        if path is not None:
            assert boxes[start][3] <= boxes[end][1]
