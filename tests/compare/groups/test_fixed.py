"""Values that depend on no input: computed in every run by some engines, and no boundary for all
that. Graphs as recordings of JAX write them."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.analysis.graph import Attribute, Graph, Node, Tensor

# scores -> scaled -> hidden where a mask, of two iota, says so; the same in a second layer.
LAYERS = ("a", "b")


def op(name: str, kind: str, reads: str, **told: Attribute) -> Node:
    return Node(name, kind, tuple(reads.split()), (name,), attributes=told)


def model() -> Graph:
    nodes: list[Node] = []
    before = "x"
    for layer in LAYERS:
        nodes += [
            op(f"rows_{layer}", "iota", ""), op(f"columns_{layer}", "iota", ""),
            op(f"mask_{layer}", "ge", f"rows_{layer} columns_{layer}"),
            op(f"scale_{layer}", "mul", f"{before} half"),
            op(f"hide_{layer}", "select_n", f"mask_{layer} scale_{layer}"),
        ]  # fmt: skip
        before = f"hide_{layer}"
    return Graph(tuple(nodes), (Tensor("half", "float32", (), constant=True),), ("x",), (before,))


def ran(*nodes: Node, fixed: str = "") -> Graph:
    tensors = tuple(Tensor(name, "float32", (8, 8), constant=True) for name in fixed.split())
    return Graph(nodes, tensors, ("x",), ("hide_b",))


def groups(found: Lineage) -> dict[str, tuple[str, str]]:
    """Originals -> fate and what they became."""
    return {
        " ".join(group.original): (group.fate, " ".join(group.optimised)) for group in found.groups
    }


def of(layer: str, names: Sequence[str]) -> str:
    return " ".join(f"{name}_{layer}" for name in names)


def test_what_each_fusion_computes_for_itself_is_in_its_group() -> None:
    """Equal masks in two layers: each belongs to the fusion that reads it, and nothing is folded
    or joined across layers."""
    twins = [of(layer, [name]) for name in ("rows", "columns", "mask") for layer in LAYERS]
    fused = ran(
        Node("fusion.1", "fusion", ("x",), ("hide_a",), attributes={"holds": [*twins]}),
        Node("fusion.2", "fusion", ("hide_a",), ("hide_b",), attributes={"holds": [*twins]}),
    )
    found = lineage(model(), fused)
    whole = ("rows", "columns", "mask", "scale", "hide")
    assert groups(found) == {
        of("a", whole): ("runs", "fusion.1"), of("b", whole): ("runs", "fusion.2"),
    }  # fmt: skip
    assert found.mismatches == () and found.inserted == () and found.unexplained == ()
    assert [(group.inputs, group.outputs) for group in found.groups] == [
        (("x",), ("hide_a",)), (("hide_a",), ("hide_b",)),
    ]  # fmt: skip


def test_what_runs_alone_is_kept_and_no_boundary() -> None:
    """As when each operator is a program of its own: rows and columns of `b` are told apart."""
    nodes = [
        Node(f"{node.name}!", node.op_type, node.inputs, node.outputs,
             attributes={} if node.op_type in ("mul", "select_n") else {"makes": [node.name]})
        for node in model().nodes
    ]  # fmt: skip
    renamed = {
        name: f"%{name}" for node in nodes if "makes" in node.attributes for name in node.outputs
    }
    nodes = [
        Node(node.name, node.op_type, tuple(renamed.get(name, name) for name in node.inputs),
             tuple(renamed.get(name, name) for name in node.outputs), attributes=node.attributes)
        for node in nodes
    ]  # fmt: skip
    found = lineage(model(), ran(*nodes, fixed=" ".join(renamed.values())))
    assert groups(found) == {node.name: ("runs", f"{node.name}!") for node in model().nodes}
    assert found.mismatches == () and found.inserted == ()
    known = {group.original[0]: group.known_by for group in found.groups}
    assert known["mask_a"] == "value" and known["hide_b"] == "name"


def test_what_is_computed_in_another_way_is_not_folded() -> None:
    """No tensor holds the mask, but rows and columns are computed, and nothing else needs them."""
    fused = ran(
        Node("fusion.1", "fusion", ("x",), ("hide_a",), attributes={"holds": ["rows_a"]}),
        Node("iota.1", "iota", (), ("%rows",), attributes={"makes": ["rows_b"]}),
        Node("fusion.2", "fusion", ("hide_a", "%rows"), ("hide_b",)),
        fixed="%rows",
    )
    assert groups(lineage(model(), fused)) == {
        "rows_a mask_a scale_a hide_a": ("runs", "fusion.1"),
        "columns_a": ("folded", ""),
        "rows_b": ("runs", "iota.1"),
        "columns_b": ("folded", ""),
        "mask_b scale_b hide_b": ("runs", "fusion.2"),  # rows_b is written: its reader makes it
    }


def test_what_nothing_computes_is_folded() -> None:
    fused = ran(
        Node("fusion.1", "fusion", ("x",), ("hide_a",)),
        Node("fusion.2", "fusion", ("hide_a",), ("hide_b",)),
    )
    found = groups(lineage(model(), fused))
    folded = [name for name, (fate, _) in found.items() if fate == "folded"]
    assert folded == ["rows_a", "columns_a", "mask_a", "rows_b", "columns_b", "mask_b"]


def test_a_file_that_claims_what_depends_on_the_input_is_not_believed() -> None:
    fused = ran(
        Node("fusion.1", "fusion", ("x",), ("hide_a",), attributes={"holds": ["hide_b", "no"]}),
        Node("fusion.2", "fusion", ("hide_a",), ("hide_b",), attributes={"makes": 3}),
    )
    found = groups(lineage(model(), fused))
    assert found["scale_b hide_b"] == ("runs", "fusion.2")
