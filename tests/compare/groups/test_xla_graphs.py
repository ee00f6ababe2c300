"""Graphs of XLA: numbers that unrelated operators share, copies in another layout, axes that are
only divided anew."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare.groups.equivalence import passed_through
from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.analysis.experiment import TensorMatch
from fusescope.analysis.graph import Graph, Node, Tensor


def op(name: str, reads: str, writes: str, kind: str = "") -> Node:
    return Node(name, kind or name, tuple(reads.split()), tuple(writes.split()))


def ran(name: str, reads: str, writes: str, kind: str = "") -> Node:
    found = op(name, reads, writes, kind)
    return Node(
        found.name, found.op_type, found.inputs, found.outputs, attributes={"event": found.name}
    )


def graph(
    *nodes: Node, constant: str = "", shapes: dict[str, tuple[int, ...]] | None = None
) -> Graph:
    names = dict.fromkeys(name for node in nodes for name in (*node.inputs, *node.outputs))
    tensors = tuple(
        Tensor(name, "float32", (shapes or {}).get(name, (4, 8)), name in constant.split())
        for name in names
    )
    return Graph(nodes, tensors, ("x", "w"), ("y",))


MODEL = graph(
    op("exp", "x", "a"), op("mul", "a two", "b"), op("add", "b w", "c"), op("div", "c two", "y"),
    constant="two", shapes={"two": ()},
)  # fmt: skip


def found(optimised: Graph, model: Graph = MODEL, **values: str) -> Lineage:
    """`values`: which of the model's tensors a tensor holds."""
    rows = [TensorMatch(original, f"%{name}", "value") for name, original in values.items()]
    return lineage(model, optimised, rows)


def groups(of: Lineage) -> dict[str, str]:
    return {" ".join(one.original): " ".join(one.optimised) for one in of.groups}


def test_a_number_for_several_operators_joins_none_of_them() -> None:
    shared = graph(
        ran("exp.1", "x", "%a"), ran("broadcast.1", "%2", "%two"), ran("mul.1", "%a %two", "%b"),
        ran("add.1", "%b w", "%c"), ran("div.1", "%c %two", "y"), constant="%2 %two",
    )  # fmt: skip
    made = found(shared, a="a", b="b", c="c")
    assert groups(made) == {"exp": "exp.1", "mul": "mul.1", "add": "add.1", "div": "div.1"}
    assert made.inserted == ("broadcast.1",)
    assert (made.unexplained, made.mismatches) == ((), ())


def test_a_number_for_one_operator_belongs_to_it() -> None:
    own = graph(
        ran("exp.1", "x", "%a"), ran("iota.1", "%0", "%i"), ran("broadcast.1", "%i", "%two"),
        ran("mul.1", "%a %two", "%b"), ran("add.1", "%b w", "%c"), ran("div.1", "%c %2", "y"),
        constant="%0 %i %two %2",
    )  # fmt: skip
    made = found(own, a="a", b="b", c="c")
    assert groups(made)["mul"] == "iota.1 broadcast.1 mul.1"
    assert made.inserted == ()


def test_numbers_that_inserted_numbers_read_are_inserted() -> None:
    shared = graph(
        ran("exp.1", "x", "%a"), ran("iota.1", "%0", "%i"), ran("broadcast.1", "%i", "%two"),
        ran("mul.1", "%a %two", "%b"), ran("add.1", "%b w", "%c"), ran("div.1", "%c %two", "y"),
        constant="%0 %i %two",
    )  # fmt: skip
    assert found(shared, a="a", b="b", c="c").inserted == ("iota.1", "broadcast.1")


def test_what_no_value_is_known_of_joins_its_reader() -> None:
    expanded = graph(
        ran("exp.1", "x", "%a"), ran("f.1", "%a", "%p"), ran("f.2", "%p", "%b"),
        ran("add.1", "%b w", "%c"), ran("div.1", "%c %2", "y"), constant="%2",
    )  # fmt: skip
    assert groups(found(expanded, a="a", b="b", c="c"))["mul"] == "f.1 f.2"


def test_a_weight_in_another_layout_is_inserted() -> None:
    copied = graph(
        ran("copy.1", "w", "%w", "copy"), ran("fusion.1", "x", "%b"), ran("fusion.2", "%b %w", "y")
    )
    made = found(copied, b="b")
    assert made.inserted == ("copy.1",)
    assert groups(made) == {"exp mul": "fusion.1", "add div": "fusion.2"}
    assert made.mismatches == ()


def test_a_transposition_of_the_model_is_what_its_values_say() -> None:
    model = graph(op("transpose", "w", "t"), op("mul", "x t", "m"), op("add", "m t", "y"))
    ran_so = graph(
        ran("transpose.9", "w", "%t", "transpose"), ran("mul.9", "x %t", "%m"),
        ran("add.9", "%m %t", "y"),
    )  # fmt: skip
    made = found(ran_so, model, t="t", m="m")
    assert groups(made) == {"transpose": "transpose.9", "mul": "mul.9", "add": "add.9"}
    assert made.inserted == ()


SUM = graph(
    op("reduce_sum", "x", "s"), op("broadcast_in_dim", "s", "k"), op("log", "k", "l"),
    op("sqrt", "k", "r"), op("add", "l r", "y"),
    shapes={"s": (4,), "k": (4, 1), "l": (4, 1), "r": (4, 1)},
)  # fmt: skip


def test_an_axis_of_size_1_joins_no_operators_that_read_it() -> None:
    ran_so = graph(
        ran("reduce.1", "x", "%s"), ran("log.1", "%s", "%l"), ran("sqrt.1", "%s", "%r"),
        ran("add.1", "%l %r", "y"), shapes={"%s": (4,), "%l": (4,), "%r": (4,)},
    )  # fmt: skip
    made = found(ran_so, SUM, s="s", l="l", r="r")
    assert groups(made) == {
        "reduce_sum": "reduce.1", "broadcast_in_dim": "", "log": "log.1", "sqrt": "sqrt.1",
        "add": "add.1",
    }  # fmt: skip
    assert [one.fate for one in made.groups][1] == "removed"
    assert made.mismatches == ()


@pytest.mark.parametrize(("shape", "given"), [((4, 1), "s"), ((4, 8), None), ((8,), None)])
def test_only_what_adds_no_elements_hands_on(shape: tuple[int, ...], given: str | None) -> None:
    node = op("broadcast_in_dim", "s", "k")
    assert passed_through(node, graph(node, shapes={"s": (4,), "k": shape})) == given
